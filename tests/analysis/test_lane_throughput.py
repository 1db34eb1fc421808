from __future__ import annotations

import pytest

from loopwright.analysis.lane_throughput import (
    DIVIDE,
    EACH,
    FUNCTION,
    INTEGER_DIVIDE,
    LIBRARY,
    lane_throughput,
    slow_operations,
)
from loopwright.analysis.lockstep_rounds import LockstepRounds, lockstep_rounds
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel

TEXT = """
kernel f(a: float64[1] C, b: int64[1] C):
    var x: float64
    var n: int64
    for i in 0 .. size(a, 0):
        x = a[i]
        n = b[i]
        while x > 1.0 and n > 0 named w:
            {statement}
        a[i] = x
"""


def rounds(statement: str) -> LockstepRounds:
    loop = parse_kernel(TEXT.format(statement=statement)).body[0]
    assert isinstance(loop, For)
    found = lockstep_rounds(loop)
    assert isinstance(found, LockstepRounds)
    return found


@pytest.mark.parametrize(
    ("statement", "more", "exact"),
    [
        ("x = 2.0 / x", DIVIDE, False),
        ("x = sin(x)", FUNCTION, False),
        ("x = sin(x)", 4 * (EACH + LIBRARY), True),
        ("n = 7 // n", 4 * (EACH + INTEGER_DIVIDE), False),
        ("x = sin(a[i])", 0.0, True),  # the same in all rounds
    ],
)
def test_what_an_operation_takes(statement: str, more: float, exact: bool) -> None:
    alone = lane_throughput(rounds(f"{statement[0]} = 3{'.0' * (statement[0] == 'x')}"), 4, exact)
    assert lane_throughput(rounds(statement), 4, exact) == pytest.approx(alone + more)


def test_lanes_that_are_computed_one_by_one_cost_each() -> None:
    assert lane_throughput(rounds("n = b[n] % n"), 8, False) > 1.9 * lane_throughput(rounds("n = b[n] % n"), 4, False)


def test_what_takes_one_iteration_long() -> None:
    assert slow_operations(rounds("x = sin(x) / x")) == LIBRARY + DIVIDE - 1.0
    assert slow_operations(rounds("x = floor(x) + x")) == 0.0

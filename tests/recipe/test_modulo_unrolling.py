from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.recipe.modulo_unrolling import by_remainders
from recipe.planning import planned, steps

UP = """
kernel up(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            b[i, j] = a[i // 2, j // 2]
"""
OTHERS = {
    "in order": """
kernel some(a: float64[1] C, b: float64[1] C):
    for i in 1 .. size(a, 0):
        a[i] = a[i - 1] * 0.5 + b[i % 2]
""",
    "few": """
kernel some(a: float64[1] C, b: float64[1] C):
    for i in 0 .. 8:
        a[i] = b[i % 2]
""",
    "far": """
kernel some(a: float64[1] C, b: float64[1] C):
    for i in 0 .. size(a, 0):
        a[i] = b[i // 16]
""",
    "of sums": """
kernel some(a: float64[2] C, b: float64[1] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            a[i, j] = b[(i + j) % 2]
""",
}


def test_the_innermost_loop_is_written_out_for_each_remainder() -> None:
    assert steps(planned(by_remainders, UP)) == "modulo_unroll j 2"


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_stay(name: str) -> None:
    assert steps(planned(by_remainders, OTHERS[name])) == ""


def haar(c: Any, out: Any) -> None:
    half = len(c) // 2
    for i in range(len(out)):
        if i % 2 == 0:
            out[i] = c[i // 2] + c[half + i // 2]
        else:
            out[i] = c[i // 2] - c[half + i // 2]


def test_results_are_those_of_the_loop() -> None:
    kernel = lw.kernel(threads=1)(haar)
    for size in (0, 1, 2, 7, 50):
        c = np.random.default_rng(size).random(50)
        mine, other = np.zeros(size), np.zeros(size)
        kernel(c, mine)
        haar(c, other)
        np.testing.assert_array_equal(mine, other)
    with pytest.raises(IndexError):
        kernel(np.zeros(4), np.zeros(9))

from __future__ import annotations

import pytest

from loopwright.analysis.recurrence_latency import (
    ADD,
    DIVIDE,
    FUNCTION,
    INTEGER_MULTIPLY,
    LOAD,
    MULTIPLY,
    SELECT,
    initiation_interval,
    recurrence_latency,
)
from loopwright.ir.nodes import For
from loopwright.ir.parse import parse_kernel

HEAD = """
kernel f(a: float64[1] C, k: int64[1] C, n: int64):
    var s: float64
    var t: float64
    var u: float64
    var v: int64
    for i in 1 .. n:
"""


@pytest.mark.parametrize(
    ("body", "carried", "cycles"),
    [
        (["s = s + a[i]"], "s", ADD),
        (["s = 2.0 * s + a[i]"], "s", ADD),  # fused
        (["s = (s + a[i]) * 2.0"], "s", ADD + MULTIPLY),
        (["t = a[i] / 3.0", "s = s + t"], "s", ADD),  # the division does not wait
        (["t = a[i] / s", "s = t + 1.0"], "s", DIVIDE + ADD),
        (["s = sin(s)"], "s", FUNCTION),
        (["a[i] = a[i - 1] + 1.0"], "", ADD),
        (["v = k[v]"], "v", LOAD),
        (["v = v * 5"], "v", INTEGER_MULTIPLY),
        (["v = v // 4"], "v", 1.0),  # a shift
        (["if a[i] > 0.0:", "    s = s + 1.0"], "s", ADD),  # it is known early which way
        (["if s > 0.0:", "    s = s + 1.0"], "s", ADD + SELECT),
        (["t = a[i]"], "", 0.0),
    ],
)
def test_the_longest_path_to_the_next_iteration(body: list[str], carried: str, cycles: float) -> None:
    (loop,) = parse_kernel(HEAD + "".join(f"        {line}\n" for line in body)).body
    assert isinstance(loop, For) and recurrence_latency(loop.body, carried) == cycles
    assert initiation_interval(loop.body, carried) == cycles


@pytest.mark.parametrize(
    ("body", "path", "interval"),
    [
        (["s = s * a[i]", "t = t + s * s"], MULTIPLY + ADD, MULTIPLY),  # the sum waits, and nothing waits for the sum
        (["u = s + a[i]", "s = t * 2.0", "t = u"], ADD, (ADD + MULTIPLY) / 2),  # once in two iterations
    ],
)
def test_what_the_next_iteration_waits_for(body: list[str], path: float, interval: float) -> None:
    (loop,) = parse_kernel(HEAD + "".join(f"        {line}\n" for line in body)).body
    assert isinstance(loop, For) and recurrence_latency(loop.body, "st") == path
    assert initiation_interval(loop.body, "st") == interval

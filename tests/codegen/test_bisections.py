"""`while` loops that keep one half each time: which ones are, and what they give."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define
from loopwright.codegen.bisections import is_bisection
from loopwright.codegen.safepoints import most_iterations
from loopwright.ir.nodes import While
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import statements

HEAD = """
kernel counted(a: float64[1] C, n: int64, m: int64):
    var k: int64
    var j: int64
    var u: int64
    k = n
    j = n
    u = m
"""


def loop_of(text: str) -> While:
    kernel = parse_kernel(HEAD + "".join(f"    {line}\n" for line in text.splitlines()))
    return next(statements(kernel.body, While))


HALF = (
    "while k < u named w:\n    j = (k + u) // 2\n    if a[j] < 1.0:\n        k = {low}\n    else:\n        u = {high}"
)


@pytest.mark.parametrize(("low", "high", "halves"), [
    ("j + 1", "j", True), ("j + 1", "j - 1", True), ("j", "j", False), ("j + 1", "j + 1", False), ("j - 1", "j", False),
    ("j + 1", "u", False),
])  # fmt: skip
def test_what_keeps_one_half(low: str, high: str, halves: bool) -> None:
    loop = loop_of(HALF.format(low=low, high=high))
    assert is_bisection(loop) == halves
    assert most_iterations(loop) == (64 if halves else None)


def test_one_side_that_may_stay_is_no_half() -> None:
    assert not is_bisection(loop_of(HALF.format(low="j + 1", high="j").replace("else:", "elif a[0] > 1.0:")))
    assert not is_bisection(loop_of(HALF.format(low="j + 1", high="j") + "\n    u = u + 1"))


def test_results_are_those_of_python_for_near_limits_and_far_ones() -> None:
    function = define("""
        def f(a, n, m):
            out = np.zeros(3, np.int64)
            for i in range(len(a)):
                k = n
                while k > m and a[i] > k % 5:
                    k -= 1
                    out[0] += 1
                lo = 0
                hi = len(a)
                while lo < hi:
                    mid = (lo + hi) // 2
                    if a[mid] < a[i]:
                        lo = mid + 1
                    else:
                        hi = mid
                out[1] += lo
                j = m
                while j < n:
                    j += 2
                out[2] += j
            return out
    """)
    a = np.sort(np.random.default_rng(1).random(7)) * 6
    for n, m in ((5, 0), (0, 5), (3, 3), (-4, -9), (2_000_000, 10)):
        assert (lw.kernel(function)(a, n, m) == function(a, n, m)).all()

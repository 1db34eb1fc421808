"""sum, min, max, any and all of arrays of one axis, lists and tuples."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same

CALLS = [
    "sum((1, n, 2.5))", "sum(a)", "sum(a, 1.0)", "sum((), 3)", "min((n, 2))", "max(a)", "min(a[1:])", "max([n, 4])",
    "any((False, n > 2))", "all((True, n > 2))", "any(a > 2)", "all(a >= 0)", "any(())", "all(())", "max(n, 2, 1)",
    "sum([k for k in range(n)])",
    "max(a, default=9.0)", "min((n, 2), default=1)", "max((), default=n)", "max((k for k in range(n)), default=-1)",
    "max(k * 0.5 for k in range(n))", "sum(x for x in a)", "min(k for k in (3, 4))",
]  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_of_sequences(text):
    function = define(f"def f(a, n):\n    return {text}\n")
    for n in (1, 5):
        same(function, np.array([0.5, 3.0, 2.0]), n)


def test_the_first_of_what_is_not_ordered():
    """Python's max keeps what it has where nothing is larger, so it matters where a NaN stands."""
    function = define(
        "def f(a):\n    return max(a), min(a), max([x for x in a]), min(x for x in a), max(a, default=0.0)\n"
    )
    nan, inf = np.nan, np.inf
    for kind in (np.float64, np.float32):
        for given in (
            [1, nan, 3],
            [nan, 1, 3],
            [3, nan, 1],
            [0.0, -0.0],
            [-0.0, 0.0],
            [nan, nan],
            [-inf, nan],
            [inf, nan],
        ):
            same(function, np.array(given, kind))
            assert str(lw.kernel(function)(np.array(given, kind))) == str(function(np.array(given, kind)))


@pytest.mark.parametrize("text", ["max(a)", "min(a)", "any(a > 1)", "all(a > 1)", "max(a, default=np.float64(2))"])
def test_of_nothing(text):
    same(define(f"def f(a):\n    return {text}\n"), np.zeros(0))


@pytest.mark.parametrize("text", ["sum(m)", "min(m)", "any(m)", "sum(1)", "max(1)", "all(2)"])
def test_refused(text):
    assert "this is a" in refusal(define(f"def f(m):\n    return {text}\n"), np.zeros((2, 2)))

"""Lists where NumPy takes anything like an array."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import loopwright as lw
from breadth.cases import differences, outcome
from frontend.judge import define

A = np.array([1.0, 2.0, 4.0])
EXPRESSIONS = (
    "np.sin(x) * np.cos(x)", "np.cumsum(x), np.argsort(x), np.diff(x)", "a * x, x - a, a + [1, 2, 3], (1, 2, 3) / a",
    "np.dot(x, a), np.interp(2.5, x, a), np.outer(x, x)", "np.clip(x, 1, 2), np.round(x), np.repeat(x, 2)",
    "np.zeros_like(x), np.isin(x, [1.0]), np.insert(x, 1, 5.0), np.gradient(x)", "np.maximum(x, 2.0), np.hypot(x, a)",
    "np.flip(x), np.reshape(x, (3, 1)), np.roll(x, 1)", "np.array(x), np.asarray(x), np.mean(x), np.sort(x)",
)  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_numpy(expression):
    """The list changes afterwards, and what was made of it does not."""
    function = define(f"""
        def f(x, a):
            own = []
            for v in x:
                own.append(v + 1)
            made = {expression}
            others = {expression.replace("x", "own") if "max" not in expression else expression}
            x[0] = 9.0
            own[0] = 9.0
            return made, others
        """, np=np)  # fmt: skip
    given = ([1.0, 2.5, 3.0], A)
    expected, actual = outcome(function, copy.deepcopy(given)), outcome(lw.kernel(function), copy.deepcopy(given))
    assert expected.error is None and actual.error is None
    assert differences(expected.result, actual.result) == []


def draws(low, high, n):
    np.random.seed(3)
    rng = np.random.default_rng(2)
    return (
        rng.uniform(low, high, size=(n, 2)),
        rng.normal(0.0, high, (n, 2)),
        np.random.uniform(low, 9.0, size=2),
        np.random.choice([-1, 0, 1], size=(n, n), p=[0.2, 0.5, 0.3]),
    )


def test_draws_of_arrays_with_a_size_and_from_lists():
    low, high = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    for mine, numpys in zip(lw.kernel(draws)(low, high, 4), draws(low, high, 4), strict=True):
        np.testing.assert_array_equal(mine, numpys)


def test_sizes_that_do_not_match():
    with pytest.raises(ValueError):
        lw.kernel(draws)(np.zeros(3), np.ones(3), 4)


def test_what_writes_takes_no_list():
    function = define("def f(x):\n    np.put(x, [0], [5.0])\n", np=np)
    with pytest.raises(lw.KernelError):
        lw.kernel(function)([1.0, 2.0])

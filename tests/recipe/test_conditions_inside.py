"""Sums in loops under a condition of each iteration; results on the emulated GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw

DRAW = np.random.default_rng(11)


def columns(x, keep, s):
    for p in range(x.shape[0]):
        if keep[p] > 0.5:
            for j in range(x.shape[1]):
                s[j] += x[p, j]


def moments(x, limit, m):
    for p in range(len(x)):
        y = x[p]
        if y < limit:
            for a in range(3):
                for b in range(3):
                    m[a, b] += y ** (a + b)
                m[a, 3] += y


def each(x, keep, s):
    for b in range(x.shape[0]):
        for p in range(x.shape[1]):
            if keep[b, p] > 0.5:
                for a in range(3):
                    s[b, a] += x[b, p, a]


def rounds(x, v, steps):
    for _ in range(steps):
        s = np.zeros(2)
        for p in range(len(x)):
            if x[p] < v[p]:
                for a in range(2):
                    s[a] += x[p] * v[p] ** a
        for p in range(len(x)):
            v[p] = 0.5 * v[p] + s[0] / (1 + s[1] * s[1])


def first_rows(x, start, s):
    """How far a row goes may only be asked where there is one."""
    for p in range(len(x)):
        if p + 1 < len(start):
            for j in range(start[p], start[p + 1]):
                s[j] += x[p]


def below_itself(x, s):
    """What is added decides what is added later."""
    for p in range(len(x)):
        if x[p] > s[0]:
            for j in range(3):
                s[j] += x[p]


def check(function: Callable[..., object], *arguments: Any) -> str:
    """The schedule."""
    wanted = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    function(*wanted)
    kernel = lw.kernel(device="emulated")(function)
    with lw.options(device="emulated"):
        given: Any = [lw.device_array(one) if isinstance(one, np.ndarray) else one for one in arguments]
    kernel(*given)
    for mine, right in zip(given, wanted, strict=True):
        if isinstance(right, np.ndarray):
            np.testing.assert_allclose(mine.numpy(), right, rtol=1e-12, atol=1e-12)
    return str(kernel.explain(*given).schedule)


@pytest.mark.parametrize("rows", [0, 1, 517])
@pytest.mark.parametrize("width", [0, 1, 40])
def test_sums_of_columns(rows: int, width: int) -> None:
    schedule = check(columns, DRAW.random((rows, width)), DRAW.random(rows), np.ones(width))
    assert "predicate j; reorder j p" in schedule and "block" in schedule


def test_what_is_no_number_decides_as_in_python() -> None:
    keep = DRAW.random(90)
    keep[::7] = np.nan
    x = DRAW.random((90, 5))
    x[keep <= 0.5] = np.nan  # of what is left out nothing is added
    check(columns, x, keep, np.zeros(5))
    x[3], keep[3] = np.inf, 1.0
    check(columns, x, keep, np.zeros(5))


@pytest.mark.parametrize("count", [0, 1, 700, 5000])
def test_sums_that_depend_on_a_scalar_of_the_iteration(count: int) -> None:
    schedule = check(moments, DRAW.random(count) * 2, 1.0, np.zeros((3, 4)))
    assert "predicate a" in schedule and "bind p thread.x" in schedule


def test_sums_of_each_of_many() -> None:
    assert "predicate a" in check(each, DRAW.random((7, 30, 3)), DRAW.random((7, 30)), np.zeros((7, 3)))


def test_sums_between_rounds() -> None:
    schedule = check(rounds, DRAW.random(300), DRAW.random(300), 4)
    assert "predicate a" in schedule and "bind p.2 thread.x" in schedule


def test_conditions_that_stay_where_they_are() -> None:
    assert "predicate" not in check(first_rows, DRAW.random(20), np.arange(0, 60, 3), np.zeros(60))
    assert "predicate" not in check(below_itself, DRAW.random(50), np.zeros(3))

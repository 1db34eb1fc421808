"""Reductions with several accumulators: every iteration once, whatever their number, and with the right meaning of NaN,
signed zeros and infinities; where it is worth it, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw


def dot(a: Any, b: Any) -> Any:
    s = a.dtype.type(0)
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


def extremes(a: Any, b: Any) -> Any:
    low, high = a[0], a[0]
    for i in range(len(a)):
        low = min(low, a[i] - b[i])
        if a[i] > high:
            high = a[i]
    return low, high


def chosen(a: Any, b: Any) -> Any:
    s, n = 0.0, 0
    for i in range(3, len(a)):
        d = a[i] - b[i - 3]
        if d > 0:
            s += d * d
            n += 1
    return s, n


def rows(a: Any, b: Any) -> Any:
    out = np.zeros(4)
    for r in range(4):
        for i in range(r, len(a)):
            out[r] += a[i] * b[len(a) - 1 - i]
    return out


def greatest(a: Any) -> Any:
    return np.max(a)


def least(a: Any) -> Any:
    return a.min()


SIZES = (1, 15, 16, 127, 128, 129, 191, 192, 255, 256, 1000, 100_003)


@pytest.mark.parametrize("function", [dot, extremes, chosen, rows])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_iteration_counts_once(function: Callable[..., Any], kind: type, threads: int) -> None:
    kernel = lw.kernel(function)
    with lw.options(threads=threads):
        for size in SIZES:
            rng = np.random.default_rng(size)
            # Whole numbers: sums have the same bits in any order.
            a, b = (rng.integers(-3, 4, size).astype(kind) for _ in range(2))
            np.testing.assert_array_equal(np.array(kernel(a, b)), np.array(function(a, b)))


@pytest.mark.parametrize("size", [128, 1000, 100_003])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_nan_anywhere_is_the_extreme(size: int, kind: type) -> None:
    highest, lowest = lw.kernel(greatest), lw.kernel(least)
    a = np.random.default_rng(size).normal(size=size).astype(kind)
    for place in (0, 1, size // 4 - 1, size // 4, size // 2, size - 17, size - 1):
        spoilt = a.copy()
        spoilt[place] = np.nan
        assert np.isnan(highest(spoilt)) and np.isnan(lowest(spoilt))
        spoilt[place] = np.inf
        assert highest(spoilt) == np.inf and lowest(spoilt) == a[np.arange(size) != place].min()
    assert highest(np.full(size, -np.inf, kind)) == -np.inf and lowest(np.full(size, np.inf, kind)) == np.inf


def test_minima_and_maxima_as_python_has_them() -> None:
    """A NaN that comes first stays, and one that comes later is never better."""
    kernel = lw.kernel(extremes)
    for place in (0, 5, 300, 999):
        a = np.random.default_rng(1).normal(size=1000)
        a[place] = np.nan
        np.testing.assert_array_equal(np.array(kernel(a, np.zeros(1000))), np.array(extremes(a, np.zeros(1000))))


def many(a: Any) -> Any:
    s = t = u = 0.0
    for i in range(len(a)):
        s += a[i]
        t += a[i] * a[i]
        u += a[i] * a[i] * a[i]
    return s, t, u


def accumulators(function: Callable[..., Any], *arguments: object) -> int:
    told = str(lw.kernel(function).explain(*arguments))
    return told.count("accumulators: four for each partial result")


def integers(a: Any) -> Any:
    s = 0
    for i in range(len(a)):
        s += a[i] * a[i]
    return s


def places(a: Any) -> Any:
    best, place = a[0], 0
    for i in range(len(a)):
        if a[i] > best:
            best, place = a[i], i
    return place


def test_where() -> None:
    a = np.ones(1000)
    assert accumulators(dot, a, a) == 1
    assert accumulators(integers, np.ones(1000, np.int64)) == 0  # an addition takes one cycle
    assert accumulators(greatest, np.ones(1000, np.int64)) == 1
    assert accumulators(greatest, np.ones(1000, np.int16)) == 0
    assert accumulators(places, a) == 0
    assert accumulators(many, a) == 0  # three chains overlap
    with lw.options(strict=True):
        assert accumulators(dot, a, a) == 0


def any_and_all(a: Any, flags: Any, limit: Any) -> Any:
    some = odd = False
    every = True
    for i in range(len(a)):
        some = some | (a[i] > limit)
        every = every & flags[i]
        odd = odd ^ (a[i] > 0)
    return some, every, odd


def of_arrays(a: Any, flags: Any) -> Any:
    return flags.any(), flags.all(), (a > 3).any()


@pytest.mark.parametrize("size", [0, 1, 15, 16, 33, 1000])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16])
def test_whether_any_or_all_hold(size: int, kind: type) -> None:
    """Kept in numbers as wide as what is read."""
    random = np.random.default_rng(size)
    for limit in (-100, 0, 100):
        for flags in (np.ones(size, bool), random.random(size) < 0.9):
            a = random.integers(-9, 9, size).astype(kind)
            assert lw.kernel(any_and_all)(a, flags, limit) == any_and_all(a, flags, limit)
            assert lw.kernel(of_arrays)(a, flags) == (
                flags.any(), flags.all(), (a > 3).any(),
            )  # fmt: skip

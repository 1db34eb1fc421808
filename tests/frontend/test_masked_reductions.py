"""Sums, means and extremes of what a mask chooses, against CPython: without an array of the chosen elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw

RANDOM = np.random.default_rng(16)


def total(a, b):
    return a[a > 0].sum(), np.sum(b[(a > 0) & (b < 2)])


def mean(a, b):
    return a[a > 0].mean(), np.mean(b[a > 0])


def extremes(a, b):
    return a[a > 0].max(), np.min(b[a > 0])


def number(a, b):
    m = a > 0
    return len(a[m]), len(b[m])


def rows(a, b):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        row = a[i]
        out[i] = row[row > 0].sum() + b[i][b[i] > 0].sum()
    return out


def of_integers(a, b):
    return a[b].sum(), a[b].mean(), a[b].max(), b[a > 2].sum()


def as_before(a, b):
    chosen = a[a > 0]
    return chosen.sum() + chosen.std(), a[[0, 1]].sum(), a[a[:, 0] > 0].sum()


def equal(one: Any, other: Any) -> None:
    for mine, right in zip(
        one if isinstance(one, tuple) else (one,), other if isinstance(other, tuple) else (other,), strict=True
    ):
        assert np.asarray(mine).dtype == np.asarray(right).dtype and isinstance(mine, int) == isinstance(right, int)
        np.testing.assert_allclose(mine, right, rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("function", [total, mean, extremes, number, rows, as_before])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_floats(function: Any, kind: Any) -> None:
    a, b = (RANDOM.normal(size=(6, 9)).astype(kind) for _ in range(2))
    a[2, 3] = np.nan
    b[a > 1] = np.inf if function is not total else 1.0
    equal(lw.kernel(function)(a, b), function(a, b))


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint8])
def test_integers(kind: Any) -> None:
    a, b = RANDOM.integers(0, 100, (5, 7)).astype(kind), RANDOM.random((5, 7)) > 0.5
    equal(lw.kernel(of_integers)(a, b), of_integers(a, b))


def test_no_array_is_made() -> None:
    a = np.ones((4, 5))
    for function in (total, mean, extremes):
        text = str(lw.kernel(function).explain(a, a))
        assert "local" not in text


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_nothing_is_chosen() -> None:
    a = -np.ones((4, 5))
    assert np.isnan(lw.kernel(mean)(a, a)[0]) and lw.kernel(total)(a, a) == (0.0, 0.0)
    with pytest.raises(ValueError, match=r"zero-size|no identity|empty"):
        lw.kernel(extremes)(a, a)


def test_masks_of_another_shape() -> None:
    def wrong(a, b):
        return a[b > 0].sum()

    with pytest.raises(IndexError):
        lw.kernel(wrong)(np.ones((4, 5)), np.ones((4, 6)))

"""Rows that are vectors: which kernels get a version for them, and what comes out for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw

RANDOM = np.random.default_rng(13)


def angles(r, triples, f):
    energy = 0.0
    for t in range(triples.shape[0]):
        a, b, c = triples[t, 0], triples[t, 1], triples[t, 2]
        if a in (b, c) or b == c:
            continue
        u = r[a] - r[b]
        v = r[c] - r[b]
        g = np.sum(u * v) + v[2]
        energy += g
        for d in range(3):
            f[a, d] += g * v[d]
            f[c, d] -= g * u[d]
    return energy


def rows(x, out):
    for i in range(x.shape[0]):
        y = 2.0 * x[i]
        out[i] = np.max(y)


def columns(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i, 0] + x[i, 1]


def results(function: Any, arguments: tuple[Any, ...]) -> list[Any]:
    given = [one.copy() for one in arguments]
    return [function(*given), *given]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("width", [3, 4, 7])
def test_vectors_and_longer_rows(device: Any, width: int) -> None:
    n = 30
    given = RANDOM.integers(-9, 9, (n, width)) * 1.0, RANDOM.integers(0, n, (80, 3)), np.zeros((n, width))
    wanted = results(angles, given)
    with lw.options(device=device):
        kernel = lw.kernel(angles)
        for mine, right in zip(results(kernel, given), wanted, strict=True):
            np.testing.assert_array_equal(mine, right)
        schedule = str(kernel.explain(*given).schedule)
    assert schedule.startswith("specialize r.1 3 in t;")
    if device == "emulated":
        assert "reduce t " in schedule  # all triples at once, not a launch for each


def test_rows_that_are_too_short_for_what_is_named() -> None:
    with pytest.raises(IndexError):
        lw.kernel(angles)(np.ones((5, 2)), RANDOM.integers(0, 5, (9, 3)), np.zeros((5, 3)))


@pytest.mark.parametrize("function", [rows, columns])
def test_nothing_says_how_long_they_are_or_nothing_is_made(function: Any) -> None:
    text = str(lw.kernel(function).explain(np.ones((5, 3)), np.ones(5)).schedule)
    assert "specialize x.1" not in text

"""Loops of few iterations that add up in order are not for vector registers: a load of several elements waits for the
store of one of them."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw


@lw.kernel
def recursive_filter(x, a):
    y = np.zeros_like(x)
    for n in range(len(x)):
        s = x[n]
        for k in range(1, len(a)):
            if n >= k:
                s -= a[k] * y[n - k]
        y[n] = s
    return y


@lw.kernel
def largest(x, a):
    y = np.zeros_like(x)
    for n in range(len(a), len(x)):
        s = x[n]
        for k in range(len(a)):
            s = max(s, a[k] + y[n - k - 1])
        y[n] = s
    return y


@pytest.mark.parametrize("order", [0, 1, 2, 15, 16, 17, 40])
def test_results(order: int) -> None:
    rng = np.random.default_rng(order)
    x, a = rng.normal(size=300), rng.normal(size=order) / 8
    assert np.allclose(recursive_filter(x, a), recursive_filter.py_func(x, a))
    assert np.array_equal(largest(x, a), largest.py_func(x, a))


def test_which_loops() -> None:
    """Rounded sums only: what may be done in any order is left to the compiler."""
    given = np.zeros(9), np.zeros(3)
    assert recursive_filter.specialise(*given).c_text.count("LW_ONE_BY_ONE;") == 1
    assert "LW_ONE_BY_ONE;" not in largest.specialise(*given).c_text

"""`next` of a generator expression, and `dict` of one, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw


def first_place(a, t):
    return next(i for i, x in enumerate(a) if x > t)


def with_a_default(a, t):
    return next((i for i, x in enumerate(a) if x > t), -1)


def or_none(a, t):
    found = next((k for k in range(len(a)) if a[k] > t), None)
    return -1 if found is None else found * 2


def in_loops(a, t):
    n = 0
    for k in range(len(a)):
        n += next((j for j in range(k) if a[j] > t), 100)
    return n, next((i, j) for i in range(9) for j in range(9) if i * j > t)


def caught(a, t):
    try:
        return next(i for i in range(len(a)) if a[i] > t)
    except StopIteration:
        return -5


def of_pairs(a, t):
    return dict((i, x * t) for i, x in enumerate(range(len(a)))), dict([(x, i) for i, x in enumerate((3, 4, 3))])  # noqa: C402, C404


@pytest.mark.parametrize("device", ["interpreter", "cpu", "emulated"])
@pytest.mark.parametrize("function", [first_place, with_a_default, or_none, in_loops, caught, of_pairs])
def test_like_python(function, device):
    kernel = lw.kernel(function, device=device)
    for a in (np.array([1.0, 3.0, 2.0]), np.array([np.nan, 7.0, 0.0])[::-1]):
        assert kernel(a, 1) == function(a, 1)


def test_where_there_is_none():
    for a in (np.zeros(3), np.zeros(0)):
        with pytest.raises(StopIteration):
            lw.kernel(first_place)(a, 1)
        assert lw.kernel(with_a_default)(a, 1) == -1 and lw.kernel(or_none)(a, 1) == -1
        assert lw.kernel(caught)(a, 1) == -5

"""`np.gradient` along one axis, and along all, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import same

X = np.array([0.0, 1.0, 1.5, 4.0])


def of_all(a):
    return np.gradient(a)


def with_one_step(a):
    return np.gradient(a, 0.5)


def with_steps(a):
    return np.gradient(a, 0.5, 2.0)


def with_places(a, x):
    return np.gradient(a, x, axis=1), np.gradient(a, x, 2.0)[0]


def along(a):
    return np.gradient(a, axis=0), np.gradient(a, 2.0, axis=-1)


PLANE = np.arange(16.0).reshape(4, 4) ** 2


@pytest.mark.parametrize(
    "a", [PLANE, PLANE[::-1, ::2].T, PLANE.astype(np.int64), PLANE.astype(np.float32), np.full((2, 2), np.nan)]
)
def test_planes(a):
    for function in (of_all, with_one_step, with_steps, along):
        same(function, a)


@pytest.mark.parametrize("a", [X, X[::-1], X.astype(np.uint8), np.array([np.inf, 1.0]), np.zeros(1), np.zeros(0)])
def test_lines(a):
    same(of_all, a)
    same(with_one_step, a)


def test_uneven_steps_and_three_axes():
    same(with_places, PLANE, X)
    same(of_all, np.arange(24.0).reshape(2, 3, 4) ** 2)

"""Grids of coordinates, and elements repeated along an axis."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same

GRIDS = [
    "np.mgrid[0:n, 0:m]", "np.mgrid[1:n:2, -m:m]", "np.mgrid[0:n]", "np.mgrid[n:0:-1, 0:2]", "np.mgrid[0:1:3j, 0:n]",
    "np.mgrid[0.0:1.0:0.25, 0:2]", "np.mgrid[:n, :m] * 2", "np.mgrid[0:n, 0:m][1]",
    "np.mgrid[0:2, 0:n, 0:m].sum(axis=0)",
    "np.ogrid[0:n, 0:m][0] + 10 * np.ogrid[0:n, 0:m][1]", "np.mgrid[0:n, 0:m].shape",
]  # fmt: skip


@pytest.mark.parametrize("text", GRIDS)
def test_grids(text):
    function = define(f"def f(n, m):\n    return {text}\n")
    for n, m in ((3, 4), (1, 1), (0, 2)):
        same(function, n, m)


def test_a_grid_is_unpacked():
    same(define("def f(n, m):\n    i, j = np.mgrid[0:n, 0:m]\n    i[0] = 7\n    return i, j, i * j\n"), 3, 2)


@pytest.mark.parametrize("indexing", ["", ', indexing="ij"', ', indexing="xy"'])
def test_meshgrid(indexing):
    function = define(
        f"def f(x, y):\n    a, b = np.meshgrid(x, y * 2{indexing})\n    a[0, 0] = 9\n"
        f"    return a, b, np.meshgrid(x, y, x{indexing})[2]\n"
    )
    same(function, np.arange(3), np.array([0.5, 1.5]))


def test_repeated_along_an_axis():
    function = define(
        "def f(a, n):\n"
        "    some = np.repeat(a[:, :1], 3, axis=1), np.repeat(a[0], n), np.repeat(a[0], n, axis=None)\n"
        "    return np.repeat(a, n, axis=0), np.repeat(a, 2, axis=1), a.repeat(n, axis=-1), some\n"
    )
    for n in (0, 1, 3):
        same(function, np.arange(6.0).reshape(2, 3), n)
        same(function, np.arange(6).reshape(3, 2).T, n)
    assert same(function, np.ones((2, 2)), -1) is ValueError


def test_refused():
    assert "a grid is made of slices" in refusal(define("def f(n):\n    return np.mgrid[n]\n"), 3)
    assert "a grid needs its bounds" in refusal(define("def f(n):\n    return np.mgrid[0:, 0:n]\n"), 3)
    assert "must be known" in refusal(define("def f(n):\n    return np.mgrid[0:1:1j * n]\n"), 3)
    assert "takes arrays of one axis" in refusal(
        define("def f(a):\n    return np.meshgrid(a, a)[0]\n"), np.ones((2, 2))
    )

"""Grids of loops whose iterations hold several others, and of windows that move by a step only a call tells."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw


@lw.kernel
def ranks_in_tiles(image, tile, o):
    for i in range(image.shape[0] // tile):
        for j in range(image.shape[1] // tile):
            count = np.zeros(9, np.int64)
            for u in range(tile):
                for v in range(tile):
                    count[image[i * tile + u, j * tile + v]] += 1
            for u in range(tile):
                for v in range(tile):
                    o[i * tile + u, j * tile + v] = count[image[i * tile + u, j * tile + v]]


@pytest.mark.parametrize("tile", [4, 1, 40])
def test_two_outer_loops_have_a_grid_whatever_stands_in_them(tile: int) -> None:
    image = np.arange(12 * 18).reshape(12, 18) % 9
    mine, right = np.zeros((12, 18), np.int64), np.zeros((12, 18), np.int64)
    with lw.options(device="emulated"):
        ranks_in_tiles(image, tile, mine)
        schedule = str(ranks_in_tiles.explain(image, tile, mine).schedule)
        with pytest.raises(IndexError):
            ranks_in_tiles(image, 2, np.zeros((12, 9), np.int64))
    ranks_in_tiles.py_func(image, tile, right)
    np.testing.assert_array_equal(mine, right)
    assert "thread.y" in schedule and "bind j thread.x" in schedule


@lw.kernel
def pooled(x, size, stride, o):
    for i in range(o.shape[0]):
        for j in range(o.shape[1]):
            s = 0.0
            for u in range(size):
                for v in range(size):
                    s += x[i * stride + u, j * stride + v]
            o[i, j] = s


@pytest.mark.parametrize(("size", "stride"), [(3, 2), (2, 2), (7, 1), (1, 5), (2, -1)])
def test_windows_have_a_thread_each_however_far_they_move(size: int, stride: int) -> None:
    x = np.arange(70.0 * 66).reshape(70, 66)
    mine, right = np.zeros((12, 9)), np.zeros((12, 9))
    with lw.options(device="emulated"):
        pooled(x, size, stride, mine)
        explained = pooled.explain(x, size, stride, mine)
    pooled.py_func(x, size, stride, right)
    np.testing.assert_array_equal(mine, right)
    assert "thread.y; bind j thread.x" in str(explained.schedule)  # also where a negative index fails the condition

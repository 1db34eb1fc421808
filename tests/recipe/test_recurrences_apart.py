from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw


def found_by_halving(x, grid, out):
    area = 0.0
    for g in range(grid.shape[0]):
        lo = 0
        hi = x.shape[0]
        while lo < hi:
            mid = (lo + hi) // 2
            if x[mid] < grid[g]:
                lo = mid + 1
            else:
                hi = mid
        out[g] = lo
        if g > 0:
            area += out[g] + out[g - 1]
    return area


def handed_on_first(x, grid, out):
    seed = 7.0
    for g in range(grid.shape[0]):
        seed = 0.5 * seed + grid[g]
        s = 0.0
        for k in range(x.shape[0]):
            s += abs(x[k] - seed)
        out[g] = s
    return seed


def told_by_the_last(x, grid, out):
    s = 0.0
    for g in range(grid.shape[0]):
        for k in range(x.shape[0]):
            s = s * 0.5 + x[k]
        out[g] = s + grid[g]
    return s


@pytest.mark.parametrize(("function", "is_apart"), [(found_by_halving, True), (told_by_the_last, False)])
def test_inner_loops_that_wait_for_nothing_are_apart(function: Any, is_apart: bool) -> None:
    x, grid = np.arange(9.0), np.array([3.5, 0.0, 8.0, 5.0, 20.0])
    wanted, given = np.zeros(5), np.zeros(5)
    kernel = lw.kernel(device="emulated")(function)
    assert kernel(x, grid, given) == pytest.approx(function(x, grid, wanted))
    assert np.allclose(wanted, given)
    assert ("fission g 5 kept" in str(kernel.explain(x, grid, given).schedule)) is is_apart


def test_what_is_handed_on_before_the_inner_loops() -> None:
    x, grid = np.arange(9.0), np.array([3.5, 0.0, 8.0, 5.0, 20.0])
    wanted, given = np.zeros(5), np.zeros(5)
    kernel = lw.kernel(device="emulated")(handed_on_first)
    assert kernel(x, grid, given) == pytest.approx(handed_on_first(x, grid, wanted))
    assert np.allclose(wanted, given)


def slices_of_lanes(pointer, value, x, order, y):
    for s in range(pointer.shape[0] - 1):
        width = (pointer[s + 1] - pointer[s]) // 4
        for lane in range(4):
            total = 0.0
            for k in range(width):
                total += value[pointer[s] + k * 4 + lane] * x[k]
            y[order[s * 4 + lane]] = total


@pytest.mark.parametrize("order", [[3, 1, 0, 2, 7, 6, 5, 4], [1, 1, 5, 0, 1, 5, -1, 2]])
def test_a_scatter_in_several_loops_is_apart_from_all_of_them(order: list[int]) -> None:
    given = np.array([0, 12, 20]), np.arange(20.0), np.arange(1.0, 4.0), np.array(order)
    wanted, found = np.full(8, -1.0), np.full(8, -1.0)
    slices_of_lanes(*given, wanted)
    kernel = lw.kernel(device="emulated")(slices_of_lanes)
    kernel(*given, found)
    assert np.array_equal(wanted, found)
    schedule = str(kernel.explain(*given, found).schedule)
    assert "fission lane 3; fission s 3; collapse s.1 lane.1; resolve s.1.lane.1" in schedule
    assert "bind s thread.x 32" in schedule


def test_an_index_outside_a_scatter_in_several_loops() -> None:
    given = np.array([0, 12, 20]), np.arange(20.0), np.arange(1.0, 4.0), np.array([0, 1, 2, 3, 4, 8, 6, 7])
    with pytest.raises(IndexError):
        lw.kernel(device="emulated")(slices_of_lanes)(*given, np.zeros(8))

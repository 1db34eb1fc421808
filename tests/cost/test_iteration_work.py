"""How much work iterations are is what counting them says, and parts of as much work each are found by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.compiler import Analysed
from loopwright.cost.iteration_work import UnevenWork, iteration_work
from loopwright.placement.split import equal_parts


@lw.kernel
def lower(a, first, last):
    for i in range(max(0, first), min(a.shape[0], last)):
        for j in range(i + 1):
            a[i, j] = 1.0


@lw.kernel
def upper(a, first, last):
    for i in range(max(0, first), min(a.shape[0], last)):
        for j in range(i, a.shape[1]):
            a[i, j] = 1.0


@lw.kernel
def pyramid(a, first, last):
    for i in range(max(0, first), min(a.shape[0], last)):
        for j in range(i + 1):
            for _ in range(j):
                a[i, j] += 1.0


@lw.kernel
def band(a, first, last):
    for i in range(max(0, first), min(a.shape[0], last)):
        for j in range(max(0, i - 40), i + 1):
            a[i, j] = 1.0


@lw.kernel
def even(a, first, last):
    for i in range(max(0, first), min(a.shape[0], last)):
        for j in range(a.shape[1]):
            a[i, j] = 1.0


@lw.kernel
def by_data(a, starts, first, last):
    for i in range(max(0, first), min(a.shape[0], last)):
        for j in range(starts[i], starts[i + 1]):
            a[i, j] = 1.0


def work_of(kernel: Any, size: int, *more: Any) -> UnevenWork | None:
    arguments = np.zeros((size, size)), *more, 0, size
    found: Analysed = kernel._dispatch.prepare(arguments, {}).compiled.analysed
    first = len(arguments) - 2
    return iteration_work(found.written, {"s0_0": size, "s0_1": size}, (f"v{first}", f"v{first + 1}"), range(size))


COUNTED = {
    "lower": (lower, lambda i, n: i + 1),
    "upper": (upper, lambda i, n: n - i),
    "pyramid": (pyramid, lambda i, n: i * (i + 1) // 2),
    "band": (band, lambda i, n: min(i, 40) + 1),
}


@pytest.mark.parametrize("size", [7, 200, 5000])
@pytest.mark.parametrize("name", COUNTED)
def test_parts_of_as_much_work(name: str, size: int) -> None:
    kernel, times = COUNTED[name]
    counted = np.array([times(i, size) for i in range(size)], dtype=float)
    found = work_of(kernel, size)
    if name == "band" and size == 7:
        assert found is not None, "a triangle, as far as it goes"
    assert found is not None
    parts = equal_parts(range(size), found, 1, 4)
    assert [i for part in parts for i in part] == list(range(size))
    shares = np.array([counted[part.start : part.stop].sum() for part in parts]) / counted.sum()
    assert np.abs(shares - 0.25).max() <= max(0.01, counted.max() / counted.sum())


@pytest.mark.parametrize("size", [1, 2, 3, 300])
def test_work_adds_up(size: int) -> None:
    found = work_of(lower, size)
    if size == 1:
        assert found is None
        return
    assert found is not None
    for cut in range(size + 1):
        both = found(range(cut)) + found(range(cut, size))
        assert both == pytest.approx(found(range(size))) and found(range(cut, cut)) == 0


def test_iterations_that_are_alike_need_no_count() -> None:
    assert work_of(even, 100) is None


def test_what_only_data_tells_is_not_counted() -> None:
    assert work_of(by_data, 100, np.arange(101)) is None


def test_a_part_that_begins_elsewhere() -> None:
    found = UnevenWork.of(10, [0, 4], [1.0, 5.0])
    assert found(range(10, 14)) == 12 and found(range(10, 12)) == 4 and found(range(12, 14)) == 8

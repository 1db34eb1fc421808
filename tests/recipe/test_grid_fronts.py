from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.recipe import grid_fronts
from loopwright.recipe.grid_fronts import tiles_of_fronts
from recipe.planning import plan_of


def longest_common(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])


def edit_distance(a, b, t):
    for i in range(t.shape[0]):
        t[i, 0] = i
    for j in range(t.shape[1]):
        t[0, j] = j
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            t[i, j] = min(t[i - 1, j] + 1, t[i, j - 1] + 1, t[i - 1, j - 1] + cost)


def local_alignment(a, b, t):
    """From the end to the beginning."""
    for i in range(t.shape[0] - 2, -1, -1):
        for j in range(t.shape[1] - 2, -1, -1):
            gain = 2 if a[i] == b[j] else -1
            t[i, j] = max(0, t[i + 1, j + 1] + gain, t[i + 1, j] - 1, t[i, j + 1] - 1)


def integral(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            t[i, j] = a[i - 1] * b[j - 1] + t[i - 1, j] + t[i, j - 1] - t[i - 1, j - 1]


def in_place(a, b, t):
    for i in range(1, t.shape[0] - 1):
        for j in range(1, t.shape[1] - 1):
            t[i, j] = (t[i - 1, j] + t[i + 1, j] - t[i, j - 1] + t[i, j + 1] - a[i] - b[j]) % 7


def own_table(a, b, t):
    """The table is the function's own."""
    d = np.zeros((t.shape[0], t.shape[1]))
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            d[i, j] = abs(a[i - 1] - b[j - 1]) + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            t[i, j] = int(d[i, j])


def in_a_band(a, b, t):
    """With a value of its own in each iteration, and bounds that are a band's."""
    for i in range(1, t.shape[0]):
        for j in range(max(1, i - 20), min(t.shape[1] - 1, i + 20) + 1):
            cost = abs(a[i - 1] - b[j - 1])
            t[i, j] = cost + min(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1])


PROGRAMS = [longest_common, edit_distance, integral, in_place, own_table, in_a_band]
SIZES = ((69, 91), (0, 0), (1, 5), (2, 2), (33, 33), (31, 100), (100, 3))


def _on_gpu(function: Callable[..., object], n: int, m: int) -> str:
    draw = np.random.default_rng(n)
    arrays = [draw.integers(0, 3, n), draw.integers(0, 3, m), draw.integers(0, 5, (n, m))]
    wanted = [one.copy() for one in arrays]
    function(*wanted)
    kernel: Any = lw.kernel(function)
    with lw.options(device="emulated"):
        kernel(*arrays)
        schedule = str(kernel.explain(*arrays).schedule)
    for got, expected in zip(arrays, wanted, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert not kernel.specialisations()[0].why_not_gpu
    return schedule


@pytest.mark.parametrize("function", PROGRAMS)
def test_fronts_run_in_tiles(function: Callable[..., object]) -> None:
    """Threads of a block go from front to front in a tile, whatever is left at the edges."""
    for n, m in SIZES:
        schedule = _on_gpu(function, n, m)
        assert "tile 32 wavefront" in schedule and "; hold " not in schedule  # caches are faster, measured


def test_tiles_may_be_in_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_fronts, "HELD", replace(grid_fronts.HELD, default=1))
    partial = plan_of(_loops("a[i, j] = a[i, j - 1] + a[i - 1, j]"))
    (bound,) = tiles_of_fronts(partial)
    steps = [str(one.step) for one in partial.decisions]
    assert any(step.startswith("hold a ") for step in steps) and len(bound) > 2


def test_loops_that_count_down_are_right() -> None:
    for n, m in SIZES:
        _on_gpu(local_alignment, n, m)


def _loops(inner: str) -> str:
    return f"""
kernel loops(a: float64[2] C):
    for i in 1 .. size(a, 0):
        for j in 1 .. size(a, 1):
            {inner}
"""


@pytest.mark.parametrize(
    "text",
    [
        _loops("a[i, j] = a[i - 1, j] + 1.0"),  # columns are free
        _loops("a[i, j] = a[i, j] + 1.0"),
        _loops("for k in 0 .. j:\n                a[i, j] = a[i, j] + a[i - 1, k] * a[i, k]"),
        _loops("a[i, j] = a[i, j - 1] + a[i - 1, j]").replace("1 .. size(a, 1)", "1 .. 20"),
    ],
)
def test_other_loops_stay(text: str) -> None:
    """A thread for each column, or many for each element, is more than a tile has."""
    partial = plan_of(text)
    assert tiles_of_fronts(partial) == [] and partial.decisions == []

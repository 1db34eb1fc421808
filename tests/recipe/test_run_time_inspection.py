"""Loops over ranges that arrays tell, by the default recipe, on threads and on the emulated GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw

DRAW = np.random.default_rng(11)


def normalised(p, x, out):
    for i in range(len(p) - 1):
        s = 0.0
        for k in range(p[i], p[i + 1]):
            s += x[k]
        for k in range(p[i], p[i + 1]):
            out[k] = x[k] / s


def crowded(starts, q, out):
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            s = 0.0
            for d in range(-1, 2):
                if 0 <= c + d < len(starts) - 1:
                    for j in range(starts[c + d], starts[c + d + 1]):
                        s += abs(q[i] - q[j])
            out[i] = s


def spread(start, count, out):
    for i in range(len(count)):
        for k in range(start[i], start[i] + count[i]):
            out[k] = 2.0 * out[k] + i


def ends(kind: str, dtype: Any = np.int64) -> np.ndarray:
    """Where rows end. Those that meet are such that the order of rows matters."""
    found = np.concatenate([[0], np.cumsum(DRAW.integers(0, 7, 50))]).astype(dtype)
    if kind == "meeting":
        found[7], found[8] = found[8] + 3, found[7]
    return found[:1] if kind == "none" else found - 9 if kind == "negative" else found


def check(function: Callable[..., object], arguments: tuple[np.ndarray, ...], device: str) -> Any:
    wanted = [one.copy() for one in arguments]
    function(*wanted)
    kernel = lw.kernel(device=device, threads=2)(function)
    given: Any = [one.copy() for one in arguments]
    if device == "emulated":
        with lw.options(device=device):
            given = [lw.device_array(one) for one in given]
    kernel(*given)
    for mine, right in zip(given, wanted, strict=True):
        np.testing.assert_allclose(mine if device == "cpu" else mine.numpy(), right, rtol=1e-12)
    return kernel.explain(*given)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_rows_are_shared_where_they_do_not_meet_and_in_order_where_they_do(device: str) -> None:
    for kind in ("apart", "meeting", "negative", "none"):
        p = ends(kind)
        size = 400
        found = check(normalised, (p, DRAW.random(size) + 0.1, np.zeros(size)), device)
        assert str(found.schedule).startswith("inspect i")
    assert ("bind i.o block.x" if device == "emulated" else "parallelize i;") in str(found.schedule) + ";"
    assert "one thread would run" not in str(found)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_lists_of_cells_around(device: str) -> None:
    for kind in ("apart", "meeting"):
        p = ends(kind, np.int32)
        found = check(crowded, (p, DRAW.random(400), np.zeros(400)), device)
    assert ("flatten c i;" if device == "emulated" else "parallelize c;") in str(found.schedule) + ";"


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_ranges_that_begin_somewhere(device: str) -> None:
    p = ends("apart")
    for count in (np.diff(p), np.diff(p) + 1, -np.diff(p)):
        check(spread, (p[:-1].copy(), count, np.ones(400)), device)


def test_an_index_outside_is_reported() -> None:
    p = ends("apart")
    p[-1] += 1000
    with pytest.raises(IndexError, match="out"):
        lw.kernel(threads=2)(spread)(p[:-1].copy(), np.diff(p), np.ones(400))


def previous(p, x, out):
    for i in range(len(p)):
        if i > 0:
            for k in range(p[i - 1], p[i]):
                out[k] = 2.0 * x[k]


def test_ends_that_are_read_under_a_condition_are_not_read_before() -> None:
    """There is no p[-1], whatever lies in memory there."""
    found = check(previous, (ends("apart"), DRAW.random(400), np.zeros(400)), "cpu")
    assert "inspect" not in str(found.schedule)

"""Updates of one element by all iterations of a loop inside a thread: which become one, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree


def rows(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[key[i]] += x[i, j]


def backwards(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - 1, -1, -1):
            out[key[i]] += x[i, j]


def extremes(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[key[i]] = max(out[key[i]], x[i, j])


def bits(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[key[i]] ^= x[i, j] + j


def two_of_one_array(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[key[i]] += x[i, j]
            out[key[i] + 1] += 1


def under_a_condition(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                out[key[i]] += x[i, j]


def moved(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[(key[i] + j) % 7] += x[i, j]


def left_early(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] == 3:
                break
            out[key[i]] += x[i, j]


def changed_end(key, x, out):
    for i in range(x.shape[0]):
        for j in range(x[i, 0]):
            out[key[i]] += 2
            x[i, 0] = j * 0


A_THREAD_EACH = "split i 32; bind i.o block.x; bind i thread.x 32"


def updates_of(found: Any) -> list[str]:
    return [line for line in found.ready.program.device.text.splitlines() if "lw_value =" in line]


@pytest.mark.parametrize("function", [rows, backwards, extremes, bits, two_of_one_array])
@pytest.mark.parametrize("columns", [0, 1, 5])
def test_what_a_loop_does_to_one_element_is_one_update(function: Callable[..., object], columns: int) -> None:
    draw = np.random.default_rng(columns)
    given = draw.integers(0, 7, 40), draw.integers(-9, 9, (40, columns)), draw.integers(0, 3, 9)
    updates = updates_of(agree(function, *given, schedule=A_THREAD_EACH, strict=False))
    assert updates and all("lw_value = vlw_sum" in one for one in updates)


@pytest.mark.parametrize("function", [under_a_condition, moved, left_early, changed_end])
def test_others_are_updated_each_time(function: Callable[..., object]) -> None:
    draw = np.random.default_rng(3)
    given = draw.integers(0, 7, 40), draw.integers(-9, 9, (40, 5)), np.zeros(9, np.int64)
    assert not any(
        "vlw_sum" in one for one in updates_of(agree(function, *given, schedule=A_THREAD_EACH, strict=False))
    )


def test_sums_keep_zeros_and_what_is_no_number() -> None:
    x = np.array([[-0.0, -0.0], [np.nan, 1.0], [np.inf, 2.0], [0.5, 0.25]])
    agree(rows, np.arange(4), x, np.full(9, -0.0), schedule=A_THREAD_EACH, strict=False)
    agree(rows, np.arange(4), x[:, :0], np.full(9, -0.0), schedule=A_THREAD_EACH, strict=False)


@pytest.mark.parametrize("columns", [0, 2])
def test_a_wrong_index_is_told_where_there_is_anything_to_add(columns: int) -> None:
    key, x, out = np.array([0, 17]), np.zeros((2, columns)), np.zeros(9)
    with lw.options(device="emulated", schedule=A_THREAD_EACH):
        if columns:
            with pytest.raises(lw.BoundsError, match="index 17 is out of bounds"):
                lw.kernel(rows)(key, x, out)
        else:
            lw.kernel(rows)(key, x, out)
    assert not out.any()

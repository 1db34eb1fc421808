"""Histograms and sums by key on a GPU: atomic updates, and copies in shared memory, by schedules given as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text, outcome

RANDOM = np.random.default_rng(8)


def count(keys, h):
    for i in range(keys.shape[0]):
        h[keys[i]] += 1


def sums(keys, values, h):
    for i in range(keys.shape[0]):
        h[keys[i]] -= values[i]


def least(keys, values, h):
    for i in range(keys.shape[0]):
        h[keys[i]] = min(h[keys[i]], values[i])


def table(a, b, h):
    for i in range(a.shape[0]):
        h[a[i], b[i]] += 2


ATOMICS = "split i 64; bind i.o block.x; bind i thread.x"
COPIES = "split i 512; bind i.o block.x; bind i thread.x 32"
BOTH = pytest.mark.parametrize("schedule", [ATOMICS, COPIES])


@BOTH
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 700, 2000])
def test_counts(size: int, dtype: Any, schedule: str) -> None:
    keys = RANDOM.integers(0, 40, size)
    found = agree(count, keys, np.full(40, 3, dtype), schedule=schedule, strict=False)
    assert ("lw_copy" in device_text(found)) == (schedule == COPIES)


@BOTH
@pytest.mark.parametrize("bins", [1, 4096, 5000, 20000])
def test_more_bins_than_a_copy_has_room_for(bins: int, schedule: str) -> None:
    agree(count, RANDOM.integers(0, bins, 3000), np.zeros(bins, np.int64), schedule=schedule)


@BOTH
def test_sums_and_least_values(schedule: str) -> None:
    keys = RANDOM.integers(0, 9, 1500)
    agree(sums, keys, RANDOM.integers(-9, 9, 1500).astype(float), np.ones(9), schedule=schedule, strict=False)
    agree(least, keys, RANDOM.integers(-9, 9, 1500), np.full(9, 5), schedule=schedule)


@BOTH
@pytest.mark.parametrize("order", ["C", "F"])
def test_two_axes(schedule: str, order: Any) -> None:
    h = np.zeros((7, 5), np.int32, order=order)
    agree(table, RANDOM.integers(0, 7, 1100), RANDOM.integers(0, 5, 1100), h, schedule=schedule)


@BOTH
def test_a_view_with_gaps(schedule: str) -> None:
    agree(count, RANDOM.integers(0, 40, 1500), lambda: np.zeros(120, np.int64)[::3], schedule=schedule)


@BOTH
def test_a_key_that_is_wrong(schedule: str) -> None:
    keys = RANDOM.integers(0, 40, 1500)
    keys[777] = 41
    with lw.options(device="emulated", schedule=schedule):
        _, _, error = outcome(lw.kernel(count), [keys, np.zeros(40, np.int64)])
    assert isinstance(error, lw.BoundsError)
    assert "index 41 is out of bounds for axis 0 of 'h' with size 40" in str(error)


@BOTH
def test_negative_keys_count_from_the_end(schedule: str) -> None:
    agree(count, RANDOM.integers(-40, 40, 1500), np.zeros(40, np.int64), schedule=schedule)


def by_rows(keys, h):
    for r in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            h[keys[r, i]] += 1


def test_a_copy_is_empty_again_for_the_next_round_of_a_block() -> None:
    keys = RANDOM.integers(0, 40, (9, 600))
    found = agree(by_rows, keys, np.zeros(40, np.int64), schedule="split i 512; bind i thread.x 32")
    assert "lw_copy" in device_text(found)

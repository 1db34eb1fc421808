"""Histograms and sums by key on a GPU: atomic updates, and copies in shared memory, by schedules given as text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text, outcome
from loopwright.codegen import grid

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


def least_where(keys, values, h):
    for i in range(keys.shape[0]):
        if values[i] < h[keys[i]]:
            h[keys[i]] = values[i]


def greatest_where(keys, values, h):
    for i in range(keys.shape[0]):
        v = values[i] + 1
        if h[keys[i]] <= v:
            h[keys[i]] = v


def table(a, b, h):
    for i in range(a.shape[0]):
        h[a[i], b[i]] += 2


ATOMICS = "split i 64; bind i.o block.x; bind i thread.x"
COPIES = "split i 512; bind i.o block.x; bind i thread.x 32"
BOTH = pytest.mark.parametrize("schedule", [ATOMICS, COPIES])


def bits(keys, values, x, o, a):
    for i in range(keys.shape[0]):
        x[keys[i]] ^= values[i]
        o[keys[i]] |= values[i]
        a[keys[i]] &= values[i]


@BOTH
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_bits(dtype: Any, schedule: str) -> None:
    keys = RANDOM.integers(0, 40, 900)
    values = RANDOM.integers(-(2**40), 2**40, 900).astype(dtype)
    x, o = np.full((2, 40), 3, dtype)
    found = agree(bits, keys, values, x, o, np.full(40, 3, dtype) - dtype(4), schedule=schedule)
    assert "atomicXor" in device_text(found) and "atomicAnd" in device_text(found)


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
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_extremes_of_elements_whichever_way_they_are_written(schedule: str, dtype: Any) -> None:
    keys, values = RANDOM.integers(0, 9, 1500), RANDOM.integers(-900, 900, 1500).astype(dtype)
    start = np.full(9, 5, dtype)
    if dtype in (np.float32, np.float64):
        values[::7], values[::11], start[3], start[4] = np.nan, np.inf, np.nan, -np.inf
    for function in (least, least_where, greatest_where):
        found = agree(function, keys, values, start, schedule=schedule)
        assert "atomicM" in device_text(found)


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


# ---- ahead, in 32 bits, and from part to part ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64])
def test_keys_of_every_width(dtype: Any) -> None:
    keys = RANDOM.integers(0 if np.dtype(dtype).kind == "u" else -40, 40, 1500).astype(dtype)
    agree(count, keys, np.zeros(40, np.int64), schedule=COPIES)
    for wrong in {40, 127, int(np.iinfo(dtype).max)}:
        keys[1234] = wrong
        with lw.options(device="emulated", schedule=COPIES):
            _, _, error = outcome(lw.kernel(count), [keys, np.zeros(40, np.int64)])
        assert isinstance(error, lw.BoundsError) and f"index {wrong} is out of bounds" in str(error)


def fewer(keys, h):
    for i in range(keys.shape[0]):
        h[keys[i]] -= 1


def by_millions(keys, h):
    for i in range(keys.shape[0]):
        h[keys[i]] += 2097152


def by_more(keys, h):
    for i in range(keys.shape[0]):
        h[keys[i]] += 1099511627776


@pytest.mark.parametrize(
    ("function", "small"), [(count, True), (fewer, True), (by_millions, True), (by_more, False), (least, False)]
)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_what_a_block_surely_counts_in_32_bits(function: Any, small: bool, dtype: Any) -> None:
    keys = RANDOM.integers(0, 40, 1500)
    more = [RANDOM.integers(0, 9, 1500).astype(dtype)] if function is least else []
    found = agree(function, keys, *more, np.full(40, 7, dtype), schedule=COPIES)
    assert ("LW_SHARED(int32_t, lw_copy" in device_text(found)) == small


@pytest.mark.parametrize("function", [count, by_millions, by_more])
def test_blocks_go_on_from_part_to_part(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of parts that together would not stay within 32 bits, each has a block of its own: 4 * 512 * 2^21 is 2^32."""
    monkeypatch.setattr(grid, "PARTED", 1)
    found = agree(function, np.zeros(4 * 512 + 100, np.int64), np.zeros(3, np.int64), schedule=COPIES)
    assert "lw_part += (int64_t)gridDim.x" in device_text(found)


def two_ways(keys, c, h):
    for i in range(keys.shape[0]):
        c[i] = keys[i] // 2
        h[c[i]] += 1


def where_there_is_one(position, keys, h):
    for i in range(position.shape[0]):
        h[keys[position[i]] if position[i] < keys.shape[0] else 0] += 1


@BOTH
def test_what_may_not_be_looked_up_ahead(schedule: str) -> None:
    """An element that the iteration writes before it reads it; and one that is read on a condition."""
    agree(two_ways, RANDOM.integers(0, 40, 1500), np.zeros(1500, np.int64), np.zeros(20, np.int64), schedule=schedule)
    agree(where_there_is_one, RANDOM.integers(0, 90, 1500), RANDOM.integers(0, 9, 50), np.zeros(9, np.int32),
          schedule=schedule)  # fmt: skip


def test_updates_that_take_attempts_have_copies_for_the_threads_of_a_warp() -> None:
    keys, values = RANDOM.integers(0, 9, 1500), RANDOM.integers(-9, 9, 1500)
    several = agree(sums, keys, values.astype(float), np.ones(9), schedule=COPIES, strict=False)
    one = agree(sums, keys, values.astype(np.int32), np.ones(9, np.int32), schedule=COPIES)
    assert "lw_shift" in device_text(several) and "lw_shift" not in device_text(one)


def scaled_sums(a, k, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] *= 2
        for c in range(a.shape[0]):
            for j in range(b.shape[1]):
                b[i, j] += a[c, i] * k[c, j]


@pytest.mark.parametrize("n", [1, 5, 40])
def test_elements_are_scaled_before_several_threads_add_to_them(n: int) -> None:
    a, k, b = (np.random.default_rng(n).integers(-9, 9, shape) for shape in ((7, 3), (7, n), (3, n)))
    agree(scaled_sums, a, k, b, schedule="bind i block.x; bind j thread.x 32; bind c thread.x 32")
    agree(scaled_sums, a, k, b, schedule="bind i block.x; bind c thread.x 32")


def counts_of_rows(keys, h):
    for i in range(h.shape[0]):
        for j in range(h.shape[1]):
            h[i, j] = 0
        for c in range(keys.shape[1]):
            h[i, keys[i, c]] += 1


@pytest.mark.parametrize("n", [1, 5, 40])
def test_elements_are_emptied_before_several_threads_add_to_them(n: int) -> None:
    keys = np.random.default_rng(n).integers(0, n, (3, 900))
    h = np.full((3, n), 7)
    agree(counts_of_rows, keys, h, schedule="bind i block.x; bind j thread.x 32; bind c thread.x 32")


def sums_and_counts(keys, values, total, number, best):
    for i in range(keys.shape[0]):
        total[keys[i]] += values[i]
        number[keys[i]] += 1
        if values[i] < best[keys[i]]:
            best[keys[i]] = values[i]


@BOTH
@pytest.mark.parametrize("bins", [1, 31, 3000, 20000])
def test_a_block_has_copies_of_several_arrays(bins: int, schedule: str) -> None:
    keys, values = RANDOM.integers(0, bins, 3000), RANDOM.integers(-9, 9, 3000).astype(float)
    found = agree(sums_and_counts, keys, values, np.ones(bins), np.zeros(bins, np.int32), np.full(bins, 3.0),
                  schedule=schedule, strict=False)  # fmt: skip
    assert device_text(found).count("LW_SHARED(") == 3 * (schedule == COPIES)


def test_arrays_that_are_updated_together_have_room_for_equal_numbers_of_elements() -> None:
    keys, values = RANDOM.integers(0, 2600, 3000), RANDOM.integers(-9, 9, 3000).astype(float)
    targets = np.ones(2600), np.zeros(2600, np.int32), np.full(2600, 3.0)
    found = agree(sums_and_counts, keys, values, *targets, schedule=COPIES, strict=False)
    rooms = [int(one) for one in re.findall(r"LW_SHARED\(\w+, lw_copy\d*, (\d+)\)", device_text(found))]
    assert len(rooms) == 3 and max(rooms) - min(rooms) < 4


# ---- elements that no iteration moves --------------------------------------------------------------------------------


def counts_and_their_sum(keys, h):
    last = h.shape[0] - 1
    for i in range(keys.shape[0]):
        h[keys[i]] += 1
        h[last] += 1


def rolled_up(row, column, values, total, number):
    rows = total.shape[0] - 1
    columns = total.shape[1] - 1
    for i in range(values.shape[0]):
        if values[i] == 3:
            continue
        for r in (row[i], rows):
            for c in (column[i], columns):
                total[r, c] += values[i]
                number[r, c] += 1


def what_does_not_fit(values, h):
    n = h.shape[0] - 2
    for i in range(values.shape[0]):
        if values[i] < 0:
            h[n] += 1
        elif values[i] >= n:
            h[n + 1] -= values[i]
        else:
            h[values[i]] += 1


def moved_by_what_is_computed(keys, h):
    last = h.shape[0] - 1
    at = last
    for i in range(keys.shape[0]):
        at = last - (i & 1)
        h[keys[i]] += 1
        h[at] += 1


def greatest_and_all_bits(keys, values, h, b):
    for i in range(keys.shape[0]):
        h[keys[i]] = max(h[keys[i]], values[i])
        h[0] = max(h[0], values[i])
        b[keys[i]] ^= values[i]
        b[0] ^= values[i]


@BOTH
@pytest.mark.parametrize("size", [0, 1, 31, 700, 2000])
def test_an_element_that_no_iteration_moves_is_added_up_in_a_scalar(size: int, schedule: str) -> None:
    keys = RANDOM.integers(0, 40, size)
    for dtype in (np.int32, np.uint64, np.int64):
        assert "vlw_held" in device_text(agree(counts_and_their_sum, keys, np.full(41, 3, dtype), schedule=schedule))
    found = agree(what_does_not_fit, RANDOM.integers(-9, 60, size), np.zeros(42, np.int64), schedule=schedule)
    assert "vlw_held" in device_text(found)
    values = RANDOM.integers(-(2**40), 2**40, size)
    start = np.full(40, -(2**39))
    found = agree(greatest_and_all_bits, keys, values, start, np.arange(40), schedule=schedule)
    assert "vlw_held" in device_text(found)


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_totals_beside_totals_by_key(dtype: Any, schedule: str) -> None:
    for size in (0, 1, 700, 2000):
        row, column = RANDOM.integers(0, 9, size), RANDOM.integers(0, 6, size)
        values = RANDOM.integers(-9, 9, size).astype(dtype)
        values[500:501] = np.nan
        for rows in (9, 20_000):  # which a block has room for, or not
            arrays = np.zeros((rows + 1, 7), dtype), np.zeros((rows + 1, 7), np.int64)
            found = agree(rolled_up, row, column, values, *arrays, schedule=schedule, strict=False)
            assert "vlw_held" in device_text(found)


@BOTH
def test_where_the_index_is_computed_the_element_is_another_one_each_time(schedule: str) -> None:
    found = agree(moved_by_what_is_computed, RANDOM.integers(0, 40, 1500), np.zeros(41, np.int64), schedule=schedule)
    assert "vlw_held" not in device_text(found)


def test_threads_that_still_read_what_they_had_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """From part to part, and from round to round."""
    monkeypatch.setattr(grid, "PARTED", 1)
    keys = RANDOM.integers(0, 40, 6 * 2048)
    found = agree(
        counts_and_their_sum,
        keys,
        np.zeros(41, np.int64),
        schedule="split i 2048; bind i.o block.x; bind i thread.x 128",
    )
    text = device_text(found)
    assert "lw_part += (int64_t)gridDim.x" in text
    assert re.search(r"__syncthreads\(\);\s+vlw_other\d+_ = ", text)  # before the first thing that is put together


def test_a_key_that_is_wrong_beside_an_element_that_is_right() -> None:
    keys = RANDOM.integers(0, 40, 1500)
    keys[777] = 41
    with lw.options(device="emulated", schedule=COPIES):
        _, _, error = outcome(lw.kernel(counts_and_their_sum), [keys, np.zeros(41, np.int64)])
    assert isinstance(error, lw.BoundsError) and "index 41 is out of bounds" in str(error)

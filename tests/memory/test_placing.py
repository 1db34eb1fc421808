"""Which rows of an array take memory on a GPU, and which elements move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loopwright.analysis.reach import whole_box
from loopwright.devices.emulated import EmulatedGpu
from loopwright.ir.boxes import Box, Reach
from loopwright.memory.placing import (
    NOTHING,
    ArrayPart,
    Placed,
    bring_back,
    hull,
    part_of,
    room_for,
    rows_of,
    send,
    values_of,
    whole_part,
)


def place(array: np.ndarray, gpu: EmulatedGpu, part: ArrayPart) -> Placed:
    placed = room_for(array, part, gpu)
    send(placed, part.needed, gpu)
    return placed


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (5,), (2, 3)])
def test_there_and_back(shape: tuple[int, ...]) -> None:
    gpu, array = EmulatedGpu(), np.full(shape, 5.0)
    part = whole_part(array, True)
    placed = place(array, gpu, part)
    array[...] = 0
    if part.written is not None:
        bring_back(placed, part.written, gpu)
    assert (array == 5).all()


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_there_and_back_with_gaps(axes: tuple[int, ...]) -> None:
    gpu = EmulatedGpu()
    whole = np.arange(240.0).reshape(4, 6, 10).transpose(axes)
    array = whole[:3, 1:4, :2]
    assert not array.flags.c_contiguous
    part = whole_part(array, True)
    placed, expected, ends = place(array, gpu, part), array.copy(), whole[-1, -1, -1]
    assert sorted(placed.strides)[0] == 8
    if array.strides[0] == 8:
        assert placed.strides[0] == 8  # what the program was made for
    array[...] = 0
    assert part.written is not None
    bring_back(placed, part.written, gpu)
    np.testing.assert_array_equal(array, expected)
    assert whole[-1, -1, -1] == ends


@pytest.mark.parametrize("order", ["C", "F"])
def test_only_rows_that_are_touched_take_memory(order: Any) -> None:
    gpu, array = EmulatedGpu(), np.asarray(np.arange(7000.0).reshape(70, 100), order=order)
    slow = 0 if order == "C" else 1
    rows = rows_of(array)
    placed = place(array, gpu, ArrayPart(range(20, 30), range(22, 25), None))
    row_bytes = rows[0].nbytes
    assert gpu.memory.used_bytes == 10 * row_bytes + (20 * row_bytes) % 256
    assert placed.address % 256 == 0 and placed.strides == array.strides
    kept = array.copy()
    array[...] = -1
    bring_back(placed, (range(23, 25), range(5, 60)), gpu)
    expected = np.full_like(array, -1)
    there = (slice(23, 25), slice(5, 60))[:: 1 if slow == 0 else -1]
    expected[there] = kept[there]
    np.testing.assert_array_equal(array, expected)
    poisoned = np.zeros_like(array)
    bring_back(_over(placed, poisoned), (range(25, 26), range(rows.shape[1])), gpu)
    assert np.isnan(rows_of(poisoned)[25]).all(), "what is not needed is not uploaded"


def _over(placed: Any, array: np.ndarray) -> Any:
    placed.rows = rows_of(array)
    return placed


def test_parts_of_arrays() -> None:
    array, n = np.zeros((6, 8)), 3
    values = values_of((array, n, 2.5, True, np.int32(7)))
    assert values == {"s0_0": 6, "s0_1": 8, "v1": 3, "v3": 1, "v4": 7}
    inside, rest = Box("", (("1", "s0_0 - 2"), ("1", "v1"))), Box("v1 > 5", (("0", "0"), ("0", "0")))
    one = Reach(inside, None, inside)
    assert part_of(array, one, values, True) == ArrayPart(range(1, 5), NOTHING, (range(1, 5), range(1, 4)))
    assert part_of(array, one, values, True, needs_all=True).needed == range(1, 5)
    assert part_of(array, one, values, False).written is None
    assert part_of(np.zeros((8, 6)).T, one, values, True) == ArrayPart(range(1, 4), NOTHING, (range(1, 4), range(1, 5)))
    assert part_of(array, Reach(rest, rest, None), values, False).is_empty
    assert part_of(array, None, values, True).is_empty
    assert part_of(np.zeros((0, 8)), one, values, True).is_empty
    assert part_of(np.zeros(()), Reach(whole_box(0, 0), None, whole_box(0, 0)), {}, True).written == (range(1),)
    records = np.zeros(5, [("a", "i1"), ("b", "f8")])
    narrow = Reach(Box("", (("1", "2"),)), None, None)
    assert part_of(records, narrow, {}, True).needed == range(5), "bytes between the fields are kept"


def test_hulls() -> None:
    assert hull(range(2, 4), range(7, 9)) == range(2, 9)
    assert hull(NOTHING, range(7, 9)) == range(7, 9) and not hull(NOTHING, NOTHING)

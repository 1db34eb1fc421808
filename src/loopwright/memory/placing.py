"""Bringing an array of the host to a GPU for the length of a call, and what was written back: only the rows that are
touched take memory there, only those whose values count are uploaded, only the box that is written comes back.

Rows are what lies along the axis that is slowest in memory. On the GPU the array is dense, C or F as `layout_of` says;
kernels are given the address that its first element would have, and touch only what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from loopwright.devices.gpu import Gpu, Queue
from loopwright.ir.boxes import Box, Reach
from loopwright.memory.arrays import Array
from loopwright.memory.on_device import is_on_device
from loopwright.memory.overlap import layout_of

ALIGNMENT = 256
NOTHING = range(0)


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """Which part of an array a call is about. touched, needed: rows; written: a box, rows first, None for nothing."""

    touched: range
    needed: range
    written: tuple[range, ...] | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the array is touched."""
        return not self.touched


UNTOUCHED = ArrayPart(NOTHING, NOTHING, None)


def rows_of(array: Array) -> Array:
    """The same elements with the slowest axis first: the order in which the GPU has them. At least one axis."""
    rows = array.T if _turned(array) else array
    return rows if rows.ndim else rows.reshape(1)


def _turned(array: Array) -> bool:
    return layout_of(array) in ("F", "first")


def rows_first(box: tuple[range, ...], turned: bool) -> tuple[range, ...]:
    """A box with indices along each axis as one of rows. turned: where the last axis is the slowest."""
    return (box[::-1] if turned else box) or (range(1),)


def rows_in(array: Array, box: tuple[range, ...]) -> tuple[range, ...]:
    """The same for this array."""
    return rows_first(box, _turned(array))


def by_axis(array: Array, box: tuple[range, ...]) -> tuple[range, ...]:
    """The other way."""
    return (box[::-1] if _turned(array) else box)[: array.ndim]


def whole_part(array: Array, is_written: bool) -> ArrayPart:
    """All of an array."""
    box = tuple(range(size) for size in rows_of(array).shape)
    return ArrayPart(box[0], box[0], box if is_written else None) if array.size else UNTOUCHED


def values_of(everything: Sequence[object]) -> dict[str, int]:
    """What the ends of boxes are made of: sizes and whole numbers, by their names in `ir.boxes`."""
    found: dict[str, int] = {}
    for position, value in enumerate(everything):
        if isinstance(value, np.ndarray):
            for axis, size in enumerate(value.shape):
                found[f"s{position}_{axis}"] = size
        elif isinstance(value, int | np.integer | np.bool_):
            found[f"v{position}"] = int(value)
    return found


def part_of(
    array: Array, reach: Reach | None, values: Mapping[str, int], is_written: bool, needs_all: bool = False
) -> ArrayPart:
    """The part of an array that a call is about. needs_all: values from before the call count wherever it writes, since
    it may end early."""
    if reach is None or not array.size:
        return UNTOUCHED
    if array.dtype.names is not None:  # there may be bytes between the fields
        return whole_part(array, is_written)
    turned = _turned(array)

    def rows_of_box(box: Box | None) -> tuple[range, ...] | None:
        found = None if box is None else box.at(values, array.shape)
        return None if found is None else rows_first(found, turned)

    touched, needed = rows_of_box(reach.touched), rows_of_box(reach.needed)
    written = rows_of_box(reach.written) if is_written else None
    rows = _around(*(box[0] for box in (touched, needed, written) if box is not None))
    if needs_all:
        return ArrayPart(rows, rows, written)
    return ArrayPart(rows, needed[0] if needed is not None else NOTHING, written)


def _around(*some: range) -> range:
    return range(min(one.start for one in some), max(one.stop for one in some)) if some else NOTHING


def hull(one: range, other: range) -> range:
    """The rows of both, and what is between them."""
    return _around(*(rows for rows in (one, other) if rows))


@dataclass(slots=True, eq=False)
class Placed:
    """Where an array is for the length of a call: `address` (of its first element, also where that is not there) and
    `strides` (bytes) on the GPU. `owned`: the memory to give back, 0 for none. rows: those of the array."""

    address: int
    strides: tuple[int, ...]
    rows: Array
    owned: int = 0

    @property
    def row_bytes(self) -> int:
        """How many bytes of the GPU a row takes."""
        return int(prod(self.rows.shape[1:]) * self.rows.itemsize)


def in_place(array: Array) -> Placed:
    """An array that is on the GPU, or of which nothing is touched."""
    return Placed(array.ctypes.data if is_on_device(array) else 0, array.strides, array)


def row_bytes_of(array: Array) -> int:
    """How many bytes a row takes on the GPU."""
    return int(prod(rows_of(array).shape[1:]) * array.itemsize)


def make_room(array: Array, touched: range, gpu: Gpu) -> Placed:
    """Memory for these rows of an array. Raises DeviceMemoryError."""
    rows = rows_of(array)
    strides = [prod(rows.shape[axis + 1 :]) * rows.itemsize for axis in range(rows.ndim)]
    before, size = touched.start * strides[0], len(touched) * strides[0]
    spare = before % ALIGNMENT  # what is aligned of the whole array stays so
    owned = gpu.allocate(size + spare, before - spare)
    dense = tuple(strides[::-1] if _turned(array) else strides)[: array.ndim]
    return Placed(owned + spare - before, dense, rows, owned)


def send(placed: Placed, rows: range, gpu: Gpu, queue: Queue = "work") -> None:
    """Copy rows of the host to the GPU."""
    if rows:
        gpu.upload(placed.address + rows.start * placed.row_bytes, placed.rows[rows.start : rows.stop], queue)


def bring_back(placed: Placed, box: tuple[range, ...], gpu: Gpu, queue: Queue = "work") -> None:
    """Copy a box of what is on the GPU to where the caller sees it."""
    first, *others = box
    if all(len(one) == size for one, size in zip(box, placed.rows.shape, strict=True)):  # told in less time
        gpu.download(placed.rows, placed.address, queue=queue)
        return
    target = placed.rows[first.start : first.stop]
    inside = (range(len(first)), *others)
    gpu.download(target, placed.address + first.start * placed.row_bytes, inside, queue)


def room_for(array: Array, part: ArrayPart, gpu: Gpu) -> Placed:
    """Where an array is for a call: memory of its own for what is touched, unless it is on the GPU. Raises
    DeviceMemoryError."""
    return in_place(array) if is_on_device(array) or part.is_empty else make_room(array, part.touched, gpu)


def give_back(placed: Sequence[Placed], gpu: Gpu) -> None:
    """Give back what was taken for arrays."""
    for one in placed:
        if one.owned:
            gpu.release(one.owned)

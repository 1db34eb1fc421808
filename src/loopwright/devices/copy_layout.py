"""How an array of the host lies beside its copy on a device, where its elements follow one another without gaps: what
the copying code of cuda_memory.c goes by."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

MOST_AXES = 64  # NumPy's own limit


class CopyLayout(ctypes.Structure):
    """struct lw_layout of cuda_memory.c."""

    _fields_ = (
        ("host", ctypes.c_void_p),
        ("axes", ctypes.c_int64),
        ("run", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("size", ctypes.c_int64 * MOST_AXES),
        ("stride", ctypes.c_int64 * MOST_AXES),
        ("low", ctypes.c_int64 * MOST_AXES),
        ("high", ctypes.c_int64 * MOST_AXES),
    )


def copy_layout(array: np.ndarray[Any, np.dtype[Any]], inside: Sequence[range] | None = None) -> CopyLayout:
    """The layout for a copy of an array, or of the box of its elements that is `inside`. Raises ValueError for an
    array of Python objects."""
    if array.dtype.hasobject:
        raise ValueError(f"an array of {array.dtype} holds Python objects, and is not copied")
    box = [(one.start, one.stop) for one in inside] if inside is not None else [(0, size) for size in array.shape]
    axes = list(zip(array.shape, array.strides, box, strict=True))
    run, first, end = array.itemsize, 0, array.itemsize
    while axes and (first, end) == (0, run):  # an inner axis without gaps makes the runs longer
        size, stride, (low, high) = axes[-1]
        if stride != run and size != 1:
            break
        axes.pop()
        first, end, run = low * run, high * run, size * run
    found = CopyLayout(array.ctypes.data, len(axes), run, first, end)
    for k, (size, stride, (low, high)) in enumerate(axes):
        found.size[k], found.stride[k], found.low[k], found.high[k] = size, stride, low, high
    return found


class CopyBox(ctypes.Structure):
    """struct lw_box of cuda_memory.c."""

    _fields_ = (
        ("wide", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("axes", ctypes.c_int64),
        ("size", ctypes.c_int64 * MOST_AXES),
        ("step", ctypes.c_int64 * MOST_AXES),
        ("low", ctypes.c_int64 * MOST_AXES),
        ("high", ctypes.c_int64 * MOST_AXES),
    )

    @property
    def size_bytes(self) -> int:
        """Of all of it."""
        return int(self.wide) * prod(int(self.high[k] - self.low[k]) for k in range(self.axes))


def copy_box(shape: Sequence[int], itemsize: int, inside: Sequence[range]) -> CopyBox:
    """A box of an array of this shape that has no gaps on the device, for a copy of nothing else."""
    outer = outer_axes(inside, shape)
    inner = prod(shape[outer:]) * itemsize
    found = CopyBox(len(inside[outer - 1]) * inner, inside[outer - 1].start * inner, outer - 1)
    step = shape[outer - 1] * inner
    for k in range(outer - 2, -1, -1):
        found.size[k], found.step[k], found.low[k], found.high[k] = shape[k], step, inside[k].start, inside[k].stop
        step *= shape[k]
    return found


def outer_axes(box: Sequence[range], shape: Sequence[int]) -> int:
    """How many axes there are but for those at the end that a box has whole; at least one."""
    outer = len(box)
    while outer > 1 and len(box[outer - 1]) == shape[outer - 1]:
        outer -= 1
    return outer


def stretches(box: Sequence[range], shape: Sequence[int]) -> Iterator[tuple[range, ...]]:
    """Parts of a box that are one stretch of memory each, where elements of the array follow one another."""
    outer = outer_axes(box, shape)
    # Up to the axis before `outer` one index after the other; from there on, all of the memory.
    for index in np.ndindex(*(len(one) for one in box[: outer - 1])):
        ahead = tuple(range(one.start + k, one.start + k + 1) for one, k in zip(box, index, strict=False))
        yield (*ahead, *box[outer - 1 :])


def offset_in(shape: Sequence[int], box: Sequence[range]) -> int:
    """How many elements stand before the first one of a box."""
    found = 0
    for one, size in zip(box, shape, strict=True):
        found = found * size + one.start
    return found

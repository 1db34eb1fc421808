"""How an array lies in memory: its layout, its extent, and whether it can share a byte with another one.

`disjoint` may say False of arrays that share nothing, never True of arrays that do. launcher.c has the same tests
in C; tests hold the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopwright.memory.arrays import Array

if TYPE_CHECKING:
    from loopwright.ir.nodes import Layout


def layout_of(array: Array) -> Layout:
    """The first of C, F, last, first, strided that holds. Axes of size 1 may have any stride, as in NumPy."""
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    if array.strides[-1] == array.itemsize or array.shape[-1] == 1:
        return "last"
    if array.strides[0] == array.itemsize or array.shape[0] == 1:
        return "first"
    return "strided"


def same_array(first: Array, second: Array) -> bool:
    """Whether the two are one array in all but the object: data, shape, strides and dtype."""
    return (
        first.ctypes.data == second.ctypes.data
        and first.shape == second.shape
        and first.strides == second.strides
        and first.dtype == second.dtype
    )


def extent(array: Array) -> tuple[int, int]:
    """First byte and the byte after the last one; an empty array has an empty extent."""
    start = array.ctypes.data
    if array.size == 0:
        return start, start
    steps = [(size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)]
    low = start + sum(step for step in steps if step < 0)
    return low, start + sum(step for step in steps if step > 0) + array.itemsize


def disjoint(first: Array, second: Array) -> bool:
    """Certain that no byte belongs to both: the extents are apart, or they interleave with a common period."""
    (low, high), (other_low, other_high) = extent(first), extent(second)
    if high <= other_low or other_high <= low or low == high or other_low == other_high:
        return True
    periods = {abs(stride) for array in (first, second) for size, stride in _axes(array)}
    return any(_apart_modulo(first, second, period) for period in periods if period)


def _axes(array: Array) -> list[tuple[int, int]]:
    return [pair for pair in zip(array.shape, array.strides, strict=True) if pair[0] > 1]


def _apart_modulo(first: Array, second: Array, period: int) -> bool:
    """Whether the two sets of addresses, taken modulo `period`, are two stretches that do not meet."""
    low, width = _stretch(first, period)
    other_low, other_width = _stretch(second, period)
    gap = (other_low - low) % period
    return gap >= width and gap + other_width <= period


def _stretch(array: Array, period: int) -> tuple[int, int]:
    """Start and width of the bytes that the axes whose stride is no multiple of `period` reach."""
    steps = [(size - 1) * stride for size, stride in _axes(array) if stride % period]
    low = array.ctypes.data + sum(step for step in steps if step < 0)
    return low, sum(abs(step) for step in steps) + array.itemsize


def overlaps_itself(array: Array) -> bool:
    """False where each element certainly has bytes of its own."""
    if array.size <= 1 or array.flags.c_contiguous or array.flags.f_contiguous:
        return False
    reach = array.itemsize
    for stride, size in sorted((abs(stride), size) for size, stride in _axes(array)):
        if stride < reach:
            return True
        reach += (size - 1) * stride
    return False

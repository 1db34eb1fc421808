"""How an array of the host lies beside its copy on a device, where its elements follow one another without gaps: what
the copying code of cuda_memory.c goes by."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
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

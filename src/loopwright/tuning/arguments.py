"""Arguments of a call kept for later, so that it can be made again in another process: with the same layouts, the same
arrays given twice, the same views of one memory.

Written to a file as pickle of our own values. Only files that this package has made in this run are ever read.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loopwright.memory.arrays import Array


@dataclass(frozen=True, slots=True)
class _MemoryView:
    """An array as a part of one stretch of memory."""

    memory: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[np.generic]


@dataclass(frozen=True, slots=True)
class Saved:
    """The arguments of a call. memories: stretches of bytes; values: one for each argument, a `_MemoryView` or a
    number."""

    memories: tuple[Array, ...]
    values: tuple[object, ...]

    @property
    def size_bytes(self) -> int:
        return sum(memory.nbytes for memory in self.memories)


def extent(array: Array) -> tuple[int, int]:
    """Address of the first byte of an array, and of the one after its last; equal where it has none."""
    low, high = np.lib.array_utils.byte_bounds(array) if array.size else (array.ctypes.data, array.ctypes.data)
    return int(low), int(high)


def save(arguments: Sequence[object]) -> Saved:
    """A copy of the arguments: NumPy arrays of numbers or records, and anything that is no array. Arrays that share
    memory share it in the copy."""
    spans: list[tuple[int, int]] = []
    for low, high in sorted(extent(one) for one in arguments if isinstance(one, np.ndarray)):
        if spans and low < spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], high)
        else:
            spans.append((low, high))
    memories = tuple(_bytes_at(low, high) for low, high in spans)
    values: list[object] = []
    for one in arguments:
        if isinstance(one, np.ndarray):
            low, _ = extent(one)
            number = max(k for k, span in enumerate(spans) if span[0] <= low)
            offset = one.ctypes.data - spans[number][0]
            values.append(_MemoryView(number, offset, one.shape, one.strides, one.dtype))
        else:
            values.append(one)
    return Saved(memories, tuple(values))


def _bytes_at(low: int, high: int) -> Array:
    if low == high:
        return np.zeros(0, np.uint8)
    found: Array = np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low)).copy()
    return found


@dataclass(frozen=True, slots=True)
class Restored:
    """New arguments like those that were saved, on pages of their own, and how to bring back what they held."""

    saved: Saved
    memories: tuple[Array, ...]
    arguments: tuple[object, ...]

    def reset(self, written: Collection[int]) -> None:
        """The arrays at these positions hold again what was saved."""
        views = (self.saved.values[position] for position in written)
        for number in sorted({view.memory for view in views if isinstance(view, _MemoryView)}):
            self.memories[number][:] = self.saved.memories[number]


def restore(saved: Saved) -> Restored:
    """Raises MemoryError."""
    memories = tuple(_aligned(memory) for memory in saved.memories)
    arguments = tuple(
        np.ndarray(one.shape, one.dtype, memories[one.memory], one.offset, one.strides)
        if isinstance(one, _MemoryView)
        else one
        for one in saved.values
    )
    return Restored(saved, memories, arguments)


def _aligned(memory: Array) -> Array:
    """A copy that begins at a multiple of 64 bytes, as large arrays of NumPy nearly do."""
    room = np.empty(memory.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    found = room[start : start + memory.nbytes]
    found[:] = memory
    return found


def write(saved: Saved, path: Path) -> None:
    """Raises OSError."""
    with path.open("wb") as file:
        pickle.dump(saved, file, protocol=5)


def read(path: Path) -> Saved:
    """Raises OSError."""
    with path.open("rb") as file:
        found = pickle.load(file)
    assert isinstance(found, Saved)
    return found

"""Orders of iterations that outlast calls (`redirect`): memory on the GPU, and of which arrays each was found, by their
versions. An order that is out of date is a slower one, and still right; but one that a call has not finished is none.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from loopwright.devices.gpu import Gpu
from loopwright.memory.device_array import version_of

Key = tuple[object, ...]


class Kept(ctypes.Structure):
    """struct lw_kept of codegen/loopwright.h."""

    _fields_: ClassVar[Any] = (
        ("memory", ctypes.c_void_p), ("room", ctypes.c_int64), ("length", ctypes.c_int64), ("known", ctypes.c_int64),
        ("found", ctypes.c_int64),
    )  # fmt: skip


class KeptOrders:
    """Those of one program. positions: for each, of the arguments that decide about it."""

    def __init__(self, gpu: Gpu, positions: Sequence[tuple[int, ...]]) -> None:
        self._positions = tuple(positions)
        self._slots = (Kept * max(1, len(self._positions)))()
        self._keys: list[Key | None] = [None] * len(self._positions)
        self.address = ctypes.addressof(self._slots)
        if positions:
            weakref.finalize(self, _release, gpu, self._slots)

    @contextmanager
    def of_call(self, arguments: Sequence[object], stream: int) -> Iterator[None]:
        """A call is made inside: its program is told which orders hold. After one that fails none does."""
        if not self._positions:
            yield
            return
        keys = [_key(arguments, each, stream) for each in self._positions]
        for slot, key, known in zip(self._slots, keys, self._keys, strict=False):
            slot.known = int(key is not None and key == known)
        self._keys = [None] * len(keys)  # until the call has ended well
        yield
        self._keys = list(keys)

    def forget(self) -> None:
        """No order holds: the next program that runs finds its own."""
        if not self._positions:
            return
        self._keys = [None] * len(self._keys)
        for slot in self._slots:
            slot.known = 0

    @property
    def found(self) -> int:
        """How often an order was found so far, of all of them together."""
        return sum(slot.found for slot in self._slots)


def _key(arguments: Sequence[object], positions: tuple[int, ...], stream: int) -> Key | None:
    """What an order depends on; None where nobody knows whether that is the same the next time."""
    found: list[object] = [stream]
    for position in positions:
        value = arguments[position]
        if isinstance(value, int | float | np.generic):
            found.append(value)
            continue
        version = version_of(value)
        if version == "unknown":
            return None
        found.append(version)
    return tuple(found)


def _release(gpu: Gpu, slots: Any) -> None:
    for slot in slots:
        if slot.memory:
            gpu.release(slot.memory)
            slot.memory = None

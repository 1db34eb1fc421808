"""A parallel region on one GPU: the struct of its calls, which is filled in once, and what starts its kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from loopwright.devices.base import Executable
from loopwright.devices.by_ctypes import fill_slot
from loopwright.devices.gpu import ENTRY
from loopwright.memory.gpu_call import BoundsLeft, GpuCallStruct, GpuExecutable, raise_failure
from loopwright.memory.placing import Placed, in_place


class GpuRegion:
    """executable: a GpuExecutable; everything: arguments, numbers and arrays, whose shapes stay."""

    def __init__(self, executable: Executable, everything: Sequence[object], threads: int) -> None:
        assert isinstance(executable, GpuExecutable)
        self._executable = executable
        self._struct = GpuCallStruct(tuple(everything), 0, threads, executable)
        self._function = executable.gpu.function(executable.entry)
        self._guard = ENTRY(executable.guard) if executable.guard else None
        self._numbers = [k for k, value in enumerate(everything) if not isinstance(value, np.ndarray)]
        self._where: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._given: dict[int, int | None] = {}  # whole numbers that are in the struct

    def put(self, position: int, placed: Placed | None, array: Any) -> None:
        """An array is there now; None: it is not touched."""
        where = (0, array.strides) if placed is None else (placed.address, placed.strides)
        if self._where.get(position) != where:
            self._where[position] = where
            self._struct.put(position, in_place(array) if placed is None else placed)

    def start(self, everything: Sequence[object], waits: bool = True) -> Exception | None:
        """Start it with these numbers; the error of the user's program, which it may end with, where that is known
        when this returns. waits: for all kernels, where one of them may end with an error; else `check` tells it.
        Raises DeviceError."""
        executable = self._executable
        with executable.lock:
            for position in self._numbers:
                value = everything[position]
                if type(value) is not int or self._given.get(position) != value:
                    self._given[position] = value if type(value) is int else None
                    fill_slot(self._struct.slot(position), value)
            if self._guard is not None and not self._guard(ctypes.byref(self._struct.call)):
                return OverflowError("a loop counts further than 2**48, which devices cannot share")
            fault = executable.module.started(0)
            self._struct.failure.site = -1
            executable.orders.forget()  # each part has other iterations
            failed = 1 if fault is not None else self._function(ctypes.byref(self._struct.call))
            return self._error(failed, fault) if failed or (waits and executable.may_end_early) else None

    def check(self) -> Exception | None:
        """The same when all that was started is done, for which it waits."""
        with self._executable.lock:
            return self._error(0, None)

    def _error(self, failed: int, fault: Exception | None) -> Exception | None:
        try:
            raise_failure(failed, self._struct, self._executable, fault)
        except BoundsLeft as left:
            return left.error
        return None

"""A parallel region on one GPU: the struct of its calls, which is filled in once, and what starts its kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from loopwright.devices.base import Executable
from loopwright.devices.by_ctypes import fill_slot
from loopwright.devices.gpu import ENTRY
from loopwright.devices.peers import GpuPart
from loopwright.memory.gpu_call import BoundsLeft, GpuCallStruct, GpuExecutable, raise_failure
from loopwright.memory.placing import Placed, in_place


class GpuRegion:
    """executable: a GpuExecutable; everything: arguments, numbers and arrays, whose shapes stay. fixed: positions of
    numbers that stay, too."""

    def __init__(
        self, executable: Executable, everything: Sequence[object], threads: int, fixed: Collection[int] = ()
    ) -> None:
        assert isinstance(executable, GpuExecutable)
        self._executable = executable
        self._struct = GpuCallStruct(tuple(everything), 0, threads, executable)
        self._function = executable.gpu.function(executable.entry)
        self._guard = ENTRY(executable.guard) if executable.guard else None
        self._numbers = [
            k for k, value in enumerate(everything) if not isinstance(value, np.ndarray) and k not in fixed
        ]
        self._where: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._given: dict[int, object] = {}  # numbers that are in the struct
        self._is_guarded = False

    @property
    def part(self) -> GpuPart:
        """What starts it, and tells how it ended."""
        call, executable = self._struct.call, self._executable
        site = ctypes.addressof(self._struct.failure)
        return GpuPart(
            executable.entry, ctypes.addressof(call), site, executable.module.table, executable.told
        )  # fmt: skip

    @property
    def hides_failures(self) -> bool:
        """Whether its kernels may record a failure that the host has to ask the GPU for."""
        device = self._executable.program.device
        return device is not None and device.checks and not self._executable.told

    def put(self, position: int, placed: Placed | None, array: Any) -> None:
        """An array is there now; None: it is not touched."""
        where = (0, array.strides) if placed is None else (placed.address, placed.strides)
        if self._where.get(position) != where:
            self._where[position] = where
            self._struct.put(position, in_place(array) if placed is None else placed)

    def ready(self, everything: Sequence[object]) -> Exception | None:
        """These are its numbers from now on; why it cannot be started with them. Raises DeviceError."""
        given, same = self._given, self._is_guarded
        for position in self._numbers:
            value = everything[position]
            known = given.get(position)
            if value is known or (type(value) is int and type(known) is int and value == known):
                continue
            same, given[position] = False, value
            fill_slot(self._struct.slot(position), value)
        if not same:
            self._is_guarded = self._guard is None or bool(self._guard(ctypes.byref(self._struct.call)))
            if not self._is_guarded:
                return OverflowError("a loop counts further than 2**48, which devices cannot share")
        executable = self._executable
        fault = executable.module.started(0)
        executable.orders.forget()  # each part has other iterations
        return None if fault is None else self._error(1, fault)

    def start(self, everything: Sequence[object], waits: bool = True) -> Exception | None:
        """Start it with these numbers; the error of the user's program, which it may end with, where that is known
        when this returns. waits: for all kernels, where one of them may end with an error; else `check` tells it.
        Raises DeviceError."""
        executable = self._executable
        with executable.lock:
            if (error := self.ready(everything)) is not None:
                return error
            self._struct.failure.site = -1
            failed = self._function(ctypes.byref(self._struct.call))
            return self._error(failed, None) if failed or (waits and executable.may_end_early) else None

    def check(self, failed: bool = False) -> Exception | None:
        """The same when all that was started is done, for which it waits. failed: it could not be started."""
        with self._executable.lock:
            return self._error(int(failed), None)

    def _error(self, failed: int, fault: Exception | None) -> Exception | None:
        try:
            raise_failure(failed, self._struct, self._executable, fault)
        except BoundsLeft as left:
            return left.error
        return None

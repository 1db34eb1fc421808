"""One call on a GPU with copies of all its arrays there, in steps, between which it can be given up. Nothing that the
caller sees is written before `bring_back`: what a call that was given up has done is worth nothing, and harms nobody.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from loopwright.devices.gpu import Gpu, Queue
from loopwright.errors import DeviceError
from loopwright.memory.gpu_call import (
    BoundsLeft,
    GpuCallStruct,
    GpuExecutable,
    NoRoom,
    no_failure,
    parts_of,
    raise_failure,
)
from loopwright.memory.offload import OffloadEntry
from loopwright.memory.on_device import is_on_device
from loopwright.memory.placing import Placed, give_back, room_for, send, values_of

CHUNK_BYTES = 16 << 20
"""After so many bytes of a copy it is asked whether to go on: some 0.4 ms over a fast bus."""

LEAST_NAP_S, MOST_NAP_S, NAPS = 20e-6, 5e-4, 32
"""How long the host sleeps before it looks again whether kernels have ended: a part of the time they have taken."""

QUEUE: Queue = "work"


class GivenUp(Exception):
    """The call is of no use any more."""


class CallInSteps:
    """entry: of the code. stops: asked between two steps whether to give up. Its lock is to be held. Raises NoRoom of
    `place`, GivenUp, and what a call raises."""

    def __init__(
        self, entry: OffloadEntry, arguments: tuple[object, ...], originals: tuple[object, ...],
        stops: Callable[[], bool],
    ) -> None:  # fmt: skip
        executable: GpuExecutable = entry.payload
        self._entry, self._executable, self._originals, self._stops = entry, executable, originals, stops
        self.gpu: Gpu = executable.gpu
        self._fresh = entry.fresh_arrays(arguments)
        self._everything = (*arguments, *self._fresh)
        self._parts = parts_of(executable, self._everything, len(arguments), values_of(self._everything))
        self._struct = GpuCallStruct(self._everything, entry.count_of_results, entry.threads, executable)
        self._placed: dict[int, Placed] = {}
        self._runs = False

    def place(self) -> None:
        """Memory for all arrays."""
        for position, part in self._parts.items():
            array: Any = self._everything[position]
            try:
                self._placed[position] = room_for(array, part, self.gpu)
            except DeviceError as error:
                raise NoRoom(error) from None  # type: ignore[arg-type]
            self._struct.put(position, self._placed[position])

    def send(self, written_too: bool) -> None:
        """Copy what is needed of the arrays that the call writes, or of all others."""
        for position, part in self._parts.items():
            placed = self._placed[position]
            if not placed.owned or (part.written is not None) != written_too:
                continue
            rows = part.needed
            each = max(1, CHUNK_BYTES // max(1, placed.row_bytes))
            for first in range(rows.start, rows.stop, each):
                self._go_on()
                send(placed, range(first, min(rows.stop, first + each)), self.gpu, QUEUE)

    def compute(self) -> None:
        """Run the program, and wait for it without keeping a core busy."""
        self._go_on()
        module = self._executable.module
        fault = module.started(0)
        self._runs = True
        timer = self.gpu.timer()
        with timer, self._executable.orders.of_call(self._everything, 0):
            failed = 1 if fault is not None else self._entry.start(ctypes.byref(self._struct.call))
        begun = time.perf_counter()
        while not failed and timer.finished_ns() is None:
            self._go_on()
            time.sleep(min(MOST_NAP_S, max(LEAST_NAP_S, (time.perf_counter() - begun) / NAPS)))
        self._go_on()
        self._runs = False
        try:
            raise_failure(failed, self._struct, self._executable, fault)
        except BoundsLeft as left:
            raise left.error from None

    def bring_back(self) -> object:
        """Copy to the caller's arrays what the call has written; what it returns."""
        for position, part in self._parts.items():
            result = position - len(self._originals)
            self._entry.bring_back(self._placed[position], part, result, self._struct)
        return self._entry.result(self._originals, self._fresh, self._struct.returned)

    def give_back(self) -> None:
        """Memory, once kernels that nobody wants any more have ended."""
        if self._runs:
            with suppress(DeviceError):
                self.gpu.synchronize()
                no_failure(self.gpu, self._executable.failures, self._executable.told)
        with suppress(DeviceError):
            give_back(list(self._placed.values()), self.gpu)

    def _go_on(self) -> None:
        if self._stops():
            raise GivenUp


def copied_bytes(entry: OffloadEntry, arguments: tuple[object, ...]) -> tuple[int, int, int]:
    """What such a call copies to the GPU of arrays that it writes, of all others, and back. Arrays that the call makes
    are not counted."""
    executable: GpuExecutable = entry.payload
    written = others = back = 0
    for position, part in parts_of(executable, arguments, len(arguments), values_of(arguments)).items():
        array: Any = arguments[position]
        if is_on_device(array):
            continue
        rows = len(part.touched) or 1
        needed = array.nbytes * len(part.needed) // max(rows, len(array) if array.ndim else 1)
        if part.written is None:
            others += needed
        else:
            written += needed
            back += array.itemsize
            box = 1
            for one in part.written:
                box *= len(one)
            back += array.itemsize * (box - 1)
    return written, others, back

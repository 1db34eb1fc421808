"""Shares of a `Plan` on one GPU: memory for their arrays, and copies in queues of their own beside the kernels. Which
share starts when is said by who runs the plan (runtime/run_shares.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal, NamedTuple

from loopwright.devices.by_ctypes import fill_slot
from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.ir.plan import Share
from loopwright.memory.gpu_call import BoundsLeft, GpuCallStruct, GpuExecutable, NoRoom, raise_failure
from loopwright.memory.on_device import is_on_device
from loopwright.memory.parts import PartedCall, is_shared
from loopwright.memory.placing import (
    ArrayPart,
    Placed,
    bring_back,
    give_back,
    hull,
    in_place,
    make_room,
    rows_in,
    send,
)


class StartedShare(NamedTuple):
    """A share whose kernels end before a mark. places: where its arrays are, by position; own: memory for it alone."""

    share: Share
    places: Mapping[int, Placed]
    own: Sequence[Placed]
    mark: int


@dataclass(slots=True)
class SharesOnGpu:
    """Shares of one call. parts: of the arrays that each of them touches, by its box. kept: arrays whose memory all
    shares have in common; others have memory of their own in each share, which brings all that it needs."""

    call: PartedCall
    parts: Mapping[tuple[range, ...], Mapping[int, ArrayPart]]
    struct: GpuCallStruct
    function: Callable[[Any], int]
    kept: dict[int, Placed] = field(default_factory=dict)
    live: list[Placed] = field(default_factory=list)

    @property
    def executable(self) -> GpuExecutable:
        """Of what runs in parts."""
        return self.call.found.executable

    @property
    def gpu(self) -> Gpu:
        """Where they run."""
        return self.executable.gpu

    def make_room(self, in_windows: bool) -> None:
        """Memory for what all shares have in common. Raises DeviceMemoryError."""
        for position, value in enumerate(self.call.everything):
            if is_on_device(value):
                self.struct.put(position, in_place(value))  # type: ignore[arg-type]
        for position, array in self.call.arrays.items():
            parts = [one[position] for one in self.parts.values()]
            if not in_windows or is_shared(parts):
                self.kept[position] = self._room(array, reduce(hull, (one.touched for one in parts)))
                self.struct.put(position, self.kept[position])

    def start(self, share: Share) -> StartedShare:
        """Upload what a share needs, and start its kernels."""
        places, own = dict(self.kept), list[Placed]()
        for position, array in self.call.arrays.items():
            if position not in places:
                places[position] = self._room(array, self.parts[share.box][position].touched)
                own.append(places[position])
                self.struct.put(position, places[position])
        if own:
            self.gpu.wait("up", self.gpu.mark("work"))  # memory is there in the order of `work`
        for position, box in self._moves(share, "in"):
            send(places[position], box[0], self.gpu, "up")
        self.gpu.wait("work", self.gpu.mark("up"))
        (iterations,) = share.box
        for number, value in enumerate((iterations.start, iterations.stop)):
            fill_slot(self.struct.slot(self.call.found.first + number), value)
        self.struct.failure.site = -1
        self.executable.orders.forget()  # each share has other iterations
        failed = self.function(ctypes.byref(self.struct.call))
        if failed or self.executable.may_end_early:
            try:
                raise_failure(failed, self.struct, self.executable, None)
            except BoundsLeft as left:
                self.finish(StartedShare(share, places, own, self.gpu.mark("work")))
                raise left.error from None
        return StartedShare(share, places, own, self.gpu.mark("work"))

    def finish(self, started: StartedShare) -> None:
        """Bring back what a share has written, once it has; give back its memory."""
        self.gpu.wait("down", started.mark)
        for position, box in self._moves(started.share, "out"):
            bring_back(started.places[position], box, self.gpu, "down")
        for placed in started.own:
            self.live.remove(placed)
            give_back([placed], self.gpu)

    def _moves(self, share: Share, way: Literal["in", "out"]) -> Iterator[tuple[int, tuple[range, ...]]]:
        """Positions of arrays, and boxes of their rows."""
        for move in share.moves:
            if move.way == way:
                position = self.call.positions[move.array]
                yield position, rows_in(self.call.arrays[position], move.box)

    def _room(self, array: Any, touched: range) -> Placed:
        """Memory for rows of an array, given back at the end at the latest."""
        placed = make_room(array, touched, self.gpu) if touched else in_place(array)
        self.live.append(placed)
        return placed


@contextmanager
def shares_on_gpu(call: PartedCall, shares: Sequence[Share], threads: int, in_windows: bool) -> Iterator[SharesOnGpu]:
    """Memory for these shares of a call, and what runs them. in_windows: for two shares only, where they touch other
    rows of an array. Raises what a call raises, and NoRoom, with nothing done."""
    executable = call.found.executable
    struct = GpuCallStruct(call.everything, 0, threads, executable)
    parts = {share.box: call.slice(*share.box).parts for share in shares}
    found = SharesOnGpu(call, parts, struct, executable.gpu.function(executable.entry))
    if (fault := executable.module.started(0)) is not None:
        raise_failure(1, struct, executable, fault)
    try:
        try:
            found.make_room(in_windows)
        except DeviceMemoryError as error:
            raise NoRoom(error) from None
        executable.gpu.wait("up", executable.gpu.mark("work"))
        yield found
        raise_failure(0, struct, executable, None)
    except BaseException:
        with suppress(DeviceError):  # copies that were started end before their memory is given back
            executable.gpu.synchronize()
        raise
    finally:
        give_back(found.live, executable.gpu)

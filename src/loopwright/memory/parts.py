"""A call on a GPU in parts, each for some iterations of the outermost loop: while one part computes, the next one is
uploaded and the one before comes back; and what does not fit the GPU's memory as a whole may fit in parts.

Rows that several parts need are uploaded once where all parts share the memory of an array. Which parts there are is
decided before anything moves: what two parts write must lie in rows apart, so that none brings back what another one
wrote.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

import numpy as np

from loopwright.devices.by_ctypes import fill_slot
from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.ir.plan import Move, Plan, Share, whole
from loopwright.ir.variant import Variant
from loopwright.memory.gpu_call import (
    BoundsLeft,
    GpuCallStruct,
    GpuExecutable,
    InParts,
    NoRoom,
    parts_of,
    raise_failure,
)
from loopwright.memory.on_device import OnDevice, is_on_device
from loopwright.memory.overlap import layout_of
from loopwright.memory.placing import (
    NOTHING,
    ArrayPart,
    Placed,
    bring_back,
    give_back,
    hull,
    in_place,
    make_room,
    row_bytes_of,
    rows_of,
    send,
    values_of,
)

PART_BYTES = 64 << 20
"""What one part moves at least, where there are several: with less, starting copies and kernels takes too long."""

FEWEST, USUAL, MOST = 4, 12, 64
"""How many parts a call has: to save time (of more, each is too short; of fewer, the first that comes and the last that
goes overlap with nothing: on an H200, 256 MiB of 3 GiB were best), and at most, to fit the memory that is free."""

EVEN = 256
"""Parts begin at multiples of so many iterations where there are enough: tiles then begin where they would."""

TWICE = 1.25
"""How much more than the whole call parts may move to be worth it."""

SPARED = 0.9
"""Of the memory that is free, so much may be used: other programs may take some meanwhile."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some iterations of the outermost loop, from first to before last, and which part of each array they are about."""

    first: int
    last: int
    parts: Mapping[int, ArrayPart]


@dataclass(frozen=True, slots=True)
class PartedCall:
    """A call that may be made in parts: all arrays and numbers by position, results last."""

    found: InParts
    everything: tuple[object, ...]

    @property
    def arrays(self) -> dict[int, Any]:
        """The arrays of the host, by position."""
        return {
            position: value
            for position, value in enumerate(self.everything)
            if isinstance(value, np.ndarray) and not is_on_device(value)
        }

    def slices(self, bounds: Sequence[int]) -> list[Slice]:
        """The parts between some iterations."""
        executable, values = self.found.executable, values_of(self.everything)
        at = self.found.first
        made = []
        for first, last in pairwise(bounds):
            values |= {f"v{at}": first, f"v{at + 1}": last}
            made.append(Slice(first, last, parts_of(executable, self.everything, at + 2, values)))
        return made

    def bounds(self, count: int) -> list[int]:
        """Where about so many parts begin and end."""
        values = values_of(self.everything)
        ranges = self.found.iterations.at(values, (2**62,))
        if ranges is None:
            return []
        (whole,) = ranges
        each = -(-len(whole) // count)
        each = -(-each // EVEN) * EVEN if each >= EVEN else each
        return [*range(whole.start, whole.stop, each), whole.stop]


def parted_call(found: InParts, arguments: Sequence[object], fresh: Sequence[object]) -> PartedCall | None:
    """The call, where it can be made in parts: arrays that are on the GPU must be in no other stream."""
    streams = {value.stream for value in arguments if isinstance(value, OnDevice)}
    return PartedCall(found, (*arguments[: found.first], 0, 0, *fresh)) if streams <= {0} else None


def moved_bytes(arrays: Mapping[int, Any], parts: Mapping[int, ArrayPart]) -> int:
    """How much a call, or a part of one, moves."""
    return sum(_moved(array, parts[position]) for position, array in arrays.items())


def _moved(array: Any, part: ArrayPart) -> int:
    return (len(part.needed) + _rows_back(part)) * row_bytes_of(array)


def _rows_back(part: ArrayPart) -> int:
    return len(part.written[0]) if part.written is not None else 0


def may_pay_off(whole_bytes: int) -> bool:
    """Whether a call moves so much that parts of it can overlap."""
    return whole_bytes >= FEWEST * PART_BYTES


def overlapping(
    executable: GpuExecutable, arguments: Sequence[object], fresh: Sequence[object], moved: int
) -> tuple[PartedCall, list[Slice]] | None:
    """The call and its parts, where it moves so much that copies are to overlap with kernels. None where it is made as
    a whole."""
    found = executable.find_parts() if may_pay_off(moved) else None
    call = None if found is None else parted_call(found, arguments, fresh)
    slices = None if call is None else slices_that_overlap(call, moved)
    return None if call is None or slices is None else (call, slices)


def slices_that_overlap(call: PartedCall, whole_bytes: int) -> list[Slice] | None:
    """Parts that move little more than the whole call; None where there are none that may be apart."""
    if call.found.executable.may_end_early:
        return None
    bounds = call.bounds(min(USUAL, max(1, whole_bytes // PART_BYTES)))
    if len(bounds) <= FEWEST:
        return None
    slices = call.slices(bounds)
    kept = {position: _Kept(array, slices, position) for position, array in call.arrays.items()}
    moved = 0
    for one in slices:
        for position, array in call.arrays.items():
            part, shared = one.parts[position], kept[position]
            new = list(shared.new(part.needed))
            if any(_meet(rows, shared.written) for rows in new):
                return None  # it would overwrite what an earlier part has left there
            shared.written = hull(shared.written, part.written[0] if part.written is not None else NOTHING)
            moved += (sum(map(len, new)) + _rows_back(part)) * row_bytes_of(array)
    return slices if moved <= TWICE * whole_bytes and _are_apart(call, slices) else None


def slices_that_fit(call: PartedCall, whole_bytes: int, free_bytes: int) -> list[Slice] | None:
    """Parts of which two at a time fit the memory that is free; None where there are none."""
    count = max(2, min(MOST, whole_bytes // PART_BYTES))
    while True:
        bounds = call.bounds(count)
        if len(bounds) < 3:
            return None
        slices = call.slices(bounds)
        if _needs(call, slices) <= SPARED * free_bytes:
            return slices if _are_apart(call, slices) else None
        if len(bounds) - 1 < count:
            return None
        count *= 2


def _needs(call: PartedCall, slices: Sequence[Slice]) -> int:
    """How much memory two parts that follow one another need at most, with what all share."""
    shared, sizes = 0, [0] * len(slices)
    for position, array in call.arrays.items():
        if _is_shared(slices, position):
            shared += len(slices[0].parts[position].touched) * row_bytes_of(array)
            continue
        for k, one in enumerate(slices):
            sizes[k] += len(one.parts[position].touched) * row_bytes_of(array)
    return shared + max(a + b for a, b in pairwise(sizes))


def _is_shared(slices: Sequence[Slice], position: int) -> bool:
    return all(one.parts[position].touched == slices[0].parts[position].touched for one in slices)


def _are_apart(call: PartedCall, slices: Sequence[Slice]) -> bool:
    """Whether what parts write lies in rows apart."""
    for position in call.arrays:
        boxes = [one.parts[position].written for one in slices]
        rows = [box[0] for box in boxes if box is not None]
        up, down = (all(a.stop <= b.start for a, b in pairwise(order)) for order in (rows, rows[::-1]))
        if not (up or down):
            return False
    return True


def _meet(one: range, other: range) -> bool:
    return bool(one and other) and one.start < other.stop and other.start < one.stop


# ---- telling ----------------------------------------------------------------------------------------------------


def planned(
    executable: GpuExecutable, variant: Variant, names: Sequence[str], arguments: Sequence[object], fresh: Sequence[Any]
) -> Plan:
    """The Plan of a call, with a share for each part. names: of the arguments. Where the GPU's memory turns out to be
    too small for it, it is made in other parts."""
    count, everything = len(names), (*arguments, *fresh)
    parts = parts_of(executable, everything, count, values_of(everything))
    arrays = {k: everything[k] for k in parts if not is_on_device(everything[k])}
    told = {k: names[k] if k < count else f"return.{k - count}" for k in arrays}
    found = overlapping(executable, arguments, fresh, moved_bytes(arrays, parts))
    if found is None:
        moves = [_moves(told[k], array, [parts[k].needed], parts[k].written) for k, array in arrays.items()]
        return whole(variant, list(chain(*moves)))
    call, slices = found
    shares = []
    kept = {k: _Kept(array, slices, k) for k, array in call.arrays.items()}
    for one in slices:
        moves = [
            _moves(told[k if k < count else k - 2], array, kept[k].new(one.parts[k].needed), one.parts[k].written)
            for k, array in call.arrays.items()
        ]
        shares.append(Share(variant, (range(one.first, one.last),), tuple(chain(*moves))))
    return Plan(tuple(shares))


def _moves(name: str, array: Any, needed: Iterable[range], written: tuple[range, ...] | None) -> Iterator[Move]:
    turned = layout_of(array) in ("F", "first")

    def by_axis(box: tuple[range, ...]) -> tuple[range, ...]:
        return (box[::-1] if turned else box)[: array.ndim]

    for rows in filter(None, needed):
        yield Move("in", name, by_axis((rows, *map(range, rows_of(array).shape[1:]))))
    if written is not None:
        yield Move("out", name, by_axis(written))


# ---- running ----------------------------------------------------------------------------------------------------


class _Kept:
    """An array whose memory all parts share. sent: rows that are there already."""

    def __init__(self, array: Any, slices: Sequence[Slice], position: int) -> None:
        self.touched = NOTHING
        for one in slices:
            self.touched = hull(self.touched, one.parts[position].touched)
        self.array, self.sent, self.written = array, NOTHING, NOTHING
        self.placed: Placed | None = None

    def new(self, needed: range) -> Iterator[range]:
        """Rows that are needed and not there; from now on they are, and all between them."""
        if not needed:
            return
        if not self.sent:
            yield needed
        else:
            yield from filter(None, (range(needed.start, self.sent.start), range(self.sent.stop, needed.stop)))
        self.sent = hull(self.sent, needed)


@dataclass(slots=True)
class _Run:
    """One call in parts. windows: arrays that have memory of their own in each part."""

    call: PartedCall
    slices: Sequence[Slice]
    prepared: GpuCallStruct
    function: Callable[[Any], int]
    in_windows: bool
    kept: dict[int, _Kept] = field(default_factory=dict)
    live: list[Placed] = field(default_factory=list)

    @property
    def gpu(self) -> Gpu:
        return self.executable.gpu

    @property
    def executable(self) -> GpuExecutable:
        return self.call.found.executable

    def open(self) -> None:
        """Memory for what all parts share. Raises DeviceMemoryError."""
        for position, value in enumerate(self.call.everything):
            if is_on_device(value):
                self.prepared.put(position, in_place(value))  # type: ignore[arg-type]
        for position, array in self.call.arrays.items():
            if self.in_windows and not _is_shared(self.slices, position):
                continue
            kept = self.kept[position] = _Kept(array, self.slices, position)
            kept.placed = self.room(array, kept.touched)
            self.prepared.put(position, kept.placed)

    def room(self, array: Any, touched: range) -> Placed:
        """Memory for rows of an array, given back at the end at the latest."""
        placed = make_room(array, touched, self.gpu) if touched else in_place(array)
        if placed.owned:
            self.live.append(placed)
        return placed

    def start(self, one: Slice) -> tuple[dict[int, Placed], list[Placed]]:
        """Upload what a part needs, and start it: where its arrays are, and which of them are its own."""
        own: list[Placed] = []
        places: dict[int, Placed] = {}
        for position, array in self.call.arrays.items():
            if position not in self.kept:
                places[position] = self.room(array, one.parts[position].touched)
                own.append(places[position])
                self.prepared.put(position, places[position])
        if own:
            self.gpu.wait("up", self.gpu.mark("work"))  # memory is there in the order of `work`
        for position in self.call.arrays:
            needed = one.parts[position].needed
            if (kept := self.kept.get(position)) is None:
                send(places[position], needed, self.gpu, "up")
                continue
            assert kept.placed is not None
            places[position] = kept.placed
            for rows in kept.new(needed):
                send(kept.placed, rows, self.gpu, "up")
        self.gpu.wait("work", self.gpu.mark("up"))
        for number, value in enumerate((one.first, one.last)):
            fill_slot(self.prepared.slot(self.call.found.first + number), value)
        self.prepared.failure.site = -1
        failed = self.function(ctypes.byref(self.prepared.call))
        if failed or self.executable.may_end_early:
            try:
                raise_failure(failed, self.prepared, self.executable, None)
            except BoundsLeft as left:
                self.finish(one, places, self.gpu.mark("work"), own)
                raise left.error from None
        return places, own

    def finish(self, one: Slice, places: Mapping[int, Placed], mark: int, own: Sequence[Placed]) -> None:
        """Bring back what a part has written, once it has; give back its memory."""
        self.gpu.wait("down", mark)
        for position, placed in places.items():
            box = one.parts[position].written
            if placed.owned and box is not None:
                bring_back(placed, box, self.gpu, "down")
        for placed in own:
            if placed.owned:
                self.live.remove(placed)
                self.gpu.release(placed.owned)

    def all(self) -> None:
        """Every part, in order."""
        bringing: list[Future[None]] = []
        with ThreadPoolExecutor(1) as behind:
            try:
                for one in self.slices:
                    if self.in_windows and len(bringing) > 1:
                        bringing[-2].result()  # memory is for two parts
                    places, own = self.start(one)
                    bringing.append(behind.submit(self.finish, one, places, self.gpu.mark("work"), own))
                for part in bringing:
                    part.result()
            except (BoundsLeft, DeviceError):
                raise
            except BaseException:  # a signal, in the main thread: kernels end before who waits for them
                self.gpu.stop()
                raise
        raise_failure(0, self.prepared, self.executable, None)


def run_slices(call: PartedCall, slices: Sequence[Slice], threads: int, in_windows: bool) -> None:
    """Make the call in parts. in_windows: arrays that parts do not share have memory for two parts only. Where it
    fails, what parts before have written is the caller's. Raises what a call raises, and NoRoom, with nothing done."""
    executable = call.found.executable
    prepared, function = (
        GpuCallStruct(call.everything, 0, threads, executable),
        executable.gpu.function(executable.entry),
    )
    run = _Run(call, slices, prepared, function, in_windows)
    fault = executable.module.started(0)
    if fault is not None:
        raise_failure(1, run.prepared, executable, fault)
    try:
        try:
            run.open()
        except DeviceMemoryError as error:
            raise NoRoom(error) from None
        executable.gpu.wait("up", executable.gpu.mark("work"))
        run.all()
    except BaseException:
        with suppress(DeviceError):  # copies that were started end before their memory is given back
            executable.gpu.synchronize()
        raise
    finally:
        give_back(run.live, executable.gpu)

"""Dividing a call on a GPU into the shares of a `Plan`, each for some iterations of the outermost loop: while one share
computes, the next one is uploaded and the one before comes back; and what does not fit the GPU's memory as a whole may
fit in parts.

Rows that several shares need are uploaded once where all of them share the memory of an array. Which shares there are
is decided before anything moves: what two of them write must lie in rows apart, so that none brings back what another
one wrote. gpu_shares.py runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from loopwright.ir.plan import Move, Plan, Share, whole
from loopwright.ir.variant import Variant
from loopwright.memory.gpu_call import GpuExecutable, InParts, parts_of
from loopwright.memory.on_device import OnDevice, is_on_device
from loopwright.memory.placing import NOTHING, ArrayPart, by_axis, hull, row_bytes_of, rows_of, values_of

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
    """Some iterations of the outermost loop, and which part of each array they are about, by position."""

    iterations: range
    parts: Mapping[int, ArrayPart]


@dataclass(frozen=True)
class PartedCall:
    """A call that may be made in parts: all arrays and numbers by position, results last. names: of the parameters."""

    found: InParts
    everything: tuple[object, ...]
    names: Sequence[str]
    _known: dict[range, Slice] = field(default_factory=dict)

    @cached_property
    def arrays(self) -> dict[int, Any]:
        """The arrays of the host, by position."""
        return arrays_of_host(self.everything)

    @cached_property
    def positions(self) -> dict[str, int]:
        """Of these, by the names that plans have for them."""
        return {self.name(position): position for position in self.arrays}

    def name(self, position: int) -> str:
        """What a plan calls the array there: the two numbers of iterations are no arguments of the caller."""
        return array_name(self.names, position if position < self.found.first else position - 2)

    def slice(self, iterations: range) -> Slice:
        """The part of these iterations."""
        if iterations not in self._known:
            at, values = self.found.first, values_of(self.everything)
            values |= {f"v{at}": iterations.start, f"v{at + 1}": iterations.stop}
            parts = parts_of(self.found.executable, self.everything, at + 2, values)
            self._known[iterations] = Slice(iterations, parts)
        return self._known[iterations]

    def slices(self, bounds: Sequence[int]) -> list[Slice]:
        """The parts between some iterations."""
        return [self.slice(range(first, last)) for first, last in pairwise(bounds)]

    def bounds(self, count: int) -> list[int]:
        """Where about so many parts begin and end."""
        ranges = self.found.iterations.at(values_of(self.everything), (2**62,))
        if ranges is None:
            return []
        (iterations,) = ranges
        each = -(-len(iterations) // count)
        each = -(-each // EVEN) * EVEN if each >= EVEN else each
        return [*range(iterations.start, iterations.stop, each), iterations.stop]


def arrays_of_host(everything: Sequence[object]) -> dict[int, Any]:
    """By position."""
    arrays = {position: value for position, value in enumerate(everything) if isinstance(value, np.ndarray)}
    return {position: value for position, value in arrays.items() if not is_on_device(value)}


def array_name(names: Sequence[str], position: int) -> str:
    """What a plan calls an argument, or an array that the call makes. names: of the parameters."""
    return names[position] if position < len(names) else f"return.{position - len(names)}"


def moved_bytes(everything: Sequence[object], parts: Mapping[int, ArrayPart]) -> int:
    """How much a call, or a part of one, moves."""
    return sum(_moved(everything[k], part) for k, part in parts.items() if not is_on_device(everything[k]))


def _moved(array: Any, part: ArrayPart) -> int:
    return (len(part.needed) + _rows_back(part)) * row_bytes_of(array)


def _rows_back(part: ArrayPart) -> int:
    return len(part.written[0]) if part.written is not None else 0


# ---- plans ------------------------------------------------------------------------------------------------------


class Divider(NamedTuple):
    """Divides one call of a program. variant: of the program; names: of its parameters; whole_bytes: what the call
    moves as a whole. Where arrays are on the GPU in another stream, a call is not divided."""

    executable: GpuExecutable
    variant: Variant
    names: Sequence[str]
    arguments: Sequence[object]
    fresh: Sequence[object]
    whole_bytes: int

    def overlapping(self) -> tuple[PartedCall, Plan] | None:
        """The call and a plan for it, where it moves so much that copies are to overlap with kernels."""
        call = self._call() if self.whole_bytes >= FEWEST * PART_BYTES else None
        slices = None if call is None else slices_that_overlap(call, self.whole_bytes)
        return None if call is None or slices is None else (call, self._plan(call, slices, False))

    def fitting(self) -> tuple[PartedCall, Plan] | None:
        """The same in shares of which any two that follow one another fit the memory that is free now."""
        call = self._call()
        free_bytes = self.executable.gpu.free_bytes()
        slices = None if call is None else slices_that_fit(call, self.whole_bytes, free_bytes)
        return None if call is None or slices is None else (call, self._plan(call, slices, True))

    def _call(self) -> PartedCall | None:
        found = self.executable.find_parts()
        streams = {value.stream for value in self.arguments if isinstance(value, OnDevice)}
        if found is None or not streams <= {0}:
            return None
        return PartedCall(found, (*self.arguments[: found.first], 0, 0, *self.fresh), self.names)

    def _plan(self, call: PartedCall, slices: Sequence[Slice], in_windows: bool) -> Plan:
        kept = {
            position: _Rows()
            for position in call.arrays
            if not in_windows or is_shared([one.parts[position] for one in slices])
        }
        shares = []
        for one in slices:
            moves: list[Iterator[Move]] = []
            for position, array in call.arrays.items():
                part = one.parts[position]
                needed = kept[position].new(part.needed) if position in kept else [part.needed]
                moves.append(moves_of(call.name(position), array, needed, part.written))
            shares.append(Share(self.variant, (one.iterations,), tuple(chain(*moves))))
        return Plan(tuple(shares))


def planned(
    executable: GpuExecutable, variant: Variant, names: Sequence[str], arguments: Sequence[object], fresh: Sequence[Any]
) -> Plan:
    """The Plan of a call as it would be made now. names: of the parameters."""
    everything = (*arguments, *fresh)
    parts, arrays = parts_of(executable, everything, len(names), values_of(everything)), arrays_of_host(everything)
    divider = Divider(executable, variant, names, arguments, fresh, moved_bytes(everything, parts))
    takes = sum(len(parts[position].touched) * row_bytes_of(array) for position, array in arrays.items())
    found = divider.overlapping() if takes <= executable.gpu.free_bytes() else divider.fitting()
    if found is not None:
        return found[1]
    moves = (moves_of(array_name(names, k), array, [parts[k].needed], parts[k].written) for k, array in arrays.items())
    return whole(variant, list(chain(*moves)))


def moves_of(name: str, array: Any, needed: Iterable[range], written: tuple[range, ...] | None) -> Iterator[Move]:
    """What of an array is copied. needed: rows; written: a box, rows first."""
    for rows in filter(None, needed):
        yield Move("in", name, by_axis(array, (rows, *map(range, rows_of(array).shape[1:]))))
    if written is not None:
        yield Move("out", name, by_axis(array, written))


def slices_that_overlap(call: PartedCall, whole_bytes: int) -> list[Slice] | None:
    """Parts that move little more than the whole call; None where there are none that may be apart."""
    if call.found.executable.may_end_early:
        return None
    bounds = call.bounds(min(USUAL, max(1, whole_bytes // PART_BYTES)))
    if len(bounds) <= FEWEST:
        return None
    slices = call.slices(bounds)
    sent, written = ({position: _Rows() for position in call.arrays} for _ in range(2))
    moved = 0
    for one in slices:
        for position, array in call.arrays.items():
            part = one.parts[position]
            new = list(sent[position].new(part.needed))
            if any(_meet(rows, written[position].hull) for rows in new):
                return None  # it would overwrite what an earlier part has left there
            written[position].add(part.written[0] if part.written is not None else NOTHING)
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
        parts = [one.parts[position] for one in slices]
        if is_shared(parts):
            shared += len(parts[0].touched) * row_bytes_of(array)
            continue
        for k, part in enumerate(parts):
            sizes[k] += len(part.touched) * row_bytes_of(array)
    return shared + max(a + b for a, b in pairwise(sizes))


def is_shared(parts: Sequence[ArrayPart]) -> bool:
    """Whether all parts of a call touch the same rows of an array."""
    return all(one.touched == parts[0].touched for one in parts)


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


@dataclass(slots=True)
class _Rows:
    """Rows of an array that are there already, with all between them."""

    hull: range = NOTHING

    def add(self, rows: range) -> None:
        self.hull = hull(self.hull, rows)

    def new(self, needed: range) -> Iterator[range]:
        """Rows that are needed and not there; from now on they are."""
        if not needed:
            return
        there = self.hull or range(needed.start, needed.start)
        self.add(needed)
        yield from filter(None, (range(needed.start, there.start), range(there.stop, needed.stop)))

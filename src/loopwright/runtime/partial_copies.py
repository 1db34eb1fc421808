"""Arrays of which there are several while a region runs, as its parts add to the same elements: one for each part where
it has a total, one for each device where elements are updated. At the end of the region they are put together, in the
order of the parts and of the devices.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError
from loopwright.memory.array_copies import HOST, ArrayCopies, Copy
from loopwright.memory.placing import Placed, give_back
from loopwright.memory.region_call import RegionCode
from loopwright.runtime.participants import Participant

Several = dict[int, ArrayCopies]
"""By position."""

MOST_UPDATED = 256 << 20
"""Bytes of arrays of which each device would need one of its own: more are left to one device, as memory may not
suffice."""

MOST_SPARE = 1 << 20
"""Larger ones are not kept for the next call."""


class SparePartials:
    """Those of calls that are over, by device, element type and shape: to ask for memory takes longer than a short
    loop."""

    def __init__(self) -> None:
        self._spare: dict[tuple[object, ...], list[ArrayCopies]] = defaultdict(list)

    def total(self, dtype: np.dtype[Any], member: Participant) -> ArrayCopies:
        """Of one element, which a part writes. Raises DeviceMemoryError."""
        return self._taken(member, np.dtype(dtype), (1,), "C") or _total(dtype, member.gpu, member.name)

    def updated(self, like: Any, identity: Any, member: Participant) -> ArrayCopies:
        """As the array of a call, with elements that nobody has updated. Raises DeviceMemoryError."""
        order = "C" if like.flags.c_contiguous else "F" if like.flags.f_contiguous else ""
        found = self._taken(member, like.dtype, like.shape, order) if order else None
        if found is None:
            return _with_room(ArrayCopies(np.full_like(like, identity, subok=False)), member.gpu, member.name)
        found.array.fill(identity)
        return found

    def give(self, copies: ArrayCopies, name: str, gpu: Gpu | None) -> None:
        """One is not needed any more."""
        array = copies.array
        if array.nbytes <= MOST_SPARE:
            order = "C" if array.flags.c_contiguous else "F"
            self._spare[name, array.dtype, array.shape, order].append(copies)
        elif gpu is not None:
            with suppress(DeviceError):
                give_back(list(copies.placed.values()), gpu)

    def _taken(
        self, member: Participant, dtype: np.dtype[Any], shape: tuple[int, ...], order: str
    ) -> ArrayCopies | None:
        there = self._spare.get((member.name, dtype, shape, order))
        return there.pop() if there else None


def _total(dtype: np.dtype[Any], gpu: Gpu | None, name: str) -> ArrayCopies:
    """On the host, if the GPU writes it there itself."""
    seen = None if gpu is None else gpu.visible(dtype.itemsize)
    if seen is None:
        return _with_room(ArrayCopies(np.empty(1, dtype)), gpu, name)
    found = ArrayCopies(seen.view(dtype))
    found.placed[name] = Placed(seen.ctypes.data, (dtype.itemsize,), found.rows)
    return found


def _with_room(copies: ArrayCopies, gpu: Gpu | None, name: str) -> ArrayCopies:
    if gpu is not None:
        copies.room(name, gpu)
        weakref.finalize(copies, _forget, copies.placed, gpu).atexit = False
    return copies


def _forget(placed: dict[str, Placed], gpu: Gpu) -> None:
    with suppress(DeviceError):
        give_back(list(placed.values()), gpu)


class PartialCopies:
    """Those of the present region of one call. spare: of calls before."""

    def __init__(self, spare: SparePartials) -> None:
        self._spare = spare
        self._totals: dict[str, dict[range, Several]] = {}  # by device: others add to theirs meanwhile
        self._updated: dict[str, Several] = {}
        self._home: set[str] = set()

    def enter(self) -> None:
        """A region begins, in which nobody has any."""
        self._totals, self._updated, self._home = {}, {}, set()

    def made(self, member: Participant, code: RegionCode, everything: Sequence[object]) -> tuple[Several, Several]:
        """Those that a part of a member needs, and has not yet, with room for them: of its own, and of the device's.
        Raises DeviceMemoryError."""
        totals: Several = {}
        updated: Several = {}
        for position, one in code.partial.items():
            if one.update is None:
                totals[position] = self._spare.total(one.dtype, member)
            elif position not in self._updated.get(member.name, {}):
                updated[position] = self._spare.updated(everything[position], one.identity, member)
        return totals, updated

    def add(self, member: Participant, part: range, made: tuple[Several, Several]) -> list[Copy]:
        """A part is going to be done with these: the copies to be made before."""
        totals, updated = made
        self._totals.setdefault(member.name, {})[part] = totals
        self._updated.setdefault(member.name, {}).update(updated)
        return [] if member.gpu is None else [Copy(one, HOST, member.name, one.whole) for one in updated.values()]

    def of(self, name: str, part: range) -> Several:
        """What a part of a device works with."""
        totals, updated = self._totals.get(name), self._updated.get(name)
        if totals is None and updated is None:
            return {}
        return (totals or {}).get(part, {}) | (updated or {})

    def forget(self, member: Participant, part: range | None = None) -> None:
        """A part has not been done; None: nothing that a member has done counts."""
        if part is not None:
            self._totals.get(member.name, {}).pop(part, None)
            return
        self._updated.pop(member.name, None)
        self._totals.pop(member.name, None)

    def parts_of(self, member: Participant) -> list[range]:
        """What a member has done."""
        return list(self._totals.get(member.name, {}))

    def homeward(self, member: Participant) -> list[Copy]:
        """A member is done: the copies that bring to the host what is its own."""
        if member.gpu is None or member.name in self._home:
            return []
        mine = self._of_member(member.name)
        return [Copy(one, member.name, HOST, one.whole) for one in mine if one.placed[member.name].owned]

    def are_home(self, member: Participant) -> None:
        """They have been made."""
        self._home.add(member.name)

    def totals(self) -> Iterator[Several]:
        """What parts have added up, in their order."""
        parts = [one for some in self._totals.values() for one in some.items()]
        return (totals for _, totals in sorted(parts, key=lambda one: one[0].start) if totals)

    def updated(self) -> Mapping[int, Sequence[ArrayCopies]]:
        """Each device's own arrays, device after device, by position."""
        found: dict[int, list[ArrayCopies]] = {}
        for name in sorted(self._updated):
            for position, copies in self._updated[name].items():
                found.setdefault(position, []).append(copies)
        return found

    def give_back(self, gpus: Mapping[str, Gpu]) -> None:
        """None of them is needed any more. gpus: by place."""
        for name in {*self._updated, *self._totals}:
            for copies in self._of_member(name):
                self._spare.give(copies, name, gpus.get(name))
        self.enter()

    def _of_member(self, name: str) -> Iterator[ArrayCopies]:
        for some in (*self._totals.get(name, {}).values(), self._updated.get(name, {})):
            yield from some.values()


def are_too_large(arguments: Sequence[Any], updated: Iterable[int]) -> bool:
    """Whether arrays whose elements are updated, by position, have no place in the memory several times."""
    return sum(int(arguments[k].nbytes) for k in updated if k < len(arguments)) > MOST_UPDATED

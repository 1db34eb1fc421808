"""Arrays of which there are several while a region runs, as its parts add to the same elements: one for each part where
it has a total, one for each device where elements are updated. At the end of the region they are put together, in the
order of the parts and of the devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from loopwright.memory.array_copies import HOST, ArrayCopies, Copy
from loopwright.memory.region_call import RegionCode
from loopwright.runtime.participants import Participant

Several = dict[int, ArrayCopies]
"""By position."""

MOST_UPDATED = 256 << 20
"""Bytes of arrays of which each device would need one of its own: more are left to one device, as memory may not
suffice."""


class PartialCopies:
    """Those of the present region of one call."""

    def __init__(self) -> None:
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
                totals[position] = ArrayCopies(np.empty(1, one.dtype))
            elif position not in self._updated.get(member.name, {}):
                updated[position] = ArrayCopies(np.full_like(everything[position], one.identity, subok=False))
        if member.gpu is not None:
            for copies in (*totals.values(), *updated.values()):
                copies.room(member.name, member.gpu)
        return totals, updated

    def add(self, member: Participant, part: range, made: tuple[Several, Several]) -> list[Copy]:
        """A part is going to be done with these: the copies to be made before."""
        totals, updated = made
        self._totals.setdefault(member.name, {})[part] = totals
        self._updated.setdefault(member.name, {}).update(updated)
        return [copy for one in updated.values() for copy in one.wanted(member.name, one.whole)]

    def of(self, member: Participant, part: range) -> Several:
        """What a part of a member works with."""
        return self._totals.get(member.name, {}).get(part, {}) | self._updated.get(member.name, {})

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
        return [Copy(copies, member.name, HOST, copies.whole) for copies in self._of_member(member.name)]

    def are_home(self, member: Participant) -> None:
        """They have been made."""
        self._home.add(member.name)

    def totals(self) -> Iterator[Several]:
        """What parts have added up, in their order."""
        parts = [one for some in self._totals.values() for one in some.items()]
        return (totals for _, totals in sorted(parts, key=lambda one: one[0].start) if totals)

    def updated(self) -> Iterator[tuple[int, ArrayCopies]]:
        """Each device's own arrays, with their positions, device after device."""
        for name in sorted(self._updated):
            yield from self._updated[name].items()

    def everything(self) -> Iterator[ArrayCopies]:
        """All that there are."""
        for name in {*self._updated, *self._totals}:
            yield from self._of_member(name)

    def _of_member(self, name: str) -> Iterator[ArrayCopies]:
        for some in (*self._totals.get(name, {}).values(), self._updated.get(name, {})):
            yield from some.values()


def are_too_large(arguments: Sequence[Any], updated: Iterable[int]) -> bool:
    """Whether arrays whose elements are updated, by position, have no place in the memory several times."""
    return sum(int(arguments[k].nbytes) for k in updated if k < len(arguments)) > MOST_UPDATED

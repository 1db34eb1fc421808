"""Which device has the newest elements of each array of a call that several devices share, and the copies that bring
them to where they are needed. The host is place 0, GPUs have the numbers from 1 on.

Boxes have the slowest axis first, as rows do (placing.py). Who moves elements says so before: what a copy brings counts
as there from then on, so the copy is made before anybody else looks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from loopwright.devices.copy_layout import offset_in, outer_axes, stretches
from loopwright.devices.gpu import Gpu, Queue
from loopwright.devices.peers import PeerCopy
from loopwright.ir.boxes import Reach
from loopwright.ir.plan import Box
from loopwright.memory.box_set import Boxes, BoxSet
from loopwright.memory.placing import Placed, bring_back, make_room, rows_in, rows_of

HOST = "cpu"


class Copy(NamedTuple):
    """A box of an array that is to be copied from one place to another."""

    array: ArrayCopies
    source: str
    target: str
    box: Box

    @property
    def size_bytes(self) -> int:
        return prod(map(len, self.box)) * self.array.rows.itemsize


Sets = defaultdict[str, BoxSet]
"""What of an array, by place."""


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """Who has what of an array: `valid` and `copied` of ArrayCopies, by place. Two are the same where they are one
    object: to compare boxes takes longer than a small kernel."""

    valid: tuple[tuple[str, Boxes], ...]
    copied: tuple[tuple[str, Boxes], ...]


class ArrayCopies:
    """One array: its elements on the host, and on GPUs that have memory for it. home: where the caller sees it, None
    for an array that only the call knows; there: the caller's array, where its home is a GPU."""

    def __init__(self, array: Any, home: str | None = HOST, there: Any = None) -> None:
        self.array, self.home = array, home
        self.rows = rows_of(array)
        self.whole: Box = tuple(map(range, self.rows.shape))
        self._marks: Marks | None = None
        self._sets: tuple[Sets, Sets] | None = defaultdict(BoxSet), defaultdict(BoxSet)
        self.placed: dict[str, Placed] = {}
        self.early: list[Box] = []
        """Boxes that were written, and copied to the host before the end of a region."""
        self.valid[HOST if home is None else home].add(self.whole)
        if home not in (None, HOST):
            self.placed[home] = Placed(there.ctypes.data, there.strides, self.rows)

    @property
    def valid(self) -> Sets:
        """What each place has the newest elements of."""
        return self._as_sets()[0]

    @property
    def copied(self) -> Sets:
        """What of it was only copied to a place, perhaps just now, or is yet to be written there: others copy it from
        where it was written."""
        return self._as_sets()[1]

    def _as_sets(self) -> tuple[Sets, Sets]:
        if self._sets is None:
            assert self._marks is not None
            valid, copied = (
                defaultdict(BoxSet, {place: BoxSet.of(boxes) for place, boxes in some})
                for some in (self._marks.valid, self._marks.copied)
            )
            self._sets = valid, copied
        return self._sets

    def _change(self) -> None:
        self._as_sets()
        self._marks = None

    @property
    def marks(self) -> Marks:
        """Who has what, as it is now."""
        if self._marks is None:
            valid, copied = (
                tuple(sorted(((place, one.boxes) for place, one in some.items() if one), key=itemgetter(0)))
                for some in self._as_sets()
            )
            self._marks = Marks(valid, copied)
        return self._marks

    @marks.setter
    def marks(self, marks: Marks) -> None:
        if marks is not self._marks:
            self._marks, self._sets = marks, None

    def box_of(self, reach: Reach | None, what: str, values: dict[str, int]) -> Box | None:
        """What a part of a region does with it. what: `touched`, `needed` or `written`."""
        box = None if reach is None else getattr(reach, what)
        if box is None or not self.array.size:
            return None
        if self.array.dtype.names is not None:  # there may be bytes between the fields
            return self.whole
        found = box.at(values, self.array.shape)
        return None if found is None else rows_in(self.array, found)

    def room(self, place: str, gpu: Gpu) -> Placed:
        """Where the array is on a GPU, with room for all of it. Raises DeviceMemoryError."""
        if place not in self.placed:
            self.placed[place] = make_room(self.array, self.whole[0], gpu)
        return self.placed[place]

    def wanted(self, place: str, box: Box) -> Iterator[Copy]:
        """The copies that bring a box to a place; from now on it is there. Raises LookupError where some of it is
        nowhere any more."""
        missing = self.valid[place].missing(box)
        if missing:
            self._change()
            self.valid[place].add(box)
        for part in missing:
            self.copied[place].add(part)
        for part in missing:
            left = [part]
            sources = self._sources(place, part)
            for source, first_hand in [(one, sure) for sure in (True, False) for one in sources]:
                for some in list(left):
                    if there := self._there(source, some, first_hand):
                        left.remove(some)
                        left += _without(some, there)
                        yield from (Copy(self, source, place, one) for one in there)
                if not left:
                    break
            if left:
                raise LookupError(left[0])

    def _there(self, source: str, box: Box, first_hand: bool) -> list[Box]:
        """What a place has of a box; first_hand: without what was copied there, as another thread may still be at
        it."""
        there = list(self.valid[source].inside(box))
        if not first_hand:
            return there
        return [rest for one in there for rest in _without(one, self.copied[source].inside(one))]

    def will_write(self, place: str, box: Box) -> None:
        """A place is going to write a box: it needs no copy of it, and nobody else takes it from there before."""
        self._change()
        self.valid[place].add(box)
        self.copied[place].add(box)

    def wrote(self, place: str, box: Box) -> None:
        """A place has written a box, so that it alone has it."""
        self._change()
        for other, valid in self.valid.items():
            if other != place:
                valid.remove(box)
        for copied in self.copied.values():
            copied.remove(box)
        self.valid[place].add(box)

    def is_only_at(self, place: str) -> bool:
        """Whether a place alone has all of it."""
        valid, copied = self._as_sets()
        others = any(one for other, one in valid.items() if other != place) or any(copied.values())
        return not others and not valid[place].missing(self.whole)

    def settle_early(self) -> None:
        """A region is over: what was copied early counts."""
        if self.early:
            self._change()
        for box in self.early:
            self.valid[HOST].add(box)
        self.early = []

    def lost(self, place: str) -> None:
        """What a place had is gone."""
        self._change()
        self.valid.pop(place, None)
        self.copied.pop(place, None)
        self.placed.pop(place, None)

    def homeward(self) -> list[Copy]:
        """The copies that bring it home."""
        return [] if self.home is None else list(self.wanted(self.home, self.whole))

    def _sources(self, place: str, box: Box) -> list[str]:
        """Where to look for a box, the host first: it reads and is read by all."""
        others = [other for other, valid in self.valid.items() if other != place and not valid.misses(box)]
        return sorted(others, key=lambda one: (one != HOST, one))


def _without(box: Box, parts: Sequence[Box]) -> list[Box]:
    found = BoxSet([box])
    for part in parts:
        found.remove(part)
    return list(found.boxes)


def make(copy: Copy, gpus: Mapping[str, Gpu], queue: Queue) -> None:
    """Make a copy; one from a GPU has been made when this returns. queue: for what a GPU is asked for. gpus: by
    place, without the host."""
    array, source, target = copy.array, gpus.get(copy.source), gpus.get(copy.target)
    if source is None and target is not None:
        inside = None if copy.box == array.whole else copy.box  # all of it is told in less time
        target.upload(array.placed[copy.target].address, array.rows, queue, inside)
    elif target is None and source is not None:
        bring_back(array.placed[copy.source], copy.box, source, queue)
    elif source is not None and target is not None:
        _between(copy, source, target)


def peer_copies(copy: Copy, source: Gpu, target: Gpu) -> Iterator[PeerCopy]:
    """What one GPU is to copy of another one's memory."""
    array, rows = copy.array, copy.array.rows
    for first, count, pitch in _rows(copy.box, rows.shape):
        offset, size_bytes = offset_in(rows.shape, first) * rows.itemsize, prod(map(len, first)) * rows.itemsize
        to, where = array.placed[copy.target].address + offset, array.placed[copy.source].address + offset
        is_pooled = bool(array.placed[copy.source].owned)
        yield PeerCopy(target, source, to, where, size_bytes, count, pitch * rows.itemsize, is_pooled)


def _between(copy: Copy, source: Gpu, target: Gpu) -> None:
    for one in peer_copies(copy, source, target):
        if not target.copy_from(*one[1:7]):
            through_host = np.empty(one.size_bytes, np.uint8)
            for row in range(one.rows):
                source.download(through_host, one.other + row * one.pitch_bytes)
                target.upload(one.address + row * one.pitch_bytes, through_host)


def _rows(box: Box, shape: Sequence[int]) -> Iterator[tuple[Box, int, int]]:
    """The stretches of a box, those along the last axis that tells them apart together: the first one, how many there
    are, and how many elements each begins behind the one before."""
    outer = outer_axes(box, shape)
    if outer < 2:
        yield box, 1, 0
        return
    axis, pitch = outer - 2, prod(shape[outer - 1 :])
    for one in stretches((*box[:axis], box[axis][:1], *box[outer - 1 :]), shape):
        yield one, len(box[axis]), pitch

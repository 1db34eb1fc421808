"""Sets of indices of an array, as boxes that have no index in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from loopwright.ir.plan import Box

KEPT = 1 << 12
"""So many answers of each kind are kept."""

Boxes = tuple[Box, ...]


def intersection(one: Box, other: Box) -> Box | None:
    """What two boxes of as many axes have in common; None for nothing."""
    found: list[range] = []
    for a, b in zip(one, other, strict=True):
        first = a.start if a.start > b.start else b.start
        last = a.stop if a.stop < b.stop else b.stop
        if first >= last:
            return None
        found.append(range(first, last))
    return tuple(found)


def covers(one: Box, other: Box) -> bool:
    """Whether all of the other box is in this one."""
    return all(a.start <= b.start and b.stop <= a.stop for a, b in zip(one, other, strict=True))


def difference(one: Box, other: Box) -> Iterator[Box]:
    """What of a box is not in another one, as boxes: along the first axis the longest ones."""
    common = intersection(one, other)
    if common is None:
        yield one
        return
    for axis, (whole, part) in enumerate(zip(one, common, strict=True)):
        before, behind = common[:axis], one[axis + 1 :]
        for rest in (range(whole.start, part.start), range(part.stop, whole.stop)):
            if rest:
                yield (*before, rest, *behind)


class BoxSet:
    """A set of indices. Boxes without an index are left out.

    What comes of a set and a box is kept: calls of one kind, and the steps of a loop over time, ask the same again."""

    def __init__(self, boxes: Iterable[Box] = ()) -> None:
        self._become(())
        for box in boxes:
            self.add(box)

    @staticmethod
    def of(boxes: Boxes) -> BoxSet:
        """That of boxes which have no index in common."""
        found = BoxSet()
        found._become(boxes)
        return found

    def __bool__(self) -> bool:
        return bool(self.boxes)

    def add(self, box: Box) -> None:
        """These too."""
        missing = self.missing(box)
        if missing:
            self._become(_joined(self.boxes, missing))

    def remove(self, box: Box) -> None:
        """These no more."""
        if not self.misses(box):
            self._become(_without(self.boxes, box))

    def missing(self, box: Box) -> Boxes:
        """What of a box is not in the set."""
        if not all(box) or any(covers(one, box) for one in self.boxes):
            return ()  # as in most calls, where everything is as the one before has left it
        return _missing(self.boxes, box) if self.boxes else (box,)

    def inside(self, box: Box) -> Boxes:
        """What of a box is in the set."""
        return () if self.misses(box) else _inside(self.boxes, box)

    def misses(self, box: Box) -> bool:
        """Whether all of it lies before a box, or behind it, along the first axis: then it has nothing of the box. Of
        the sets of many devices nearly all are told apart by that."""
        return box[0].start >= self._stop or box[0].stop <= self._start

    def copy(self) -> BoxSet:
        """Another set of the same indices."""
        return BoxSet.of(self.boxes)

    def _become(self, boxes: Boxes) -> None:
        self.boxes = boxes
        self._start = min((one[0].start for one in boxes), default=0)
        self._stop = max((one[0].stop for one in boxes), default=0)


@lru_cache(KEPT)
def _without(boxes: Boxes, box: Box) -> Boxes:
    return _joined((), tuple(rest for one in boxes for rest in difference(one, box)))


@lru_cache(KEPT)
def _missing(boxes: Boxes, box: Box) -> Boxes:
    left = [box]
    for one in boxes:
        left = [rest for part in left for rest in difference(part, one)]
    return tuple(left)


@lru_cache(KEPT)
def _inside(boxes: Boxes, box: Box) -> Boxes:
    return tuple(common for one in boxes if (common := intersection(one, box)) is not None)


@lru_cache(KEPT)
def _joined(boxes: Boxes, others: Boxes) -> Boxes:
    """All of them; two that differ along one axis only, and touch there, become one."""
    left = [*boxes, *others]
    k = 0
    while k < len(left):
        pair = next((n for n in range(k) if _as_one(left[n], left[k]) is not None), None)
        if pair is None:
            k += 1
            continue
        both = _as_one(left[pair], left.pop(k))
        assert both is not None
        del left[pair]
        left.append(both)
        k = 0
    return tuple(left)


def _as_one(one: Box, other: Box) -> Box | None:
    apart = [axis for axis, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(apart) != 1:
        return None
    (axis,) = apart
    first, second = sorted((one[axis], other[axis]), key=lambda ends: ends.start)
    if first.stop < second.start:
        return None
    return (*one[:axis], range(first.start, max(first.stop, second.stop)), *one[axis + 1 :])

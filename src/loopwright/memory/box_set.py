"""Sets of indices of an array, as boxes that have no index in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopwright.ir.plan import Box


def intersection(one: Box, other: Box) -> Box | None:
    """What two boxes of as many axes have in common; None for nothing."""
    found = tuple(range(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(one, other, strict=True))
    return found if all(found) else None


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
    """A set of indices. Boxes without an index are left out."""

    def __init__(self, boxes: Iterable[Box] = ()) -> None:
        self.boxes: list[Box] = []
        for box in boxes:
            self.add(box)

    def __bool__(self) -> bool:
        return bool(self.boxes)

    def add(self, box: Box) -> None:
        """These too."""
        if all(box):
            self.boxes += self.missing(box)
            self._join()

    def remove(self, box: Box) -> None:
        """These no more."""
        self.boxes = [rest for one in self.boxes for rest in difference(one, box)]

    def missing(self, box: Box) -> list[Box]:
        """What of a box is not in the set."""
        left = [box] if all(box) else []
        for one in self.boxes:
            left = [rest for part in left for rest in difference(part, one)]
        return left

    def inside(self, box: Box) -> list[Box]:
        """What of a box is in the set."""
        return [common for one in self.boxes if (common := intersection(one, box)) is not None]

    def copy(self) -> BoxSet:
        """Another set of the same indices."""
        found = BoxSet()
        found.boxes = list(self.boxes)
        return found

    def _join(self) -> None:
        """Make one box of two that differ along one axis only, and touch there."""
        k = 0
        while k < len(self.boxes):
            joined = next((n for n in range(k) if _joined(self.boxes[n], self.boxes[k]) is not None), None)
            if joined is None:
                k += 1
                continue
            both = _joined(self.boxes[joined], self.boxes.pop(k))
            assert both is not None
            del self.boxes[joined]
            self.boxes.append(both)
            k = 0


def _joined(one: Box, other: Box) -> Box | None:
    apart = [axis for axis, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(apart) != 1:
        return None
    (axis,) = apart
    first, second = sorted((one[axis], other[axis]), key=lambda ends: ends.start)
    if first.stop < second.start:
        return None
    return (*one[:axis], range(first.start, max(first.stop, second.stop)), *one[axis + 1 :])

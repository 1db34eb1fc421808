"""`DataLayout`: how the elements of an array lie in memory, as a value with a text; and the address that follows from
it. It owns the order of axes, tiles and padding; which arrays have which layout is for `steps/relayout.py`.

An array of records is taken as one with an axis more, the last one, over its fields: so `p[i]["x"]` of records and
`p[i, 0]` of a plain array are one thing.

    aos             axes as they stand: records one after the other
    soa             the last axis outermost: a plane for each field
    aosoa 8         tiles of 8 records, with a plane for each field in each tile
    order 1 0       axis 1 outermost, axis 0 innermost: here, transposed
    soa pad 4       the same, with 4 elements that nobody uses at the end of what lies innermost
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from loopwright.ir.linear import number, plus
from loopwright.ir.nodes import Binary, Const, Expr

Kind = Literal["aos", "soa", "aosoa", "order"]
WANTED = "soa | aos | aosoa WIDTH | order AXIS AXIS ..., and perhaps pad ELEMENTS"


@dataclass(frozen=True, slots=True)
class StoredAxis:
    """One axis of memory: a whole axis of the array; or, of one in tiles of `width`, the tiles, or the place within a
    tile."""

    axis: int
    part: Literal["whole", "tiles", "within"] = "whole"
    width: int = 1

    def of(self, index: Expr) -> Expr:
        """Where an index of the array's axis, which is not negative, is along this one."""
        if self.part == "whole":
            return index
        if isinstance(index, Const):
            value = int(index.value)
            return number(value // self.width if self.part == "tiles" else value % self.width)
        return Binary("floordiv" if self.part == "tiles" else "mod", index, number(self.width))

    def size_of(self, size: Expr) -> Expr:
        """How long it is for a size of the array's axis."""
        match self.part:
            case "whole":
                return size
            case "within":
                return number(self.width)
            case "tiles":
                return self.of(plus(size, self.width - 1))

    def place(self, index: int) -> int:
        """The same as `of`, of a number."""
        if self.part == "whole":
            return index
        return index // self.width if self.part == "tiles" else index % self.width

    def extent(self, size: int) -> int:
        """The same as `size_of`, of a number."""
        if self.part == "whole":
            return size
        return -(-size // self.width) if self.part == "tiles" else self.width


@dataclass(frozen=True, slots=True)
class DataLayout:
    """kind: see above. numbers: the axes from the outermost to the innermost one for `order`, the width of a tile for
    `aosoa`, else none. pad: in elements.

    Examples:
        >>> layout = DataLayout.parse(["aosoa", "4"])
        >>> layout.shape((10, 3)), layout.place((9, 2), (10, 3))
        ((3, 3, 4), 33)
    """

    kind: Kind
    numbers: tuple[int, ...] = ()
    pad: int = 0

    @classmethod
    def parse(cls, words: Sequence[str]) -> DataLayout:
        """The layout that words say. Raises ValueError saying what is wanted."""
        left, pad = list(words), 0
        if len(left) >= 2 and left[-2] == "pad":
            pad = _whole(left[-1], "the padding", 1)
            left = left[:-2]
        match left:
            case ["aos" | "soa" as kind]:
                return cls(kind, pad=pad)
            case ["aosoa", width]:
                return cls("aosoa", (_whole(width, "the width of a tile", 2),), pad)
            case ["order", first, *others]:
                axes = tuple(_whole(one, "an axis", 0) for one in (first, *others))
                if sorted(axes) != list(range(len(axes))):
                    raise ValueError(f"the axes from 0 to {len(axes) - 1}, each once")
                return cls("order", axes, pad)
        raise ValueError(WANTED)

    def __str__(self) -> str:
        return " ".join([self.kind, *map(str, self.numbers), *(["pad", str(self.pad)] if self.pad else [])])

    def unfit(self, rank: int) -> str:
        """Why an array of so many axes, fields included, cannot have it; '' where it can."""
        if self.kind == "order":
            wanted = len(self.numbers)
            return "" if wanted == rank else f"it names {wanted} axes, and there are {rank}"
        if rank < 2 and self.kind != "aos":
            return "an array of one axis has no records: 'order' and 'aos' are all that it can have"
        return "" if rank else "it has no axes"

    def axes(self, rank: int) -> tuple[StoredAxis, ...]:
        """The axes of memory, from the outermost to the innermost one, of an array that is not `unfit`."""
        return _axes(self.kind, self.numbers, rank)

    # ---- addresses: of expressions, and of numbers ------------------------------------------------------------------

    def index_of(self, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where the element with this index is along each axis of memory; no index may be negative where the axis is in
        tiles."""
        return tuple(one.of(index[one.axis]) for one in self.axes(len(index)))

    def sizes_of(self, sizes: Sequence[Expr]) -> tuple[Expr, ...]:
        """The sizes of the axes of memory, padding included."""
        found = [one.size_of(sizes[one.axis]) for one in self.axes(len(sizes))]
        return (*found[:-1], plus(found[-1], self.pad))

    def shape(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """`sizes_of`, of numbers."""
        found = [one.extent(sizes[one.axis]) for one in self.axes(len(sizes))]
        return (*found[:-1], found[-1] + self.pad)

    def place(self, index: Sequence[int], sizes: Sequence[int]) -> int:
        """How many elements are before the one with this index in memory."""
        found = 0
        for one, size in zip(self.axes(len(sizes)), self.shape(sizes), strict=True):
            found = found * size + one.place(index[one.axis])
        return found

    def keeps(self, rank: int, axis: int) -> bool:
        """Whether memory has an axis that is as long as this one of the array, so that any index means the same."""
        stored = self.axes(rank)
        return not (self.pad and stored[-1].axis == axis) and any(
            one.axis == axis and one.part == "whole" for one in stored
        )


@cache
def _axes(kind: Kind, numbers: tuple[int, ...], rank: int) -> tuple[StoredAxis, ...]:
    whole = tuple(StoredAxis(axis) for axis in range(rank))
    match kind:
        case "aos":
            return whole
        case "soa":
            return (whole[-1], *whole[:-1])
        case "order":
            return tuple(whole[axis] for axis in numbers)
        case "aosoa":
            width, records = numbers[0], rank - 2
            inside = StoredAxis(records, "within", width)
            return (*whole[:records], StoredAxis(records, "tiles", width), whole[-1], inside)


def _whole(word: str, what: str, least: int) -> int:
    if not word.isdecimal() or int(word) < least:
        raise ValueError(f"{what} is a whole number from {least} on, not '{word}'")
    return int(word)

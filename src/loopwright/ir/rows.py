"""Lists of lists and of arrays, and arrays of several axes, made of what a call returns: elements one behind another.

The classes are named in `Kernel.packing`; what is called gives a list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any


def _pieces(numbers: Any, starts: Any, sizes: Any, items: Any) -> Iterator[Any]:
    """For each number, the elements from its start on; `sizes` has an array for each axis. None for what is no number:
    room for a list that is not used."""
    begins, all_sizes = starts.tolist(), [one.tolist() for one in sizes]
    for number in numbers.tolist():
        if not 0 <= number < len(begins):
            yield None
            continue
        shape, begin = [size[number] for size in all_sizes], begins[number]
        piece = items[begin : begin + math.prod(shape)]
        yield piece if len(shape) == 1 else piece.reshape(shape)


class OneOf:
    """What one of several returns gives: each has a thing of its own behind the number of the one that was reached."""

    def __new__(cls, reached: int, *things: Any) -> Any:
        return things[reached]


class ListOfArrays:
    """A list of arrays of their own, one for each number; what has one number is one array."""

    def __new__(cls, numbers: Any, starts: Any, *rest: Any) -> list[Any]:  # type: ignore[misc]
        made = {}
        *sizes, items = rest
        for number, piece in zip(numbers.tolist(), _pieces(numbers, starts, sizes, items), strict=True):
            if number not in made:
                made[number] = piece if piece is None else piece.copy()
        return [made[number] for number in numbers.tolist()]


class _ListOfLists:
    """`rest`: an array for each place of the tuples in these lists."""

    @classmethod
    def of(cls, numbers: Any, starts: Any, sizes: Any, columns: Sequence[Any], is_tuple: bool) -> list[Any]:
        made: dict[int, list[Any] | None] = {}
        wanted, begins, lengths = numbers.tolist(), starts.tolist(), sizes.tolist()
        for number in wanted:
            if number in made:
                continue
            if not 0 <= number < len(begins):  # of room that is not used
                made[number] = None
                continue
            begin = begins[number]
            parts = [column[begin : begin + lengths[number]] for column in columns]
            made[number] = list(zip(*parts, strict=True)) if is_tuple else parts[0]
        return [made[number] for number in wanted]


class ListOfLists(_ListOfLists):
    """A list of lists of numbers, or of what there is in `items`."""

    def __new__(cls, numbers: Any, starts: Any, sizes: Any, items: Any) -> list[Any]:  # type: ignore[misc]
        return cls.of(numbers, starts, sizes, [items], is_tuple=False)


class ListOfListsOfTuples(_ListOfLists):
    """A list of lists of tuples of numbers."""

    def __new__(cls, numbers: Any, starts: Any, sizes: Any, *columns: Any) -> list[Any]:  # type: ignore[misc]
        return cls.of(numbers, starts, sizes, columns, is_tuple=True)


class ListOfPairs:
    """A list of lists of one length, from one of tuples."""

    def __new__(cls, *tuples: Any) -> list[Any]:  # type: ignore[misc]
        return [list(one) for one in tuples]


class Shaped:
    """An array, from its elements in C order and its sizes."""

    def __new__(cls, items: Any, *sizes: Any) -> Any:
        return items.reshape([int(size) for size in sizes])

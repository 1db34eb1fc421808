"""Sets of boxes against sets of indices, one by one."""

from __future__ import annotations

import itertools
import random

import pytest

from loopwright.ir.plan import Box
from loopwright.memory.box_set import BoxSet, covers, difference, intersection


def points(*boxes: Box) -> set[tuple[int, ...]]:
    return {point for box in boxes for point in itertools.product(*box)}


def some_box(numbers: random.Random, axes: int) -> Box:
    ends = (sorted(numbers.choices(range(7), k=2)) for _ in range(axes))
    return tuple(range(first, last) for first, last in ends)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_two_boxes(axes: int) -> None:
    numbers = random.Random(axes)
    for _ in range(300):
        one, other = some_box(numbers, axes), some_box(numbers, axes)
        common = intersection(one, other)
        assert points(*([common] if common else [])) == points(one) & points(other)
        if points(other):
            assert covers(one, other) == (points(other) <= points(one))
        rest = list(difference(one, other))
        assert sum(len(points(part)) for part in rest) == len(points(*rest))
        assert points(*rest) == points(one) - points(other)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_set_after_many_changes(axes: int) -> None:
    numbers = random.Random(axes)
    for _ in range(60):
        found, expected = BoxSet(), set[tuple[int, ...]]()
        for _ in range(8):
            box = some_box(numbers, axes)
            if numbers.random() < 0.6:
                found.add(box)
                expected |= points(box)
            else:
                found.remove(box)
                expected -= points(box)
            asked = some_box(numbers, axes)
            assert points(*found.boxes) == expected
            assert sum(len(points(one)) for one in found.boxes) == len(expected)
            assert points(*found.missing(asked)) == points(asked) - expected
            assert points(*found.inside(asked)) == points(asked) & expected
            assert not (found.misses(asked) and points(asked) & expected)
            assert bool(found) == bool(expected)


def test_neighbours_become_one_box() -> None:
    found = BoxSet([(range(4), range(9)), (range(6, 9), range(9))])
    assert len(found.boxes) == 2
    found.add((range(4, 6), range(9)))
    assert found.boxes == ((range(9), range(9)),)


def test_what_is_left_around_neighbours_is_as_few_boxes_as_around_all_of_them() -> None:
    whole = (range(30), range(9))
    one, other = BoxSet([whole]), BoxSet([whole])
    one.remove((range(1, 29), range(1, 8)))
    for first in range(1, 29, 4):
        other.remove((range(first, first + 4), range(1, 8)))
    assert len(other.boxes) == len(one.boxes) == 4
    assert points(*other.boxes) == points(*one.boxes)


def test_a_set_misses_what_lies_before_and_behind_it() -> None:
    found = BoxSet([(range(4, 6), range(9)), (range(8, 9), range(9))])
    asked = [(range(3, 4), range(9)), (range(9, 12), range(9)), (range(5, 7), range(9)), (range(6, 8), range(9))]
    assert [found.misses(box) for box in asked] == [True, True, False, False]
    assert BoxSet().misses(asked[0])

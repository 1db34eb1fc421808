"""Which sizes are measured around a recorded call: on devices that are made up."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest

from loopwright.profile.stride import NoMeasurement
from loopwright.tuning.neighbourhood import (
    AGAIN,
    ENDS,
    MOST_SIZES,
    NEIGHBOURS,
    UNIT,
    SizeScale,
    doubtful,
    measure_around,
)

Device = Callable[[SizeScale], float]


class Measured:
    """bad: the first measurement there takes six times as long as it should. ends: so many can be made."""

    def __init__(self, device: Device, bad: SizeScale | None = None, ends: float = math.inf) -> None:
        self.device, self.bad, self.ends = device, bad, ends
        self.asked: list[SizeScale] = []
        self.times: dict[SizeScale, list[float]] = {}
        self.repeated: list[SizeScale] = []

    def __call__(self, scale: SizeScale, again: bool = False) -> float | NoMeasurement:
        if len(self.asked) >= self.ends:
            return NoMeasurement("no time is left")
        self.asked.append(scale)
        if again:
            self.repeated.append(scale)
        times = self.times.setdefault(scale, [])
        if again or not times:
            times.append(self.device(scale) * (6.0 if not times and scale == self.bad else 1.0))
        return times[-1]

    def around(self, has_depth: bool = True) -> Measured:
        measure_around(self, has_depth)
        return self

    @property
    def walk(self) -> list[int]:
        """Of all sizes together."""
        return sorted({one.grid for one in self.asked if one.grid == one.depth})


def level(scale: SizeScale) -> float:
    return 2.0


def deep(scale: SizeScale) -> float:
    """Linear in the sequential parameter, whatever the grid."""
    return 1.0 + 3.0 * scale.depth / UNIT


def test_neighbours_come_first_then_the_star_then_the_walk() -> None:
    made = Measured(deep).around()
    assert made.asked[:2] == [SizeScale(32, 32), SizeScale(128, 128)]
    column, row = made.asked[2:4], made.asked[4:9]
    assert column == [SizeScale(16, UNIT), SizeScale(256, UNIT)]
    assert sorted(one.depth for one in row) == [16, 32, 64, 128, 256] and {one.grid for one in row} == {UNIT}
    assert all(one.grid == one.depth for one in made.asked[9:]) and {*ENDS} <= {*made.walk}
    assert not made.repeated


def test_what_cannot_be_changed_alone_is_not() -> None:
    assert all(one.grid == one.depth for one in Measured(deep).around(has_depth=False).asked)


@pytest.mark.parametrize("depth", [*ENDS, UNIT, *NEIGHBOURS])
def test_a_bad_measurement_is_outvoted(depth: int) -> None:
    made = Measured(deep, SizeScale(UNIT, depth)).around()
    assert made.repeated == [SizeScale(UNIT, depth)] * AGAIN
    first, *others = made.times[SizeScale(UNIT, depth)]
    assert first == 6 * deep(SizeScale(UNIT, depth)) and len(others) == AGAIN
    assert sorted([first, *others])[len(others) // 2] == deep(SizeScale(UNIT, depth))


def test_a_row_on_no_line_is_not_doubted() -> None:
    assert not Measured(lambda scale: 2.0 + math.sin(scale.depth)).around().repeated
    assert doubtful({}) == doubtful({64: 2.0}) == doubtful({64: 2.0, 128: 9.0}) == []


def test_four_fifths_make_the_line() -> None:
    row = {16: 2.0, 32: 2.02, 64: 2.04, 128: 2.1, 256: 9.0}
    assert doubtful(row) == [256]
    assert doubtful({**row, 128: 7.0}) == []  # of five, two off: there is no telling which
    assert doubtful({**row, 256: 2.25}) == []


def test_an_edge_is_walked_in_short_strides_and_the_end_is_measured_all_the_same() -> None:
    def edge(scale: SizeScale) -> float:
        return deep(scale) * (1.0 if scale.grid < 100 else 1.6)

    def across(walk: list[int]) -> int:
        return min(b - a for a, b in pairwise(walk) if a < 100 <= b)

    made = Measured(edge).around()
    assert across(made.walk) < across(Measured(level).around().walk) and made.walk[-1] == ENDS[1]


@pytest.mark.parametrize("has_depth", [False, True])
@pytest.mark.parametrize("ends", [0, 1, 2, 3, 9])
def test_it_ends_with_the_time(ends: int, has_depth: bool) -> None:
    assert len(Measured(level, ends=ends).around(has_depth).asked) == ends


def test_no_more_sizes_than_allowed() -> None:
    made = Measured(lambda scale: 2.0 + math.sin(scale.grid)).around(has_depth=False)
    assert len(made.walk) <= MOST_SIZES + len(NEIGHBOURS) + 1

"""Where to measure next along one axis, such as the number of blocks of a grid or the bytes of a copy: in small strides
where the curve turns, in large ones where it is straight. It owns the walk; what is measured is the caller's function.

What Dollinger leaves open is chosen so. T(error) = 2 - error / 10 %: twice the stride for an exact hit, the same
stride at the limit. Accumulated deviation: the sum, with signs, over the last N = 5 points, in which noise cancels and
a slow bend does not; where it passes the limit, the stride is halved, without a jump back. Fast recovery: 10 % of the
blocks in the failing interval. Two points that cannot be told apart any more by a finer stride are an edge: the line
starts anew behind it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from loopwright.profile.line import least_squares

WINDOW = 5
"""N: how many of the last points a line is drawn through."""

BELONGS = 0.10
"""A point belongs to a line that misses it by at most this part of its value."""

RECOVERY = 0.10
"""Fast recovery: the part of a failing interval that the next stride has at least."""

MOST_FAILURES = 5
"""So many failures one after another, each further on, and the walk ends: there is no memory for more, say."""


@dataclass(frozen=True, slots=True)
class NoMeasurement:
    """A measurement that did not come about, and why."""

    reason: str


Measure = Callable[[int], "float | NoMeasurement"]
"""From the place on the axis to what was measured there (above 0)."""


@dataclass(frozen=True, slots=True)
class StrideWalk:
    """points: places and values, places ascending. failures: places where there is no value. complete: whether it came
    to the end of the axis, and did not run out of measurements or only fail."""

    points: tuple[tuple[int, float], ...]
    failures: tuple[tuple[int, NoMeasurement], ...]
    complete: bool


def interpolated(points: tuple[tuple[int, float], ...], x: float) -> float:
    """Along straight lines between points, whose places ascend; the first and the last value outside of them."""
    if x <= points[0][0]:
        return points[0][1]
    if x >= points[-1][0]:
        return points[-1][1]
    low, high = 0, len(points) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if points[middle][0] <= x else (low, middle)
    (x0, y0), (x1, y1) = points[low], points[high]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def adaptive(measure: Measure, first: int, last: int, most: int = 1000, finest: int = 1) -> StrideWalk:
    """Walks from first to last with a sliding window (Dollinger 2015, Algorithm 4.2). most: of measurements. finest:
    no stride is smaller. Raises ValueError where first is below 1 or above last, or finest is below 1."""
    _check(first, last, finest)
    walk = _Walking(measure, most)
    stride, place = float(finest), first
    window: list[tuple[int, float]] = []
    misses: list[float] = []
    while walk.can_go_on and place <= last:
        value = walk.value(place)
        if value is None:
            place = _onward(place, stride, last, finest)
            continue
        miss = _miss(window, place, value)
        back = _back_to(walk, window, place, stride, finest) if abs(miss) > BELONGS else None
        if back is not None:
            window, stride = back
            misses = []
            place = window[-1][0] + max(finest, round(stride))
            continue
        if abs(miss) > BELONGS:  # an edge that cannot be had more exactly
            window, misses, stride = [], [], float(finest)
        elif len(window) >= 2:
            misses = [*misses[-(WINDOW - 1) :], miss]
            if abs(sum(misses)) > BELONGS:  # a bend
                misses, stride = [], max(stride / 2, float(finest))
            else:
                stride *= 2.0 - abs(miss) / BELONGS
        window.append((place, value))
        place = _onward(place, stride, last, finest)
    return walk.end(complete=place > last)


def doubling(measure: Measure, first: int, last: int, most: int = 1000, finest: int = 1) -> StrideWalk:
    """Walks from first to last, twice as far each time as long as points belong to the line through the last ones, half
    as far from the last good point otherwise (Dollinger 2015, section 4.4.2, for bandwidths). No stride is smaller than
    finest or 1 % of the place, whichever is larger. Raises ValueError as `adaptive` does."""
    _check(first, last, finest)
    walk = _Walking(measure, most)
    stride, place = float(finest), first
    window: list[tuple[int, float]] = []
    while walk.can_go_on and place <= last:
        value = walk.value(place)
        if value is None:
            place = _onward(place, stride, last, finest)
            continue
        if abs(_miss(window, place, value)) > BELONGS:
            least = max(float(finest), 0.01 * window[-1][0])
            if stride / 2 >= least:
                stride /= 2
                place = window[-1][0] + round(stride)
                continue
            window, stride = [], least
        else:
            stride *= 2
        window.append((place, value))
        place = _onward(place, stride, last, finest)
    return walk.end(complete=place > last)


@dataclass(slots=True)
class _Walking:
    """What a walk has measured. A place is measured once, however often the walk comes by."""

    measure: Measure
    most: int
    known: dict[int, float] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)
    failed: dict[int, NoMeasurement] = field(default_factory=dict)
    in_a_row: int = 0

    @property
    def can_go_on(self) -> bool:
        return len(self.known) + len(self.failed) < self.most and self.in_a_row < MOST_FAILURES

    def value(self, place: int) -> float | None:
        if place in self.known:
            return self.known[place]
        if place in self.failed:
            return None
        value = self.measure(place)
        if not isinstance(value, NoMeasurement) and not (math.isfinite(value) and value > 0):
            value = NoMeasurement(f"measured {value}, which is no time")
        if isinstance(value, NoMeasurement):
            self.failed[place] = value
            self.in_a_row += 1
            return None
        self.in_a_row = 0
        self.known[place] = value
        insort(self.places, place)
        return value

    def between(self, start: int, end: int) -> list[int]:
        """The measured places from start to end, both of them included."""
        return self.places[bisect_left(self.places, start) : bisect_right(self.places, end)]

    def end(self, complete: bool) -> StrideWalk:
        points = tuple((place, self.known[place]) for place in self.places)
        failures = tuple(sorted(self.failed.items()))
        return StrideWalk(points, failures, complete and bool(points))


def _check(first: int, last: int, finest: int) -> None:
    if not 1 <= first <= last or finest < 1:
        raise ValueError(f"a walk goes from 1 or more upward in strides from 1 on, not {first} to {last} by {finest}")


def _miss(window: list[tuple[int, float]], place: int, value: float) -> float:
    """By what part of the value the line through the last points misses it; 0 where they are too few for a line."""
    if len(window) < 2:
        return 0.0
    x, y = zip(*window[-WINDOW:], strict=True)
    return (least_squares(x, y).at(place) - value) / value


def _onward(place: int, stride: float, last: int, finest: int) -> int:
    """The next place; the last one of the axis is never stepped over."""
    return min(place + max(finest, round(stride)), last) if place < last else last + 1


def _back_to(
    walk: _Walking, window: list[tuple[int, float]], place: int, stride: float, finest: int
) -> tuple[list[tuple[int, float]], float] | None:
    """After a miss: the points up to the one to start again from, and the next stride. That is the first of the last J
    points behind which the stride leads to something new; where there is none, the same with finer strides between
    the last two points; None where these are neighbours. So every jump back measures, and the walk ends."""
    points_back = min(max(int(stride / (2 * WINDOW)), 1), WINDOW, len(window))
    before = window[-1][0]
    finer = max(stride / (2 * WINDOW), RECOVERY * (place - before), float(finest))
    known = walk.between(window[-points_back][0], place)
    while True:
        for start, following in pairwise(known):
            if start + max(finest, round(finer)) < following:
                rest = [point for point in window if point[0] < start]
                return [*rest, (start, walk.known[start])], finer
        if finer <= finest:
            return None
        known, finer = walk.between(before, place), max(finer / (2 * WINDOW), float(finest))

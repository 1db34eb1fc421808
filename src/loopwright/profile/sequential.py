"""How the time per iteration depends on a sequential parameter (a loop that runs inside one thread) at one grid size:
a line, found in spite of bad measurements.

Dollinger 2015, Algorithm 4.3: measure at ever larger values until the points lie on a line; leave the worst 20 % of
them out of the fit; every V measurements drop those for good; every W = 40 drop half of all. What is left open there is
chosen so: V = 10; stable means that the geometric mean of the deviations from the line (always taken above 1) is at
most 1.02; the half that is dropped is the one farther from the line; after each V measurements the stride doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from loopwright.profile.line import Line, least_squares, trimmed
from loopwright.profile.stride import MOST_FAILURES, Failure, Measure

FEWEST = 5
CLEAN_EVERY = 10
HALVE_EVERY = 40
STABLE = 1.02


@dataclass(frozen=True, slots=True)
class SequentialFit:
    """line: from the sequential parameter to the time per iteration. points: those that it rests on. deviation: the
    geometric mean of their deviations from it, 1 or more. stable: whether that was small enough. failures: places
    where nothing was measured. taken: how often it measured."""

    line: Line
    points: tuple[tuple[int, float], ...]
    deviation: float
    stable: bool
    failures: tuple[tuple[int, Failure], ...]
    taken: int


def fit_sequential(measure: Measure, first: int, stride: int, last: int, most: int = 120) -> SequentialFit | Failure:
    """Measures at first, first + stride, ... up to last. A curve that is level from the start takes 5 measurements.
    Failure: of the first measurement, where none came about. Raises ValueError unless 1 <= first <= last, 1 <= stride
    and 1 <= most."""
    if not 1 <= first <= last or stride < 1 or most < 1:
        raise ValueError(f"measurements go from 1 or more upward, not {first} to {last} by {stride}, {most} at most")
    points: list[tuple[int, float]] = []
    failures: list[tuple[int, Failure]] = []
    place, taken, in_a_row = first, 0, 0
    while taken < most and place <= last and in_a_row < MOST_FAILURES:
        value = measure(place)
        taken += 1
        if not isinstance(value, Failure) and not (math.isfinite(value) and value > 0):
            value = Failure(f"measured {value}, which is no time")
        if isinstance(value, Failure):
            failures.append((place, value))
            in_a_row += 1
        else:
            points.append((place, value))
            in_a_row = 0
            if len(points) >= FEWEST and _fit(points, failures, taken).stable:
                break
            if taken % HALVE_EVERY == 0:
                points = _nearest(points, max(len(points) // 2, FEWEST))
            elif taken % CLEAN_EVERY == 0:
                points = list(_fit(points, failures, taken).points)
        if taken % CLEAN_EVERY == 0:
            stride *= 2
        place += stride
    return _fit(points, failures, taken) if points else failures[0][1]


def _fit(points: list[tuple[int, float]], failures: list[tuple[int, Failure]], taken: int) -> SequentialFit:
    x, y = np.array(points, np.float64).T
    line, kept = trimmed(x, y)
    fitted = line.slope * x[kept] + line.intercept
    if (fitted <= 0).any():
        deviation = math.inf
    else:
        deviation = float(np.exp(np.abs(np.log(y[kept] / fitted)).mean()))
    rest = tuple(point for point, keep in zip(points, kept, strict=True) if keep)
    stable = deviation <= STABLE and len(points) >= FEWEST
    return SequentialFit(line, rest, deviation, stable, tuple(failures), taken)


def _nearest(points: list[tuple[int, float]], count: int) -> list[tuple[int, float]]:
    """The points nearest to the trimmed line, in their order."""
    x, y = np.array(points, np.float64).T
    line = trimmed(x, y)[0] if len(points) > 2 else least_squares(x, y)
    away = np.abs(y - line.slope * x - line.intercept)
    return [points[i] for i in sorted(np.argsort(away, kind="stable")[:count].tolist())]

"""Who is right? Compares the contenders' results with each other, so that a wrong result is never shown as a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.results import WRONG, Cell
from benchmarks.timing import Race

Outputs = Mapping[str, np.ndarray]
FLOOR = 1e-2  # of the tolerance, relative to the largest value: for elements that cancelled to almost nothing


def same(one: Outputs, other: Outputs, tolerance: float) -> bool:
    """Do all arrays agree: integers exactly, floats within tolerance of each value plus FLOOR * tolerance of the
    array's largest? A NaN or an infinity agrees with nothing, not even with itself."""
    return all(_same_array(one[name], other[name], tolerance) for name in one)


def _same_array(one: np.ndarray, other: np.ndarray, tolerance: float) -> bool:
    if one.shape != other.shape:
        return False
    if not np.issubdtype(other.dtype, np.floating):
        return bool(np.array_equal(one, other))
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return False
    largest = float(np.max(np.abs(other))) if other.size else 0.0
    return bool(np.allclose(one, other, rtol=tolerance, atol=FLOOR * tolerance * largest))


def wrong(results: Mapping[str, Outputs], tolerance: float) -> frozenset[str]:
    """The contenders that agree with fewer than half of the others. With two that differ, both are under suspicion."""
    suspects = set()
    for name, mine in results.items():
        others = [theirs for other, theirs in results.items() if other != name]
        friends = sum(same(mine, theirs, tolerance) for theirs in others)
        if others and 2 * friends < len(others):
            suspects.add(name)
    return frozenset(suspects)


def judged(
    race: Race, tolerance: float, first_calls: Mapping[str, float], failures: Mapping[str, str]
) -> dict[str, Cell]:
    """Everyone's cell: a time only for those who finished and were right. failures: of those who never started."""
    faults = dict.fromkeys(wrong(race.results, tolerance), WRONG) | dict(race.failures) | dict(failures)
    cells = {name: Cell(fault) for name, fault in faults.items()}
    for name, timing in race.timings.items():
        if name not in faults:
            cells[name] = Cell("", timing.seconds, timing.median, timing.spread, first_calls.get(name))
    return cells

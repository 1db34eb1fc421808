"""Which sizes to measure around those of a recorded call. The rows that come of it are the ranking tables of its
variants (Dollinger 2015, section 4.4.3): time per iteration over the grid, which is how many parallel iterations there
are, and over the sequential parameter, which is how much each of them does. It owns the places; what is measured there
is the caller's.

Dollinger measures rows of sequential parameters at each of hundreds of grids, for hours. Here a table is a star of one
row (the call's own grid) and one column (its own depth), and what lies on the diagonal, as sizes mostly grow together:
what is left between is found as curves over the logarithms of sizes (predict/sized).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from loopwright.profile.line import trimmed
from loopwright.profile.stride import BELONGS, NoMeasurement, adaptive

UNIT = 64
"""Scales are in parts of so many of the call's own sizes."""

NEIGHBOURS = (UNIT // 2, 2 * UNIT)
"""Where its fastest variants are measured first."""

ENDS = (UNIT // 4, 4 * UNIT)

MOST_SIZES = 12
"""Along the walk over all sizes."""

AGAIN = 4
"""So many times more is measured what its row leaves out: one bad measurement among five steers neither their median
nor their quartiles."""


@dataclass(frozen=True, slots=True)
class SizeScale:
    """Made-up sizes, in parts of UNIT of those of the call. grid: of all but those that only decide how much each
    parallel iteration does; depth: of those."""

    grid: int
    depth: int

    @classmethod
    def of_all(cls, place: int) -> SizeScale:
        """The same for all sizes."""
        return cls(place, place)


class Measure(Protocol):
    """Measures the default variant, and maybe others beside it."""

    def __call__(self, scale: SizeScale, again: bool = False) -> float | NoMeasurement:
        """Nanoseconds an iteration of the default takes. again: also where that is known already."""
        ...


def measure_around(measure: Measure, has_depth: bool) -> None:
    """Half and twice the sizes; where grid and depth can be told apart (has_depth), the ends of the column and the row,
    of which what is on no line with the rest is measured again; last all sizes together, from a quarter to four times,
    in strides that are short where the time of an iteration bends."""
    for place in NEIGHBOURS:
        if isinstance(measure(SizeScale.of_all(place)), NoMeasurement):
            return
    if has_depth:
        for grid in ENDS:
            measure(SizeScale(grid, UNIT))
        row = {depth: measure(SizeScale(UNIT, depth)) for depth in (*ENDS, UNIT, *NEIGHBOURS)}
        known = {depth: value for depth, value in row.items() if not isinstance(value, NoMeasurement)}
        for depth in doubtful(known) * AGAIN:
            measure(SizeScale(UNIT, depth), again=True)
    walk = adaptive(lambda place: measure(SizeScale.of_all(place)), *ENDS, MOST_SIZES, UNIT // 8)
    if not walk.complete:  # a curve with edges takes more than the walk may
        measure(SizeScale.of_all(ENDS[1]))


def doubtful(row: Mapping[int, float]) -> list[int]:
    """The sequential parameters of a row whose time per iteration lies off the line through the best four fifths of
    them, where these are on one: a line that misses any of them by more than BELONGS tells nothing of the rest."""
    depths = sorted(row)
    if not depths:
        return []
    line, kept = trimmed(depths, [row[depth] for depth in depths])
    off = np.array([abs(line.at(depth) - row[depth]) > BELONGS * row[depth] for depth in depths])
    return [] if (off & kept).any() else [depth for depth, is_off in zip(depths, off.tolist(), strict=True) if is_off]

"""How much work the iterations of a region are, where that differs from one to the next, as in a triangle: how often
its innermost statements run, counted in some iterations with the sizes of a call (analysis/frequency.py)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from loopwright.analysis.frequency import frequencies
from loopwright.ir.nodes import Assign, Kernel, Store
from loopwright.ir.walk import statements

SAMPLED = 33
"""Iterations that are looked at; between two of them work grows or shrinks evenly."""
ALIKE = 0.02
"""Iterations are alike if the most is larger than the least by this part of it at most."""


@dataclass(frozen=True, slots=True)
class UnevenWork:
    """places: of iterations, from 0 on; work: of each of these; before: of all iterations before each."""

    first: int
    places: tuple[int, ...]
    work: tuple[float, ...]
    before: tuple[float, ...]

    @staticmethod
    def of(first: int, places: Sequence[int], work: Sequence[float]) -> UnevenWork:
        """Of iterations that were looked at, the last one among them."""
        steps = [(b - a) * (v + w) / 2 for (a, v), (b, w) in pairwise(zip(places, work, strict=True))]
        return UnevenWork(first, tuple(places), tuple(work), (0.0, *accumulate(steps)))

    def __call__(self, part: range) -> float:
        """How much work some iterations that follow one another are."""
        return self._until(part.stop - self.first) - self._until(part.start - self.first) if part else 0.0

    def _until(self, place: int) -> float:
        at = min(max(0, bisect_right(self.places, place) - 1), len(self.places) - 2)
        from_, to, low, high = self.places[at], self.places[at + 1], self.work[at], self.work[at + 1]
        along = place - from_
        return self.before[at] + along * (low + (high - low) * along / (2 * (to - from_)))


def iteration_work(
    kernel: Kernel, sizes: Mapping[str, int], ends: tuple[str, str], iterations: range
) -> UnevenWork | None:
    """Of a region whose first iteration, and the one behind its last, are scalars of these names among `sizes`; None
    where all are alike, or only data tells."""
    if len(iterations) < 2:
        return None
    inner = [id(stmt) for kind in (Assign, Store) for stmt in statements(kernel.body, kind)]

    def work(place: int) -> float | None:
        at = iterations.start + place
        found = frequencies(kernel, {**sizes, ends[0]: at, ends[1]: at + 1})
        return None if found.assumed else sum(found.statements.get(stmt, 0.0) for stmt in inner)

    last = len(iterations) - 1
    places = sorted({last * k // (SAMPLED - 1) for k in range(SAMPLED)})
    three = [work(place) for place in (0, last // 2, last)]
    if None in three or _are_alike([one for one in three if one is not None]):
        return None
    found = [work(place) for place in places]
    known = [one for one in found if one is not None]
    return None if len(known) < len(found) else UnevenWork.of(iterations.start, places, known)


def _are_alike(work: Sequence[float]) -> bool:
    return max(work) - min(work) <= ALIKE * max(work)

"""How sure a gain is: the default and a rival, measured by turns and equally often, after the search.

The search picks the shortest of many times, each of which is off by chance, so the one that it picks is mostly shorter
than it will ever be again. What is claimed comes from runs that had no part in the picking.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

LEFT_OUT = (8, 11)
"""From so many pairs on, the interval leaves out one of the smallest and one of the largest, and two of each."""


@dataclass(frozen=True, slots=True)
class PairedTimes:
    """Times in nanoseconds of the default, `before`, and of a rival, `after`: turn by turn, as many of each."""

    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def pairs(self) -> int:
        """How many there are."""
        return len(self.before)

    @property
    def before_ns(self) -> float:
        """The median of the default."""
        return median(self.before)

    @property
    def after_ns(self) -> float:
        """The median of the rival."""
        return median(self.after)

    @property
    def gain(self) -> float:
        """How many times as fast the rival is: the median over the pairs, so that a machine that becomes slower
        meanwhile slows down both."""
        return median(self._ratios())

    @property
    def interval(self) -> tuple[float, float]:
        """From where to where the gain is: the median of ever more pairs would lie in it in 93 of 100 cases or more,
        with fewer than 5 pairs in 75 or more (David and Nagaraja, Order Statistics, 7.1)."""
        ratios = sorted(self._ratios())
        outside = sum(len(ratios) >= many for many in LEFT_OUT)
        return ratios[outside], ratios[-1 - outside]

    @property
    def is_clear(self) -> bool:
        """Whether the rival is faster for sure, as far as the interval tells."""
        return self.interval[0] > 1.0

    def _ratios(self) -> list[float]:
        return [before / after for before, after in zip(self.before, self.after, strict=True)]

"""The time of a loop on a CPU whose iterations run by the path that they take (`group`), side by side (`abreast`), from
its time as they stand and from what its inspector has measured on a sample:

    by paths        = time as they stand * (work that lanes share / GAIN + other work) / all work
    finding the paths = iterations * GROUP_NS / threads

Both constants are those of one CPU, an AMD EPYC of 2021 (Zen 3); measured times take the place of what follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.predict.remapped import RemapPrediction

GAIN = 6.0
"""So many times as fast is work that goes on side by side."""
GROUP_NS = 8.0
"""Of each iteration, for its key, its place among the others, and for finding its data there."""


@dataclass(frozen=True, slots=True)
class GroupMeasures:
    """Of one call. iterations: of all loops that are grouped; work: of these, in the unit of `path_work`; together: the
    part of it that lanes share; threads: that find the paths."""

    iterations: int
    work: float
    together: float
    threads: int

    def predicted(self, plain_ns: float, correction: float = 1.0) -> RemapPrediction:
        """See predict.remapped.RemapMeasures."""
        shared = self.together / self.work if self.work > 0 else 0.0
        kept_ns = plain_ns * (1.0 - shared + shared / GAIN)
        return RemapPrediction(plain_ns, kept_ns * correction, self.iterations * GROUP_NS / self.threads)

    def told(self) -> str:
        """In words."""
        return f"lanes would share {100 * self.together / max(self.work, 1.0):.0f} % of the work"

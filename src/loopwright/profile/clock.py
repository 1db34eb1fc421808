"""How often a candidate is run, and what time is taken for it: stand-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """Of several runs."""

    median_ns: float
    spread: float
    runs: int


def measure(run: Callable[[], object], reset: Callable[[], object], clock: Callable[[], int], budget_ns: int) -> Timing:
    """The median."""
    times: list[int] = []
    begun = clock()
    while len(times) < 3 or (clock() - begun < budget_ns and len(times) < 100):
        reset()
        started = clock()
        run()
        times.append(clock() - started)
        if sum(times) > 3 * budget_ns:
            break
    times.sort()
    n = len(times)
    median = times[n // 2]
    return Timing(median, (times[3 * n // 4] - times[n // 4]) / 2 / max(median, 1), n)

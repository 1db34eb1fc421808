"""How one candidate is timed: run after run, each on restored data, until the median is known well enough or the budget
is spent. The clock is the caller's, so that tests run in virtual time. What a run raises is not caught here: a
candidate that may fail is run where that does no harm, by the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import quantiles

import numpy as np

from loopwright.profile.measurement import CacheState

FEWEST = 5
MOST = 200
WANTED = 0.01

MEDIAN_ERROR = 1.86
"""Standard error of a median of n runs = 1.253 sigma / sqrt(n), and sigma = 1.483 times half the distance of the
quartiles, where times are spread like a normal distribution."""


@dataclass(frozen=True, slots=True)
class Timing:
    """median_ns: of `runs` runs. lower_ns, upper_ns: the quartiles. cache: what each run found in the caches. settled:
    whether the median is known as exactly as was wanted. first_ns: of the first run, which is not among the others
    when the caches are to be warm: it loads code and pages."""

    median_ns: float
    lower_ns: float
    upper_ns: float
    runs: int
    cache: CacheState
    settled: bool
    first_ns: float

    @property
    def spread(self) -> float:
        """Half the distance of the quartiles, over the median."""
        return (self.upper_ns - self.lower_ns) / (2 * self.median_ns)


class Flush:
    """Writes to more memory than the caches hold, so that what was in them is not any more. Its buffer is made with the
    first use. size_bytes: twice the last level's, say."""

    def __init__(self, size_bytes: int) -> None:
        self._words = max(size_bytes // 8, 1)
        self._buffer: np.ndarray | None = None

    def __call__(self) -> None:
        if self._buffer is None:
            self._buffer = np.zeros(self._words)
        self._buffer += 1.0


def measure(
    run: Callable[[], object],
    reset: Callable[[], object],
    clock: Callable[[], int],
    budget_ns: float,
    flush: Callable[[], object] | None = None,
    wanted: float = WANTED,
) -> Timing:
    """The median time of `run`, which leaves nothing undone when it returns. reset: restores what runs change, before
    each of them, untimed. clock: nanoseconds; never runs backward. budget_ns: of clock time, restoring included; no run
    is begun that would not end within it, going by the runs before, but for the first two, so that there always is
    a time. flush: empties the caches before each run, which makes the timing cold; without it one run goes before
    that does not count. wanted: the standard error of the median, as part of it, that is enough."""
    end = clock() + budget_ns
    first, whole = _round(run, reset, clock, flush)
    times: list[float] = [first] if flush is not None else []
    settled = False
    while len(times) < MOST and not settled and (not times or clock() + whole <= end):
        taken, whole = _round(run, reset, clock, flush)
        times.append(taken)
        settled = len(times) >= FEWEST and _error(times) <= wanted
    lower, median, upper = _quartiles(times)
    return Timing(median, lower, upper, len(times), "warm" if flush is None else "cold", settled, first)


def _round(
    run: Callable[[], object], reset: Callable[[], object], clock: Callable[[], int], flush: Callable[[], object] | None
) -> tuple[float, float]:
    """The time of one run, not below one tick of the clock, and the time of all around it too."""
    begin = clock()
    reset()
    if flush is not None:
        flush()
    start = clock()
    run()
    end = clock()
    return max(end - start, 1.0), end - begin


def _quartiles(times: list[float]) -> tuple[float, float, float]:
    if len(times) == 1:
        return times[0], times[0], times[0]
    lower, median, upper = quantiles(times, n=4, method="inclusive")
    return lower, median, upper


def _error(times: list[float]) -> float:
    lower, median, upper = _quartiles(times)
    return float(MEDIAN_ERROR * (upper - lower) / 2 / median / len(times) ** 0.5)

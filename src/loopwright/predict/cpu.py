"""The time of a loop on a CPU with a number of threads that it was never measured with, from those that it was measured
with (Pradelle's prediction, Dollinger 2015, section 4.2): threads that have the same number of iterations left run
together, at the time per iteration of that many threads. The ranking table of that section is the store's rows of one
schedule; how they depend on the working set is what predict/sized makes of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from loopwright.predict.prediction import Prediction
from loopwright.profile.measurement import Work

UNTRIED_ERROR = 1.0
"""The most that is stated where the number of threads lies outside of all that were measured."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """threads: ascending, one at least. ns: wall time over the iterations of all threads, for each."""

    threads: tuple[int, ...]
    ns: tuple[float, ...]

    def at(self, threads: int) -> float:
        """Between two along a straight line over 1 / threads, which is exact where one part of the work is shared and
        the rest is not (Amdahl 1967). The nearest outside of them."""
        above = bisect_left(self.threads, threads)
        if above == len(self.threads) or self.threads[above] == threads or above == 0:
            return self.ns[min(above, len(self.ns) - 1)]
        (few, many), (slow, fast) = self.threads[above - 1 : above + 1], self.ns[above - 1 : above + 1]
        return fast + (slow - fast) * (1 / threads - 1 / many) / (1 / few - 1 / many)


def loop_ns(iterations: Sequence[float], ns_per_iteration: Callable[[int], float]) -> float:
    """iterations: of each thread; ns_per_iteration: of so many threads, as of a Ranking. Sum over i of
    (it_i - it_{i+1}) * i * rk_i, it descending, it_{C+1} = 0. The printed formula lacks the factor i, which its own
    example has: rk_i is wall time over the iterations of all i threads."""
    descending = [*sorted((count for count in iterations if count > 0), reverse=True), 0.0]
    return sum(
        (more - fewer) * threads * ns_per_iteration(threads)
        for threads, (more, fewer) in enumerate(pairwise(descending), 1)
        if more > fewer
    )


def static_shares(units: int, iterations_per_unit: float, threads: int) -> tuple[float, ...]:
    """How many iterations each thread has where units are dealt out as OpenMP's `schedule(static)` may: all but the
    last take ceil(units / threads) while there are any. Raises ValueError for less than one thread."""
    if threads < 1:
        raise ValueError(f"units are dealt out to one thread at least, not {threads}")
    share = -(-max(units, 0) // threads)
    return tuple(max(min(share, units - number * share), 0) * iterations_per_unit for number in range(threads))


def across_threads(known: Sequence[tuple[int, Prediction]], threads: int, work: Work) -> Prediction:
    """Of one schedule with so many threads, for a call. known: what is predicted of the same call and schedule with
    other numbers of threads, which ascend, and times above 0; one at least, or ValueError is raised. The error bound
    holds the times of the numbers beside this one; outside of them, that one thread more or less counts for nothing,
    and that it counts in full."""
    if not known:
        raise ValueError("nothing is known of any number of threads")
    # Where nothing is known of units, threads share everything evenly.
    units = max(int(work.units), 1) if work.iterations > 0 and work.units > 1 else 0
    counts = tuple(count for count, _ in known)
    # What was measured was dealt out unevenly as well: its time is that of the largest share.
    table = Ranking(counts, tuple(one.time_ns / (_largest(units, count) * count) for count, one in known))
    time_ns = loop_ns(static_shares(units, 1.0, threads) if units else (1 / threads,) * threads, table.at)
    above = bisect_left(counts, threads)
    count, nearest = known[min(above, len(known) - 1)]
    if count == threads:
        return nearest
    if 0 < above < len(known):
        both = (known[above - 1][1], nearest)
        apart = max(abs(one.time_ns / time_ns - 1) for one in both)
        return Prediction(time_ns, apart + max(one.error for one in both), "interpolated")
    error = nearest.error + max(threads, count) / min(threads, count) - 1
    return Prediction(time_ns, min(error, max(UNTRIED_ERROR, nearest.error)), "extrapolated")


def _largest(units: int, threads: int) -> float:
    """The share of the thread that has most: in units, or, where these are not known, of the whole."""
    return -(-units // threads) if units else 1 / threads

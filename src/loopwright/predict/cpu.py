"""The time of a loop on a CPU from its ranking table and how many iterations each thread has (Pradelle's prediction,
Dollinger 2015, section 4.2): threads that have the same number left run together, at the time per iteration of that
many threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loopwright.profile.ranking import CpuRanking


def loop_ns(iterations: Sequence[float], ranking: CpuRanking, working_set_bytes: float = 0.0) -> float:
    """iterations: of each thread. sum over i of (it_i - it_{i+1}) * i * rk_i, it descending, it_{C+1} = 0. The printed
    formula lacks the factor i, which its own example has: rk_i is wall time over the iterations of all i threads."""
    descending = [*sorted((count for count in iterations if count > 0), reverse=True), 0.0]
    return sum(
        (more - fewer) * threads * ranking.ns_per_iteration(threads, working_set_bytes)
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

"""Metrics of a variant for CPU cores, from its loops and the sizes of a call alone: nothing is compiled.

A loop nest on a core is held up by one of two things, and what helps one of them often harms the other: small tiles
keep data near and make short vectors and many loop ends; large ones the other way round. So there are two metrics, each
the reciprocal of cycles:

1. `throughput`: cycles that execution units need for the instructions of the innermost loops, if all data were at hand
   (cost/cpu_cycles.py). It tells apart vector lanes or none, register blocks, chains of additions that wait for one
   another. Threads share it as they share iterations: a loop of 9 iterations on 8 threads takes two rounds, and each
   start of threads costs.
2. `locality`: cycles that it takes to move what has to come from the second and third cache and from memory
   (cost/locality.py), from the footprints of loops. It tells apart tiles, depths, orders of loops, tiles over time.

They are bounds from below, of an idealised core of the last ten years; numbers of a certain processor are not needed to
put variants of one kernel in order. What is not seen: instruction caches, alignment, prefetching, and page tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.analysis.facts import Facts
from loopwright.analysis.frequency import frequencies
from loopwright.cost.cpu_cycles import cycles
from loopwright.cost.locality import cycles_to_move
from loopwright.cost.metrics import Metrics
from loopwright.ir.nodes import Kernel
from loopwright.recipe.target import CpuTarget

NAMES = ("throughput", "locality")


def cpu_metrics(kernel: Kernel, facts: Facts, target: CpuTarget, threads: int, sizes: Mapping[str, int]) -> Metrics:
    """The metrics of a variant. kernel, facts: after its schedule. threads: how many run it. sizes: of the call, by the
    names of symbols, as in `coalescing.KnownSizes`."""
    found = frequencies(kernel, sizes)
    work = cycles(kernel.body, facts, target, threads, found)
    moved = cycles_to_move(kernel, facts, target, threads, found, sizes)
    notes = tuple(f"only data tells how often '{loop}' runs, or which way it goes" for loop in found.assumed if loop)
    return Metrics(tuple(1 / one if one > 0 else float("inf") for one in (work, moved)), NAMES, notes)

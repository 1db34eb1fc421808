"""Loops that end when data say so, of several iterations around them, in vector lanes: each of their rounds waits for
the one before (a point of the Mandelbrot set, Newton's method, a random walk), and those of other iterations do not.
What rounds wait is compared with what registers take for the work of all their lanes."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.bit_loops import counted_bits
from loopwright.analysis.lane_throughput import lane_throughput, slow_operations
from loopwright.analysis.lockstep_rounds import LockstepRounds, lockstep_rounds
from loopwright.analysis.recurrence_latency import initiation_interval
from loopwright.ir.nodes import For, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.tunable import Tunable
from loopwright.steps.extent import extent_of, trip_of
from loopwright.steps.lockstep import MOST, Lockstep
from loopwright.steps.split import Split

VECTORS = Tunable(
    "vectors in lockstep",
    0,
    (0, 1, 2, 4),
    "more of them hide how long rounds wait for one another; with too many, what rounds compute leaves the registers",
)
STRETCH = Tunable(
    "iterations in lockstep",
    256,
    (64, 256, 1024),
    "threads share stretches of so many; at the end of each, lanes idle until the last iteration has ended",
)

WRITTEN_OUT = 16
"""Rounds that a loop may have at most for the C compiler to write it out."""
FEW_CORES = 8
"""With more of them, loops are to be cut into shorter stretches, so that each has one."""
LEAST_BYTES = 32
"""Of a vector register: narrower ones have two lanes, and no comparison of whole numbers."""
GAIN = 1.4
"""How much faster rounds have to be in lanes: more is done for each iteration before and after its rounds."""
BUSY = 0.7
"""Of the lanes, as iterations end at different times."""
TEST, EACH, SPILLED = 3.0, 1.0, 0.6
"""Cycles of a round to find out who goes on, of each register for that, and of each value that is in memory."""


def rounds_together(partial: PartialSchedule, target: CpuTarget) -> None:
    """Have iterations of loops that need no order go on in lanes until the last has ended."""
    if target.vector_bytes < LEAST_BYTES:
        return
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or loop.run != "sequential" or not _needs_no_order(partial, loop):
            continue
        parts = lockstep_rounds(loop)
        if isinstance(parts, str) or _is_short(parts) or (found := _vectors(parts, target, partial.strict)) is None:
            continue
        chain = partial.around(name)
        with partial.together(), partial.in_nest((*chain,)):
            vectors = partial.number(VECTORS) or found
            why = (
                f"each round of '{user_name(parts.rounds.name)}' waits for the one before: {_several(vectors)} of "
                f"iterations of '{user_name(name)}' go on together until data end them"
            )
            if not any(_needs_no_order(partial, outer) for outer in chain[:-1]):
                stretch = STRETCH if target.cores <= FEW_CORES else replace(STRETCH, default=64)
                partial.take(Split(name, partial.number(stretch)), why)
            partial.take(Lockstep(name, vectors), why, anew=True)


def _is_short(parts: LockstepRounds) -> bool:
    """Whether the C compiler writes the rounds out, and then needs no loop to fill registers with other iterations; or
    they are an instruction."""
    rounds = parts.rounds
    if isinstance(rounds, While):
        return counted_bits(rounds) is not None
    return 0 < (trip_of(rounds) or extent_of(rounds) or 0) <= WRITTEN_OUT


def _several(vectors: int) -> str:
    return "a vector" if vectors == 1 else f"{vectors} vectors"


def _needs_no_order(partial: PartialSchedule, loop: For) -> bool:
    return partial.verdict(loop) == "parallel" or bool(loop.asserted)


def _vectors(parts: LockstepRounds, target: CpuTarget, strict: bool) -> int | None:
    """How many vectors are best side by side; None where iterations are about as fast one by one."""
    lanes = target.vector_bytes // parts.wide
    waiting = initiation_interval(parts.rounds.body, parts.handed_on)
    alone = max(waiting, slow_operations(parts))
    work = lane_throughput(parts, lanes, strict)
    values = len(parts.own | parts.lanes) + len(parts.loads) + 1

    def cycles(vectors: int) -> float:
        """Of a round, for each lane."""
        spilled = SPILLED * max(0, vectors * values - target.registers)
        return (max(waiting, vectors * work + spilled) + TEST + EACH * vectors) / (vectors * lanes * BUSY)

    best = min((1, 2, MOST), key=cycles)
    return best if alone > GAIN * cycles(best) else None

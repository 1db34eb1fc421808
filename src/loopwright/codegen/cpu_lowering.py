"""From a kernel whose loops say how they run to decisions about them: one straight line of passes, before any text is
written. Each takes what those before it have decided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopwright.codegen.accumulators import interleave_reductions
from loopwright.codegen.compaction import compact_streams
from loopwright.codegen.contraction import keep_products_apart
from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.early_functions import compute_early
from loopwright.codegen.few_candidates import keep_among_few
from loopwright.codegen.fixed_elements import fix_elements
from loopwright.codegen.held_elements import hold_elements
from loopwright.codegen.if_conversion import select_updates
from loopwright.codegen.inspection import inspect_strips
from loopwright.codegen.lanes import fill_lanes
from loopwright.codegen.late_extremes import hurry_extremes
from loopwright.codegen.late_remainders import hurry_remainders
from loopwright.codegen.lockstep_loops import go_in_lockstep
from loopwright.codegen.loop_versions import version_loops
from loopwright.codegen.narrow_sums import narrow_sums
from loopwright.codegen.outlining import outline_nests
from loopwright.codegen.overlapped_tails import overlap_tails
from loopwright.codegen.parallel_regions import (
    assign_owners,
    collapse_loops,
    cut_blocks,
    cut_pieces,
    find_rows,
    form_regions,
)
from loopwright.codegen.rare_updates import skip_blocks
from loopwright.codegen.safepoints import count_ahead, cut_strips, stand_alone, write_twice
from loopwright.codegen.shared_checks import share_checks
from loopwright.codegen.shared_divisions import share_divisions
from loopwright.codegen.store_forwarding import separate_stores
from loopwright.codegen.tail_masking import mask_tails
from loopwright.codegen.unrolling import unroll_loops
from loopwright.codegen.vector_code import write_in_vectors


@dataclass(frozen=True, slots=True)
class CpuPass:
    """One kind of decision. Without it, code is slower, or asks less often whether to stop, but does the same. why: it
    stands at its place."""

    name: str
    decide: Callable[[CodegenInput, LoopLowering], LoopLowering]
    why: str


PASSES = (
    CpuPass("parallel regions", form_regions, "first: all others ask which loops have a function of their own"),
    CpuPass("loop versioning", version_loops, "of innermost loops, and of those parallel ones only that have a region"),
    CpuPass("owner computes", assign_owners, "owners read indices ahead that the versions have freed of checks"),
    CpuPass("row pointers", find_rows, "before the pieces, whose ends they tell"),
    CpuPass("collapsed loops", collapse_loops, "behind what goes by one loop alone; before the pieces, cut from both"),
    CpuPass("pieces", cut_pieces, "before the blocks, which take their place"),
    CpuPass("blocks", cut_blocks, "behind the pieces, which follow the number of threads, as results then may not"),
    CpuPass(
        "inspection", inspect_strips, "of the checks that the versions have left; before the lanes, which they forbid"
    ),
    CpuPass("lanes", fill_lanes, "a check in a loop forbids lanes, and the versions have taken checks out"),
    CpuPass("lockstep", go_in_lockstep, "of loops that hold others, which have no other lanes"),
    CpuPass("narrow sums", narrow_sums, "of loops in lanes, those that only add up"),
    CpuPass("held elements", hold_elements, "of loops in lanes; before the choices among what is stored"),
    CpuPass("fixed elements", fix_elements, "of loops in lanes, those that conditions keep the C compiler from moving"),
    CpuPass("if-conversion", select_updates, "behind the lanes, in which the C compiler does the same"),
    CpuPass("contraction", keep_products_apart, "behind the lanes, in which no iteration waits for the one before"),
    CpuPass("late remainders", hurry_remainders, "behind the lanes, likewise"),
    CpuPass("late extremes", hurry_extremes, "behind the lanes, likewise"),
    CpuPass("store forwarding", separate_stores, "behind the lanes, likewise"),
    CpuPass("compaction", compact_streams, "behind the lanes and the versions, to which it adds tests"),
    CpuPass("strips", cut_strips, "around whatever the passes before have made of a loop"),
    CpuPass("short loops", write_twice, "of loops in strips, those that also stand without"),
    CpuPass("loops alone", stand_alone, "of loops with regions, those that also stand there as they are written"),
    CpuPass("counting ahead", count_ahead, "of loops in strips, those that the loop around them counts"),
    CpuPass("vector code", write_in_vectors, "of loops in lanes, those that nothing else is done with"),
    CpuPass("accumulators", interleave_reductions, "of loops in lanes, reductions that nothing else is done with"),
    CpuPass("tail masking", mask_tails, "of loops in lanes, those that add up rows and have no text of their own"),
    CpuPass("skipped blocks", skip_blocks, "of loops without lanes, those that nothing else is done with"),
    CpuPass("few candidates", keep_among_few, "of loops that skip blocks, those that also stand without"),
    CpuPass("overlapped tails", overlap_tails, "of loops in lanes, those that nothing else is done with"),
    CpuPass(
        "early functions", compute_early, "of loops in lanes, those whose every lane is sure to be one of a register"
    ),
    CpuPass("shared divisions", share_divisions, "behind the regions, which are functions of their own"),
    CpuPass("outlining", outline_nests, "behind the regions, which are functions already"),
    CpuPass("shared checks", share_checks, "likewise; and behind what makes checks in another place"),
    CpuPass("unrolling", unroll_loops, "last: of loops that nothing else is done with"),
)


def lowered(given: CodegenInput) -> LoopLowering:
    """What all passes decide."""
    lowering = LoopLowering()
    for one in PASSES:
        lowering = one.decide(given, lowering)
    return lowering

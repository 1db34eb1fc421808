"""From a kernel whose loops say how they run to decisions about them: one straight line of passes, before any text is
written. Each takes what those before it have decided; its docstring says why it stands where it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopwright.codegen.decisions import CodegenInput, CpuLowering
from loopwright.codegen.lanes import fill_lanes
from loopwright.codegen.loop_versions import version_loops
from loopwright.codegen.parallel_regions import assign_owners, cut_blocks, cut_pieces, find_rows, form_regions
from loopwright.codegen.safepoints import count_ahead, cut_strips, write_twice


@dataclass(frozen=True, slots=True)
class CpuPass:
    """One kind of decision. Without it, code is slower, or asks less often whether to stop, but does the same."""

    name: str
    run: Callable[[CodegenInput, CpuLowering], CpuLowering]


PASSES = (
    CpuPass("parallel regions", form_regions),
    CpuPass("loop versioning", version_loops),
    CpuPass("owner computes", assign_owners),
    CpuPass("row pointers", find_rows),
    CpuPass("pieces", cut_pieces),
    CpuPass("blocks", cut_blocks),
    CpuPass("lanes", fill_lanes),
    CpuPass("strips", cut_strips),
    CpuPass("short loops", write_twice),
    CpuPass("counting ahead", count_ahead),
)


def lowered(given: CodegenInput) -> CpuLowering:
    """What all passes decide."""
    lowering = CpuLowering()
    for one in PASSES:
        lowering = one.run(given, lowering)
    return lowering

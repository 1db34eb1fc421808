"""Where a GPU leaves a call to the CPU: loops `off_gpu` (steps/bucket.py)."""

from __future__ import annotations

from loopwright.codegen.gpu_writer import GpuWriter, NotOnGpu
from loopwright.ir.nodes import For
from loopwright.steps.nest import may_begin_anew


def write_off_gpu(loop: For, w: GpuWriter) -> None:
    """In place of a loop: end the call, which the CPU makes anew (runtime/execute.py). Raises NotOnGpu where it would
    find what this one has written."""
    if not may_begin_anew(w.given.kernel, loop):
        raise NotOnGpu(f"the CPU, which would run '{loop.name}', cannot begin anew after what is written before")
    w.fail(w.site("off_gpu", "", 0, loop.at))

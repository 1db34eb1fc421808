"""Loops of a block whose tiles lie in shared memory twice: while the threads use one tile, the other one arrives for
the next iteration. One barrier an iteration is enough: before it every thread has waited for what it copied itself,
and behind it nobody uses the tile any more that is overwritten next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import prod

from loopwright.analysis.prefetch import Rounds, rounds_of
from loopwright.codegen.async_copies import write_copies, write_copy
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.gpu_writer import FLAG, GpuWriter
from loopwright.codegen.lowered import DoubleBuffered, Lowering, SoftwarePipeline
from loopwright.codegen.safepoints import every, stop_together
from loopwright.codegen.software_pipeline_text import Copying, SteadyText, Written
from loopwright.ir.code import AwaitCopies, Part
from loopwright.ir.nodes import For
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS, has_threads


def double_buffered(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[DoubleBuffered]:
    """The loops of a block whose tiles can be filled ahead."""
    for one in nest.together():
        if isinstance(loop := one.stmt, For) and loop.run not in THREADS and has_threads(loop):
            found = rounds_of(loop)
            if not isinstance(found, str) and found.arrays and not given.may_fail(found.copies):
                yield DoubleBuffered(loop.name, found)


def write_ahead(loop: For, found: Rounds, w: GpuWriter, copy: Copying, write: Written) -> None:
    """The loop, for all threads of a block. copy, write: what writes copies, and other statements, that they run
    together."""
    steady, full = w.lowering.of(SoftwarePipeline, loop.name), w.full_tiles
    even = steady is not None and full is not None and loop.name in full.pipelines
    tests = () if steady is None else (*map(w.text, steady.tests), *w.aligned(steady.aligned))
    variable, upper = w.names.of(loop.name), w.text(loop.upper)
    turn = w.names.fresh("lw_turn")
    w.barrier()  # whoever still uses the tiles of an earlier run of this loop
    with w.block():
        w.line(f"const int64_t lw_upper = {upper};")
        w.line(f"int {turn} = 0;")
        w.function.scoped |= {variable, turn}
        w.line(f"int64_t {variable} = {w.text(loop.lower)};")
        _arriving(found, w, turn, copy, f"{variable} < lw_upper", loop.name, "prologue")
        if steady is not None:
            SteadyText(loop, steady, tests, even, w, turn, partial(with_buffers, found, w), copy, write).both()
        head = f"; {variable} < lw_upper; {variable} += {step_of(loop)}"
        with w.loop(head, loop.name, part="epilogue"):
            w.add(AwaitCopies())
            w.barrier()
            stop_together(w, every(variable, step_of(loop)))
            with w.block():
                w.line(f"const int64_t lw_next = {variable} + {step_of(loop)};")
                before = w.function.renamed
                w.function.renamed = before | {loop.name: "lw_next"}
                w.function.scoped.add("lw_next")
                # Where all tiles are whole, only the last iteration is left.
                runs = f"!{FLAG} && lw_next < lw_upper" if even else "lw_next < lw_upper"
                _arriving(found, w, f"({turn} ^ 1)", copy, runs)
                w.function.scoped.discard("lw_next")
                w.function.renamed = before
            with_buffers(found, w, turn)
            write(found.body if steady is None else steady.rest)
            w.line(f"{turn} ^= 1;")
    w.function.scoped -= {variable, turn}


def with_buffers(found: Rounds, w: GpuWriter, turn: str) -> None:
    """From here on, names of the tiles mean the one whose turn it is."""
    for name in found.arrays:
        array = w.arrays[name]
        w.arrays[name] = replace(array, after=f" + {turn} * {prod(map(int, array.sizes))}")


def _arriving(
    found: Rounds, w: GpuWriter, turn: str, copy: Copying, runs: str, loop: str = "", part: Part = "all"
) -> None:
    """The copies, under the conditions that their tiles are used. loop, part: whose prologue they are."""
    with_buffers(found, w, turn)
    with w.branch(" && ".join((runs, *(w.text(condition) for condition in found.conditions))), loop, part=part):
        copy(found.copies, write_copies, partial(write_copy, w=w))

"""Running totals that the threads of a block put together: by shuffles within a warp, and through shared memory between
warps. Each thread finds what comes before it, and all find the total, bit by bit the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loopwright.analysis.reductions import combined
from loopwright.analysis.running_totals import RunningTotal
from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.thread_reduction import mask
from loopwright.ir.code import SharedArray, Shuffle
from loopwright.ir.nodes import For, Var
from loopwright.steps.threads import sharing_of

LANE, WARP = "lw_lane", "lw_warp"


def write_totals_before(
    loop: For, totals: Sequence[RunningTotal], shared: list[SharedArray], barrier: Callable[[], None], w: GpuWriter
) -> None:
    """A loop of running totals (analysis/running_totals.py), an iteration for each thread of the block. shared: arrays
    of the block; barrier: has all threads meet."""
    threads, warp = sharing_of(loop), w.facts.gpu.warp
    variable = w.names.of(loop.name)
    w.function.scoped |= {variable, LANE, WARP}
    outer, w.threads = w.threads, w.threads | {loop.run: loop}
    with w.block():
        w.line(f"const int64_t {variable} = {w.text(loop.lower)} + (int64_t)threadIdx.x;")
        w.line(f"const int {LANE} = threadIdx.x % {warp}, {WARP} = threadIdx.x / {warp};")
        found = [_in_warp(one, warp, w) for one in totals]
        arrays = [w.fresh("lw_parts", VALUE_TYPE[one.type.name]) for one in totals]
        for one, upto, array in zip(totals, found, arrays, strict=True):
            shared.append(SharedArray(array, VALUE_TYPE[one.type.name], threads // warp))
            w.function.scoped.add(array)
            w.only(f"{LANE} == {warp - 1}", f"{array}[{WARP}] = {w.variable(upto.name)};")
        barrier()
        for one, upto, array in zip(totals, found, arrays, strict=True):
            _among_warps(one, upto, array, threads // warp, w)
    w.threads = outer
    w.function.scoped.discard(variable)


def _scalar(one: RunningTotal, wanted: str, w: GpuWriter) -> Var:
    return Var(w.new_scalar(wanted, one.type), one.type)


def _shuffled(one: RunningTotal, value: Var, distance: int, warp: int, w: GpuWriter) -> Var:
    """The value of a thread so far before in the warp."""
    other, ctype = _scalar(one, "other", w), VALUE_TYPE[one.type.name]
    is_narrow = one.type.size_bytes < 4
    into, text = w.variable(other.name), w.variable(value.name)
    w.function.meets = True
    w.add(Shuffle("up", into, ctype, is_narrow, text, str(distance), mask(warp)))
    return other


def _in_warp(one: RunningTotal, warp: int, w: GpuWriter) -> Var:
    """What the threads of the warp up to this one add."""
    upto = _scalar(one, "upto", w)
    w.line(f"{w.variable(upto.name)} = {w.text(one.part)};")
    distance = 1
    while distance < warp:
        other = _shuffled(one, upto, distance, warp, w)
        w.only(f"{LANE} >= {distance}", f"{w.variable(upto.name)} = {w.text(combined(one.op, other, upto))};")
        distance *= 2
    return upto


def _among_warps(one: RunningTotal, upto: Var, array: str, warps: int, w: GpuWriter) -> None:
    """What comes before this thread, and the total."""
    mine = _shuffled(one, upto, 1, w.facts.gpu.warp, w)
    before, part, now = _scalar(one, "before", w), _scalar(one, "part", w), Var(one.name, one.type)
    with w.loop(f"int lw_i = 0; lw_i < {warps}; ++lw_i", trips=warps):
        w.only(f"lw_i == {WARP}", f"{w.variable(before.name)} = {w.variable(one.name)};")
        w.line(f"{w.variable(part.name)} = {array}[lw_i];")
        w.line(f"{w.variable(one.name)} = {w.text(combined(one.op, now, part))};")
    w.only(f"{LANE} > 0", f"{w.variable(before.name)} = {w.text(combined(one.op, before, mine))};")
    w.line(f"{w.element(one.begin)} = {w.variable(before.name)};")

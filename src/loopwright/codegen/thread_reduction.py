"""Reductions whose iterations threads share: each thread has a partial result, and these are put together by shuffles
within a warp and through shared memory between warps. Afterwards every thread has the same result, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from loopwright.analysis.facts import Reduction
from loopwright.analysis.reductions import combined, identity
from loopwright.codegen.c_text import VALUE_TYPE, literal
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.ir.nodes import For, Var
from loopwright.ir.types import Scalar

WARP = 32


@dataclass(frozen=True, slots=True)
class Partial:
    """A thread's part of a reduction: `own`, the name of the scalar that stands for its target meanwhile."""

    reduction: Reduction
    own: str
    type: Scalar


def partial_results(band: Sequence[For], w: GpuWriter) -> list[Partial]:
    """Begin the reductions of loops that threads share, perfectly nested: until `put_together`, text that names their
    targets means partial results."""
    found = {
        reduction.target: reduction
        for loop in band
        for reduction in w.facts.loops[loop.name].reductions
        if reduction.kind == "scalar"
    }
    partials: list[Partial] = []
    for target, reduction in found.items():
        type_ = w.scalars[target]
        own = w.new_scalar("part", type_)
        start = identity(reduction.op, type_)
        w.line(f"{w.variable(own)} = {literal(start.value, type_)};")
        w.function.renamed[target] = w.variable(own)
        partials.append(Partial(reduction, own, type_))
    return partials


def in_warp(partial: Partial, lanes: int, mask: str, number: str, w: GpuWriter) -> None:
    """Each of `lanes` neighbouring threads (a power of two, at most a warp) gets the result of all of them. number: C
    text of the thread's number among them, or among more."""
    ctype = VALUE_TYPE[partial.type.name]
    own = w.variable(partial.own)
    distance = lanes // 2
    while distance:
        other = w.new_scalar("other", partial.type)
        carried = f"(int32_t){own}" if partial.type.size_bytes < 4 else own
        w.line(f"{w.variable(other)} = ({ctype})__shfl_xor_sync({mask}, {carried}, {distance});")
        # The lower of two threads comes first for both: with -0.0 and 0.0, they would differ in their minimum else.
        if partial.reduction.op not in ("add", "mul", "and", "or", "xor"):
            first = f"({number}) & {distance}"
            w.line(f"if ({first}) {{ const {ctype} lw_mine = {own}; {own} = {w.variable(other)};")
            w.line(f"  {w.variable(other)} = lw_mine; }}")
        w.line(f"{own} = {_both(partial, partial.own, other, w)};")
        distance //= 2


def number_in_block(size: tuple[int, int, int]) -> str:
    """C text of a thread's number in its block, x first."""
    further = ((1, "y"), (2, "z"))
    return "threadIdx.x" + "".join(f" + {prod(size[:k])} * threadIdx.{axis}" for k, axis in further if size[k] > 1)


def in_block(partial: Partial, size: tuple[int, int, int], array: str, w: GpuWriter) -> int:
    """Put the partial results of whole warps together (of threads, in a block that is not made of whole warps), by way
    of a shared array of this name; how many elements it needs. A barrier has to stand before, if threads may still
    read it."""
    own, threads = w.variable(partial.own), prod(size)
    number = number_in_block(size)
    each = 1
    if threads % WARP == 0:
        in_warp(partial, WARP, "0xffffffffu", number, w)
        each = WARP
    parts = threads // each
    w.line(f"if (({number}) % {each} == 0) {array}[({number}) / {each}] = {own};")
    w.line("__syncthreads();")
    w.line(f"{own} = {array}[0];")
    other = w.new_scalar("other", partial.type)
    w.line(f"for (int lw_i = 1; lw_i < {parts}; ++lw_i) {{")
    w.line(f"  {w.variable(other)} = {array}[lw_i];")
    w.line(f"  {own} = {_both(partial, partial.own, other, w)};")
    w.line("}")
    return parts


def in_column(partial: Partial, rows: int, across: int, array: str, w: GpuWriter) -> None:
    """Put the partial results of `rows` threads along y together, for each of `across` threads along x."""
    own, other = w.variable(partial.own), w.new_scalar("other", partial.type)
    w.line(f"{array}[threadIdx.x + {across} * threadIdx.y] = {own};")
    w.line("__syncthreads();")
    w.line(f"{own} = {array}[threadIdx.x];")
    w.line(f"for (int lw_i = 1; lw_i < {rows}; ++lw_i) {{")
    w.line(f"  {w.variable(other)} = {array}[threadIdx.x + {across} * lw_i];")
    w.line(f"  {own} = {_both(partial, partial.own, other, w)};")
    w.line("}")


def put_together(partial: Partial, w: GpuWriter) -> None:
    """The target again, with what the threads have found."""
    target = partial.reduction.target
    w.function.renamed.pop(target, None)
    w.line(f"{w.variable(target)} = {_both(partial, target, partial.own, w)};")


def _both(partial: Partial, first: str, second: str, w: GpuWriter) -> str:
    type_ = partial.type
    return w.text(combined(partial.reduction.op, Var(first, type_), Var(second, type_)))

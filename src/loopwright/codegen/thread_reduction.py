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
from loopwright.codegen.reduce import is_better
from loopwright.ir.code import Shuffle
from loopwright.ir.nodes import Const, For, Var
from loopwright.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class ThreadPartial:
    """A thread's part of a reduction: `own`, the names of scalars that stand for its targets meanwhile. Several targets
    are those of an extreme with what goes along: the first is the value, the last the position that decides where
    values are equal."""

    reduction: Reduction
    targets: tuple[str, ...]
    own: tuple[str, ...]
    types: tuple[Scalar, ...]

    @property
    def start(self) -> tuple[Const, ...]:
        """What changes nothing."""
        if len(self.targets) == 1:
            return (identity(self.reduction.op, self.types[0]),)
        none = [Const(False if one.kind == "bool" else 0.0 if one.is_float else 0, one) for one in self.types[1:-1]]
        place = identity("min" if self.reduction.tie == "least" else "max", self.types[-1])
        return (identity(self.reduction.op, self.types[0]), *none, place)


def partial_results(band: Sequence[For], w: GpuWriter) -> list[ThreadPartial]:
    """Begin the reductions of loops that threads share, perfectly nested: until `put_together`, text that names their
    targets means partial results."""
    found = {reduction.target: reduction for loop in band for reduction in w.facts.loops[loop.name].reductions
             if reduction.kind == "scalar"}  # fmt: skip
    groups: dict[str, list[str]] = {}
    for target, reduction in found.items():
        groups.setdefault(reduction.by or target, []).append(target)
    partials: list[ThreadPartial] = []
    for best, names in groups.items():
        reduction = found[best]
        others = [name for name in names if name not in (best, reduction.position)]
        targets = (best, *others, *([reduction.position] if reduction.by else []))
        types = tuple(w.scalars[name] for name in targets)
        own = tuple(w.new_scalar("part", type_) for type_ in types)
        partials.append(ThreadPartial(reduction, targets, own, types))
    for partial in partials:
        begin(partial, w)
        w.function.renamed |= {t: w.variable(o) for t, o in zip(partial.targets, partial.own, strict=True)}
    return partials


def begin(partial: ThreadPartial, w: GpuWriter, only: str = "") -> None:
    """Lines after which the partial result is that of no iteration. only: a condition."""
    for own, start in zip(partial.own, partial.start, strict=True):
        w.only(only, f"{w.variable(own)} = {literal(start.value, start.type)};")


def in_warp(partial: ThreadPartial, lanes: int, mask: str, number: str, w: GpuWriter) -> None:
    """Each of `lanes` neighbouring threads (a power of two, at most a warp) gets the result of all of them. number: C
    text of the thread's number among them, or among more."""
    distance = lanes // 2
    w.function.meets = True
    while distance:
        others = tuple(w.new_scalar("other", type_) for type_ in partial.types)
        for own, other, type_ in zip(partial.own, others, partial.types, strict=True):
            value, into, ctype, narrow = (
                w.variable(own),
                w.variable(other),
                VALUE_TYPE[type_.name],
                type_.size_bytes < 4,
            )
            w.add(Shuffle("across", into, ctype, narrow, value, str(distance), mask))
        if len(others) == 1 and partial.reduction.op not in ("add", "mul", "and", "or", "xor"):
            # The lower of two threads comes first for both: with -0.0 and 0.0, they would differ in their minimum else.
            own, other = w.variable(partial.own[0]), w.variable(others[0])
            with w.branch(f"({number}) & {distance}"):
                w.line(f"const {VALUE_TYPE[partial.types[0].name]} lw_mine = {own};")
                w.line(f"{own} = {other}; {other} = lw_mine;")
        _take(partial, partial.own, others, w)
        distance //= 2


def mask(lanes: int) -> str:
    """C text of the mask that names the first so many lanes of a warp."""
    return f"{hex((1 << lanes) - 1)}u"


def number_in_block(size: tuple[int, int, int]) -> str:
    """C text of a thread's number in its block, x first."""
    further = ((1, "y"), (2, "z"))
    return "threadIdx.x" + "".join(f" + {prod(size[:k])} * threadIdx.{axis}" for k, axis in further if size[k] > 1)


def in_block(partial: ThreadPartial, size: tuple[int, int, int], arrays: Sequence[str], w: GpuWriter) -> int:
    """Put the partial results of whole warps together (of threads, in a block that is not made of whole warps), by way
    of shared arrays of these names; how many elements each needs. A barrier has to stand before, if threads may still
    read them."""
    threads, number = prod(size), number_in_block(size)
    each = 1
    warp = w.facts.gpu.warp
    if threads % warp == 0:
        in_warp(partial, warp, mask(warp), number, w)
        each = warp
    parts = threads // each
    for own, array in zip(partial.own, arrays, strict=True):
        w.only(f"({number}) % {each} == 0", f"{array}[({number}) / {each}] = {w.variable(own)};")
    w.barrier()
    _all_of(partial, arrays, parts, "", "", w)
    return parts


def in_column(partial: ThreadPartial, rows: int, across: int, arrays: Sequence[str], w: GpuWriter) -> None:
    """Put the partial results of `rows` threads along y together, for each of `across` threads along x."""
    for own, array in zip(partial.own, arrays, strict=True):
        w.line(f"{array}[threadIdx.x + {across} * threadIdx.y] = {w.variable(own)};")
    w.barrier()
    _all_of(partial, arrays, rows, "threadIdx.x + ", f"{across} * ", w)


def _all_of(partial: ThreadPartial, arrays: Sequence[str], count: int, start: str, step: str, w: GpuWriter) -> None:
    """Every thread puts the elements of shared arrays together, one after the other."""
    others = tuple(w.new_scalar("other", type_) for type_ in partial.types)
    for own, array in zip(partial.own, arrays, strict=True):
        w.line(f"{w.variable(own)} = {array}[{start}0];")
    with w.loop(f"int lw_i = 1; lw_i < {count}; ++lw_i", trips=count - 1):
        for other, array in zip(others, arrays, strict=True):
            w.line(f"{w.variable(other)} = {array}[{start}{step}lw_i];")
        _take(partial, partial.own, others, w)


def put_together(partial: ThreadPartial, w: GpuWriter) -> None:
    """The targets again, with what the threads have found."""
    for target in partial.targets:
        w.function.renamed.pop(target, None)
    _take(partial, partial.targets, partial.own, w)


def _take(partial: ThreadPartial, into: Sequence[str], other: Sequence[str], w: GpuWriter) -> None:
    """Lines that put a second result into a first one."""
    if len(into) == 1:
        type_ = partial.types[0]
        both = combined(partial.reduction.op, Var(into[0], type_), Var(other[0], type_))
        w.line(f"{w.variable(into[0])} = {w.text(both)};")
        return
    mine, its = [w.variable(name) for name in into], [w.variable(name) for name in other]
    with w.branch(is_better(partial.reduction, its[0], mine[0], its[-1], mine[-1])):
        for one, two in zip(mine, its, strict=True):
            w.line(f"{one} = {two};")

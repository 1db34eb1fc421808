"""The step `pack`: copy the tile of an array that a loop reads into one piece of memory, in the order of the reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import plus
from loopwright.ir.nodes import Binary, Cast, Const, Expr, For, Kernel, Load, Store, Unary, Var, While
from loopwright.ir.queries import arrays_loaded, names_assigned, names_in
from loopwright.ir.walk import children, expressions, loops, own_expressions, statements, subexpressions
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import extent_of, marked
from loopwright.steps.grammar import From1
from loopwright.steps.limits import limits_of
from loopwright.steps.nest import left_early, missing, overlapping, the_loop
from loopwright.steps.region import Region, kept_around, may_fail, never_meet_inside, region_of
from loopwright.steps.step import Rejection, Step, legal

CACHE_BYTES = 512 * 1024
"""The largest tile, or other local array: half of a usual second cache."""


@dataclass(frozen=True, slots=True)
class Pack(Step):
    """Copy what a loop reads of an array into a local array before the loop. The first axis of the local one belongs to
    the outermost of the loops that read it; with the word `transposed`, to the innermost. `pad 4` makes its rows longer
    by elements that nobody uses, so that a column lies in several banks of a GPU's shared memory; `fill j` puts zeros
    where the stretch of `j` ends early; `blocks j.o` keeps what each iteration of that loop reads in one piece; with
    the word `computed` the local array holds not the element but what is computed of it and of things that stay the
    same, such as `alpha * d[j, k]`. `pack d i`:

    for i in 0 .. n:
        for k in 0 .. 4:
            for j in 0 .. 8:
                c[i, j] = c[i, j] + d[j, k]
    ->
    if 0 < n:
        allocate d.p: float64[4, 8]
        for k.p in 0 .. 4:
            for j.p in 0 .. 8:
                d.p[k.p, j.p] = d[j.p, k.p]
        for i in 0 .. n:
            for k in 0 .. 4:
                for j in 0 .. 8:
                    c[i, j] = c[i, j] + d.p[k, j]
    """

    name: ClassVar[str] = "pack"
    grammar: ClassVar[str] = "ARRAY LOOP [transposed] [pad ELEMENTS] [fill LOOP] [blocks LOOP] [computed]"
    array: str
    loop: str
    transposed: bool = False
    pad: From1 = 0
    fill: str = ""
    blocks: str = ""
    computed: bool = False

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := left_early(loop)) is not None:
            return rejection
        if self.blocks and self.blocks not in {one.name for one in statements(loop.body, For)}:
            return Rejection(f"'{self.blocks}' is no loop inside '{self.loop}'")
        region = self.region(kernel, loop)
        if isinstance(region, Rejection):
            return region
        if region.is_written:
            return Rejection(f"'{self.loop}' writes to '{self.array}'")
        if not region.shape:
            return Rejection(f"'{self.loop}' reads only one element of '{self.array}'")
        if self.fill and self.fill not in {one.name for one in region.inner}:
            return Rejection(f"'{self.fill}' is no loop over what '{self.loop}' reads of '{self.array}'")
        if self.computed and computed_of(loop, region) is None:
            return Rejection(f"'{self.loop}' computes nothing from '{self.array}', or not the same in each iteration")
        return marked((loop,)) or may_fail(kernel, loop, region, facts) or self._meets_others(kernel, loop, facts)

    def _meets_others(self, kernel: Kernel, loop: For, facts: Facts) -> Rejection | None:
        """Why what the loop writes of the array cannot be kept apart from what it reads at another index."""
        ours, others = _uses(loop, self.array)
        if not others or never_meet_inside(kernel, loop, ours, others, facts):
            return None
        return Rejection(f"'{self.loop}' writes elements of '{self.array}' that may be among those it reads")

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        region = self.region(kernel, loop)
        assert not isinstance(region, Rejection)
        region = ordered(region, self.transposed)
        if self.computed and (value := computed_of(loop, region)) is not None:
            region = replace(region, value=value, element=value.type)
        if self.fill:
            region = filled(region, {self.fill})
        if self.pad:
            region = replace(region, shape=(*region.shape[:-1], region.shape[-1] + self.pad))
        return finished(with_statement(kernel, loop, kept_around(kernel, loop, region, "p")), kernel)

    def region(self, kernel: Kernel, loop: For) -> Region | Rejection:
        """What the loop reads of the array, or why that is no simple region."""
        others = {id(one) for one in _uses(loop, self.array)[1]}
        return region_of(kernel, loop, self.array, CACHE_BYTES, whole=True, others=others, blocks=self.blocks)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(array, name) for name, loop in loops(kernel).items() for array in sorted(arrays_loaded(loop.body)))

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        return tuple(step for step in legal(cls.candidates(kernel), kernel, facts, strict) if _pays(kernel, step))


def _uses(loop: For, array: str) -> tuple[list[Load], list[Load | Store]]:
    """Where a loop writes an array at one index and reads it at one other: the reads at that one, and the accesses at
    the index at which it is written. Else all reads, and none."""
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == array]
    loads = [part for part in expressions(loop.body, Load) if part.array == array]
    written = {store.index for store in stores}
    ours = [one for one in loads if one.index not in written]
    if len(written) != 1 or len({one.index for one in ours}) != 1:
        return loads, []
    return ours, [*stores, *(one for one in loads if one.index in written)]


def _pays(kernel: Kernel, step: Pack) -> bool:
    """Whether anything is read more than once."""
    region = step.region(kernel, the_loop(kernel, step.loop))
    return not isinstance(region, Rejection) and region.again


def ordered(region: Region, transposed: bool) -> Region:
    """The region with the axes of its local array in the order of the loops."""
    position = {loop.name: depth for depth, loop in enumerate(region.inner)}

    def depth(axis: int) -> int:
        return max(position[name] for name in names_in(region.local[axis]) if name in position)

    order = sorted(range(len(region.shape)), key=depth, reverse=transposed)
    local = tuple(region.local[axis] for axis in order)
    return replace(region, local=local, shape=tuple(region.shape[axis] for axis in order))


def computed_of(loop: For, region: Region) -> Expr | None:
    """What a loop computes of each element of a region by arithmetic that cannot fail, and of nothing else that changes
    in the loop; None where that is the element itself, or not the same wherever it is read."""
    inside = [one.name for one in statements(loop.body, For, While)]
    changing = names_assigned(loop.body) | {loop.name, *inside}
    found: list[Expr] = []

    def is_computed(expr: Expr) -> bool:
        match expr:
            case Load():
                return expr.array == region.array and expr.index == region.index
            case Const():
                return True
            case Var():
                return expr.name not in changing
            case Binary(op="add" | "sub" | "mul" | "truediv"):
                return expr.type.is_float and is_computed(expr.left) and is_computed(expr.right)
            case Cast():
                return expr.type.is_float and is_computed(expr.operand)
            case Unary(op="neg"):
                return expr.type.is_float and is_computed(expr.operand)
        return False

    def visit(expr: Expr) -> None:
        loads = [one for one in subexpressions(expr, Load) if one.array == region.array and one.index == region.index]
        if loads and is_computed(expr):
            found.append(expr)
        elif loads:
            for child in children(expr):
                visit(child)

    for stmt in statements(loop.body):
        for own in own_expressions(stmt):
            visit(own)
    same = bool(found) and all(one == found[0] for one in found)
    return found[0] if same and not isinstance(found[0], Load) else None


def filled(region: Region, names: Collection[str]) -> Region:
    """The region with stretches of these loops of their whole lengths, and with limits where they end early."""
    inner: list[For] = []
    limits = list(region.limits)
    for one in region.inner:
        if one.name in names and (beyond := limits_of(one)):
            limits += beyond
            one = replace(one, upper=plus(one.lower, extent_of(one) or 0))
        inner.append(one)
    return replace(region, inner=tuple(inner), limits=tuple(limits))

"""The step `reduce`: partial results of a reduction, each of iterations of its own, put together afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.extremes import extremes
from loopwright.analysis.facts import Facts, Reduction
from loopwright.analysis.reductions import NotAReduction, combined, identity, scalar_reduction
from loopwright.ir.linear import number, plus, variable
from loopwright.ir.nodes import Allocate, Assign, Binary, Body, Expr, For, Kernel, Load, Stmt, Store, Var
from loopwright.ir.queries import arrays_made, arrays_stored, names_assigned, types_assigned
from loopwright.ir.types import Scalar
from loopwright.ir.walk import loops, own_expressions, rewrite_body, subexpressions
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.extreme import group_of, unplaced, with_places
from loopwright.steps.grammar import From2
from loopwright.steps.nest import left_early, missing, overlapping, step_of, the_loop, without_arrays
from loopwright.steps.step import Rejection, Step, order_needed

MOST = 1 << 20
"""Partial results: more would cost more than they spare."""


@dataclass(frozen=True, slots=True)
class Reduce(Step):
    """Sum (or multiply, or take the least) in lanes, each of which has every n-th iteration, and then over the lanes,
    which need no order among them. Of an extreme with what goes along, lanes keep the iteration too, which decides
    between equal values. `reduce i 64`:

    var s: float64
    s = b[0]
    for i in 0 .. n:
        s = min(s, a[i])
    b[0] = s
    ->
    var s: float64
    var s.l: float64
    s = b[0]
    allocate s.x: float64[64]
    for i.l in 0 .. 64:
        s.l = float64('inf')
        for i in i.l .. n step 64:
            s.l = min(s.l, a[i])
        s.x[i.l] = s.l
    for i.m in 0 .. 64:
        s = min(s, s.x[i.m])
    b[0] = s
    """

    name: ClassVar[str] = "reduce"
    grammar: ClassVar[str] = "LOOP LANES"
    loop: str
    lanes: From2

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        found = facts.loops[self.loop]
        if found.verdict != "reduction":
            return order_needed(found, asserted=False, strict=strict) or Rejection(f"'{self.loop}' is no reduction")
        if any(reduction.kind != "scalar" for reduction in found.reductions):
            return Rejection(f"'{self.loop}' adds to elements of an array: `promote` keeps one in a scalar")
        if found.last:
            return Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
        if self.lanes > MOST:
            return Rejection(f"{self.lanes} partial results are too many; the limit is {MOST}")
        if (rejection := left_early(loop)) is not None:
            return rejection
        return (
            marked((loop,))
            or _changing(loop)
            or unplaced(loop)
            or order_needed(found, asserted=False, strict=strict)
            or without_arrays(found.private, arrays_made(loop.body) | names_assigned(loop.body), "lane")
        )

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        found = list(_reductions(loop))
        taken = names_of(kernel)
        lane, merge = fresh(f"{loop.name}.l", taken), fresh(f"{loop.name}.m", taken)
        groups = tuple(group_of(loop, one, taken) for one in extremes(loop))
        names = [reduction.target for reduction, _ in found] + [name for one in groups for name in one.types]
        own = {name: fresh(f"{name}.l", taken) for name in names}
        arrays = {name: fresh(f"{name}.x", taken) for name in names}
        step = step_of(loop)
        start = variable(lane) if step == 1 else Binary("mul", variable(lane), number(step))
        inner = replace(
            loop,
            lower=plus(start, loop.lower),
            step=number(step * self.lanes),
            body=_renamed(with_places(loop, groups), own),
            asserted=False,
        )
        before: list[Stmt] = []
        first: list[Stmt] = []
        last: list[Stmt] = []
        after: list[Stmt] = []
        for reduction, type_ in found:
            target, array = reduction.target, arrays[reduction.target]
            before.append(Allocate(array, type_, (number(self.lanes),), None))
            first.append(Assign(own[target], identity(reduction.op, type_)))
            last.append(Store(array, (variable(lane),), Var(own[target], type_)))
            part = Load(array, (variable(merge),), type_)
            after.append(Assign(target, combined(reduction.op, Var(target, type_), part), at=loop.at))
        for group in groups:
            before += [
                Allocate(arrays[name], type_, (number(self.lanes),), None) for name, type_ in group.types.items()
            ]
            before += group.before()
            first += group.first(own)
            last += [
                Store(arrays[name], (variable(lane),), Var(own[name], type_)) for name, type_ in group.types.items()
            ]
            after.append(group.merged(arrays, variable(merge), loop.at))
        lanes = replace(loop, name=lane, lower=number(0), upper=number(self.lanes), step=number(1), asserted=False)
        merged = replace(lanes, name=merge, body=tuple(after))
        result = (*before, replace(lanes, body=(*first, inner, *last)), merged)
        return finished(with_statement(kernel, loop, result), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, 64) for name in loops(kernel))


def _changing(loop: For) -> Rejection | None:
    """Why the bounds of a loop may be other ones when a later lane computes them."""
    assigned = names_assigned(loop.body)
    stored = arrays_stored(loop.body)
    parts = [part for bound in own_expressions(loop) for part in subexpressions(bound)]
    for part in parts:
        changed = isinstance(part, Var) and part.name in assigned
        if changed or (isinstance(part, Load) and part.array in stored):
            return Rejection(f"the bounds of '{loop.name}' may change while it runs")
    return None


def _reductions(loop: For) -> Iterator[tuple[Reduction, Scalar]]:
    """The scalars that the loop only updates, with their types."""
    types = types_assigned(loop.body)
    for name, type_ in types.items():
        with suppress(NotAReduction):
            yield scalar_reduction(loop, name, type_), type_


def _renamed(body: Body, names: Mapping[str, str]) -> Body:
    """The body with other names for scalars."""

    def read(expr: Expr) -> Expr:
        return Var(names[expr.name], expr.type) if isinstance(expr, Var) and expr.name in names else expr

    def write(stmt: Stmt) -> Body:
        return (replace(stmt, name=names[stmt.name]),) if isinstance(stmt, Assign) and stmt.name in names else (stmt,)

    return rewrite_body(body, write, read)

"""The step `reduce`: partial results of a reduction, each of iterations of its own, put together afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Self

from loopwright.analysis.extremes import extremes
from loopwright.analysis.facts import Facts, LoopFacts, Reduction
from loopwright.analysis.reductions import (
    NotAReduction,
    array_updates,
    combined,
    flag_reduction,
    identity,
    one_op,
    scalar_reduction,
)
from loopwright.analysis.scalars import one_flag
from loopwright.ir.linear import least, minus, most, number, plus, times, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Checked,
    Const,
    Expr,
    For,
    Kernel,
    Load,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_made, arrays_stored, names_assigned, names_read, types_assigned
from loopwright.ir.types import Scalar
from loopwright.ir.walk import (
    bodies,
    expressions,
    loops,
    own_expressions,
    rewrite_body,
    statements,
    subexpressions,
    with_bodies,
)
from loopwright.steps.draft import finished, fresh, names_of, renamed
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
    between equal values. With `chunks` that is how many iterations a lane has, one after the other, and there are as
    many lanes as it takes. `reduce i 64`:

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
    grammar: ClassVar[str] = "LOOP LANES [chunks]"
    loop: str
    lanes: From2
    chunks: bool = False

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        found = facts.loops[self.loop]
        if found.verdict != "reduction":
            return order_needed(found, asserted=False, strict=strict) or Rejection(f"'{self.loop}' is no reduction")
        has_scalars = any(reduction.kind == "scalar" for reduction in found.reductions)
        for reduction in found.reductions:
            if reduction.kind == "scalar" or (reduction.kind == "scatter" and has_scalars):
                continue  # any lane may add to elements that only data tells
            if reason := _no_element(loop, reduction, facts):
                return Rejection(reason)
        if self.lanes > MOST:
            return Rejection(f"{self.lanes} partial results are too many; the limit is {MOST}")
        if self.chunks and (step_of(loop) != 1 or loop.lower != number(0)):
            return Rejection(f"'{self.loop}' does not count from 0: it has no chunks")
        return marked((loop,)) or not_in_parts(loop, found, strict)

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        taken = names_of(kernel)
        elements = {fresh(f"{one.array}.e", taken): one for one in _elements(loop).values()}
        original, loop = loop, _in_scalars(loop, elements)
        lane, merge = fresh(f"{loop.name}.l", taken), fresh(f"{loop.name}.m", taken)
        flags = tuple(_flags(kernel, loop))
        parts = partial_results(loop, variable(lane), variable(merge), taken, elements, flags)
        inner = replace(self._inner(loop, lane), body=parts.body, asserted=False)
        count = self._count(loop)
        lanes = replace(loop, name=lane, lower=number(0), upper=count, step=number(1), asserted=False)
        merged = replace(lanes, name=merge, body=parts.after)
        if loop.asserted == "independent":  # so are sets of its iterations
            lanes = replace(lanes, asserted="independent")
        if elements and not self.chunks:  # without iterations there may be no such element
            trips = most(number(0), minus(loop.upper, loop.lower))
            merged = replace(merged, upper=least(number(self.lanes), trips))
        room = count if isinstance(count, Const) else most(number(0), count)
        made = [Allocate(name, type_, (room,), None) for name, type_ in parts.arrays.items()]
        before: Body = (*made, replace(lanes, body=(*parts.first, inner, *parts.last)))
        after: Body = (*parts.before, merged)
        return finished(replace(kernel, body=_with_parts(kernel.body, original, parts.starts, before, after)), kernel)

    def _count(self, loop: For) -> Expr:
        """How many lanes there are."""
        if not self.chunks:
            return number(self.lanes)
        return Binary("floordiv", plus(minus(loop.upper, loop.lower), self.lanes - 1), number(self.lanes))

    def _inner(self, loop: For, lane: str) -> For:
        """The loop over the iterations of a lane."""
        if self.chunks:
            start = plus(times(variable(lane), self.lanes), loop.lower)
            return replace(loop, lower=start, upper=least(plus(start, self.lanes), loop.upper))
        step = step_of(loop)
        start = variable(lane) if step == 1 else Binary("mul", variable(lane), number(step))
        return replace(loop, lower=plus(start, loop.lower), step=number(step * self.lanes))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, 64, chunks) for name in loops(kernel) for chunks in (False, True))


def not_in_parts(loop: For, found: LoopFacts, strict: bool) -> Rejection | None:
    """Why the iterations of a reduction cannot be done in parts, each with results of its own; None where they can."""
    if found.last:
        return Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
    return (
        left_early(loop)
        or _changing(loop)
        or unplaced(loop)
        or order_needed(found, asserted=False, strict=strict)
        or without_arrays(found.private, arrays_made(loop.body) | names_assigned(loop.body), "lane")
    )


@dataclass(frozen=True, slots=True)
class PartialResults:
    """A loop that adds up, in parts: arrays of partial results with their types; what each part begins and ends with,
    and the loop's body between these; what comes `before` the first one is put together with what was there, and what
    does that. starts: the scalars that are updated."""

    arrays: Mapping[str, Scalar]
    before: Body
    first: Body
    body: Body
    last: Body
    after: Body
    starts: frozenset[str]


def partial_results(
    loop: For,
    lane: Expr,
    merge: Expr,
    taken: set[str],
    elements: Mapping[str, Store] = MappingProxyType({}),
    flags: Sequence[tuple[Reduction, Scalar]] = (),
) -> PartialResults:
    """Of the scalars that a loop updates. lane: the place of a part's results in their arrays; merge: the same where
    they are put together. taken: names that are there already; elements: those of scalars that stand for elements;
    flags: of those that it gives one constant."""
    found = [*_reductions(loop), *flags]
    groups = tuple(group_of(loop, one, taken) for one in extremes(loop))
    types = {reduction.target: type_ for reduction, type_ in found}
    types |= {name: type_ for one in groups for name, type_ in one.types.items()}
    own = {name: fresh(f"{name}.l", taken) for name in types}
    arrays = {name: fresh(f"{name}.x", taken) for name in types}
    first: list[Stmt] = []
    after: list[Stmt] = []
    for reduction, type_ in found:
        target = reduction.target
        first.append(Assign(own[target], identity(reduction.op, type_)))
        part = Load(arrays[target], (merge,), type_)
        if (store := elements.get(target)) is not None:
            element = Load(store.array, store.index, type_, at=store.at, key=store.key)
            after.append(replace(store, value=combined(reduction.op, element, part)))
        else:
            after.append(Assign(target, combined(reduction.op, Var(target, type_), part), at=loop.at))
    for group in groups:
        first += group.first(own)
        after.append(group.merged(arrays, merge, loop.at))
    return PartialResults(
        {arrays[name]: type_ for name, type_ in types.items()},
        tuple(stmt for group in groups for stmt in group.before()),
        tuple(first),
        renamed(with_places(loop, groups), own),
        tuple(Store(arrays[name], (lane,), Var(own[name], type_)) for name, type_ in types.items()),
        tuple(after),
        frozenset(types),
    )


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


def _flags(kernel: Kernel, loop: For) -> Iterator[tuple[Reduction, Scalar]]:
    """The scalars to which the loop gives one constant, and which it does not read, with their types."""
    others = names_read(loop.body) | {name for one in extremes(loop) for name in (one.best, *one.others)}
    for name, type_ in types_assigned(loop.body).items():
        if (
            name not in others
            and one_flag(loop.body, name)
            and (found := flag_reduction(kernel, loop, name)) is not None
        ):
            yield found, type_


def _no_element(loop: For, reduction: Reduction, facts: Facts) -> str:
    """Why additions to elements of an array cannot have partial results; '' for one element that is always the same."""
    refusal = f"'{loop.name}' adds to elements of '{reduction.target}': `promote` keeps one in a scalar"
    if reduction.kind != "element" or step_of(loop) != 1 or reduction.target not in _elements(loop):
        return refusal
    uses = _uses(loop, reduction.target)
    return refusal if any(bounds.kind == "checked" for one in uses for bounds in facts.bounds_of(one)) else ""


def _uses(loop: For, array: str) -> list[Load | Store]:
    found: list[Load | Store] = [one for one in expressions(loop.body, Load) if one.array == array]
    return found + [one for one in statements(loop.body, Store) if one.array == array]


def _elements(loop: For) -> dict[str, Store]:
    """The arrays of which a loop only updates one element, always the same, each with a store to it."""
    inside = {loop.name} | {stmt.name for stmt in statements(loop.body, For)} | names_assigned(loop.body)
    found: dict[str, Store] = {}
    for store in statements(loop.body, Store):
        parts = [part for axis in store.index for part in subexpressions(axis)]
        moves = any(
            isinstance(part, Load | Checked) or (isinstance(part, Var) and part.name in inside) for part in parts
        )
        if not moves and all(one.index == store.index for one in _uses(loop, store.array)):
            with suppress(NotAReduction):
                one_op(array_updates(loop, store.array, store.value.type))
                found.setdefault(store.array, store)
    return found


def _in_scalars(loop: For, elements: Mapping[str, Store]) -> For:
    """The loop with scalars in place of elements."""
    names = {one.array: name for name, one in elements.items()}

    def read(expr: Expr) -> Expr:
        return Var(names[expr.array], expr.type) if isinstance(expr, Load) and expr.array in names else expr

    def write(stmt: Stmt) -> Body:
        if isinstance(stmt, Store) and stmt.array in names:
            return (Assign(names[stmt.array], stmt.value, at=stmt.at),)
        return (stmt,)

    return replace(loop, body=rewrite_body(loop.body, write, read)) if names else loop


def _with_parts(body: Body, loop: For, starts: frozenset[str], parts: Body, merged: Body) -> Body:
    """The body with what finds partial results and what puts them together in place of a loop. Where results are set to
    constants right before it, that comes between the two, which can then be taken apart."""
    at = next((at for at, stmt in enumerate(body) if stmt is loop), None)
    if at is None:
        return tuple(
            with_bodies(stmt, tuple(_with_parts(part, loop, starts, parts, merged) for part in bodies(stmt)))
            for stmt in body
        )
    first = at
    while first and _is_start(body[first - 1], starts):
        first -= 1
    return (*body[:first], *parts, *body[first:at], *merged, *body[at + 1 :])


def _is_start(stmt: Stmt, names: frozenset[str]) -> bool:
    return isinstance(stmt, Assign) and stmt.name in names and isinstance(stmt.value, Const)

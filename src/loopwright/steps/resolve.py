"""The step `resolve`: find out which iteration writes each element last, and let only that one write it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.linear import minus, number, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    If,
    Kernel,
    Load,
    Original,
    Store,
)
from loopwright.ir.queries import arrays_loaded
from loopwright.ir.types import INT64
from loopwright.ir.walk import subexpressions
from loopwright.steps.draft import finished, fresh, names_of, renamed, substituted, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.nest import missing, overlapping, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Resolve(Step):
    """Of a loop that needs its order only because several iterations may write the same element, as a scatter may, make
    two that need none: the first one finds the last iteration for each element, the second one goes through the
    elements and does what that iteration does. `resolve i`:

    for i in 0 .. n:
        a[int64(b[i])] = 2.0 * b[i]
    ->
    allocate a.w: int64[size(a, 0)] = 0 for a 0
    for i in 0 .. n:
        a.w[int64(b[i])] = max(a.w[int64(b[i])], i + 1)
    for a.e in 0 .. size(a, 0):
        if a.w[a.e] > 0:
            a[a.e] = 2.0 * b[a.w[a.e] - 1]
    """

    name: ClassVar[str] = "resolve"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := marked((loop,))) is not None:
            return rejection
        store = _store(loop.body)
        if store is None or step_of(loop) != 1:
            return Rejection(f"'{self.loop}' does more than to compute what it writes to one array in the end")
        if store.array in arrays_loaded(loop.body):
            return Rejection(f"'{self.loop}' reads '{store.array}', which it writes")
        if any(_may_fail(part, facts) for part in subexpressions(store.value)):
            return Rejection(f"what '{self.loop}' writes may be an error, in an iteration that is not the last one too")
        scalars = scalars_of(loop, live_after(kernel)[loop.name])
        if scalars.carried or scalars.last:
            return Rejection(f"iterations of '{self.loop}' hand on scalars, to one another or to what follows")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        store = _store(loop.body)
        assert store is not None
        taken = names_of(kernel)
        writer = fresh(f"{store.array}.w", taken)
        taken |= {writer}
        sizes = tuple(Dim(store.array, axis) for axis in range(len(store.index)))
        original = Original(store.array, tuple(range(len(sizes))))  # whose places they are, where one does not exist
        made = Allocate(writer, INT64, sizes, Const(0, INT64), original=original)
        before = Load(writer, store.index, INT64)
        mark = plus(minus(variable(loop.name), loop.lower), 1)
        note = replace(store, array=writer, value=Binary("max", before, mark), key=object())
        first = replace(loop, body=_with(loop.body, store, note))
        places = []
        for _ in sizes:
            places.append(fresh(f"{store.array}.e", taken))
            taken |= {places[-1]}
        index: tuple[Expr, ...] = tuple(map(variable, places))
        found = Load(writer, index, INT64)
        own = {name: fresh(f"{name}.1", taken) for name in sorted(_assigned(loop.body))}
        last = plus(minus(found, 1), loop.lower)
        done = substituted(
            renamed(_plain(loop.body, replace(store, index=index, key=object())), own), {loop.name: last}
        )
        second: Body = (If(Compare("gt", found, number(0)), done),)
        for place, size in zip(reversed(places), reversed(sizes), strict=True):
            second = (replace(loop, name=place, lower=number(0), upper=size, body=second, asserted=False),)
        return finished(with_statement(kernel, loop, (made, first, *second)), kernel)


def _may_fail(expr: Expr, facts: Facts) -> bool:
    """Whether an expression itself may end the call."""
    if isinstance(expr, Load):
        return any(bounds.kind == "checked" for bounds in facts.bounds_of(expr))
    return isinstance(expr, Checked)


def _store(body: Body) -> Store | None:
    """What is written where, if a body assigns scalars and then does that, perhaps under a condition, and no more."""
    if not body or not all(isinstance(stmt, Assign) for stmt in body[:-1]):
        return None
    last = body[-1]
    if isinstance(last, If) and not last.otherwise:
        return _store(last.then)
    return last if isinstance(last, Store) else None


def _with(body: Body, old: Store, new: Store) -> Body:
    """The body with another store instead."""
    last = body[-1]
    inner = replace(last, then=_with(last.then, old, new)) if isinstance(last, If) else new
    return (*body[:-1], inner)


def _plain(body: Body, store: Store) -> Body:
    """What the body does where its conditions hold, with another store."""
    last = body[-1]
    return (*body[:-1], *(_plain(last.then, store) if isinstance(last, If) else (store,)))


def _assigned(body: Body) -> set[str]:
    last = body[-1]
    names = {stmt.name for stmt in body if isinstance(stmt, Assign)}
    return names | (_assigned(last.then) if isinstance(last, If) else set())

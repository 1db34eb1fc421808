"""The step `sink`: compute in each iteration of a loop what stands before it (code sinking)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import flow, live_after, scalars_of
from loopwright.ir.nodes import Assign, Body, Checked, For, If, Kernel, Load, Stmt
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, names_assigned, names_in, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, own_expressions
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import marked, surely_runs
from loopwright.steps.nest import missing, overlapping, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Sink(Step):
    """Move scalars that are set before a loop, in the body of the loop around it, to the beginning of its iterations:
    then nothing stands between the two loops, and they can be interchanged, tiled, and run on the axes of a grid. Each
    iteration computes the scalars again. `sink j`:

    var y: float64
    for i in 0 .. n:
        y = 2.0 * a[i]
        for j in 0 .. m:
            c[i, j] = y + b[j]
    ->
    var y: float64
    for i in 0 .. n:
        for j in 0 .. m:
            y = 2.0 * a[i]
            c[i, j] = y + b[j]
    """

    name: ClassVar[str] = "sink"
    grammar: ClassVar[str] = "LOOP, into which the scalars before it go"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        parent = parent_of(kernel, loop)
        if parent is None or not (moved := set_before(parent, loop)):
            return Rejection(f"no scalars are set just before '{self.loop}' in the body of a loop")
        if (rejection := marked((parent,))) is not None:
            return rejection
        names = names_assigned(moved)
        if needed := names & flow(moved).exposed:
            return Rejection(f"'{user_name(min(needed))}' is made of what it was before: only once is right")
        for needed in (names & names_assigned((loop,)), names_read(moved) & names_assigned((loop,))):
            if needed:
                return Rejection(f"'{user_name(min(needed))}' is set in '{self.loop}' too")
        if needed := names & {name for expr in own_expressions(loop) for name in names_in(expr)}:
            return Rejection(f"how often '{self.loop}' runs depends on '{user_name(min(needed))}'")
        written = arrays_stored((loop,)) | arrays_made((loop,))
        if arrays := arrays_loaded(moved) & written:
            return Rejection(f"'{self.loop}' changes '{user_name(min(arrays))}', which is read before it")
        kinds = scalars_of(parent, live_after(kernel)[parent.name])
        behind = parent.body[1 + next(at for at, stmt in enumerate(parent.body) if stmt is loop) :]
        if needed := (names - (set(kinds.private) - set(kinds.last))) | (names & flow(behind).exposed):
            return Rejection(f"'{user_name(min(needed))}' is also used after '{self.loop}'")
        if _may_fail(moved, facts) and not surely_runs(loop, {}):
            return Rejection(f"what stands before '{self.loop}' may fail, also where that has no iterations")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        parent = parent_of(kernel, loop)
        assert parent is not None
        moved = set_before(parent, loop)
        at = next(at for at, stmt in enumerate(parent.body) if stmt is loop)
        inner = replace(loop, body=(*moved, *loop.body))
        body = (*parent.body[: at - len(moved)], inner, *parent.body[at + 1 :])
        return finished(with_statement(kernel, parent, (replace(parent, body=body),)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        inner = ((loop, stmt) for loop in loops(kernel).values() if isinstance(loop, For) for stmt in loop.body)
        return (cls(stmt.name) for parent, stmt in inner if isinstance(stmt, For) and set_before(parent, stmt))


def parent_of(kernel: Kernel, loop: For) -> For | None:
    """The loop in whose body another one stands, with nothing but other statements of that body around it."""
    found = (one for one in loops(kernel).values() if isinstance(one, For) and any(stmt is loop for stmt in one.body))
    return next(found, None)


def set_before(parent: For, loop: For) -> Body:
    """The statements just before a loop in a body that do nothing but set scalars."""
    at = next(at for at, stmt in enumerate(parent.body) if stmt is loop)
    first = at
    while first and sets_scalars(parent.body[first - 1]):
        first -= 1
    return parent.body[first:at]


def sets_scalars(stmt: Stmt) -> bool:
    """Whether a statement does nothing but set scalars, perhaps under conditions."""
    if isinstance(stmt, If):
        return all(map(sets_scalars, (*stmt.then, *stmt.otherwise)))
    return isinstance(stmt, Assign)


def _may_fail(body: Body, facts: Facts) -> bool:
    checks: Iterable[Load | Checked] = expressions(body, Load, Checked)
    return any(one.kind == "checked" for check in checks for one in facts.bounds_of(check))

"""The step `unroll_and_jam`: several iterations of an outer loop side by side in the loops inside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.linear import minus, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Body,
    Checked,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import contains, has, names_assigned, names_in, types_assigned
from loopwright.ir.walk import loops, own_expressions, rewrite_body
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import around, marked
from loopwright.steps.grammar import From2
from loopwright.steps.nest import changes_inside, left_early, missing, reordering, step_of, the_loop
from loopwright.steps.split import halves
from loopwright.steps.step import Rejection, Step
from loopwright.steps.unroll import not_repeated, parts

FACTORS = (2, 4)


@dataclass(frozen=True, slots=True)
class UnrollAndJam(Step):
    """Unroll a loop, and join the copies of the loop inside it, and so on inwards. What is left over runs after it.
    Each iteration but the last of a group has its own copy of the scalars that it needs. A condition around the loop
    inside, the same one in each iteration, is tested once. `unroll_and_jam i 2`:

    for i in 0 .. n:
        for j in 0 .. m:
            c[i, j] = a[i] + b[j]
    ->
    for i.u in 0 .. n - 1 step 2:
        for j in 0 .. m:
            c[i.u, j] = a[i.u] + b[j]
            c[i.u + 1, j] = a[i.u + 1] + b[j]
    for i in max(n, 0) // 2 * 2 .. n:
        for j.1 in 0 .. m:
            c[i, j.1] = a[i] + b[j.1]
    """

    name: ClassVar[str] = "unroll_and_jam"
    grammar: ClassVar[str] = "LOOP NUMBER"
    loop: str
    factor: From2

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        rejection = not_repeated(kernel, loop, self.factor + 1) or marked((loop,)) or changes_inside(loop)
        rejection = rejection or _not_jammed(loop)
        if rejection is not None:
            return rejection
        if any(not isinstance(stmt, For) for stmt in around(kernel, loop)):
            if _needs_no_order(loop, facts):
                return None
            return Rejection(f"'{self.loop}' stands in a branch, where orders are not compared")
        bare = replace(loop, body=_under_tests(loop.body))  # whatever they say: it is the same for all iterations
        apart, one = _with_elements(with_statement(kernel, loop, (bare,)), bare)
        return reordering(apart, _in_stretches(apart, one, self.factor), strict)

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        taken = names_of(kernel)
        own: dict[str, list[str]] = {}
        for name in sorted(_own(kernel, loop)):
            for _ in range(self.factor - 1):
                own.setdefault(name, []).append(fresh(f"{name}.1", taken))
                taken.add(own[name][-1])
        main, rest = parts(kernel, loop, self.factor)
        starts = [plus(variable(main.name), position * step_of(loop)) for position in range(self.factor)]
        main = replace(main, body=_under_the_same_tests(loop, loop.body, starts, own))
        return finished(with_statement(kernel, loop, (main, *rest)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, factor) for name in loops(kernel) for factor in FACTORS)


def _needs_no_order(loop: For, facts: Facts) -> bool:
    """Whether iterations may run at once, with no more than scalars of their own: they may be joined in any way."""
    found = facts.loops.get(loop.name)
    own = names_assigned(loop.body)
    return found is not None and found.verdict == "parallel" and not found.last and own.issuperset(found.private)


def _test(body: Body) -> If | None:
    """The condition that is all a body holds."""
    return body[0] if len(body) == 1 and isinstance(body[0], If) and not body[0].otherwise else None


def _under_tests(body: Body) -> Body:
    """What stands under conditions and nothing else."""
    while (test := _test(body)) is not None:
        body = test.then
    return body


def _inner(body: Body) -> For | None:
    """The loop inside, where there is just one."""
    found = [stmt for stmt in body if contains((stmt,), For, While)]
    return found[0] if len(found) == 1 and isinstance(found[0], For) else None


def _not_jammed(loop: For) -> Rejection | None:
    """Why the loops inside a loop cannot be joined."""
    changing = names_assigned(loop.body) | {loop.name}
    body = loop.body
    while (test := _test(body)) is not None:
        if names_in(test.condition) & changing or has(test.condition, Load, Checked):
            return Rejection(f"'{loop.name}' holds a condition that differs from one iteration to the next")
        body = test.then
    if _inner(body) is None:
        return Rejection(f"'{loop.name}' does not hold just one loop")
    while (inner := _inner(body)) is not None:
        if (rejection := left_early(inner)) is not None:
            return rejection
        if names := {name for own in own_expressions(inner) for name in names_in(own)} & changing:
            return Rejection(f"the bounds of '{inner.name}' depend on '{min(names)}'")
        if (rejection := changes_inside(inner)) is not None:
            return rejection
        if contains(tuple(one for one in body if one is not inner), Allocate):
            return Rejection(f"each iteration of '{loop.name}' makes an array around '{inner.name}'")
        body = inner.body
    return None


def _own(kernel: Kernel, loop: For) -> set[str]:
    """The scalars of which each iteration has its own value, given around the innermost of the joined loops, so that
    they must live side by side."""
    body, found = _under_tests(loop.body), set[str]()
    while (inner := _inner(body)) is not None:
        found |= names_assigned(tuple(stmt for stmt in body if stmt is not inner))
        body = inner.body
    return found & set(scalars_of(loop, live_after(kernel)[loop.name]).private)


def _in_stretches(kernel: Kernel, loop: For, factor: int) -> Kernel:
    """The same order for the judge: a loop over a stretch of iterations around all that stands innermost. Iterations
    that are left over keep the order that they had, which is legal in any case."""
    taken = names_of(kernel)
    outer, stretch = halves(loop, factor, fresh(f"{loop.name}.u", taken))

    def part(body: Body) -> Body:
        if not body:
            return ()
        one = replace(stretch, name=fresh(f"{loop.name}.s", taken))
        taken.add(one.name)
        return (replace(one, body=(Assign(loop.name, variable(one.name)), *body)),)

    def order(body: Body) -> Body:
        inner = _inner(body)
        if inner is None:
            return part(body)
        position = next(place for place, stmt in enumerate(body) if stmt is inner)
        return (*part(body[:position]), replace(inner, body=order(inner.body)), *part(body[position + 1 :]))

    return with_statement(kernel, loop, (replace(outer, body=order(loop.body)),))


def _under_the_same_tests(loop: For, body: Body, starts: list[Expr], own: dict[str, list[str]]) -> Body:
    """The copies of what stands under the conditions around all of a body. A condition inside of a loop that is joined
    is a part of each copy, as the judge has it."""
    if (test := _test(body)) is not None:
        return (replace(test, then=_under_the_same_tests(loop, test.then, starts, own)),)
    return _jammed(loop, body, starts, own)


def _jammed(loop: For, body: Body, starts: list[Expr], own: dict[str, list[str]]) -> Body:
    """The copies of a body, joined. `own`: the names of scalars in all iterations of a group but the last."""
    inner = _inner(body)
    if inner is None:
        return _copies(loop, body, starts, own)
    position = next(place for place, stmt in enumerate(body) if stmt is inner)
    joined = replace(inner, body=_jammed(loop, inner.body, starts, own))
    before, after = body[:position], body[position + 1 :]
    return (*_copies(loop, before, starts, own), joined, *_copies(loop, after, starts, own))


def _copies(loop: For, body: Body, starts: list[Expr], own: dict[str, list[str]]) -> Body:
    """A body once for each iteration, with each one's own scalars."""
    result: Body = ()
    for place, start in enumerate(starts if body else []):
        names = {name: copies[place] for name, copies in own.items() if place < len(copies)}
        result = (*result, Assign(loop.name, start), *_with_names(body, names))
    return result


def _with_names(body: Body, names: dict[str, str]) -> Body:
    def stmt(one: Stmt) -> Body:
        return (replace(one, name=names.get(one.name, one.name)),) if isinstance(one, Assign) else (one,)

    def expr(one: Expr) -> Expr:
        return replace(one, name=names[one.name]) if isinstance(one, Var) and one.name in names else one

    return rewrite_body(body, stmt, expr) if names else body


def _with_elements(kernel: Kernel, loop: For) -> tuple[Kernel, For]:
    """The kernel with an element of an array for each iteration instead of each scalar that is private to it, for the
    judge: as if every iteration had its own copy."""
    own = _own(kernel, loop)
    types = types_assigned(loop.body)
    types = {name: type_ for name, type_ in types.items() if name in own}
    if not types:
        return kernel, loop
    here = (minus(variable(loop.name), loop.lower) if step_of(loop) > 0 else minus(loop.lower, variable(loop.name)),)
    taken = names_of(kernel)
    arrays = {name: fresh(f"{name}.x", taken) for name in types}

    def stmt(one: Stmt) -> Body:
        if isinstance(one, Assign) and one.name in arrays:
            return (Store(arrays[one.name], here, one.value, at=one.at),)
        return (one,)

    def expr(one: Expr) -> Expr:
        return Load(arrays[one.name], here, one.type) if isinstance(one, Var) and one.name in arrays else one

    new = replace(loop, body=rewrite_body(loop.body, stmt, expr))
    last = max((param.argument for param in kernel.params), default=-1)
    added = tuple(ArrayParam(arrays[name], type_, last + 1 + k, 1) for k, (name, type_) in enumerate(types.items()))
    changed = with_statement(kernel, loop, (new,))
    return replace(changed, params=(*kernel.params, *added)), new

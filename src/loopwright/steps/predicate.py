"""The step `predicate`: test in each iteration of a loop the condition that it stands under (predication)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import escapes
from loopwright.ir.nodes import Allocate, Binary, Body, Checked, Const, Expr, For, If, Kernel, Load, Stmt
from loopwright.ir.queries import arrays_made, arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import own_expressions, statements, subexpressions
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.nest import missing, overlapping, size_of, the_loop, too_large, without_value
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Predicate(Step):
    """Give each statement under the condition that a loop stands under, also those in its loops, the condition for
    itself: then nothing but loops stands between these and the loop around the condition, and they can be taken apart,
    interchanged, and run on the axes of a grid. The loops run in any case. `predicate j`:

    for i in 0 .. n:
        if a[i] > 0.0:
            for j in 0 .. m:
                b[j] = b[j] + a[i]
    ->
    for i in 0 .. n:
        for j in 0 .. m:
            if a[i] > 0.0:
                b[j] = b[j] + a[i]
    """

    name: ClassVar[str] = "predicate"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        test = condition_of(kernel, loop)
        if test is None:
            return Rejection(f"'{self.loop}' does not stand directly under a condition without 'else'")
        if (rejection := marked(tuple(statements(test.then, For)))) is not None:
            return rejection
        if any(True for stmt in test.then for _ in escapes(stmt)):
            return Rejection(f"what stands beside '{self.loop}' may be left in the middle")
        if contains(test.then, Allocate):
            return Rejection(f"arrays are made beside '{self.loop}', under its condition")
        copies = sum(1 for _ in _predicated(test))
        return (
            _changed(test)
            or _may_fail(test, facts)
            or _unready(test)
            or too_large(kernel, copies * size_of((replace(test, then=()),)))
            or without_value(self.apply(kernel))
        )

    def apply(self, kernel: Kernel) -> Kernel:
        test = condition_of(kernel, the_loop(kernel, self.loop))
        assert test is not None
        return finished(with_statement(kernel, test, _each(test, test.then)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        tests = statements(kernel.body, If)
        return (cls(stmt.name) for test in tests if not test.otherwise for stmt in test.then if isinstance(stmt, For))


def condition_of(kernel: Kernel, loop: For) -> If | None:
    """The condition without `else` that a loop directly stands under."""
    tests = (one for one in statements(kernel.body, If) if any(stmt is loop for stmt in one.then))
    return next((test for test in tests if not test.otherwise), None)


def _each(test: If, body: Body) -> Body:
    """The same body with the condition around each stretch of it without loops."""
    result: list[Stmt] = []
    for is_loop, group in groupby(body, lambda stmt: isinstance(stmt, For)):
        stretch = tuple(group)
        if is_loop:
            result += (replace(one, body=_each(test, one.body)) for one in stretch if isinstance(one, For))
        else:
            result.append(replace(test, then=stretch))
    return tuple(result)


def _predicated(test: If) -> Iterator[If]:
    """The conditions that there are afterwards."""
    return (one for one in statements(_each(test, test.then), If) if one.condition is test.condition)


def _changed(test: If) -> Rejection | None:
    """Why the condition may be another one by the time that a later statement asks for it."""
    assigned = names_assigned(test.then) | {one.name for one in statements(test.then, For)}
    if names := names_in(test.condition) & assigned:
        return Rejection(f"'{user_name(min(names))}' changes under the condition, which asks for it")
    read = {part.array for part in subexpressions(test.condition, Load)}
    if arrays := read & (arrays_stored(test.then) | arrays_made(test.then)):
        return Rejection(f"'{user_name(min(arrays))}' changes under the condition, which reads it")
    return None


def _may_fail(test: If, facts: Facts) -> Rejection | None:
    """Why the condition may fail: loops without iterations would not come to it."""
    for part in subexpressions(test.condition, Load, Checked):
        if any(one.kind == "checked" for one in facts.bounds_of(part)):
            return Rejection("the condition may fail, also where loops under it have no iterations")
    return None


def _unready(test: If) -> Rejection | None:
    """Why loops cannot run where the condition does not hold: it may take the condition to know how far they go."""
    assigned = names_assigned(test.then)
    for loop in _running(test.then):
        for bound in own_expressions(loop):
            if names := names_in(bound) & assigned:
                return Rejection(f"how often '{loop.name}' runs depends on '{user_name(min(names))}'")
            if has(bound, Load, Checked) or _divides(bound):
                return Rejection(f"how often '{loop.name}' runs may only be asked under the condition")
    return None


def _running(body: Body) -> Iterator[For]:
    """The loops that run in any case afterwards."""
    for stmt in body:
        if isinstance(stmt, For):
            yield stmt
            yield from _running(stmt.body)


def _divides(expr: Expr) -> bool:
    """Whether it divides whole numbers by what may be zero."""
    divisions = (one for one in subexpressions(expr, Binary) if one.op in ("floordiv", "mod"))
    return any(not isinstance(one.right, Const) or not one.right.value for one in divisions)

"""The step `overrun`: run what stands under a condition in every iteration, where nobody reads what that adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula, constant, relate
from loopwright.analysis.effort import LOCK, Effort, TooHard
from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import flow
from loopwright.analysis.sets import build, minus, ordered, without
from loopwright.analysis.trace import Access, traced
from loopwright.ir.nodes import Allocate, Assign, Body, Checked, Expr, For, If, Kernel, Load, Stmt, Store, Var, While
from loopwright.ir.queries import arrays_made, arrays_stored, has, names_assigned
from loopwright.ir.walk import expressions, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import around, marked
from loopwright.steps.nest import missing, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Overrun(Step):
    """Take away the condition around all that a loop holds, where what its other iterations compute is kept in local
    arrays only, at places that nothing else reads. What they compute may be anything. `overrun j`:

    for i.o in 0 .. n step 8:
        allocate t: float64[8]
        for j in i.o .. i.o + 8:
            if j < n:
                t[j - i.o] = float64(i.o)
        for k in i.o .. min(i.o + 8, n):
            a[k] = t[k - i.o]
    ->
    for i.o in 0 .. n step 8:
        allocate t: float64[8]
        for j in i.o .. i.o + 8:
            t[j - i.o] = float64(i.o)
        for k in i.o .. min(i.o + 8, n):
            a[k] = t[k - i.o]
    """

    name: ClassVar[str] = "overrun"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if _condition(loop) is None:
            return Rejection(f"'{self.loop}' does not hold one condition and nothing else")
        return marked((loop,)) or _does_more(kernel, loop) or self._is_seen(kernel)

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        test = _condition(loop)
        assert test is not None
        return finished(with_statement(kernel, loop, (replace(loop, body=_anew(test.then)),)), kernel)

    def _is_seen(self, kernel: Kernel) -> Rejection | None:
        """Why the added iterations are seen: they touch what is not there, or something reads what they write. They are
        looked at as what a kernel does where the condition does not hold."""
        loop = the_loop(kernel, self.loop)
        test = _condition(loop)
        assert test is not None
        added = _anew(test.then)
        both = with_statement(kernel, test, (replace(test, otherwise=added),))
        ours = {id(stmt) for stmt in statements(added)}
        usual = {id(stmt) for stmt in statements(test.then)}
        depth = sum(isinstance(stmt, For | While) for stmt in around(kernel, loop))
        with LOCK:
            notes = traced(both)
            mine = [access for access in notes.accesses if id(access.stmt) in ours]
            others = [access for access in notes.accesses if id(access.stmt) not in ours and not access.is_write]
            there = [access for access in others if id(access.stmt) in usual]
            try:
                with Effort(patient=True).bounded():
                    return _outside(mine, there, depth) or _read(kernel, mine, others)
            except TooHard:
                return Rejection("too hard to tell which statements would read the additional results")


def _condition(loop: For) -> If | None:
    """The condition that is all a loop holds."""
    inner = loop.body[0] if len(loop.body) == 1 else None
    return inner if isinstance(inner, If) and not inner.otherwise else None


def _anew(body: Body) -> Body:
    """A body whose accesses are others than before: what was proven of those holds for fewer iterations."""

    def load(expr: Expr) -> Expr:
        return replace(expr, key=object()) if isinstance(expr, Load) else expr

    def store(stmt: Stmt) -> Body:
        return (replace(stmt, key=object()),) if isinstance(stmt, Store) else (stmt,)

    return rewrite_body(body, stmt=store, expr=load)


def _does_more(kernel: Kernel, loop: For) -> Rejection | None:
    """Why what stands under the condition does more than to compute, from local arrays, what is kept in such."""
    test = _condition(loop)
    assert test is not None
    local = arrays_made(kernel.body)
    parts = [*subexpressions(test.condition), *expressions(test.then)]
    if any(isinstance(part, Checked) for part in parts):
        return Rejection(f"an error may end '{loop.name}' in the middle")
    if has(test.condition, Load):
        return Rejection(f"data decides what '{loop.name}' does")
    if other := next((stmt for stmt in statements(test.then) if not isinstance(stmt, Assign | Store)), None):
        return Rejection(f"'{loop.name}' holds a statement of another kind: {type(other).__name__}")
    written = [stmt.array for stmt in statements(test.then, Store)]
    if array := next((name for name in written if name not in local), None):
        return Rejection(f"'{array}' is no local array")
    changed = arrays_stored(around(kernel, loop)[:1] or (loop,))
    touched = [part.array for part in parts if isinstance(part, Load)]
    if array := next((name for name in touched if name not in local and name in changed), None):
        return Rejection(f"'{array}' is no local array, and the nest writes it too")
    assigned = names_assigned(test.then)
    ours = {id(stmt) for stmt in statements(test.then)}
    read = {
        part.name
        for stmt in statements(kernel.body)
        if id(stmt) not in ours
        for own in own_expressions(stmt)
        for part in subexpressions(own, Var)
    }
    if names := assigned & (read | flow(test.then).exposed):
        return Rejection(f"the value of '{min(names)}' is needed after the iteration")
    return None


def _is_read_anyway(added: Access, usual: Sequence[Access], depth: int) -> bool:
    """Whether each element that is read besides is read by the usual iterations too, each time the loop runs."""
    rest = _elements(added, depth)
    for access in usual:
        if access.array == added.array and access.exact and not rest.is_empty():
            rest = minus(rest, _elements(access, depth))
    return bool(rest.is_empty())


def _outside(added: Sequence[Access], usual: Sequence[Access], depth: int) -> Rejection | None:
    """Why an added access may lie outside of its array, where the usual iterations do not read the same."""
    for access in added:
        if not _is_inside(access) and (access.is_write or not _is_read_anyway(access, usual, depth)):
            return Rejection(f"an additional iteration would use an element of '{access.array}' that does not exist")
    return None


def _is_inside(access: Access) -> bool:
    return all(
        build((*access.where, wrong)).is_empty()
        for index, size in zip(access.index, access.sizes, strict=True)
        for wrong in (relate(index, "<", constant(0)), relate(index, ">=", size))
    )


def _read(kernel: Kernel, added: Sequence[Access], others: Sequence[Access]) -> Rejection | None:
    """Why an element that is written besides is read by something else, before its array is made anew."""
    made = {stmt.array: stmt for stmt in statements(kernel.body, Allocate)}
    for array in {access.array for access in added if access.is_write}:
        depth = sum(isinstance(stmt, For | While) for stmt in around(kernel, made[array]))
        written = [_elements(access, depth) for access in added if access.array == array and access.is_write]
        read = [_elements(access, depth) for access in others if access.array == array]
        if any(not one.intersect(other).is_empty() for one in written for other in read):
            return Rejection(f"an element of '{array}' that an additional iteration would write is read elsewhere")
    return None


def _elements(access: Access, depth: int) -> isl.Set:
    """The elements that an access touches in one iteration of so many outer loops."""
    dims = tuple(f"e{axis}" for axis in range(len(access.index)))
    points = tuple(
        Formula(f"{dim} = {index.text()}", index.symbols) for dim, index in zip(dims, access.index, strict=True)
    )
    symbols = [symbol for formula in (*access.where, *points) for symbol in formula.symbols]
    inside = {symbol.name for symbol in ordered(symbols) if len(symbol.birth) > depth}
    return without(build(access.where, dims, points), inside)

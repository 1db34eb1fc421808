"""The step `uncap`: a counter that stops where it has reached a bound goes on counting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import least, most, parted
from loopwright.ir.nodes import Assign, Body, Checked, Compare, Const, Expr, For, If, Kernel, Load, Logical, Stmt, Var
from loopwright.ir.queries import arrays_made, has, names_assigned, names_in, names_read, settled_by
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, loops, statements, subexpressions
from loopwright.steps.draft import finished, fresh, names_of, renamed, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.nest import missing, overlapping, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Uncap(Step):
    """Of a counter that takes a place only while there is one, count on beyond the last place, and see there whether
    there is one: how far the counter is then depends on what is counted only, as in other compactions. `uncap s i`:

    var s: int64
    s = 0
    for i in 0 .. n:
        if a[i] > 0.0 and s < m:
            b[s] = a[i]
            s = s + 1
    ->
    var s: int64
    var s.u: int64
    s = 0
    s.u = 0
    for i in 0 .. n:
        if a[i] > 0.0:
            if s.u < m:
                b[s.u] = a[i]
            s.u = s.u + 1
    s = min(s.u, max(s, m))
    """

    name: ClassVar[str] = "uncap"
    grammar: ClassVar[str] = "SCALAR LOOP"
    scalar: str
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := marked((loop,))) is not None:
            return rejection
        found = _bounded(kernel, loop, self.scalar)
        if found is None:
            return Rejection(f"'{self.loop}' does not count '{self.scalar}' by ones while it is below a fixed bound")
        if any(escapes(stmt) for stmt in found.test.then):
            return Rejection(f"what is done where '{self.scalar}' is below its bound may end an iteration")
        for part in subexpressions(found.asked, Load, Checked) if found.asked is not None and found.is_late else ():
            if any(one.kind == "checked" for one in facts.bounds_of(part)):
                return Rejection(f"what is asked where '{self.scalar}' is below its bound may fail elsewhere")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        found = _bounded(kernel, loop, self.scalar)
        assert found is not None
        own = fresh(f"{self.scalar}.u", names_of(kernel))
        scalar = Var(self.scalar, INT64)
        start = Assign(own, _known_before(kernel, loop, self.scalar) or scalar, at=loop.at)
        end = Assign(self.scalar, least(Var(own, INT64), most(scalar, found.bound)), at=loop.at)
        changed = with_statement(kernel, found.test, found.uncapped())
        counting = the_loop(changed, self.loop)
        (counted,) = renamed((counting,), {self.scalar: own})
        return finished(with_statement(changed, counting, (start, counted, end)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        for name, loop in loops(kernel).items():
            if isinstance(loop, For):
                yield from (cls(scalar, name) for scalar in bounded_counters(kernel, loop))


def bounded_counters(kernel: Kernel, loop: For) -> list[str]:
    """The scalars that a loop counts up to a bound."""
    names = (one.name for test in statements(loop.body, If) for one in test.then if isinstance(one, Assign))
    return [name for name in dict.fromkeys(names) if _bounded(kernel, loop, name) is not None]


@dataclass(frozen=True, slots=True)
class _Bounded:
    """test: the condition under which a scalar is counted; below: the part of it that compares the scalar with its
    bound; asked: the other part, None where there is none; is_late: whether that comes second."""

    test: If
    below: Compare
    asked: Expr | None
    is_late: bool

    @property
    def bound(self) -> Expr:
        return self.below.right

    def uncapped(self) -> Body:
        """What takes the place of the test."""
        *rest, added = self.test.then
        body: Body = (replace(self.test, condition=self.below, then=tuple(rest)), added) if rest else (added,)
        return body if self.asked is None else (replace(self.test, condition=self.asked, then=body),)


def _bounded(kernel: Kernel, loop: For, scalar: str) -> _Bounded | None:
    """How a loop counts a scalar up to a bound; None where it does something else with it."""
    found = next((one for one in statements(loop.body, If) if one.then and _counts(one.then[-1], scalar)), None)
    if found is None or found.otherwise or sum(one.name == scalar for one in statements(loop.body, Assign)) != 1:
        return None
    split = _split(found, scalar)
    if split is None or (split.asked is not None and scalar in names_in(split.asked)):
        return None
    changing = names_assigned(loop.body) | arrays_made(loop.body) | {one.name for one in statements((loop,), For)}
    if settled_by(split.bound) & changing or has(split.bound, Load, Checked) or split.bound.type != INT64:
        return None
    without = the_loop(with_statement(kernel, found, ()), loop.name)
    return None if scalar in names_read((without,)) else split


def _counts(stmt: Stmt, scalar: str) -> bool:
    """Whether a statement adds 1 to a scalar."""
    return isinstance(stmt, Assign) and stmt.name == scalar and parted(stmt.value) == (Var(scalar, INT64), 1)


def _split(test: If, scalar: str) -> _Bounded | None:
    match test.condition:
        case Compare(op="lt", left=Var(name=name)) as below if name == scalar:
            return _Bounded(test, below, None, False)
        case Logical(op="and", left=asked, right=Compare(op="lt", left=Var(name=name)) as below) if name == scalar:
            return _Bounded(test, below, asked, False)
        case Logical(op="and", left=Compare(op="lt", left=Var(name=name)) as below, right=asked) if name == scalar:
            return _Bounded(test, below, asked, True)
    return None


def _known_before(kernel: Kernel, loop: For, scalar: str) -> Expr | None:
    """The constant that a scalar is just before a loop; None where that is not known."""
    for body in _around(kernel.body, loop):
        at = next(at for at, stmt in enumerate(body) if stmt is loop)
        for stmt in reversed(body[:at]):
            if isinstance(stmt, Assign) and stmt.name == scalar:
                return stmt.value if isinstance(stmt.value, Const) else None
            if scalar in names_assigned((stmt,)):
                return None
    return None


def _around(body: Body, loop: For) -> Iterator[Body]:
    """The body in which a loop stands."""
    if any(stmt is loop for stmt in body):
        yield body
    for stmt in body:
        for inner in bodies(stmt):
            yield from _around(inner, loop)

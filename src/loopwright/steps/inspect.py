"""The step `inspect`: find out when a loop starts whether its iterations need their order, which only data tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopwright.analysis.disjoint_ranges import DisjointRanges, disjoint_ranges
from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.linear import minus, most, number, plus, variable
from loopwright.ir.nodes import Assign, Binary, Body, Compare, Expr, For, If, Kernel, Load, Logical, Select, Stmt
from loopwright.ir.queries import arrays_made
from loopwright.ir.walk import rewrite_body, rewrite_expr, subexpressions
from loopwright.steps.draft import finished, fresh, names_of, renamed, substituted_in, with_statement
from loopwright.steps.extent import marked, used_outside
from loopwright.steps.nest import missing, overlapping, size_of, the_loop, too_large
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Inspect(Step):
    """Of a loop whose iterations each go through a range of their own of some arrays, if their ranges do not meet, make
    one that needs no order where that is so, and one as it was where it is not. `inspect i`:

    for i in 0 .. n:
        for k in e[i] .. e[i + 1]:
            a[k] = 2.0 * b[k]
    ->
    var i.apart: int64
    i.apart = 1
    for i.q in 0 .. n:
        i.apart = min(i.apart, 1 if e[i.q] >= 0 and e[i.q] <= e[i.q + 1] else 0)
    if i.apart == 1:
        for i in 0 .. n independent:
            for k in max(e[i], 0) .. e[i + 1]:
                a[k] = 2.0 * b[k]
    else:
        for i.1 in 0 .. n:
            for k.1 in e[i.1] .. e[i.1 + 1]:
                a[k.1] = 2.0 * b[k.1]
    """

    name: ClassVar[str] = "inspect"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if not isinstance(loop, For):
            return Rejection(f"'{self.loop}' is a while loop")
        if (rejection := marked((loop,)) or too_large(kernel, size_of((loop,)) + 8)) is not None:
            return rejection
        if loop.asserted:
            return Rejection(f"'{self.loop}' needs no order already")
        if self.loop not in facts.loops:
            return Rejection(f"nothing is known of '{self.loop}'")
        known = facts.loops[self.loop]
        if known.verdict != "undecided" and not any(one.kind == "scatter" for one in known.reductions):
            return Rejection(f"it is known whether iterations of '{self.loop}' need their order")
        found = disjoint_ranges(kernel, loop)
        if found is None:
            return Rejection(f"iterations of '{self.loop}' do not each go through a range that arrays tell")
        reads = [part for end in (found.lower, found.upper) for part in subexpressions(end, Load)]
        if not all(one.kind == "proven" and not one.may_be_negative for part in reads for one in facts.bounds_of(part)):
            return Rejection(f"where the ranges of '{self.loop}' end is read from elements that may not be there")
        if (array := used_outside(kernel, (loop,), frozenset(arrays_made((loop,))))) is not None:
            return Rejection(f"'{array}' is made inside the loop that would be copied, and used outside it")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        assert isinstance(loop, For)
        found = disjoint_ranges(kernel, loop)
        assert found is not None
        taken = names_of(kernel)
        flag, place = fresh(f"{self.loop}.apart", taken), fresh(f"{self.loop}.q", taken)
        taken |= {flag, place}
        tests = self._tests(loop, found, place, flag, taken)
        fast = replace(loop, asserted="independent", body=_from_zero(loop.body, found))
        kinds = scalars_of(loop, live_after(kernel)[loop.name])
        own: dict[str, str] = {}
        for name in sorted(set(kinds.private) - set(kinds.last)):
            own[name] = fresh(f"{name}.1", taken)
            taken.add(own[name])
        both = If(Compare("eq", variable(flag), number(1)), (fast,), renamed((loop,), own))
        return finished(with_statement(kernel, loop, (Assign(flag, number(1)), *tests, both)), kernel)

    def _tests(self, loop: For, found: DisjointRanges, place: str, flag: str, taken: set[str]) -> tuple[Stmt, ...]:
        """The loops that look at the ends of all ranges."""

        def at(expr: Expr, where: Expr) -> Expr:
            return rewrite_expr(substituted_in(expr, {loop.name: where}), _anew)

        here = variable(place)
        lower, upper = at(found.lower, here), at(found.upper, here)
        ordered = Logical("and", Compare("ge", lower, number(0)), Compare("le", lower, upper))
        each = replace(loop, name=place, body=(_holds(flag, ordered),))
        if found.is_whole:
            return (each,)
        other = fresh(f"{loop.name}.q", taken)
        there = variable(other)
        follows = Compare("le", at(found.upper, there), at(found.lower, plus(there, 1)))
        return each, replace(loop, name=other, upper=minus(loop.upper, 1), body=(_holds(flag, follows),))


def _anew(expr: Expr) -> Expr:
    """An access as one of its own: what is proven of it where it stands is no proof for other places."""
    return replace(expr, key=object()) if isinstance(expr, Load) else expr


def _holds(flag: str, condition: Expr) -> Stmt:
    """Keep in mind where a condition does not hold."""
    return Assign(flag, Binary("min", variable(flag), Select(condition, number(1), number(0))))


def _from_zero(body: Body, found: DisjointRanges) -> Body:
    """The body for where it is known that no index of these loops counts from the end."""

    def change(stmt: Stmt) -> Body:
        if isinstance(stmt, For) and stmt.name in found.loops:
            return (replace(stmt, lower=most(stmt.lower, number(0))),)
        return (stmt,)

    return rewrite_body(body, change)

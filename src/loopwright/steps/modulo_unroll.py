"""The step `modulo_unroll`: iterations in a row as straight-line code, in which remainders of the loop's variable are
numbers (modulo unrolling; Barua, Lee, Amarasinghe, Agarwal, 1999)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import Linear, linear, minus, most, number, plus, times, variable
from loopwright.ir.nodes import Assign, Binary, Body, Const, Expr, For, Kernel
from loopwright.ir.simplify import simpler_body
from loopwright.ir.types import INT64
from loopwright.ir.walk import expressions, loops, rewrite_body
from loopwright.steps.draft import finished, fresh, names_of, substituted, with_statement
from loopwright.steps.extent import marked, trip_of
from loopwright.steps.grammar import From2
from loopwright.steps.nest import changes_inside, missing, step_of, the_loop
from loopwright.steps.step import Rejection, Step
from loopwright.steps.unroll import not_repeated

MOST_PERIOD = 8
FAR = 1 << 31  # how far beside a loop's variable a number is that does not wrap around either


@dataclass(frozen=True, slots=True)
class ModuloUnroll(Step):
    """Write the body of a loop several times in a row, for each remainder that its variable may have; what is left over
    runs after it. Groups of iterations are counted, so that quotients are numbers of groups. `modulo_unroll i 2`:

    for i in 0 .. n:
        a[i] = b[i // 2] + b[i % 2]
    ->
    for i.u in 0 .. max(n, 0) // 2:
        a[i.u * 2] = b[i.u] + b[0]
        a[i.u * 2 + 1] = b[i.u] + b[1]
    for i in max(n, 0) // 2 * 2 .. n:
        a[i] = b[i // 2] + b[i % 2]
    """

    name: ClassVar[str] = "modulo_unroll"
    grammar: ClassVar[str] = "LOOP NUMBER"
    loop: str
    factor: From2

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if step_of(loop) != 1 or not isinstance(loop.lower, Const):
            return Rejection(f"'{self.loop}' does not count up from a constant, one by one")
        if not any(self.factor % period == 0 for period in periods(loop)):
            return Rejection(f"nothing in '{self.loop}' depends on what it leaves divided by {self.factor}")
        return not_repeated(kernel, loop, self.factor) or marked((loop,)) or changes_inside(loop)

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        group = fresh(f"{loop.name}.u", names_of(kernel))
        trip = trip_of(loop)
        count: Expr
        if trip is None:
            count = Binary("floordiv", most(minus(loop.upper, loop.lower), number(0)), number(self.factor))
        else:
            count = number(trip // self.factor)
        done = plus(loop.lower, times(count, self.factor)) if loop.lower != number(0) else times(count, self.factor)
        body: Body = ()
        for position in range(self.factor):
            place = plus(plus(times(variable(group), self.factor), loop.lower), position)
            moved = substituted(loop.body, {loop.name: place})
            known = rewrite_body(moved, expr=lambda part: _known(part, group, self.factor))
            body = (*body, Assign(loop.name, place), *simpler_body(known))
        main = replace(loop, name=group, lower=number(0), upper=count, body=body)
        rest = () if trip is not None and trip % self.factor == 0 else (replace(loop, lower=done),)
        return finished(with_statement(kernel, loop, (main, *rest)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterator[Self]:
        for name, loop in loops(kernel).items():
            if isinstance(loop, For):
                yield from (cls(name, period) for period in sorted(periods(loop)))


def periods(loop: For) -> set[int]:
    """The small numbers by which a loop's variable is divided in its body."""
    found = (_divided(part) for part in expressions(loop.body, Binary))
    own = ((variable(loop.name), 1),)
    return {by for form, by in filter(None, found) if by <= MOST_PERIOD and form.terms == own and _is_near(form)}


def _is_near(form: Linear) -> bool:
    return abs(form.constant) <= FAR


def _divided(expr: Expr) -> tuple[Linear, int] | None:
    """The sum of which an expression is a quotient or a remainder, and by what."""
    match expr:
        case Binary(op="floordiv" | "mod", left=left, right=Const(value=int(by))) if expr.type == INT64 and by > 1:
            return linear(left), by
        case Binary(op="and", left=left, right=Const(value=int(mask))) if (
            expr.type == INT64 and mask > 0 and mask & (mask + 1) == 0
        ):
            return linear(left), mask + 1
        case Binary(op="shr", left=left, right=Const(value=int(by))) if expr.type == INT64 and 0 < by < 32:
            return linear(left), 1 << by
        case _:
            return None


def _known(expr: Expr, group: str, factor: int) -> Expr:
    """A quotient or a remainder without the number of the group: a loop's variable never wraps around, nor do numbers
    beside it; multiples of it may."""
    if not isinstance(expr, Binary) or (divided := _divided(expr)) is None:
        return expr
    form, by = divided
    if form.terms != ((variable(group), factor),) or factor % by or not _is_near(form):
        return expr
    quotient, remainder = divmod(form.constant, by)
    return number(remainder) if expr.op in ("mod", "and") else plus(times(variable(group), factor // by), quotient)

"""The step `guard`: let a loop run over everything that it may run over, and test in it what it runs over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import least, linear, minus, most, plus, variable
from loopwright.ir.nodes import Binary, Break, Compare, Const, Continue, Dim, Expr, For, If, Kernel, Var
from loopwright.ir.queries import names_in
from loopwright.ir.walk import loops
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import around, marked, operands
from loopwright.steps.limits import all_of
from loopwright.steps.nest import changes_inside, jumps_in, missing, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Guard(Step):
    """Make the bounds of a loop independent of a loop around it: they become the widest there are, and a condition in
    the loop keeps the iterations as they were. A triangle can then be cut into blocks of a grid. `guard j i`:

    for i in 0 .. n:
        for j in i .. m:
            c[i, j] = 0.0
    ->
    for i in 0 .. n:
        for j in 0 .. m:
            if j >= i:
                c[i, j] = 0.0
    """

    name: ClassVar[str] = "guard"
    grammar: ClassVar[str] = "LOOP OUTER"
    loop: str
    outer: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop, self.outer))) is not None:
            return rejection
        loop, outer = the_loop(kernel, self.loop), the_loop(kernel, self.outer)
        if not any(stmt is outer for stmt in around(kernel, loop)):
            return Rejection(f"'{self.loop}' is not inside '{self.outer}'")
        if step_of(loop) != 1 or step_of(outer) != 1:
            return Rejection("only loops that count up by ones can be widened")
        rejection = (
            marked((loop,))
            or changes_inside(loop)
            or changes_inside(outer)
            or jumps_in(loop, Break)
            or jumps_in(loop, Continue)
        )
        if rejection is not None:
            return rejection
        if self.outer not in names_in(loop.lower) | names_in(loop.upper):
            return Rejection(f"the bounds of '{self.loop}' do not depend on '{self.outer}'")
        if _widest(loop, outer) is None:
            return Rejection(f"the bounds of '{self.loop}' are no sums, minima or maxima with '{self.outer}'")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop, outer = the_loop(kernel, self.loop), the_loop(kernel, self.outer)
        widest = _widest(loop, outer)
        assert widest is not None
        # Whatever does not depend on the outer loop, the widest bounds keep.
        starts = (one for one in operands(distributed(loop.lower), "max") if self.outer in names_in(one))
        ends = (one for one in operands(distributed(loop.upper), "min") if self.outer in names_in(one))
        tests = [Compare("ge", variable(loop.name), start) for start in starts]
        tests += [Compare("lt", variable(loop.name), end) for end in ends]
        body = (If(all_of(tests), loop.body, at=loop.at),) if tests else loop.body
        new = replace(loop, lower=widest[0], upper=widest[1], body=body)
        return finished(with_statement(kernel, loop, (new,)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(inner, outer) for inner in loops(kernel) for outer in loops(kernel) if inner != outer)


def _widest(loop: For, outer: For) -> tuple[Expr, Expr] | None:
    """The least start and the greatest end for any value of the outer loop's variable."""
    ends = {outer.name: (outer.lower, plus(outer.upper, -1))}
    lower, upper = _range(distributed(loop.lower), ends)[0], _range(distributed(loop.upper), ends)[1]
    return None if lower is None or upper is None else (lower, upper)


def distributed(expr: Expr) -> Expr:
    """The same with sums inside minima and maxima: the lesser of a and b, less c, is the lesser of a - c and b - c."""
    match expr:
        case Binary(op="add" | "sub" as op, left=Binary(op="min" | "max") as inner, right=right):
            parts = (distributed(Binary(op, part, right)) for part in (inner.left, inner.right))
            return Binary(inner.op, *parts)
        case Binary(op="add" | "sub"):
            return linear(expr).expr
        case _:
            return expr


def _range(expr: Expr, ends: Mapping[str, tuple[Expr, Expr]]) -> tuple[Expr | None, Expr | None]:
    """The least and the greatest value of an expression, None where that is not simple to say."""
    match expr:
        case Var(name=name) if name in ends:
            return ends[name]
        case Const() | Dim() | Var():
            return expr, expr
        case Binary(op="add" | "sub" | "min" | "max"):
            left, right = _range(expr.left, ends), _range(expr.right, ends)
            if expr.op == "sub":
                right = right[1], right[0]
            return _joined(expr, left[0], right[0]), _joined(expr, left[1], right[1])
        case Binary(op="mul", right=Const(value=factor)) if factor >= 0:
            low, high = _range(expr.left, ends)
            return _times(low, expr.right), _times(high, expr.right)
        case Binary(op="mul", left=Const(value=factor)) if factor >= 0:
            low, high = _range(expr.right, ends)
            return _times(low, expr.left), _times(high, expr.left)
    names = names_in(expr) & set(ends)
    return (None, None) if names else (expr, expr)


def _joined(expr: Binary, left: Expr | None, right: Expr | None) -> Expr | None:
    if left is None or right is None:
        return None
    match expr.op:
        case "add":
            return plus(left, right)
        case "sub":
            return minus(left, right)
        case "min":
            return least(left, right)
        case _:
            return most(left, right)


def _times(value: Expr | None, factor: Expr) -> Expr | None:
    return None if value is None else Binary("mul", value, factor)

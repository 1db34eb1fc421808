"""The step `normalize`: count the iterations of a loop before it, whose step is known only at run time, or whose bounds
may raise an error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.affine import LEVELS, combine, constant, scale
from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import traced
from loopwright.ir.linear import linear, minus, number, plus, variable
from loopwright.ir.nodes import Assign, Binary, Checked, Const, Expr, For, Kernel, Load, Stmt, Unary
from loopwright.ir.queries import has, settled_by, unsettled_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import loops
from loopwright.steps.draft import finished, fresh, jumps_renamed, names_of, with_statement
from loopwright.steps.nest import the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Normalize(Step):
    """Count the iterations of a loop from 0 on, one at a time; how many there are is found before. Its step is known
    only at run time, but not its sign, or it begins at a number that varies, or its end is a quotient
    that is tested first: afterwards the loop can be split, tiled and bound like any other. `normalize i`:

    for i in 0 .. n step checked(m, m != 0, zero_step):
        a[i] = 0.0
    ->
    var i.c: int64
    i.c = (n + (m - 1)) // checked(m, m != 0, zero_step)
    for i.n in 0 .. i.c:
        a[i.n * m] = 0.0
    """

    name: ClassVar[str] = "normalize"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        loop = loops(kernel).get(self.loop)
        if not isinstance(loop, For):
            return Rejection(f"there is no loop '{self.loop}'" if loop is None else f"'{self.loop}' is a while loop")
        if loop.run != "sequential":
            return Rejection(f"'{self.loop}' is marked to run {loop.run} already: that comes last in a schedule")
        if isinstance(loop.step, Const) and not (_counts_up(loop) and (has(loop.upper, Checked) or _begins_late(loop))):
            return Rejection(f"the step of '{self.loop}' is constant")
        again = [loop.lower, _step(loop)]
        changing = unsettled_in(loop.body)
        if any(has(expr, Load, Checked) or settled_by(expr) & changing for expr in again):
            return Rejection(f"the bounds of '{self.loop}' may change while it runs")
        sign, note = _sign(kernel, loop), traced(kernel).loops[self.loop]
        if not sign:
            return Rejection(f"the step of '{self.loop}' may be negative")
        far = combine(scale(combine(note.upper, note.lower, -1), sign), combine(scale(note.stride, sign), constant(-1)))
        spans = (far.interval(level) for level in range(len(LEVELS)))
        if not any(INT64.minimum <= low and high <= INT64.maximum for low, high in spans):
            return Rejection(f"the number of iterations of '{self.loop}' may be too large to count")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        name, count = (fresh(f"{loop.name}.{letter}", names_of(kernel)) for letter in "nc")
        moved: Expr = variable(name)
        length = linear(Binary("sub", loop.upper, loop.lower)).expr
        if not _counts_up(loop):
            moved = Binary("mul", moved, _step(loop))
            step = _step(loop)
            if _sign(kernel, loop) < 0:
                length, step = minus(loop.lower, loop.upper), _negative(step)
            tested = replace(loop.step, value=step) if isinstance(loop.step, Checked) else step
            length = Binary("floordiv", plus(length, minus(step, 1)), tested)
        start = moved if loop.lower == number(0) else plus(loop.lower, moved)
        body = (Assign(loop.name, start), *jumps_renamed(loop.body, loop.name, name))
        new = replace(loop, name=name, lower=number(0), upper=variable(count), step=number(1), body=body)
        before: tuple[Stmt, ...] = (Assign(count, length),)
        if _counts_up(loop) and not has(length, Checked):
            new, before = replace(new, upper=length), ()
        return finished(with_statement(kernel, loop, (*before, new)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name) for name, loop in loops(kernel).items() if isinstance(loop, For))


def _begins_late(loop: For) -> bool:
    """Whether it begins at a number that is not known."""
    return not isinstance(loop.lower, Const)


def _counts_up(loop: For) -> bool:
    """Whether it goes in steps of 1."""
    return loop.step == number(1)


def _sign(kernel: Kernel, loop: For) -> int:
    """That of the step, as far as it is known before the loop; 0 where it may be either."""
    least, (low, high) = int(not isinstance(loop.step, Checked)), traced(kernel).loops[loop.name].stride.interval(0)
    return 1 if low >= least else -1 if high <= -least else 0


def _negative(expr: Expr) -> Expr:
    return expr.operand if isinstance(expr, Unary) and expr.op == "neg" else Unary("neg", expr)


def _step(loop: For) -> Expr:
    return loop.step.value if isinstance(loop.step, Checked) else loop.step

"""The step `reverse`: run the iterations of a loop backwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import minus, number, plus, times
from loopwright.ir.nodes import Binary, Const, Expr, For, Kernel
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.nest import changes_inside, missing, reordering, step_of, the_loop, unfit
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Reverse(Step):
    """Run the iterations of a loop from the last to the first. It makes distances between iterations point the other
    way, so that loops can be fused, or interchanged. `reverse i`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i in n - 1 .. -1 step -1:
        a[i] = 0.0
    """

    name: ClassVar[str] = "reverse"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.loop,))
        if rejection is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        return unfit(kernel, (loop,)) or changes_inside(loop) or reordering(kernel, self._draft(kernel), strict, facts)

    def apply(self, kernel: Kernel) -> Kernel:
        return finished(self._draft(kernel), kernel)

    def _draft(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        step = step_of(loop)
        past = minus(loop.lower, 1) if step > 0 else plus(loop.lower, 1)
        return with_statement(kernel, loop, (replace(loop, lower=_last(loop), upper=past, step=number(-step)),))


def _last(loop: For) -> Expr:
    """The value of the last iteration. Where there is none, a value that the backward loop does not start from."""
    step = step_of(loop)
    length = abs(step)
    if length == 1:
        return minus(loop.upper, step)
    way = minus(minus(loop.upper, loop.lower), 1) if step > 0 else minus(minus(loop.lower, loop.upper), 1)
    if isinstance(way, Const):
        return plus(loop.lower, int(way.value) // length * step)
    whole = times(Binary("floordiv", way, number(length)), length)
    if step < 0:
        return Binary("sub", loop.lower, whole)
    return plus(loop.lower, whole) if isinstance(loop.lower, Const) else Binary("add", loop.lower, whole)

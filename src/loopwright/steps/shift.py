"""The step `shift`: other numbers for the iterations of a loop. Their order stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import minus, plus, variable
from loopwright.ir.nodes import Assign, Kernel
from loopwright.ir.walk import loops
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.grammar import NotZero
from loopwright.steps.nest import missing, moved, reordering, the_loop, unfit
from loopwright.steps.step import Rejection, Step

FARTHEST = 2**20  # beyond it, numbers of iterations say nothing to anyone


@dataclass(frozen=True, slots=True)
class Shift(Step):
    """Count the iterations of a loop from another number on. `shift i 3`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i.s in 3 .. n + 3:
        a[i.s - 3] = 0.0
    """

    name: ClassVar[str] = "shift"
    grammar: ClassVar[str] = "LOOP NUMBER"
    loop: str
    by: NotZero

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.loop,))
        if rejection is not None:
            return rejection
        if abs(self.by) > FARTHEST:
            return Rejection(f"a loop is shifted by at most {FARTHEST}")
        loop = the_loop(kernel, self.loop)
        # the order stays, but the judge also sees whether the new bounds could leave the whole numbers of 64 bits
        return unfit(kernel, (loop,)) or reordering(kernel, self._draft(kernel), strict, facts)

    def apply(self, kernel: Kernel) -> Kernel:
        return finished(self._draft(kernel), kernel)

    def _draft(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        name = fresh(f"{loop.name}.s", names_of(kernel))
        value = Assign(loop.name, minus(variable(name), self.by))
        lower, upper = plus(loop.lower, self.by), plus(loop.upper, self.by)
        new = replace(loop, name=name, lower=lower, upper=upper, body=(value, *loop.body))
        return with_statement(kernel, loop, (new,))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, 1) for name, loop in loops(kernel).items() if not moved(loop))

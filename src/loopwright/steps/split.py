"""The step `split`: a loop in two, over stretches and inside a stretch. The order of the iterations stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import apart, least, most, number, plus, variable
from loopwright.ir.nodes import Break, For, Kernel
from loopwright.ir.walk import loops
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.grammar import From2
from loopwright.steps.nest import balanced, changes_inside, jumps_in, missing, step_of, the_loop
from loopwright.steps.step import Rejection, Step

SIZES = (4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True)
class Split(Step):
    """Cut the iterations of a loop into stretches of a constant length; the last one may be shorter. `split i 32`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i.o in 0 .. n step 32:
        for i in i.o .. min(i.o + 32, n):
            a[i] = 0.0
    """

    name: ClassVar[str] = "split"
    grammar: ClassVar[str] = "LOOP SIZE"
    loop: str
    size: From2

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.loop,))
        if rejection is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        return balanced(loop) or changes_inside(loop) or jumps_in(loop, Break)

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        outer, inner = halves(loop, self.size, fresh(f"{self.loop}.o", names_of(kernel)))
        return finished(with_statement(kernel, loop, (replace(outer, body=(inner,)),)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, size) for name in loops(kernel) for size in SIZES)


def halves(loop: For, size: int, outer_name: str) -> tuple[For, For]:
    """The loop over stretches (its body is the whole loop's) and the loop inside one."""
    stretch = step_of(loop) * size
    outer = replace(loop, name=outer_name, step=number(stretch), run="sequential")
    start = variable(outer_name)
    end = plus(start, stretch)
    nearer = least(end, loop.upper) if stretch > 0 else most(end, loop.upper)
    if (length := apart(loop.upper, loop.lower)) is not None and length % stretch == 0:
        nearer = end  # every stretch is whole
    return outer, replace(loop, lower=start, upper=nearer)

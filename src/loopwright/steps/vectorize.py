"""The step `vectorize`: run neighbouring iterations of an innermost loop in the lanes of vector registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import For, Kernel, While
from loopwright.ir.queries import contains
from loopwright.ir.walk import loops
from loopwright.steps.nest import balanced, running
from loopwright.steps.step import Rejection, Step, order_needed


@dataclass(frozen=True, slots=True)
class Vectorize(Step):
    """Tell the compiler that an innermost loop's iterations need no order, reductions included. `vectorize i`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i in 0 .. n vector:
        a[i] = 0.0
    """

    name: ClassVar[str] = "vectorize"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        loop = loops(kernel).get(self.loop)
        if loop is None:
            return Rejection(f"there is no loop '{self.loop}'")
        if not isinstance(loop, For):
            return Rejection(f"'{self.loop}' is a while loop")
        if contains(loop.body, For, While):
            return Rejection(f"'{self.loop}' is not an innermost loop")
        if (rejection := balanced(loop)) is not None:
            return rejection
        found = facts.loops[self.loop]
        if any(reduction.kind == "scatter" for reduction in found.reductions):
            return Rejection("lanes may write the same element of the scatter reduction")
        if any(reduction.by for reduction in found.reductions):
            return Rejection("vector lanes do not record which of them was first: `reduce` does")
        if found.alike:
            return Rejection(f"lanes may set the same element of '{found.alike[0]}'")
        return order_needed(found, asserted=False, strict=strict)

    def apply(self, kernel: Kernel) -> Kernel:
        return running(kernel, {self.loop: "vector"})

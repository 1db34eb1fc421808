"""The step `parallelize`: run the iterations of a loop on several threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.walk import loops
from loopwright.steps.nest import balanced, running
from loopwright.steps.step import Rejection, Step, order_needed


@dataclass(frozen=True, slots=True)
class Parallelize(Step):
    """Give a loop's iterations to several threads. `parallelize i`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i in 0 .. n parallel:
        a[i] = 0.0
    """

    name: ClassVar[str] = "parallelize"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        loop = loops(kernel).get(self.loop)
        if loop is None:
            return Rejection(f"there is no loop '{self.loop}'")
        if not isinstance(loop, For):
            return Rejection(f"'{self.loop}' is a while loop")
        if (rejection := balanced(loop)) is not None:
            return rejection
        found = facts.loops[self.loop]
        for reduction in found.reductions:
            if reduction.kind == "scatter" and not reduction.alone:
                return Rejection(
                    f"each thread would need a copy of '{reduction.target}', which other accesses read too"
                )
        if found.alike and not loop.asserted:
            return Rejection(f"threads that set the same elements of '{found.alike[0]}' wait for one another's caches")
        return order_needed(found, loop.asserted, strict)

    def apply(self, kernel: Kernel) -> Kernel:
        return running(kernel, {self.loop: "parallel"})

"""The step `lockstep`: iterations that each run a loop until data end it go on together in the lanes of vector
registers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.lockstep_rounds import lockstep_rounds
from loopwright.ir.nodes import Body, Checked, For, Kernel, Load, Store, While
from loopwright.ir.queries import arrays_made, contains, names_assigned
from loopwright.ir.walk import expressions, loops, statements
from loopwright.steps.grammar import From1
from loopwright.steps.nest import missing, running, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Lockstep(Step):
    """Run the inner loops of several iterations together, a vector lane for each, in so many vector registers side by
    side: a round goes on for those that have not ended, and the lanes of the others wait, or get the next iterations.
    `lockstep i 2`:

    var x: float64
    for i in 0 .. n:
        x = a[i]
        while x > 1.0 named w:
            x = x * 0.5
        a[i] = x
    ->
    var x: float64
    for i in 0 .. n lockstep 2:
        x = a[i]
        while x > 1.0 named w:
            x = x * 0.5
        a[i] = x
    """

    name: ClassVar[str] = "lockstep"
    grammar: ClassVar[str] = "LOOP VECTORS"
    loop: str
    vectors: From1

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if step_of(loop) != 1:
            return Rejection(f"'{self.loop}' counts in other steps than one")
        if loop.run != "sequential":
            return Rejection(f"'{self.loop}' is marked to run {loop.run} already")
        if self.vectors > MOST:
            return Rejection(f"no more than {MOST} vectors fit side by side")
        found = facts.loops.get(self.loop)
        if found is None or kernel.overlap or (found.verdict != "parallel" and not loop.asserted) or found.reductions:
            return Rejection(f"that iterations of '{self.loop}' need no order has not been proven")
        own = names_assigned(loop.body)
        if found.last or found.alike or arrays_made(loop.body) or not own <= {*found.private, *loops(kernel)}:
            return Rejection(f"'{self.loop}' leaves values of its last iteration, or makes arrays")
        parts = lockstep_rounds(loop, lambda load: any(one.kind == "checked" for one in facts.bounds_of(load)))
        if isinstance(parts, str):
            return Rejection(parts)
        if _may_fail((*parts.before, *parts.skipped, *parts.after), facts):
            return Rejection(f"an iteration of '{self.loop}' may fail outside of its rounds")
        if not parts.repeatable and _may_fail((parts.rounds,), facts):
            return Rejection(
                f"'{parts.rounds.name}' may fail, and iterations write what they read: none of them can begin again"
            )
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        return running(kernel, {self.loop: "lockstep"}, {self.loop: self.vectors})

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        around = (loop for loop in loops(kernel).values() if isinstance(loop, For) and contains(loop.body, For, While))
        return (cls(loop.name, vectors) for loop in around for vectors in (1, 2, MOST))


def _may_fail(body: Body, facts: Facts) -> bool:
    checks: list[Load | Checked | Store] = [*expressions(body, Load, Checked), *statements(body, Store)]
    return any(one.kind == "checked" for check in checks for one in facts.bounds_of(check))


MOST = 4
"""Vectors side by side: with more, values of a round no longer stay in registers."""

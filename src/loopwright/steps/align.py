"""The step `align`: let the stretches of a loop begin at multiples of their length."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import least, most, number, variable
from loopwright.ir.nodes import Const, For, Kernel, Var
from loopwright.ir.walk import expressions
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import ends_of, extent_of, loops_around, marked
from loopwright.steps.grammar import From1
from loopwright.steps.nest import changes_inside, missing, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Align(Step):
    """Let the stretches that a loop was cut into begin where its variable is a multiple of their length; the first one
    may then be shorter. Neighbouring threads that share a stretch touch whole sectors of memory. With a number, where
    the variable and this number add up to such a multiple. `align i`:

    for i.o in 3 .. n step 8:
        for i in i.o .. min(i.o + 8, n):
            a[i] = 0.0
    ->
    for i.o in 0 .. n step 8:
        for i in max(i.o, 3) .. min(i.o + 8, n):
            a[i] = 0.0
    """

    name: ClassVar[str] = "align"
    grammar: ClassVar[str] = "LOOP [MORE]"
    loop: str
    more: From1 = 0

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        outer = _stretches(kernel, loop)
        if outer is None:
            return Rejection(f"'{self.loop}' is not the inner loop of a `split`, such as i in i.o .. min(i.o + 8, n)")
        if outer.body != (loop,) or _is_read_inside(outer, loop):
            return Rejection(f"'{outer.name}' holds more than '{self.loop}'")  # else all iterations stay in their order
        if (rejection := marked((outer,)) or changes_inside(outer) or changes_inside(loop)) is not None:
            return rejection
        if not isinstance(outer.lower, Const):
            return Rejection(f"'{outer.name}' does not start at a constant")
        if self._start(outer) == outer.lower.value:
            return Rejection(f"the pieces of '{self.loop}' already begin there")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        outer = _stretches(kernel, loop)
        assert outer is not None
        upper = loop.upper
        for end in ends_of(outer):  # where every stretch was whole, none of these was needed
            upper = upper if end in ends_of(loop) else least(upper, end)
        inner = replace(loop, lower=most(loop.lower, outer.lower), upper=upper)
        moved = replace(outer, lower=number(self._start(outer)), body=(inner,))
        return finished(with_statement(kernel, outer, (moved,)), kernel)

    def _start(self, outer: For) -> int:
        assert isinstance(outer.lower, Const)
        size = step_of(outer)
        return (int(outer.lower.value) + self.more) // size * size - self.more


def _stretches(kernel: Kernel, loop: For) -> For | None:
    """The loop over the stretches of which this one runs over each."""
    outer = loops_around(kernel, loop).get(loop.lower.name) if isinstance(loop.lower, Var) else None
    if outer is None or step_of(loop) != 1 or not isinstance(outer.step, Const):
        return None
    return outer if extent_of(loop) == step_of(outer) else None


def _is_read_inside(outer: For, loop: For) -> bool:
    """Whether what the loops hold reads the variable of the outer one."""
    return any(part == variable(outer.name) for part in expressions(loop.body))

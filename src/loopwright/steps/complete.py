"""The step `complete`: let loops over stretches run to the end of the last stretch, with a test inside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Checked, For, If, Kernel, Load
from loopwright.ir.queries import has
from loopwright.ir.walk import loops, own_expressions, subexpressions
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import marked, stretch_of
from loopwright.steps.limits import Limit, all_of, limits_of
from loopwright.steps.nest import changes_inside, missing, nested, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Complete(Step):
    """Give each stretch of a loop its whole length, and test in the innermost loop of the nest whether an iteration is
    one of those that there were. Then loops cut from the stretch have constant lengths too. `complete i`:

    for i.o in 0 .. n step 8:
        for i in i.o .. min(i.o + 8, n):
            for j in 0 .. m:
                c[i, j] = 0.0
    ->
    for i.o in 0 .. n step 8:
        for i in i.o .. i.o + 8:
            for j in 0 .. m:
                if i < n:
                    c[i, j] = 0.0
    """

    name: ClassVar[str] = "complete"
    grammar: ClassVar[str] = "LOOP ..."
    names: tuple[str, ...]

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, self.names)) is not None:
            return rejection
        band = self._band(kernel)
        if len({loop.name for loop in band} & set(self.names)) < len(self.names):
            words = " and ".join(f"'{name}'" for name in self.names)
            return Rejection(f"{words} are no perfect nest")
        for name in self.names:
            loop = the_loop(kernel, name)
            if step_of(loop) < 0 or not limits_of(loop):
                return Rejection(f"'{name}' is not the inner loop of a `split`, such as i in i.o .. min(i.o + 8, n)")
            if (rejection := changes_inside(loop)) is not None:
                return rejection
            if has(loop.upper, Load, Checked):
                return Rejection(f"the bounds of '{name}' are read from an array")
        return marked((band[0],))

    def apply(self, kernel: Kernel) -> Kernel:
        band = self._band(kernel)
        limits: list[Limit] = []
        changed: list[For] = []
        for loop in band:
            whole = stretch_of(loop) if loop.name in self.names else None
            if whole is not None:
                limits += limits_of(loop)
                loop = replace(loop, upper=whole[1])
            changed.append(loop)
        tests, body = [limit.test for limit in limits], band[-1].body
        if len(body) == 1 and isinstance(inner := body[0], If) and not inner.otherwise:
            tests, body = [*tests, inner.condition], inner.then
        body = (If(all_of(tests), body, at=band[-1].at),)
        return finished(with_statement(kernel, band[0], (nested(changed, body),)), kernel)

    def _band(self, kernel: Kernel) -> tuple[For, ...]:
        """From the first of the loops on those around one another, as long as each holds nothing but the next, and the
        bounds of that one can be found where they were not before."""
        band = [next(loop for name, loop in loops(kernel).items() if name in self.names and isinstance(loop, For))]
        while len(band[-1].body) == 1 and isinstance(inner := band[-1].body[0], For):
            parts = [part for own in own_expressions(inner) for part in subexpressions(own)]
            if any(isinstance(part, Load | Checked) for part in parts):
                break
            band.append(inner)
        return tuple(band)

"""The step `separate`: the iterations of a loop that have much to do in a loop of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import minus, number, variable
from loopwright.ir.nodes import Allocate, Assign, Checked, Compare, Expr, For, If, Kernel, Load, Store, Var
from loopwright.ir.queries import arrays_made, has, names_assigned
from loopwright.ir.walk import loops, own_expressions, statements, subexpressions
from loopwright.steps.draft import again, finished, fresh, names_of, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.grammar import From1
from loopwright.steps.nest import is_inside, missing, size_of, step_of, the_loop, too_large, without_arrays
from loopwright.steps.step import Rejection, Step, order_needed


@dataclass(frozen=True, slots=True)
class Separate(Step):
    """Run first the iterations in which an inner loop is short, then those in which it is longer than that, in a loop
    of their own, which can be shared out in another way. `separate i j 32`:

    for i in 0 .. n:
        for j in 0 .. 2 * i:
            c[i, j] = 0.0
    ->
    for i in 0 .. n:
        if 2 * i <= 32:
            for j in 0 .. 2 * i:
                c[i, j] = 0.0
    for i.1 in 0 .. n:
        if 2 * i.1 > 32:
            for j.1 in 0 .. 2 * i.1:
                c[i.1, j.1] = 0.0
    """

    name: ClassVar[str] = "separate"
    grammar: ClassVar[str] = "LOOP INNER LENGTH"
    loop: str
    inner: str
    length: From1

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop, self.inner))) is not None:
            return rejection
        loop, inner = the_loop(kernel, self.loop), the_loop(kernel, self.inner)
        if not is_inside(kernel, inner, loop):
            return Rejection(f"'{self.inner}' is not inside '{self.loop}'")
        found = facts.loops[self.loop]
        if found.verdict != "parallel":
            return order_needed(found, asserted=False, strict=strict) or Rejection(
                f"the iterations of '{self.loop}' meet in a reduction"
            )
        if found.last:
            return Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
        return (
            marked((loop,))
            or _unknown(loop, inner, facts)
            or _made_outside(loop, facts)
            or too_large(kernel, size_of((loop,)))
        )

    def apply(self, kernel: Kernel) -> Kernel:
        loop, inner = the_loop(kernel, self.loop), the_loop(kernel, self.inner)
        # Where the difference of the ends wraps around, the iteration is in the other loop, but still in one of them.
        longer = self.length * abs(step_of(inner))
        length = minus(inner.upper, inner.lower) if step_of(inner) > 0 else minus(inner.lower, inner.upper)
        taken = names_of(kernel)
        name = fresh(f"{loop.name}.1", taken)
        taken.add(name)
        short = If(Compare("le", length, number(longer)), loop.body, ())
        long = If(Compare("gt", length, number(longer)), again(loop.body, taken), ())
        second = replace(loop, name=name, body=(Assign(loop.name, variable(name)), long))
        return finished(with_statement(kernel, loop, (replace(loop, body=(short,)), second)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        found = loops(kernel)
        return (cls(outer, inner, 256) for outer in found for inner in found if outer != inner)


def _unknown(loop: For, inner: For, facts: Facts) -> Rejection | None:
    """Why the length of the inner loop is not known where an iteration of the outer one begins."""
    if not any(has(bound, Load, Var) for bound in own_expressions(inner)):
        return Rejection(f"'{inner.name}' is as long in every iteration")
    assigned = {stmt.name for stmt in statements(loop.body, Assign, For)}
    stored = {stmt.array for stmt in statements(loop.body, Store, Allocate)}
    for part in _parts(inner):
        match part:
            case Var() if part.name in assigned:
                return Rejection(f"the length of '{inner.name}' depends on '{part.name}', which is set inside")
            case Load() if part.array in stored:
                return Rejection(f"the length of '{inner.name}' depends on '{part.array}', which is written inside")
            case Load() | Checked() if any(bounds.kind == "checked" for bounds in facts.bounds_of(part)):
                return Rejection(f"the length of '{inner.name}' needs an element that may not exist")
            case _:
                pass
    return None


def _parts(loop: For) -> list[Expr]:
    return [part for bound in own_expressions(loop) for part in subexpressions(bound)]


def _made_outside(loop: For, facts: Facts) -> Rejection | None:
    """Why the two loops could not have what is private to an iteration."""
    return without_arrays(facts.loops[loop.name].private, arrays_made(loop.body) | names_assigned(loop.body))

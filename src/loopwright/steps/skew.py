"""The step `skew`: number the iterations of an inner loop from an outer loop's variable on. Their order stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.affine import combine, of_symbol
from loopwright.analysis.facts import Facts
from loopwright.analysis.instances import is_regular
from loopwright.analysis.trace import glance
from loopwright.ir.linear import minus, plus, times, variable
from loopwright.ir.nodes import Assign, Expr, For, Kernel
from loopwright.ir.queries import loops_around
from loopwright.ir.walk import loops
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.grammar import NotZero
from loopwright.steps.nest import is_inside, missing, moved, overlapping, the_loop, unfit
from loopwright.steps.step import Rejection, Step

FACTORS = (1, 2)
LARGEST = 64  # beyond it, tiles of the two loops would have next to nothing in common


@dataclass(frozen=True, slots=True)
class Skew(Step):
    """Let an inner loop count from a multiple of an outer loop's variable on. Iterations that depend on neighbours of
    an earlier sweep then only depend on smaller numbers, so that both loops can be tiled. `skew i j 2`:

    for i in 0 .. n:
        for j in 0 .. m:
            c[i, j] = 0.0
    ->
    for i in 0 .. n:
        for j.s in i * 2 .. m + i * 2:
            c[i, j.s - i * 2] = 0.0
    """

    name: ClassVar[str] = "skew"
    grammar: ClassVar[str] = "OUTER INNER FACTOR"
    outer: str
    inner: str
    factor: NotZero

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.outer, self.inner))
        if rejection is not None:
            return rejection
        outer, inner = the_loop(kernel, self.outer), the_loop(kernel, self.inner)
        if not is_inside(kernel, inner, outer):
            return Rejection(f"'{self.inner}' does not stand inside '{self.outer}'")
        if abs(self.factor) > LARGEST:
            return Rejection(f"a loop is skewed by at most {LARGEST}")
        return unfit(kernel, (outer, inner)) or overlapping(kernel) or self._too_far(kernel, inner)

    def _too_far(self, kernel: Kernel, inner: For) -> Rejection | None:
        """The order stays, but the new numbers could leave the whole numbers of 64 bits. What the loop does with them
        changes nothing of that."""
        new = self._skewed(kernel, replace(inner, body=(Assign(inner.name, variable(inner.name)),)))
        after = with_statement(kernel, inner, (new,))
        notes = glance(after, loops_around(after, new.body))
        note, outer = notes.loops[new.name], notes.loops[self.outer]
        was = combine(of_symbol(note.symbol), of_symbol(outer.symbol), -self.factor)
        values = (scalars[inner.name] for stmt, scalars in notes.values if stmt is new.body[1])
        if is_regular(new, note) and all(value == was for value in values):
            return None
        return Rejection(f"the numbers of '{self.inner}' could become too large")

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.inner)
        return finished(with_statement(kernel, loop, (self._skewed(kernel, loop),)), kernel)

    def _skewed(self, kernel: Kernel, loop: For) -> For:
        name = fresh(f"{loop.name}.s", names_of(kernel))
        value = Assign(loop.name, _moved(variable(name), self.outer, -self.factor))
        lower, upper = (_moved(bound, self.outer, self.factor) for bound in (loop.lower, loop.upper))
        return replace(loop, name=name, lower=lower, upper=upper, body=(value, *loop.body))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(outer, inner, factor) for outer, inner in _pairs(kernel) for factor in FACTORS)


def _moved(value: Expr, outer: str, factor: int) -> Expr:
    """value + factor * outer."""
    part = times(variable(outer), abs(factor))
    return plus(value, part) if factor > 0 else minus(value, part)


def _pairs(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """Loops, each with the loops that stand directly in it and were not moved before: on its own it changes nothing."""
    for name, loop in loops(kernel).items():
        if isinstance(loop, For):
            yield from ((name, inner.name) for inner in loop.body if isinstance(inner, For) and not moved(inner))

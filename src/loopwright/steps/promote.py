"""The step `promote`: keep the elements that a loop comes back to in a small local array, or in a scalar."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.reductions import is_exact
from loopwright.ir.nodes import Const, For, Kernel, Load, Store
from loopwright.ir.queries import arrays_stored
from loopwright.ir.walk import expressions, loops, statements
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.filled import fill_before
from loopwright.steps.nest import left_early, missing, overlapping, the_loop
from loopwright.steps.pack import CACHE_BYTES
from loopwright.steps.region import Region, kept_around, may_fail, never_meet_inside, region_of
from loopwright.steps.scalar_replacement import kept_with_flag
from loopwright.steps.step import Rejection, Step

STACK_BYTES = 4096
"""The largest region: what is larger would not stay in registers or the first cache."""


@dataclass(frozen=True, slots=True)
class Promote(Step):
    """Keep the elements of an array that a loop uses in a local, for the duration of the loop; with the word `whole` at
    the end, those of all stretches inside the loop together; with `filled`, the nest right before, which sets all of
    them to a constant, is left out, as the locals begin with that. With `seldom`, a scalar stands for an element that
    the loop may never come to: a flag tells whether there is anything to be put back. Of an element that the loop only
    adds to, the scalar has what is added. `promote b k`:

    for k in 0 .. n:
        for j in 0 .. 8:
            b[j] = b[j] + a[k]
    ->
    if 0 < n:
        allocate b.r: float64[8]
        for j.r in 0 .. 8:
            b.r[j.r] = b[j.r]
        for k in 0 .. n:
            for j in 0 .. 8:
                b.r[j] = b.r[j] + a[k]
        for j.w in 0 .. 8:
            b[j.w] = b.r[j.w]
    """

    name: ClassVar[str] = "promote"
    grammar: ClassVar[str] = "ARRAY LOOP [whole] [filled] [seldom]"
    array: str
    loop: str
    whole: bool = False
    filled: bool = False
    seldom: bool = False

    @property
    def looks_around(self) -> bool:
        return self.filled

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := left_early(loop)) is not None:
            return rejection
        region = self._region(kernel, loop)
        if isinstance(region, Rejection):
            return region
        if self.seldom and (region.shape or self.whole or self.filled or not region.is_written):
            return Rejection(f"'{self.loop}' does more than to set one element of '{self.array}'")
        op = region.op
        if op is not None and strict and not is_exact(op, region.element):
            return Rejection(f"what '{self.loop}' adds to '{self.array}' would be rounded in another order")
        # Of a loop that needs no order, which iterations an error comes before is open: it may be none.
        known = facts.loops.get(self.loop)
        may_end = op is not None and known is not None and known.verdict == "reduction"
        rejection = marked((loop,)) or (None if may_end else may_fail(kernel, loop, region, facts))
        rejection = rejection or self._meets_others(kernel, loop, facts)
        if rejection is None and self.filled:
            found = self._fill(kernel, loop, region)
            return found if isinstance(found, Rejection) else None
        return rejection

    def _fill(self, kernel: Kernel, loop: For, region: Region) -> tuple[For, Const] | Rejection:
        if _uses(loop, self.array)[1]:
            return Rejection(f"'{self.loop}' uses other elements of '{self.array}' too")
        if not region.shape or not region.is_written or region.is_part:
            return Rejection(f"'{self.loop}' does more than to update a part of '{self.array}'")
        return fill_before(kernel, loop, region)

    def _region(self, kernel: Kernel, loop: For) -> Region | Rejection:
        limit = CACHE_BYTES if self.whole else STACK_BYTES
        _, others = _uses(loop, self.array)
        return region_of(kernel, loop, self.array, limit, self.whole, {id(one) for one in others}, seldom=self.seldom)

    def _meets_others(self, kernel: Kernel, loop: For, facts: Facts) -> Rejection | None:
        """Why the elements cannot be kept apart from others of the array that the loop reads."""
        ours, others = _uses(loop, self.array)
        if not others or never_meet_inside(kernel, loop, ours, others, facts):
            return None
        return Rejection(f"'{self.loop}' uses several elements of '{self.array}' at a time, which may be the same")

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        region = self._region(kernel, loop)
        assert not isinstance(region, Rejection)
        if self.seldom:
            return finished(with_statement(kernel, loop, kept_with_flag(kernel, loop, region, "r")), kernel)
        fill = self._fill(kernel, loop, region) if self.filled else None
        if fill is None:
            return finished(with_statement(kernel, loop, kept_around(kernel, loop, region, "r")), kernel)
        assert not isinstance(fill, Rejection)
        kept = kept_around(kernel, loop, replace(region, runs=()), "r", fill[1])
        return finished(with_statement(with_statement(kernel, loop, kept), fill[0], ()), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(array, name) for name, loop in loops(kernel).items() for array in sorted(arrays_stored(loop.body)))


def _uses(loop: For, array: str) -> tuple[list[Load | Store], list[Load | Store]]:
    """The accesses of an array in a loop: those of the first index at which it is written, and those at other ones."""
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == array]
    uses: list[Load | Store] = [*stores, *(part for part in expressions(loop.body, Load) if part.array == array)]
    return (
        [one for one in uses if stores and one.index == stores[0].index],
        [one for one in uses if stores and one.index != stores[0].index],
    )

"""The step `reorder`: interchange the loops of a perfect nest, be it a rectangle, a triangle or any other shape with
straight sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, takewhile
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scanning import Stop
from loopwright.ir.nodes import Break, Continue, For, Kernel
from loopwright.ir.walk import loops, own_expressions, statements
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.elements import keeps_elements_in_order
from loopwright.steps.nest import (
    band_of,
    changes_inside,
    for_fixed,
    in_order,
    missing,
    nested,
    only_free_loops_move_in,
    out_of_order,
    reordering,
    the_loop,
    unfit,
)
from loopwright.steps.step import Rejection, Step

DEEPEST = 4  # loops of a nest whose orders are all tried by `instances`


@dataclass(frozen=True, slots=True)
class Reorder(Step):
    """Put the loops of a perfect nest into another order, named from outside to inside. Bounds that depend on other
    loops of the nest are computed anew. `reorder j i`:

    for i in 0 .. n:
        for j in 0 .. m:
            c[i, j] = 0.0
    ->
    for j in 0 .. m:
        for i in 0 .. n:
            c[i, j] = 0.0
    """

    name: ClassVar[str] = "reorder"
    grammar: ClassVar[str] = "LOOP LOOP ..., from outside to inside"
    order: tuple[str, ...]

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, self.order)
        if rejection is not None:
            return rejection
        band = band_of(kernel, self.order)
        if isinstance(band, Rejection):
            return band
        jumps = any(stmt.loop in self.order for stmt in statements((band[-1],), Break, Continue))
        free = not jumps and out_of_order(kernel, facts, band) and not any(map(changes_inside, band))
        if not free and (rejection := unfit(kernel, band)) is not None:
            return self._inside(kernel, facts, strict, band, rejection)
        changed = self._loops(kernel, band)
        if isinstance(changed, Rejection):
            return changed
        if free or only_free_loops_move_in(kernel, facts, band, self.order):
            return None
        if _same_ends(band, changed) and keeps_elements_in_order(kernel, facts, band, self.order):
            return None
        return reordering(kernel, self._draft(kernel), strict, facts)

    def _inside(
        self, kernel: Kernel, facts: Facts, strict: bool, band: tuple[For, ...], rejection: Rejection
    ) -> Rejection | None:
        """The same for loops that an irregular loop stands around, or whose bounds depend on it: where this keeps its
        place, only the order in each of its iterations changes."""
        same = sum(1 for _ in takewhile(lambda pair: pair[0].name == pair[1], zip(band, self.order, strict=True)))
        if same == len(band) or any(loop.run != "sequential" for loop in band):
            return rejection
        rest = self.order[same:]
        alone = for_fixed(kernel, facts, band[same:])
        if alone is None or unfit(alone, [the_loop(alone, name) for name in rest]) is not None:
            return rejection
        changed = self._loops(kernel, band)
        return changed if isinstance(changed, Rejection) else Reorder(rest).illegal(alone, facts, strict)

    def apply(self, kernel: Kernel) -> Kernel:
        return finished(self._draft(kernel), kernel)

    def _loops(self, kernel: Kernel, band: tuple[For, ...]) -> tuple[For, ...] | Rejection:
        return in_order(kernel, band, [Stop(name, name) for name in self.order])

    def _draft(self, kernel: Kernel) -> Kernel:
        band = band_of(kernel, self.order)
        assert not isinstance(band, Rejection)
        changed = self._loops(kernel, band)
        assert not isinstance(changed, Rejection)
        return with_statement(kernel, band[0], (nested(changed, band[-1].body),))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterator[Self]:
        for band in bands(kernel):
            names = tuple(loop.name for loop in band[:DEEPEST])
            yield from (cls(order) for order in permutations(names) if order != names)


def bands(kernel: Kernel) -> list[tuple[For, ...]]:
    """The perfect nests of a kernel, each as long as it can be, of two loops or more."""
    found: list[tuple[For, ...]] = []
    inside: set[str] = set()
    for name, loop in loops(kernel).items():
        if not isinstance(loop, For) or name in inside:
            continue
        band = [loop]
        while len(band[-1].body) == 1 and isinstance(inner := band[-1].body[0], For):
            band.append(inner)
        inside |= {one.name for one in band}
        if len(band) > 1:
            found.append(tuple(band))
    return found


def _same_ends(band: tuple[For, ...], changed: tuple[For, ...]) -> bool:
    """Whether each loop goes as far as it went, so that just the same iterations run."""
    before = {loop.name: own_expressions(loop) for loop in band}
    return all(own_expressions(loop) == before[loop.name] for loop in changed)

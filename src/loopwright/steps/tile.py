"""The step `tile`: cut the iterations of a perfect nest into blocks, and run block after block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scanning import Stop
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.queries import names_in
from loopwright.ir.walk import own_expressions
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.elements import keeps_elements_in_order
from loopwright.steps.grammar import From2
from loopwright.steps.nest import (
    band_of,
    changes_inside,
    in_order,
    missing,
    nested,
    out_of_order,
    reordering,
    step_of,
    unfit,
)
from loopwright.steps.reorder import bands
from loopwright.steps.step import Rejection, Step

SIZES = (16, 32, 64)


@dataclass(frozen=True, slots=True)
class Tile(Step):
    """Run a perfect nest in blocks, so that what a block touches stays in the cache. `tile i 32 j 8`:

    for i in 0 .. n:
        for j in 0 .. m:
            c[i, j] = 0.0
    ->
    for i.o in 0 .. n step 32:
        for j.o in 0 .. m step 8:
            for i in i.o .. min(i.o + 32, n):
                for j in j.o .. min(j.o + 8, m):
                    c[i, j] = 0.0
    """

    name: ClassVar[str] = "tile"
    grammar: ClassVar[str] = "LOOP SIZE ..., from outside to inside"
    sizes: tuple[tuple[str, From2], ...]

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        names = tuple(name for name, _ in self.sizes)
        rejection = missing(kernel, names)
        if rejection is not None:
            return rejection
        band = band_of(kernel, names)
        if isinstance(band, Rejection):
            return band
        if tuple(loop.name for loop in band) != names:
            return Rejection(f"the nest is {' '.join(loop.name for loop in band)}, from outside to inside")
        free = out_of_order(kernel, facts, band)
        if not free and (rejection := unfit(kernel, band)) is not None:
            return rejection
        for loop in band:
            if (rejection := changes_inside(loop)) is not None:
                return rejection
        changed = self._loops(kernel, band)
        if isinstance(changed, Rejection):
            return changed
        if free or (_is_box(band) and keeps_elements_in_order(kernel, facts, band)):
            return None
        return reordering(kernel, self._draft(kernel), strict, facts)

    def apply(self, kernel: Kernel) -> Kernel:
        return finished(self._draft(kernel), kernel)

    def _loops(self, kernel: Kernel, band: tuple[For, ...]) -> tuple[For, ...] | Rejection:
        taken = names_of(kernel)
        tiles = [Stop(fresh(f"{name}.o", taken), name, size) for name, size in self.sizes]
        return in_order(kernel, band, [*tiles, *(Stop(name, name) for name, _ in self.sizes)])

    def _draft(self, kernel: Kernel) -> Kernel:
        band = band_of(kernel, [name for name, _ in self.sizes])
        assert not isinstance(band, Rejection)
        changed = self._loops(kernel, band)
        assert not isinstance(changed, Rejection)
        return with_statement(kernel, band[0], (nested(changed, band[-1].body),))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(tuple((loop.name, size) for loop in band)) for band in bands(kernel) for size in SIZES)


def _is_box(band: Sequence[For]) -> bool:
    """Whether no loop of a nest goes as far as another one tells, and all count upwards: blocks are boxes then."""
    names = {loop.name for loop in band}
    return not any(names_in(end) & names for loop in band for end in own_expressions(loop)) and all(
        step_of(loop) > 0 for loop in band
    )

"""The step `collapse`: one loop over all iterations of a perfect nest (loop collapsing). Their order stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.ir.linear import minus, most, number, plus, variable
from loopwright.ir.nodes import Asserted, Assign, Binary, Break, Checked, Const, Continue, Expr, For, Kernel, Load
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.walk import own_expressions
from loopwright.steps.draft import finished, fresh, jumps_renamed, names_of, with_statement
from loopwright.steps.extent import marked, trip_of
from loopwright.steps.nest import band_of, changes_inside, jumps_in, missing, out_of_order, step_of
from loopwright.steps.reorder import bands
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Collapse(Step):
    """Count all iterations of a perfect nest in one loop, in the same order, so that chunks of them are equal parts of
    the whole nest. What the old variables are worth follows by division. `collapse i j`:

    for i in 0 .. n:
        for j in 0 .. m:
            c[i, j] = 0.0
    ->
    for i.j in 0 .. max(n, 0) * max(m, 0) independent:
        c[i.j // max(m, 0), i.j % max(m, 0)] = 0.0
    """

    name: ClassVar[str] = "collapse"
    grammar: ClassVar[str] = "LOOP LOOP ..., from outside to inside"
    loops: tuple[str, ...]

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, self.loops)) is not None:
            return rejection
        if len(self.loops) < 2:
            return Rejection("it takes two loops and more to make one of them")
        band = band_of(kernel, self.loops)
        if isinstance(band, Rejection):
            return band
        if tuple(loop.name for loop in band) != self.loops:
            return Rejection(f"the nest is {' '.join(loop.name for loop in band)}, from outside to inside")
        if (rejection := marked(band)) is not None:
            return rejection
        for loop in band:
            if step_of(loop) != 1:
                return Rejection(f"'{loop.name}' does not count by ones")
            rejection = changes_inside(loop) or jumps_in(loop, Break)
            if rejection is None and loop is not band[-1]:
                rejection = jumps_in(loop, Continue)
            if rejection is not None:
                return rejection
        return _no_box(band)

    def apply(self, kernel: Kernel) -> Kernel:
        return self.applied(kernel, analyse(kernel))

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        band = band_of(kernel, self.loops)
        assert not isinstance(band, Rejection)
        name = fresh(".".join((band[0].name, band[-1].name)), names_of(kernel))
        trips = [_trips(loop) for loop in band]
        starts: list[Assign] = []
        for at, loop in enumerate(band):
            place: Expr = variable(name)
            if at + 1 < len(band):
                place = Binary("floordiv", place, _product(trips[at + 1 :]))
            if at:
                place = Binary("mod", place, trips[at])
            starts.append(Assign(loop.name, plus(place, loop.lower), at=loop.at))
        body = (*starts, *jumps_renamed(band[-1].body, band[-1].name, name))
        asserted: Asserted = band[0].asserted if all(loop.asserted == band[0].asserted for loop in band) else False
        if out_of_order(kernel, facts, band):  # as the text of the new one no longer tells
            asserted = "independent"
        whole = replace(band[0], name=name, lower=number(0), upper=_product(trips), body=body, asserted=asserted)
        return finished(with_statement(kernel, band[0], (whole,)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(tuple(loop.name for loop in band)) for band in bands(kernel) if len(band) > 1)


def _no_box(band: Sequence[For]) -> Rejection | None:
    """Why inner loops may not have as many iterations each time, or why to ask how many may fail."""
    for at, loop in enumerate(band):
        names = {outer.name for outer in band[:at]} | names_assigned(band[0].body)
        for bound in own_expressions(loop):
            if names_in(bound) & names:
                return Rejection(f"how often '{loop.name}' runs depends on the loops around it")
            if at and has(bound, Load, Checked):
                return Rejection(f"how often '{loop.name}' runs may only be asked in '{band[at - 1].name}'")
    return None


def _trips(loop: For) -> Expr:
    """How many iterations a loop has."""
    trip = trip_of(loop)
    return number(trip) if trip is not None else most(minus(loop.upper, loop.lower), number(0))


def _product(trips: Sequence[Expr]) -> Expr:
    whole = trips[0]
    for trip in trips[1:]:
        if isinstance(whole, Const) and isinstance(trip, Const):
            whole = number(int(whole.value) * int(trip.value))
        else:
            whole = Binary("mul", whole, trip)
    return whole

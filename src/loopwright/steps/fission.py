"""The step `fission`: one loop becomes two, each with a part of the body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import flow
from loopwright.ir.linear import variable
from loopwright.ir.nodes import Allocate, Assign, Body, Dim, Expr, For, Kernel, Load, Stmt, Store, Var
from loopwright.ir.queries import arrays_made, arrays_stored, names_assigned, types_assigned
from loopwright.ir.walk import expressions, loops
from loopwright.steps.copies import index_of, shape_of
from loopwright.steps.draft import finished, fresh, names_of, substituted, with_statement
from loopwright.steps.elements import meet_in_one_iteration
from loopwright.steps.expand import Expand
from loopwright.steps.grammar import From2
from loopwright.steps.nest import (
    changes_inside,
    missing,
    out_of_order,
    reordering,
    size_of,
    the_loop,
    too_large,
    unfit,
    without_value,
)
from loopwright.steps.step import Rejection, Step

LONGEST = 12  # statements of a body whose cuts are all tried by `instances`


@dataclass(frozen=True, slots=True)
class Fission(Step):
    """Cut the body of a loop before one of its statements (counted from 1), and run all iterations of the first part
    before the second part. Each part can then be treated on its own. With `kept`, scalars of an iteration that both
    parts need are kept in local arrays in between, with an element for each iteration; with `handed`, so is what a
    scalar is worth that the first part hands on to its next iteration. `fission i 2`:

    for i in 0 .. n:
        a[i] = 2.0 * b[i]
        b[i] = 0.0
    ->
    for i in 0 .. n:
        a[i] = 2.0 * b[i]
    for i.1 in 0 .. n:
        b[i.1] = 0.0
    """

    name: ClassVar[str] = "fission"
    grammar: ClassVar[str] = "LOOP PLACE [kept] [handed], the statement of its body that the second loop starts with"
    loop: str
    place: From2
    kept: bool = False
    handed: bool = False

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.loop,))
        if rejection is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if not 2 <= self.place <= len(loop.body):
            return Rejection(f"'{self.loop}' holds {len(loop.body)} statements: name a place from 2 on")
        if self.handed and (handed := _handed_on(loop, self.place)):
            named = _with_copies(kernel, loop, self.place, handed)
            return replace(self, place=self.place + len(handed)).illegal(named, facts, strict)
        if self.kept and (values := _values(loop, self.place)):
            # As if each of them had an element for each iteration all the time.
            for name in sorted(values):
                expand = Expand(name, (loop.name,))
                if (rejection := expand.illegal(kernel, facts, strict)) is not None:
                    return rejection
                kernel = expand.apply(kernel)
            return replace(self, kept=False).illegal(kernel, facts, strict)
        return (
            unfit(kernel, (loop,))
            or changes_inside(loop)
            or _crossing(loop, self.place)
            or too_large(kernel, size_of((replace(loop, body=()),)))
            or self._disordered(kernel, facts, strict, loop)
        )

    def _disordered(self, kernel: Kernel, facts: Facts, strict: bool, loop: For) -> Rejection | None:
        if out_of_order(kernel, facts, (loop,)) or meet_in_one_iteration(
            kernel, facts, loop, *_parts(loop, self.place)
        ):
            return without_value(self._draft(kernel))
        return reordering(kernel, self._draft(kernel), strict, facts)

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        if self.handed and (handed := _handed_on(loop, self.place)):
            named = _with_copies(kernel, loop, self.place, handed)
            return replace(self, place=self.place + len(handed)).apply(named)
        return finished(self._draft(kernel, self.kept), kernel)

    def _draft(self, kernel: Kernel, kept: bool = False) -> Kernel:
        loop = the_loop(kernel, self.loop)
        first, rest = _parts(loop, self.place)
        taken = names_of(kernel)
        name = fresh(f"{loop.name}.1", taken)
        taken |= {name}
        made: list[Stmt] = []
        back: list[Stmt] = [Assign(loop.name, variable(name))]
        types = types_assigned(loop.body)
        for value in sorted(_values(loop, self.place)) if kept else ():
            array, index = fresh(f"{value}.x", taken), index_of((loop,))
            taken |= {array}
            made.append(Allocate(array, types[value], shape_of((loop,)), None))
            first = (*first, Store(array, index, Var(value, types[value])))
            there = Load(array, index, types[value])
            if value in names_assigned(rest):
                back.append(Assign(value, there))
            else:
                rest = substituted(rest, {value: there})
        second = replace(loop, name=name, body=(*back, *rest))
        return with_statement(kernel, loop, (*made, replace(loop, body=first), second))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (
            cls(name, place)
            for name, loop in loops(kernel).items()
            if len(loop.body) <= LONGEST
            for place in range(2, len(loop.body) + 1)
        )


def _parts(loop: For, place: int) -> tuple[Body, Body]:
    return loop.body[: place - 1], loop.body[place - 1 :]


def _values(loop: For, place: int) -> set[str]:
    """The scalars that the first part makes anew in each iteration, and the second part needs."""
    first, rest = _parts(loop, place)
    return names_assigned(first) & flow(rest).exposed - flow(loop.body).exposed


def _handed_on(loop: For, place: int) -> list[str]:
    """The scalars that the first part alone updates from iteration to iteration, and the second part reads."""
    first, rest = _parts(loop, place)
    return sorted(names_assigned(first) & flow(rest).exposed & flow(loop.body).exposed - names_assigned(rest))


def _with_copies(kernel: Kernel, loop: For, place: int, handed: Sequence[str]) -> Kernel:
    """The kernel with scalars of their own for what these are worth behind the first part."""
    first, rest = _parts(loop, place)
    taken, types = names_of(kernel), types_assigned(loop.body)
    own = {name: fresh(f"{name}.1", taken) for name in handed}
    copies = tuple(Assign(own[name], Var(name, types[name])) for name in handed)
    read: dict[str, Expr] = {name: Var(own[name], types[name]) for name in handed}
    body = (*first, *copies, *substituted(rest, read))
    return finished(with_statement(kernel, loop, (replace(loop, body=body),)), kernel)


def _crossing(loop: For, place: int) -> Rejection | None:
    """Why the second part needs what the first part makes anew in each iteration."""
    first, rest = _parts(loop, place)
    if values := _values(loop, place):
        return Rejection(f"the value of '{min(values)}' in an iteration is needed on both sides of the cut")
    made = arrays_made(first)
    used = {part.array for part in expressions(rest, Load, Dim)}
    used |= arrays_stored(rest)
    if made & used:
        return Rejection(f"the local array '{min(made & used)}' of an iteration is needed on both sides of the cut")
    return None

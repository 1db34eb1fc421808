"""What `reduce` makes of an extreme with what goes along (analysis/extremes.py): lanes that keep, beside the value and
the rest, the iteration that it came from, and a loop that puts lanes together by value and iteration. That loop is an
extreme again, which may be reduced once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from loopwright.analysis.extremes import Extreme, extremes
from loopwright.analysis.reductions import identity
from loopwright.ir.linear import variable
from loopwright.ir.nodes import (
    Assign,
    Body,
    Compare,
    CompareOp,
    Const,
    Expr,
    For,
    If,
    Load,
    Location,
    Logical,
    Stmt,
    Var,
)
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import rewrite_body
from loopwright.steps.draft import fresh
from loopwright.steps.nest import step_of
from loopwright.steps.step import Rejection


@dataclass(frozen=True, slots=True)
class ExtremeScalars:
    """The scalars of an extreme with their types. place: the one that tells iterations apart, which the loop may not
    have yet (`is_new`). is_least: of equal values the one with the least place is kept, else with the greatest."""

    found: Extreme
    types: Mapping[str, Scalar]
    place: str
    is_new: bool
    is_least: bool

    def before(self) -> list[Stmt]:
        """What comes before the lanes: the value that is there already is the first of all."""
        if not self.is_new:
            return []
        is_kept = (self.found.tie == "first") == self.is_least
        return [Assign(self.place, Const(INT64.minimum if is_kept else INT64.maximum, INT64))]

    def first(self, own: Mapping[str, str]) -> list[Stmt]:
        """What a lane begins with: nothing that any iteration would lose against."""
        starts: list[Stmt] = []
        for name, type_ in self.types.items():
            value = Const(False if type_.kind == "bool" else 0.0 if type_.is_float else 0, type_)
            if name == self.found.best:
                value = identity(self.found.op, type_)
            elif name == self.place:
                value = identity("min" if self.is_least else "max", type_)
            starts.append(Assign(own[name], value))
        return starts

    def merged(self, arrays: Mapping[str, str], lane: Expr, at: Location | None) -> Stmt:
        """The test that puts a lane's result into the scalars."""

        def part(name: str) -> Load:
            return Load(arrays[name], (lane,), self.types[name])

        def compared(op: CompareOp, name: str) -> Compare:
            return Compare(op, part(name), Var(name, self.types[name]))

        best = self.found.best
        better: Expr = compared("gt" if self.found.op in ("max", "maximum") else "lt", best)
        same: Expr = compared("eq", best)
        if self.found.op in ("minimum", "maximum"):
            mine = Var(best, self.types[best])
            is_nan = Compare("ne", part(best), part(best))
            better = Logical("or", better, Logical("and", is_nan, Compare("eq", mine, mine)))
            same = Logical("or", same, Logical("and", is_nan, Compare("ne", mine, mine)))
        sooner = compared("lt" if self.is_least else "gt", self.place)
        then = tuple(Assign(name, part(name), at=at) for name in self.types)
        return If(Logical("or", better, Logical("and", same, sooner)), then, (), at=at)


def group_of(loop: For, found: Extreme, taken: set[str]) -> ExtremeScalars:
    """What is made of one extreme of a loop. taken: names that are there already."""
    types = {stmt.name: stmt.value.type for stmt in found.stmt.then if isinstance(stmt, Assign)}
    if found.position:
        return ExtremeScalars(found, types, found.position, False, found.tie == "first")
    place = fresh(f"{found.best}.at", taken)
    return ExtremeScalars(found, {**types, place: INT64}, place, True, (found.tie == "first") == (step_of(loop) > 0))


def with_places(loop: For, groups: Sequence[ExtremeScalars]) -> Body:
    """The loop's body in which each extreme keeps the iteration too."""
    places = {id(group.found.stmt): group.place for group in groups if group.is_new}

    def mark(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, If) and id(stmt) in places:
            return (replace(stmt, then=(*stmt.then, Assign(places[id(stmt)], variable(loop.name)))),)
        return (stmt,)

    return rewrite_body(loop.body, stmt=mark)


def unplaced(loop: For) -> Rejection | None:
    """Why the iterations of a loop cannot be told apart from what was there before."""
    for found in extremes(loop):
        counts_up = isinstance(loop.lower, Const) and step_of(loop) > 0
        if found.tie == "last" and not found.position and not counts_up:
            return Rejection(f"'{loop.name}' does not count up from a constant: which equal value of "
                             f"'{found.best}' is the last one cannot be told")  # fmt: skip
    return None

"""Loops that put the totals of stretches together, as a scan has them: `begins[k] = s; s = s + parts[k]`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from loopwright.analysis.facts import ReductionOp
from loopwright.analysis.reductions import combined, is_exact
from loopwright.ir.nodes import Assign, Const, Expr, For, Load, Stmt, Store, Var
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import Scalar
from loopwright.ir.walk import subexpressions


@dataclass(frozen=True, slots=True)
class RunningTotal:
    """A scalar that goes from one iteration to the next. part: what an iteration adds; begin: where it puts what the
    scalar was worth before."""

    name: str
    type: Scalar
    op: ReductionOp
    part: Load
    begin: Store

    @property
    def exact(self) -> bool:
        """Whether the order of the updates makes no difference."""
        return is_exact(self.op, self.type)


def running_totals(loop: For) -> tuple[RunningTotal, ...]:
    """Those of a loop that does nothing else; () for any other loop."""
    if len(loop.body) % 2:
        return ()
    changing = names_assigned(loop.body)
    pairs = zip(loop.body[::2], loop.body[1::2], strict=True)
    found = [_total(loop.name, begin, update, changing) for begin, update in pairs]
    known = [one for one in found if one is not None]
    written = [one.begin.array for one in known]
    is_apart = len({one.name for one in known}) == len(known) == len(found) == len(set(written))
    return tuple(known) if is_apart and not {one.part.array for one in known} & set(written) else ()


def _total(loop: str, begin: Stmt, update: Stmt, changing: set[str]) -> RunningTotal | None:
    if not isinstance(begin, Store) or not isinstance(update, Assign) or not isinstance(begin.value, Var):
        return None
    name, type_, value = update.name, update.value.type, update.value
    if begin.value != Var(name, type_) or not _is_place(begin.index, loop, changing):
        return None
    for part in subexpressions(value, Load):
        if _is_place(part.index, loop, changing):
            op = next(_ops(value, Var(name, type_), part), None)
            return None if op is None else RunningTotal(name, type_, op, part, begin)
    return None


def _is_place(index: tuple[Expr, ...], loop: str, changing: set[str]) -> bool:
    """Whether it is the loop's variable along one axis, and a name of something that stays, or a number, along any
    other."""
    names = [axis.name for axis in index if isinstance(axis, Var)]
    is_plain = all(isinstance(axis, Var | Const) for axis in index)
    return is_plain and names.count(loop) == 1 and changing.isdisjoint(names)


def _ops(value: Expr, before: Var, part: Load) -> Iterator[ReductionOp]:
    for op in get_args(ReductionOp):
        if value == combined(op, before, part):
            yield op

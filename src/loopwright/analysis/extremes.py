"""Extremes with what goes along: `if value > best: best = value; where = i`, the least or greatest value of a loop and
what else was kept of the iteration that gave it.

Which iterations were taken does not matter, only the last one of them: of equal values the first (`>`) or the last
(`>=`). So iterations may be shared out, if the partial results are put together by value and, where values are equal,
by the order of their iterations. A value that is NaN is never taken; where the scalar is NaN at the beginning, none is.
Other loops take the first NaN, and then nothing more (`minimum`, `maximum`), as `np.argmin` and `np.argmax` do:
`if value > best or (value != value and best == best)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.ir.nodes import Assign, Compare, Expr, For, If, Logical, Stmt, Var, While
from loopwright.ir.queries import names_in
from loopwright.ir.walk import own_expressions, statements

ExtremeOp = Literal["min", "max", "minimum", "maximum"]


@dataclass(frozen=True, slots=True)
class Extreme:
    """best: the scalar that keeps the extreme value; others: the scalars that are set with it. op: `minimum` and
    `maximum` where a NaN comes before all. tie: which iteration is kept of those with equal values. position: where it
    is written out in the condition, the one of the others that decides then: the least is kept (`first`), or the
    greatest (`last`). stmt: the test."""

    best: str
    op: ExtremeOp
    tie: Literal["first", "last"]
    others: tuple[str, ...]
    position: str
    stmt: If


def extremes(loop: For | While) -> tuple[Extreme, ...]:
    """All of a loop. Their scalars are used nowhere else in it. Partial results may take iterations that the loop as
    it stands does not: what is set with the value must not fail there, which is for the caller to find out."""
    inside = list(statements(loop.body))
    found = [one for stmt in inside if isinstance(stmt, If) and (one := _extreme(stmt)) is not None]
    return tuple(one for one in found if _is_alone(one, inside))


def _extreme(stmt: If) -> Extreme | None:
    then = [one for one in stmt.then if isinstance(one, Assign)]
    values = {one.name: one.value for one in then}
    if stmt.otherwise or len(then) != len(stmt.then) or len(values) != len(then) or len(then) < 2:
        return None
    if any(names_in(value) & values.keys() for value in values.values()):
        return None
    for best in values:
        shape = _by_position(stmt.condition, best, values) or _is_better(stmt.condition, best, values[best])
        if shape is not None:
            op, tie, position = shape
            return Extreme(best, op, tie, tuple(name for name in values if name != best), position, stmt)
    return None


Shape = tuple[ExtremeOp, Literal["first", "last"], str]


def _is_better(condition: Expr, best: str, value: Expr) -> Shape | None:
    """The shape of `value > best`, and of `value > best or value != value and best == best`."""
    match condition:
        case Logical(op="or", left=Compare() as first, right=Logical(op="and", left=left, right=right)) if _is_nan(
            left, value
        ) and _is_number(right, best):
            shape = _compared(first, best, value)
            if shape is None or shape[1] == "last":
                return None
            return "maximum" if shape[0] == "max" else "minimum", "first", ""
    return _compared(condition, best, value)


def _is_nan(condition: Expr, value: Expr) -> bool:
    """Whether it is `value != value`."""
    return isinstance(condition, Compare) and condition.op == "ne" and condition.left == condition.right == value


def _is_number(condition: Expr, name: str) -> bool:
    """Whether it is `name == name`."""
    return isinstance(condition, Compare) and condition.op == "eq" and _are(condition, name)


def _are(condition: Compare, name: str) -> bool:
    return _is(condition.left, name) and _is(condition.right, name)


def _compared(condition: Expr, best: str, value: Expr) -> Shape | None:
    """The shape of `value > best`."""
    if not isinstance(condition, Compare) or condition.op in ("eq", "ne"):
        return None
    if condition.left == value and _is(condition.right, best):
        greater = condition.op in ("gt", "ge")
    elif condition.right == value and _is(condition.left, best):
        greater = condition.op in ("lt", "le")
    else:
        return None
    return "max" if greater else "min", "first" if condition.op in ("gt", "lt") else "last", ""


def _by_position(condition: Expr, best: str, values: dict[str, Expr]) -> Shape | None:
    """The shape of `value > best or value == best and place < at`."""
    match condition:
        case Logical(
            op="or", left=first, right=Logical(op="and", left=equal, right=Compare(op="lt" | "gt") as second)
        ) if (shape := _is_better(first, best, values[best])) is not None and shape[1] == "first":  # fmt: skip
            position = second.right.name if isinstance(second.right, Var) else ""
            same = _is_same(equal, best, values[best], shape[0] in ("minimum", "maximum"))
            if same and position in values and position != best and second.left == values[position]:
                return shape[0], "first" if second.op == "lt" else "last", position
    return None


def _is_same(condition: Expr, best: str, value: Expr, counts_nan: bool) -> bool:
    """Whether it is `value == best`, and where a NaN counts `value == best or value != value and best != best`."""
    match condition:
        case Logical(op="or", left=first, right=Logical(op="and", left=left, right=Compare(op="ne") as right)):
            return counts_nan and _is_nan(left, value) and _are(right, best) and _is_same(first, best, value, False)
        case Compare(op="eq"):
            return not counts_nan and condition.left == value and _is(condition.right, best)
    return False


def _is(expr: Expr, name: str) -> bool:
    return isinstance(expr, Var) and expr.name == name


def _is_alone(found: Extreme, inside: list[Stmt]) -> bool:
    names = {found.best, *found.others}
    own = {id(stmt) for stmt in (found.stmt, *found.stmt.then)}
    for stmt in inside:
        read = {name for expr in own_expressions(stmt) for name in names_in(expr)}
        written = {stmt.name} if isinstance(stmt, Assign) else set()
        if id(stmt) not in own and names & (read | written):
            return False
    return True

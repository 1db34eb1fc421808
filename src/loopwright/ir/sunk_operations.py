"""Operations that both sides of a condition end with, done once behind it: the division of `a / k if c else b / k`. In
vector lanes both sides are computed, and of two divisions, or square roots, one is half the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.ir.nodes import Assign, Binary, Body, Call, Checked, Expr, Function, If, Load, Select, Var
from loopwright.ir.queries import settled_by, unsettled_in
from loopwright.ir.walk import children, subexpressions, with_children

FUNCTIONS: frozenset[Function] = frozenset(
    ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos",
     "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot", "erf", "erfc", "gamma",
     "lgamma")
)  # fmt: skip
"""Those that take long enough to be worth it."""


def behind_branches(stmt: If) -> Body | None:
    """The same with such an operation behind it; None where there is none, or where a branch changes what else the
    operation needs."""
    if not stmt.then or not stmt.otherwise:
        return None
    one, other = stmt.then[-1], stmt.otherwise[-1]
    if not isinstance(one, Assign) or not isinstance(other, Assign) or one.name != other.name:
        return None
    place = _where_they_differ(one.value, other.value)
    if place is None:
        return None
    changed = unsettled_in(stmt.then) | unsettled_in(stmt.otherwise)
    if changed & {name for part in _rest(one.value, place) for name in settled_by(part)}:
        return None
    values = [children(part.value)[place] for part in (one, other)]
    branch = replace(
        stmt,
        then=(*stmt.then[:-1], replace(one, value=values[0])),
        otherwise=(*stmt.otherwise[:-1], replace(other, value=values[1])),
    )
    return branch, Assign(one.name, _with(one.value, place, Var(one.name, one.value.type)), at=one.at)


def behind_choice(expr: Select) -> Expr | None:
    """The same of a choice between two values."""
    place = _where_they_differ(expr.then, expr.otherwise)
    if place is None:
        return None
    then, otherwise = (children(side)[place] for side in (expr.then, expr.otherwise))
    return _with(expr.then, place, Select(expr.condition, then, otherwise))


def _where_they_differ(one: Expr, other: Expr) -> int | None:
    """The only operand in which two operations of one kind differ, where it has their type, and all others can be
    computed at any time; None for anything else."""
    match one, other:
        case Binary(op="truediv"), Binary(op="truediv"):
            pass
        case Call(function=function), Call(function=same) if function == same and function in FUNCTIONS:
            pass
        case _:
            return None
    pairs = list(zip(children(one), children(other), strict=True))
    places = [place for place, (left, right) in enumerate(pairs) if left != right]
    if len(places) != 1 or pairs[places[0]][0].type != one.type:
        return None
    is_free = not any(True for part in _rest(one, places[0]) for _ in subexpressions(part, Load, Checked))
    return places[0] if is_free else None


def _rest(expr: Expr, place: int) -> Iterator[Expr]:
    """The other operands."""
    yield from (part for number, part in enumerate(children(expr)) if number != place)


def _with(expr: Expr, place: int, operand: Expr) -> Expr:
    parts = list(children(expr))
    parts[place] = operand
    return with_children(expr, tuple(parts))

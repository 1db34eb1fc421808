"""What is known of a size when a call begins: the size itself, or what it cannot be above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopwright.frontend.context import Context
from loopwright.frontend.views import never_negative
from loopwright.ir.nodes import RESERVED, Binary, Checked, Compare, Const, Expr, Load, ScalarParam, Select, Var
from loopwright.ir.types import INT64
from loopwright.ir.walk import rewrite_expr, subexpressions

_LARGEST_SIZE = 256  # operations of a size that a caller computes


def bound_of(cx: Context, size: Expr) -> Expr | None:
    """What a size cannot be above: an expression of what is known when the call begins; None where there is none."""
    known = known_at_call(cx, size)
    if known is not None:
        return known
    match size:
        case Var(name=name):
            return None if name not in cx.bounds else bound_of(cx, cx.bounds[name])
        case Binary(op="min", left=left, right=right):
            found = [one for one in (bound_of(cx, left), bound_of(cx, right)) if one is not None]
            return min(found, key=lambda one: len(list(subexpressions(one))), default=None)
        case Binary(op="add" | "max" | "mul" as op, left=left, right=right):
            a, b = bound_of(cx, left), bound_of(cx, right)
            natural = op != "mul" or (never_negative(cx, left) and never_negative(cx, right))
            return None if a is None or b is None or not natural else Binary(op, a, b)
        case Binary(op="sub", left=left, right=right) if never_negative(cx, right):
            return bound_of(cx, left)
        case Binary(op="floordiv", left=left, right=Const(value=value)) if int(value) > 0:
            most = bound_of(cx, _rounded_up(left, int(value)))
            return None if most is None else Binary("max", most, Const(0, INT64))
        case _:
            return None


def may_be_largest(sizes: Sequence[Expr]) -> Sequence[Expr]:
    """Those of some bounds that may be the largest: all the room that there is, where one says that."""
    return [one for one in sizes if Const(RESERVED, INT64) in subexpressions(one)] or sizes


def _rounded_up(size: Expr, by: int) -> Expr:
    """n of n + 1 that is divided by 2: that is no more than n, unless it is negative."""
    match size:
        case Binary(op="add", left=left, right=Const(value=added)) if 0 <= int(added) < by:
            return left
        case _:
            return size


def known_at_call(cx: Context, size: Expr) -> Expr | None:
    """A size as whoever calls the code can compute it, from sizes and scalars alone; None where that cannot be. Where
    the code would fail in computing it, it is any number: the code fails before the array is used."""
    scalars = {param.name for param in cx.parameters.values() if isinstance(param, ScalarParam)}
    if not any(isinstance(part, Load | Checked) or _is_local(part, scalars) for part in subexpressions(size)):
        return size

    def change(part: Expr) -> Expr:
        match part:
            case Var(name=name) if name not in scalars and name in cx.made_of:
                return rewrite_expr(cx.made_of[name], change)
            case Checked(value=value):
                return value
            case Binary(op="floordiv" | "mod", right=right) if part.type.is_integer and not isinstance(right, Const):
                zero, one = Const(0, right.type), Const(1, right.type)
                return replace(part, right=Select(Compare("eq", right, zero), one, right))
            case _:
                return part

    found = rewrite_expr(size, change)
    parts = list(subexpressions(found))
    unknown = any(isinstance(part, Load) or _is_local(part, scalars) for part in parts)
    return None if unknown or len(parts) > _LARGEST_SIZE else found


def _is_local(part: Expr, scalars: set[str]) -> bool:
    return isinstance(part, Var) and part.name not in scalars

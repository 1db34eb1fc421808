"""Whole numbers of Python's width that are computed from elements of few bits, in 32 bits where nothing overflows:
`abs(int(a[i]) - int(b[i])) > 20` of bytes. A register of lanes holds twice as many of them, and products of 64 bits
have no instruction before AVX-512. A C compiler, which does not ask what the numbers can be, narrows only what is
narrowed again at the end: neither what is compared nor what becomes a float.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.analysis.number_intervals import NumberInterval, binary, every, unary
from loopwright.ir.nodes import Binary, Cast, Compare, Const, Expr, Load, Unary
from loopwright.ir.types import INT32, INT64

MOST_BITS = 16  # of an element
LIKEWISE = ("add", "sub", "mul", "min", "max", "and", "shr", "floordiv", "mod")
MOST_WITHIN = 131072
"""Where lw_within_int32 cuts off a number that is compared with such ones."""


def in_32_bits(expr: Expr) -> tuple[Expr, NumberInterval] | None:
    """A computed int64 as int32, and between which numbers it is; None for anything else, where it needs more bits on
    the way, and for what is computed from anything but elements of few bits and constants."""
    return _narrowed(expr) if expr.type == INT64 and isinstance(expr, Unary | Binary) else None


def is_narrow(expr: Expr) -> bool:
    """Whether an int64 is an element of few bits, or is computed in 32 bits."""
    return expr.type == INT64 and not isinstance(expr, Const) and _narrowed(expr) is not None


def compared_in_32_bits(expr: Compare, stays: Callable[[Expr], bool]) -> tuple[Expr, Expr] | None:
    """Both sides of a comparison of which at least one is computed, as int32; None where there are no such. One that
    `stays` the same in the loop may be left as int64: it is to be cut off."""
    if in_32_bits(expr.left) is None and in_32_bits(expr.right) is None:
        return None
    left, right = (_side(one, other, stays) for one, other in ((expr.left, expr.right), (expr.right, expr.left)))
    return None if left is None or right is None else (left, right)


def _side(expr: Expr, other: Expr, stays: Callable[[Expr], bool]) -> Expr | None:
    if (found := _narrowed(expr)) is not None:
        return found[0]
    against = in_32_bits(other)
    fits = against is not None and -MOST_WITHIN < against[1].low <= against[1].high < MOST_WITHIN
    return expr if fits and stays(expr) else None


def _narrowed(expr: Expr) -> tuple[Expr, NumberInterval] | None:
    """An int64 as int32, constants and elements too."""
    made: Expr
    match expr:
        case Const(value=value, type=kind) if kind == INT64:
            made, numbers = Const(value, INT32), NumberInterval(int(value), int(value), whole=True)
        case Cast(operand=Load(type=kind) as load) if kind.is_integer and kind.bits <= MOST_BITS:
            made, numbers = Cast(load, INT32), every(kind)
        case Unary(op="neg" | "abs" as op, operand=operand) if (inner := _narrowed(operand)) is not None:
            made, numbers = replace(expr, operand=inner[0]), unary(op, inner[1], INT64)
        case Binary(op=op) if op in LIKEWISE:
            left, right = _narrowed(expr.left), _narrowed(expr.right)
            if left is None or right is None or not _is_simple(expr, right[1]):
                return None
            made, numbers = replace(expr, left=left[0], right=right[0]), binary(op, left[1], right[1], INT64)
        case _:
            return None
    return (made, numbers) if INT32.minimum <= numbers.low and numbers.high <= INT32.maximum else None


def _is_simple(expr: Binary, right: NumberInterval) -> bool:
    """Whether an operator does the same with fewer bits, and quickly: no division but by a constant."""
    match expr.op:
        case "shr":
            return isinstance(expr.right, Const) and right.low >= 0 and right.high < INT32.bits
        case "floordiv" | "mod":
            return isinstance(expr.right, Const) and right.low > 0
        case _:
            return True

"""Complex numbers as pairs of reals. While a function is read, an expression of a complex type is a variable, an
element, a constant, a choice between such, or a pair that arithmetic has made: `Call("complex", (real, imaginary))`.
Its parts are expressions of reals; those of variables and elements are `Call("real", ...)` and `Call("imag", ...)`
until complex_split.py gives each part a place of its own. The IR that comes out knows no complex numbers.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.frontend.context import Context
from loopwright.ir.nodes import (
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    Load,
    Location,
    Select,
    Unary,
    Var,
)
from loopwright.ir.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, Scalar
from loopwright.ir.walk import subexpressions

_LONGEST_INDEX = 8


def pair(real: Expr, imaginary: Expr) -> Expr:
    """The complex number of two parts of one type."""
    kind = COMPLEX64 if real.type == FLOAT32 else COMPLEX128
    if isinstance(real, Const) and isinstance(imaginary, Const):
        return Const(complex(real.value, imaginary.value), kind)  # type: ignore[arg-type]
    return Call("complex", (real, imaginary), kind)  # type: ignore[arg-type]


def part_of(expr: Expr, imaginary: bool) -> Expr:
    """The real or the imaginary part of a complex expression, each of which evaluates what it needs of it."""
    match expr:
        case Const(value=value):
            known = complex(value)
            return Const(known.imag if imaginary else known.real, expr.type.part)
        case Call(function="complex", arguments=parts):
            return parts[imaginary]
        case Select(condition=condition, then=then, otherwise=otherwise):
            return Select(condition, part_of(then, imaginary), part_of(otherwise, imaginary))
        case Checked(value=value):
            return replace(expr, value=part_of(value, imaginary))
        case Cast(operand=operand, type=kind):
            return _cast(part_of(operand, imaginary), kind.part)
        case _:
            return Call("imag" if imaginary else "real", (expr,), expr.type.part)  # type: ignore[arg-type]


def parts_of(cx: Context, expr: Expr, at: Location) -> tuple[Expr, Expr]:
    """Both parts, so that what is costly or may fail is evaluated once."""
    match expr:
        case Load(index=index):
            expr = replace(expr, index=tuple(one if _is_short(one) else cx.once(one, at) for one in index))
        case Select(condition=condition):
            expr = replace(expr, condition=cx.once(condition, at))
        case Checked():
            expr = cx.temporary(expr, at)
        case _:
            pass
    return part_of(expr, False), part_of(expr, True)


def repeatable(cx: Context, expr: Expr, at: Location) -> tuple[Expr, Expr]:
    """Both parts, each of which may be used any number of times."""
    if isinstance(expr, Select):
        expr = cx.temporary(expr, at)
    real, imaginary = parts_of(cx, expr, at)
    return _once(cx, real, at), _once(cx, imaginary, at)


def _is_short(index: Expr) -> bool:
    """Whether an index may be repeated, so that `h[p[i]] += z` is seen to read what it writes."""
    parts = list(subexpressions(index))
    return len(parts) <= _LONGEST_INDEX and not any(isinstance(part, Checked) for part in parts)


def _once(cx: Context, part: Expr, at: Location) -> Expr:
    """A part that is read from a variable or an element may be read again: whoever writes machine code sees that."""
    match part:
        case Const() | Var() | Dim() | Load() | Call(function="real" | "imag"):
            return part
        case Unary(op="neg", operand=operand) if _once(cx, operand, at) is operand:
            return part
        case _:
            return cx.temporary(part, at)


def is_nonzero(expr: Expr) -> Expr:
    """The truth value of a number."""
    if expr.type == BOOL:
        return expr
    if expr.type.is_complex:
        return Binary("or", is_nonzero(part_of(expr, False)), is_nonzero(part_of(expr, True)))
    return Compare("ne", expr, Const(0.0 if expr.type.is_float else 0, expr.type))


def to_complex(cx: Context, expr: Expr, to: Scalar, at: Location) -> Expr:
    """A number in a complex type."""
    if expr.type == to:
        return expr
    if isinstance(expr, Const):
        return Const(complex(to.dtype.type(expr.value)), to)  # type: ignore[arg-type]
    if not expr.type.is_complex:
        return pair(_cast(expr, to.part), Const(0.0, to.part))
    real, imaginary = parts_of(cx, expr, at)
    return pair(_cast(real, to.part), _cast(imaginary, to.part))


def _cast(expr: Expr, to: Scalar) -> Expr:
    return expr if expr.type == to else Cast(expr, to)

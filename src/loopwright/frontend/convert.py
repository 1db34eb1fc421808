"""Numbers to the types they are needed in: constants by value, NumPy numbers as astype, Python numbers checked.

A Python int that does not fit is an error, as in NumPy: found now for a literal, by a Checked for the rest.
"""

from __future__ import annotations

import ast
import math

import numpy as np

from loopwright.frontend.complex_pairs import is_nonzero, to_complex
from loopwright.frontend.context import Context
from loopwright.frontend.object_class import decides_truth
from loopwright.frontend.promote import NumberType
from loopwright.frontend.values import (
    Array,
    Character,
    Elementwise,
    Fixed,
    Items,
    Keyed,
    ListValue,
    Literal,
    Number,
    Records,
    TableValue,
    Value,
    describe,
)
from loopwright.ir.nodes import Binary, Cast, Checked, Compare, Const, Expr, Load, Logical, Unary
from loopwright.ir.types import BOOL, FLOAT64, INT64, Scalar


def as_number(cx: Context, value: Value, node: ast.AST, what: str = "a number is needed here") -> Literal | Number:
    """The value, if it is a scalar; else the error that says what to write."""
    if isinstance(value, Literal | Number):
        return value
    if isinstance(value, Array | Records):
        remedy = "write a loop over range(...) and use one element at a time"
        if isinstance(value, Records) and not value.shape:
            remedy = 'name the field: p["x"]'
        raise cx.error(node, what, f"this is {describe(value)}", remedy)
    is_text = isinstance(value, Character) or (isinstance(value, Fixed) and isinstance(value.value, str))
    raise cx.error(node, what, f"this is {describe(value)}", _INSTEAD_OF_TEXTS if is_text else "")


_INSTEAD_OF_TEXTS = "put codes such as ord(c) into a list, and make the text where the function is called"


def convert(cx: Context, value: Literal | Number, to: Scalar, node: ast.AST) -> Expr:
    """The expression of a number in a type: what storing it into an array of that type does."""
    if isinstance(value, Literal):
        return literal(cx, value.value, to, node)
    if value.type == to:
        return value.expr
    if to.is_complex:
        return to_complex(cx, value.expr, to, cx.at(node))
    if value.type.is_complex:
        return _real(cx, value, to, node)
    if value.weak and to.is_integer:
        if value.type == INT64:
            return _checked_int(cx, value.expr, to, node)
        if value.type == FLOAT64:
            return checked_float_to_int(cx, value.expr, to, node)
    return Cast(value.expr, to)


def _real(cx: Context, value: Number, to: Scalar, node: ast.AST) -> Expr:
    if to == BOOL:
        return is_nonzero(value.expr)
    raise cx.error(
        node,
        f"{describe(value)} cannot be converted to {to}",
        "Python raises TypeError, and NumPy drops the imaginary part with a warning",
        "use z.real, or abs(z)",
    )


def stored(cx: Context, value: Literal | Number, to: Scalar, node: ast.AST) -> Expr:
    """The expression of a number that is stored among elements of a type. Where the options ask for it, a NumPy number
    that does not fit a signed integer type is an error, as it is for NumPy; unsigned types wrap for NumPy as well."""
    if isinstance(value, Literal) or value.weak or to.kind != "int" or not cx.session.narrowing_raises:
        return convert(cx, value, to, node)
    kind = value.type
    if kind.is_float:
        return checked_float_to_int(cx, value.expr, to, node)
    if kind.is_integer and not to.minimum <= kind.minimum <= kind.maximum <= to.maximum:
        return _checked_int(cx, value.expr, to, node)
    return convert(cx, value, to, node)


def literal(cx: Context, value: bool | int | float, to: Scalar, node: ast.AST) -> Const:
    """A Python number, known now, in a type. Raises KernelError where NumPy raises OverflowError or ValueError."""
    if to == BOOL:
        return Const(bool(value), BOOL)
    if to.is_complex:
        part = literal(cx, float(value), to.part, node)
        return Const(complex(part.value), to)  # type: ignore[arg-type]
    if to.is_float:
        try:
            with np.errstate(all="ignore"):
                return Const(float(to.dtype.type(float(value))), to)
        except OverflowError:
            raise cx.error(node, f"{_short(value)} is too large for a float") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise cx.error(node, f"{value} cannot be converted to {to}")
    whole = int(value)
    if not to.minimum <= whole <= to.maximum:
        raise cx.error(
            node,
            f"{_short(whole)} does not fit {to}",
            "a Python int adapts to the type of the NumPy value beside it: OverflowError",
            "convert the NumPy value first, such as np.int64(x)",
        )
    return Const(whole, to)


def _short(value: float) -> str:
    text = str(value)
    return text if len(text) <= 24 else text[:20] + "..."


def default_type(cx: Context, value: Literal | Number, node: ast.AST) -> Expr:
    """A number in the type it has by itself."""
    if isinstance(value, Literal):
        kind = value.number_type.type
        if kind == INT64 and not INT64.minimum <= value.value <= INT64.maximum:
            raise cx.error(
                node,
                f"{_short(value.value)} does not fit int64",
                "Python ints are 64 bits wide here",
                "use a NumPy type that holds it, such as np.uint64(x)",
            )
        return literal(cx, value.value, kind, node)
    return value.expr


def in_type(cx: Context, value: Literal | Number, to: NumberType, node: ast.AST) -> Expr:
    """A number in the type of the variable (or operation) that it joins."""
    if to.weak and to.type == INT64 and isinstance(value, Literal):
        return default_type(cx, Literal(int(value.value)), node)
    return convert(cx, value, to.type, node)


def _checked_int(cx: Context, expr: Expr, to: Scalar, node: ast.AST) -> Expr:
    """An integer of the run in a type that may not hold it: a Python int (int64 here) in any, a NumPy one in a signed
    type."""
    expr = cx.once(expr, cx.at(node))
    kind = expr.type
    ends: list[Expr] = []
    if kind.minimum < to.minimum:
        ends.append(Compare("ge", expr, Const(to.minimum, kind)))
    if kind.maximum > to.maximum:
        ends.append(Compare("le", expr, Const(to.maximum, kind)))
    fits = Logical("and", *ends) if len(ends) == 2 else ends[0]
    return Checked(Cast(expr, to), fits, "overflow", at=cx.at(node))


def checked_float_to_int(cx: Context, expr: Expr, to: Scalar, node: ast.AST) -> Expr:
    """A float truncated to an integer, as Python's int() does it: it must be finite and fit."""
    expr = cx.once(expr, cx.at(node))
    kind = expr.type
    low = Compare("ge", expr, literal(cx, float(to.minimum), kind, node))
    if kind.dtype.type(to.minimum - 1) != kind.dtype.type(to.minimum):  # what lies between is truncated to the minimum
        low = Compare("gt", expr, literal(cx, float(to.minimum - 1), kind, node))
    high = Compare("lt", expr, literal(cx, float(to.maximum + 1), kind, node))
    return Checked(Cast(expr, to), Logical("and", low, high), "not_finite", at=cx.at(node))


_TAKE_BOOLS = ("a bound of range()", "a bound of a slice", "a number of times")


def as_index(cx: Context, value: Value, node: ast.AST, what: str = "an index") -> Expr:
    """An int64 of a number used as an index, a size or a bound; no float, and no bool but Python's as a bound."""
    number = as_number(cx, value, node, f"{what} must be an integer")
    kind = number.number_type.type
    if kind == BOOL and number.number_type.weak and what in _TAKE_BOOLS:
        return Const(int(number.value), INT64) if isinstance(number, Literal) else Cast(number.expr, INT64)
    if not kind.is_integer:
        remedy = "convert it with int(x)" if kind.is_float else "use an integer"
        raise cx.error(node, f"{what} must be an integer", f"this is {describe(number)}", remedy)
    if isinstance(number, Literal):
        return default_type(cx, number, node)
    if kind.kind == "uint" and kind.bits == 64:
        expr = cx.once(number.expr, cx.at(node))
        fits = Compare("le", expr, Const(INT64.maximum, kind))
        return Checked(Cast(expr, INT64), fits, "overflow", at=cx.at(node))
    return number.expr if kind == INT64 else Cast(number.expr, INT64)


def truth(cx: Context, value: Value, node: ast.AST) -> bool | Expr:
    """The truth value of a number or of a sequence: known now, or a bool expression."""
    if isinstance(value, Items) and decides_truth(value.kind):
        raise cx.error(node, f"whether {describe(value)} is true is outside the language",
                       "its class has a method that says it", "ask for what the method looks at")  # fmt: skip
    if isinstance(value, Items | Keyed):
        return bool(value.items)
    if isinstance(value, ListValue):
        return Compare("ne", value.length, Const(0, INT64))
    if isinstance(value, TableValue):
        return Compare("ne", count_of(value), Const(0, INT64))
    match as_number(cx, _only_element(cx, value, node), node, "a condition must be a number or a bool"):
        case Literal(value=known):
            return bool(known)
        case Number(expr=Const(value=known)):
            return bool(known)
        case Number(expr=expr):
            return is_nonzero(expr)


def _only_element(cx: Context, value: Value, node: ast.AST) -> Value:
    """The element of an array that is known to have one, whatever its axes; every other value as it is."""
    if not isinstance(value, Array | Elementwise) or not value.shape or any(size != Literal(1) for size in value.shape):
        return value
    place = (Const(0, INT64),) * len(value.shape)
    if isinstance(value, Elementwise):
        return value.at(cx, place)
    return Number(Load(value.name, (*value.index, *place), value.element, at=cx.at(node)), value.weak)


def count_of(table: TableValue) -> Expr:
    """How many keys a set or dict has now; see table_functions.py."""
    return Load(table.head.name, (Const(2, INT64),), INT64)


def negated(condition: Expr) -> Expr:
    """`not condition`."""
    if isinstance(condition, Unary) and condition.op == "not":
        return condition.operand
    return Unary("not", condition)


def product(sizes: list[Expr]) -> Expr:
    """The product of int64 sizes."""
    result: Expr = Const(1, INT64)
    for size in sizes:
        result = size if result == Const(1, INT64) else Binary("mul", result, size)
    return result

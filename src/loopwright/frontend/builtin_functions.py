"""Python's own functions over numbers: abs min max int float bool round divmod pow len."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from loopwright.deferred import deferred
from loopwright.frontend import text_methods
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.characters import character_of, code_of, is_text, size_of_text
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, checked_float_to_int, convert, count_of, literal, truth
from loopwright.frontend.decide import class_of, has_attribute, is_instance
from loopwright.frontend.elementwise import map_elements
from loopwright.frontend.made_texts import is_any_text
from loopwright.frontend.operators import binary_operation
from loopwright.frontend.renaming import trips
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
    RangeValue,
    Records,
    TableValue,
    Value,
    View,
    describe,
)
from loopwright.frontend.views import is_array, shape_of
from loopwright.ir.nodes import Call, Cast, Unary
from loopwright.ir.types import BOOL, FLOAT64, INT64

if TYPE_CHECKING:
    from loopwright.frontend import complex_numbers
else:
    complex_numbers = deferred("loopwright.frontend.complex_numbers")

Handler = Callable[[Context, Arguments], Value]


def _abs(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    if is_array(call.values[0]):
        return map_elements(cx, lambda cx, x: _magnitude(cx, x, call), [call.values[0]], call.node)
    return _magnitude(cx, call.number(cx, 0), call)


def _magnitude(cx: Context, number: Literal | Number, call: Arguments) -> Literal | Number:
    if isinstance(number, Literal):
        return Literal(abs(number.value))
    if number.type.is_complex:
        return complex_numbers.magnitude(cx, number, call.node)
    if number.type == BOOL:
        return Number(Cast(number.expr, INT64), weak=True) if number.weak else number
    return number if number.type.kind == "uint" else Number(Unary("abs", number.expr), number.weak)


def _int(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 0, 1)
    if call.values and is_any_text(call.values[0]):
        return text_methods.number_of(cx, call.values[0], call.node)
    return truncated(cx, call.number(cx, 0), call.node) if call.values else Literal(0)


def truncated(cx: Context, number: Literal | Number, node: ast.AST) -> Literal | Number:
    """`int(number)`: a Python int."""
    if isinstance(number, Literal):
        return _known_int(cx, number, int, node)
    if number.type.is_float:
        return Number(checked_float_to_int(cx, number.expr, INT64, node), weak=True)
    if number.type.kind == "uint" and number.type.bits == 64:
        return Number(as_index(cx, number, node, "a Python int"), weak=True)
    return Number(convert(cx, number, INT64, node), weak=True)


def _known_int(cx: Context, number: Literal, rounding: Callable[[float], int], node: ast.AST) -> Literal:
    try:
        return Literal(rounding(number.value))
    except (ValueError, OverflowError) as reason:
        raise cx.error(node, str(reason)) from None


def rounded(
    cx: Context, number: Literal | Number, function: str, known: Callable[[float], int], node: ast.AST
) -> Value:
    """A float rounded by the IR's `function` to a Python int; an integer is a Python int already."""
    if isinstance(number, Literal):
        return _known_int(cx, number, known, node)
    if number.type.is_float:
        whole = Call(function, (number.expr,), number.type)  # type: ignore[arg-type]
        return Number(checked_float_to_int(cx, whole, INT64, node), weak=True)
    return truncated(cx, number, node)


def _float(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 0, 1)
    if not call.values:
        return Literal(0.0)
    if call.node.args and isinstance(call.node.args[0], ast.Constant) and isinstance(call.node.args[0].value, str):
        try:
            return Literal(float(call.node.args[0].value))  # float("inf")
        except ValueError as reason:
            raise cx.error(call.node, str(reason)) from None
    number = call.number(cx, 0)
    if isinstance(number, Literal):
        return Literal(float(literal(cx, number.value, FLOAT64, call.node).value))
    return Number(convert(cx, number, FLOAT64, call.node), weak=True)


def _bool(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 0, 1)
    if not call.values:
        return Literal(False)
    known = truth(cx, call.number(cx, 0), call.node)
    return Literal(known) if isinstance(known, bool) else Number(known, weak=True)


def _divmod(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    a, b = (_repeatable(cx, call.number(cx, k), call.node) for k in range(2))
    quotient = binary_operation(cx, "floordiv", a, b, call.node)
    return Items((quotient, binary_operation(cx, "mod", a, b, call.node)))


def _repeatable(cx: Context, number: Literal | Number, node: ast.AST) -> Literal | Number:
    if isinstance(number, Literal):
        return number
    return Number(cx.once(number.expr, cx.at(node)), number.weak)


def _pow(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    return binary_operation(cx, "pow", call.number(cx, 0), call.number(cx, 1), call.node)


def _type(cx: Context, call: Arguments) -> Value:
    """`type(x)` of a number: what converts others to it."""
    call.expect(cx, 1)
    return Fixed(class_of(call.number(cx, 0)))


def _isinstance(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    known = is_instance(*call.values)
    if known is None:
        raise cx.error(call.node, "the class of this value is not known at compile time",
                       f"isinstance() of {describe(call.values[0])} and {describe(call.values[1])}",
                       "ask whether a number, a tuple, a list or an array is of one or more classes")  # fmt: skip
    return Literal(known)


def _hasattr(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    value, name = call.values
    known = has_attribute(value, name.value) if isinstance(name, Fixed) and isinstance(name.value, str) else None
    if known is None:
        raise cx.error(call.node, "what this has is not known at compile time", f"hasattr() of {describe(value)}",
                       "ask for a name, written as a text, of a number, a tuple, a list or an array")  # fmt: skip
    return Literal(known)


def _len(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    match call.values[0]:
        case Items(items=items):
            return Literal(len(items))
        case Keyed(items=items):
            return Literal(len(items))
        case ListValue() as value:
            return Number(value.length, weak=True)
        case RangeValue(bounds=bounds):
            return Number(trips(*(as_index(cx, bound, call.node) for bound in bounds)), weak=True)
        case TableValue() as value:
            return Number(count_of(value), weak=True)
        case (Array() | View() | Elementwise() | Records()) as array if array.shape:
            return shape_of(cx, array)[0]
        case Character(is_long=True):
            raise cx.error(call.node, "how long this text is depends on which one the run has chosen",
                           remedy="compare it with each of the texts")  # fmt: skip
        case text if is_text(text):
            return Literal(size_of_text(text))
        case _:
            raise cx.error(call.node, "len() takes an array or a tuple here")


BUILTINS: dict[object, Handler] = {
    abs: _abs, int: _int, float: _float, bool: _bool, divmod: _divmod,
    pow: _pow, len: _len, ord: code_of, chr: character_of, type: _type, isinstance: _isinstance,
    hasattr: _hasattr,
}  # fmt: skip

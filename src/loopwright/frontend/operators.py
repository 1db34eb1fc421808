"""Python's operators over numbers: unary, binary and comparison. What is known now is computed by Python itself."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loopwright.deferred import deferred
from loopwright.frontend import promote, python_floats
from loopwright.frontend.context import Context
from loopwright.frontend.convert import (
    as_number,
    convert,
    default_type,
    in_type,
    literal,
    negated,
    truth,
)
from loopwright.frontend.exception_handlers import catches
from loopwright.frontend.promote import NoSuchOperation, NumberType, binary
from loopwright.frontend.values import Literal, Number, Value, describe
from loopwright.ir.nodes import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Checked,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
)
from loopwright.ir.queries import has
from loopwright.ir.types import BOOL, COMPLEX128, FLOAT64, INT64, UINT64, Scalar

if TYPE_CHECKING:
    from loopwright.frontend import complex_numbers
else:  # many programs have none
    complex_numbers = deferred("loopwright.frontend.complex_numbers")

BINARY: dict[type[ast.operator], BinaryOp] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], CompareOp] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
SIGNS: dict[str, str] = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
}  # fmt: skip
PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor, "shl": operator.lshift, "shr": operator.rshift,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge,
}  # fmt: skip
_MIRRORED: dict[CompareOp, CompareOp] = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_LARGEST_SHIFT = 4096


def binary_operation(cx: Context, op: BinaryOp, left: Value, right: Value, node: ast.AST) -> Literal | Number:
    """`left op right`."""
    what = f"'{SIGNS[op]}' needs two numbers"
    a, b = as_number(cx, left, node, what), as_number(cx, right, node, what)
    if isinstance(a, Literal) and isinstance(b, Literal):
        return _fold(cx, op, a, b, node)
    whole = (promote.WEAK_BOOL, promote.WEAK_INT)
    if op == "pow" and a.number_type in whole and isinstance(b, Literal) and b.value < 0:
        a = Number(convert(cx, a, FLOAT64, node), weak=True)
    operand, result = _resolve(cx, op, a, b, node)
    if operand.is_complex:
        if result.weak and op in ("truediv", "pow") and catches(cx, ZeroDivisionError, OverflowError):
            raise cx.error(node, f"'{SIGNS[op]}' of Python's complex numbers in this 'try' is outside the language",
                           remedy="test the operands with 'if' before")  # fmt: skip
        return complex_numbers.operation(cx, op, a, b, operand, result.weak, node)
    x, y = in_type(cx, a, NumberType(operand, result.weak), node), _right(cx, op, b, operand, result.weak, node)
    return Number(_operation(cx, op, x, y, result.weak, node), result.weak)


def _right(cx: Context, op: BinaryOp, value: Literal | Number, operand: Scalar, weak: bool, node: ast.AST) -> Expr:
    """The second operand in its type, with the checks that the operation asks of it."""
    if isinstance(value, Literal) and operand.is_integer and value.value < 0:
        if op == "pow":
            why, remedy = "NumPy refuses it: the result would not be an integer", "convert the base, such as float(x)"
            raise cx.error(node, "an integer to a negative power", why, remedy)
        if weak and op in ("shl", "shr"):
            raise cx.error(node, "a shift by a negative amount", "Python raises ValueError", "shift the other way")
    y = in_type(cx, value, NumberType(operand, weak), node)
    if isinstance(value, Literal):
        return y
    if op == "pow" and operand.kind == "int":
        y = cx.once(y, cx.at(node))
        return Checked(y, Compare("ge", y, Const(0, operand)), "negative_power", at=cx.at(node))
    if weak and op in ("shl", "shr") and operand == INT64:
        y = cx.once(y, cx.at(node))
        return Checked(y, Compare("ge", y, Const(0, operand)), "negative_shift", at=cx.at(node))
    return y


def _operation(cx: Context, op: BinaryOp, x: Expr, y: Expr, weak: bool, node: ast.AST) -> Expr:
    if x.type == BOOL:
        return Binary({"add": "or", "mul": "and", "max": "or", "min": "and"}.get(op, op), x, y)  # type: ignore[arg-type]
    if weak and op in ("floordiv", "mod") and x.type == INT64:
        if isinstance(y, Const) and y.value != 0:
            return Binary(op, x, y)
        y = cx.once(y, cx.at(node))
        return Checked(Binary(op, x, y), Compare("ne", y, Const(0, INT64)), "zero_division", at=cx.at(node))
    if weak and x.type == FLOAT64 and cx.catching:
        return python_floats.operation(cx, op, x, y, node)
    return Binary(op, x, y)


def _resolve(
    cx: Context, op: BinaryOp, a: Literal | Number, b: Literal | Number, node: ast.AST
) -> tuple[Scalar, NumberType]:
    try:
        return binary(op, a.number_type, b.number_type)
    except NoSuchOperation as reason:
        remedy = "convert an operand, such as np.float32(x)" if "outside the language" in str(reason) else ""
        if "boolean" in str(reason):
            remedy = "write x ^ y, or int(x) - int(y)"
        what = f"'{SIGNS[op]}' between {describe(a)} and {describe(b)}"
        raise cx.error(node, what, _short_reason(reason), remedy) from None


def _short_reason(reason: NoSuchOperation) -> str:
    text = str(reason)
    return "NumPy has no such operation" if text.startswith(("numpy", "ufunc", "The")) else text


def _fold(cx: Context, op: str, a: Literal, b: Literal, node: ast.AST) -> Literal | Number:
    """Python's own arithmetic; an error of Python's is an error now, except that of a division, which may stand
    where it is never made."""
    if op in ("pow", "shl") and isinstance(b.value, int) and isinstance(a.value, int) and b.value > _LARGEST_SHIFT:
        raise cx.error(node, "this constant is too large")
    try:
        result = PYTHON[op](a.value, b.value)
    except ZeroDivisionError:
        zero = Const(0, INT64) if isinstance(a.value, int) and isinstance(b.value, int) else Const(0.0, FLOAT64)
        return Number(Checked(zero, Const(False, BOOL), "zero_division", at=cx.at(node)), weak=True)
    except (TypeError, ArithmeticError, ValueError) as reason:
        raise cx.error(node, str(reason)) from None
    if isinstance(result, complex):
        return Number(Const(result, COMPLEX128), weak=True)  # type: ignore[arg-type]
    return Literal(result)


def unary_operation(cx: Context, op: ast.unaryop, value: Value, node: ast.AST) -> Literal | Number:
    """`-x`, `+x`, `~x`, `not x`."""
    if isinstance(op, ast.Not):
        known = truth(cx, value, node)
        return Literal(not known) if isinstance(known, bool) else Number(negated(known), weak=True)
    number = as_number(cx, value, node)
    name: UnaryOp = "invert" if isinstance(op, ast.Invert) else "neg"
    if isinstance(number, Literal):
        if isinstance(op, ast.Invert):
            if isinstance(number.value, float):
                raise cx.error(node, "'~' of a Python float", "floats have no bit operations")
            return Literal(~int(number.value))
        return Literal(-number.value if isinstance(op, ast.USub) else +number.value)
    kind = number.type
    if kind == BOOL and number.weak:
        number = Number(Cast(number.expr, INT64), weak=True)
    elif kind == BOOL and name == "neg":
        raise cx.error(node, f"'{'-' if isinstance(op, ast.USub) else '+'}' of a NumPy bool", "NumPy refuses it",
                       "write not x, or -int(x)")  # fmt: skip
    elif name == "invert" and (kind.is_float or kind.is_complex):
        raise cx.error(node, f"'~' of {describe(number)}", "floats have no bit operations")
    if isinstance(op, ast.UAdd):
        return number
    if kind.is_complex:
        return complex_numbers.negated(cx, number, node)
    return Number(Unary(name, number.expr), number.weak)


# ---- comparisons ----------------------------------------------------------------------------------------------


def comparison(cx: Context, op: CompareOp, left: Value, right: Value, node: ast.AST) -> Literal | Number:
    """`left op right`, exact between integers of any types, and between Python's ints and floats."""
    what = "a comparison needs two numbers"
    a, b = as_number(cx, left, node, what), as_number(cx, right, node, what)
    if isinstance(a, Literal) and isinstance(b, Literal):
        return _fold(cx, op, a, b, node)
    if a.number_type.type.is_complex or b.number_type.type.is_complex:
        return complex_numbers.comparison(cx, op, a, b, node)
    weak = a.number_type.weak and b.number_type.weak
    if isinstance(a, Literal):
        a, b, op = b, a, _MIRRORED[op]
    assert isinstance(a, Number)
    if isinstance(b, Literal):
        return _with_literal(cx, op, a, b, weak, node)
    return Number(_between(cx, op, a, b, node), weak)


def _with_literal(cx: Context, op: CompareOp, a: Number, b: Literal, weak: bool, node: ast.AST) -> Literal | Number:
    if a.type.is_integer and not isinstance(b.value, float):
        whole = int(b.value)
        if a.type.minimum <= whole <= a.type.maximum:
            return Number(Compare(op, a.expr, Const(whole, a.type)), weak)
        return _certain(op, a, whole > a.type.maximum, weak)
    if a.type == BOOL and isinstance(b.value, bool):
        return Number(Compare(op, a.expr, Const(b.value, BOOL)), weak)
    if weak and a.type == INT64 and isinstance(b.value, float):
        return _with_known_float(cx, op, a, b.value, node)
    if weak and a.type == FLOAT64 and not isinstance(b.value, float):
        op, known = _float_bound(op, int(b.value))
        return Number(Compare(op, a.expr, Const(known, FLOAT64)), weak)
    common = promote.common(a.number_type, b.number_type).type
    if common.is_integer and not common.minimum <= int(b.value) <= common.maximum:
        return _certain(op, a, b.value > 0, weak)
    return Number(Compare(op, convert(cx, a, common, node), literal(cx, b.value, common, node)), weak)


def _certain(op: CompareOp, a: Number, is_above: bool, weak: bool) -> Literal | Number:
    """A comparison with an int outside the type's range, above or below it. An operand that may fail is kept."""
    result = op == "ne" or op in (("lt", "le") if is_above else ("gt", "ge"))
    if a.type.is_integer and has(a.expr, Load, Checked):
        return Number(Compare("ge" if result else "lt", a.expr, Const(a.type.minimum, a.type)), weak)
    return Literal(result) if weak else Number(Const(result, BOOL), weak=False)


def _with_known_float(cx: Context, op: CompareOp, a: Number, b: float, node: ast.AST) -> Literal | Number:
    """A Python int of the run and a float that is known: the same question about a whole number."""
    if math.isnan(b):
        return _certain("ne" if op == "ne" else "eq", a, False, weak=True)
    if math.isinf(b) or (op in ("eq", "ne") and not b.is_integer()):
        return _certain(op, a, b > 0, weak=True)
    whole = math.ceil(b) if op in ("lt", "ge") else math.floor(b)
    return _with_literal(cx, op, a, Literal(whole), True, node)


def _float_bound(op: CompareOp, b: int) -> tuple[CompareOp, float]:
    """For a Python float of the run: the question about a float whose answer is that about the int `b`."""
    try:
        near = float(b)
    except OverflowError:
        near = math.inf if b > 0 else -math.inf
    if near == b:
        return op, near
    if op in ("eq", "ne"):
        return op, math.nan
    if near < b:
        return ("le" if op in ("lt", "le") else "gt"), near
    return ("lt" if op in ("lt", "le") else "ge"), near


def _int_and_float(cx: Context, op: CompareOp, x: Expr, y: Expr, node: ast.AST) -> Expr:
    """A Python int and a Python float, both of the run: the int may have more digits than a float. Where it rounds to
    something else than the float, that decides; else their difference is small and exact, even where it wraps."""
    if x.type == FLOAT64:
        return _int_and_float(cx, _MIRRORED[op], y, x, node)
    x, y = cx.once(x, cx.at(node)), cx.once(y, cx.at(node))
    near = Cast(x, FLOAT64)
    if op in ("eq", "ne"):
        both: LogicalOp = "and" if op == "eq" else "or"
        return Logical(both, Compare(op, near, y), Compare(op, x, Cast(y, INT64)))
    beyond = Compare(op, Binary("sub", x, Cast(y, INT64)), Const(0, INT64))
    return Select(Compare("eq", near, y), beyond, Compare(op, near, y))


def _between(cx: Context, op: CompareOp, a: Number, b: Number, node: ast.AST) -> Expr:
    x, y = a.expr, b.expr
    if a.type.kind in ("int", "uint") and b.type.kind in ("int", "uint"):
        if UINT64 in (a.type, b.type) and a.type.kind != b.type.kind:
            return _exact(cx, op, x, y, node)
        common = INT64 if UINT64 not in (a.type, b.type) and a.type != b.type else UINT64
        if a.type == b.type:
            common = a.type
        return Compare(op, _cast(x, common), _cast(y, common))
    if a.weak and b.weak and {a.type, b.type} == {INT64, FLOAT64}:
        return _int_and_float(cx, op, x, y, node)
    common = promote.common(a.number_type, b.number_type).type
    return Compare(op, _cast(x, common), _cast(y, common))


def _cast(expr: Expr, to: Scalar) -> Expr:
    return expr if expr.type == to else Cast(expr, to)


def _exact(cx: Context, op: CompareOp, x: Expr, y: Expr, node: ast.AST) -> Expr:
    """A signed integer beside a uint64: decided by the sign, and as uint64. Both are evaluated in any case: the other
    side may be an element that does not exist."""
    if x.type.kind == "uint":
        return _exact(cx, _MIRRORED[op], y, x, node)
    x = cx.once(x, cx.at(node))
    zero = Const(0, x.type)
    same = Compare(op, Cast(x, UINT64), _cast(y, UINT64))
    if op in ("ne", "lt", "le"):
        return Binary("or", Compare("lt", x, zero), same)
    return Binary("and", Compare("ge", x, zero), same)


# ---- one type for several numbers -----------------------------------------------------------------------------


def common_type(cx: Context, values: list[Literal | Number], node: ast.AST) -> NumberType:
    """The type that a conditional expression, `min` or `max` has. Raises KernelError where it would lose."""
    result = values[0].number_type
    for value in values[1:]:
        joined = promote.join(result, value.number_type)
        if joined is None:
            raise cx.error(
                node,
                f"{result} and {value.number_type} have no integer type in common",
                remedy="convert one of them, such as np.int64(x)",
            )
        result = joined
    return result


def extreme(cx: Context, op: BinaryOp, values: list[Literal | Number], node: ast.AST) -> Literal | Number:
    """`min(...)` or `max(...)` of two or more numbers, from left to right as Python."""
    if all(isinstance(value, Literal) for value in values):
        known = [value.value for value in values if isinstance(value, Literal)]
        return Literal(min(known) if op == "min" else max(known))
    kind = common_type(cx, values, node)
    if kind.type.is_complex:
        raise cx.error(node, f"the {op}imum of complex numbers", "they have no order", "compare abs(z) or z.real")
    result = in_type(cx, values[0], kind, node)
    for value in values[1:]:
        result = _operation(cx, op, result, in_type(cx, value, kind, node), False, node)
    return Number(result, kind.weak)


def scalar_of(cx: Context, value: Literal | Number, node: ast.AST) -> Number:
    """A number in the type it has by itself, as a Number."""
    return Number(default_type(cx, value, node), value.number_type.weak)


def is_root(base: Value, exponent: Value) -> bool:
    """Whether NumPy takes the power of an array for a square root: -0.0 and -inf are not what pow makes of them."""
    is_float = isinstance(base, Literal | Number) and base.number_type.type.is_float
    return is_float and exponent == Literal(0.5)


def root(cx: Context, value: Value, node: ast.AST) -> Number:
    """The square root of a float, as a number of NumPy's."""
    assert isinstance(value, Literal | Number)
    expr = scalar_of(cx, value, node).expr
    return Number(Call("sqrt", (expr,), expr.type), weak=False)

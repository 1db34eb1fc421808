"""NumPy's scalar functions and types: `np.sqrt(x)`, `np.float32(x)`, `x.astype(np.int8)`. Results are NumPy scalars.

Types follow NumPy itself (`resolve_dtypes`); a result that would be a float16 is refused.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from loopwright.deferred import deferred
from loopwright.frontend import operators, promote
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.builtin_functions import Handler, truncated
from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert, negated, truth
from loopwright.frontend.promote import WEAK_FLOAT, NoSuchOperation
from loopwright.frontend.values import Fixed, Literal, Number, Value, describe, from_object
from loopwright.ir.nodes import Binary, BinaryOp, Call, Cast, Compare, CompareOp, Const, Expr, Function, Select, Unary
from loopwright.ir.types import BITS, BOOL, BY_NAME, COMPLEX128, FLOAT64, Scalar, from_dtype

if TYPE_CHECKING:
    from loopwright.frontend import complex_functions
else:
    complex_functions = deferred("loopwright.frontend.complex_functions")

_FLOAT_CALLS = frozenset(get_args(Function))
_OPERATORS: dict[np.ufunc, BinaryOp] = {ufunc: op for op, ufunc in promote.UFUNCS.items()}  # type: ignore[misc]
_COMPARISONS: dict[np.ufunc, CompareOp] = {
    np.equal: "eq", np.not_equal: "ne", np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge",
}  # fmt: skip


def ufunc_call(cx: Context, ufunc: np.ufunc, call: Arguments) -> Value:
    """A ufunc of scalars."""
    name = ufunc.__name__
    call.expect(cx, ufunc.nin)
    numbers = call.numbers(cx)
    if ufunc in _OPERATORS:
        a, b = strong(cx, numbers, call.node)
        if ufunc is np.power and operators.is_root(a, numbers[1]):
            return operators.root(cx, a, call.node)
        return operators.binary_operation(cx, _OPERATORS[ufunc], a, b, call.node)
    if ufunc in _COMPARISONS:
        a, b = (
            numbers
            if not any(number.number_type == WEAK_FLOAT for number in numbers)
            else strong(cx, numbers, call.node)
        )
        result = operators.comparison(cx, _COMPARISONS[ufunc], a, b, call.node)
        return _numpy_bool(result)
    if name.startswith("logical_"):
        return _logical(cx, name, call)
    values, result_type = as_ufunc_takes(cx, ufunc, numbers, call)
    if values[0].type.is_complex:
        return complex_functions.ufunc(cx, name, [Number(value, weak=False) for value in values], call)
    return Number(_apply(cx, name, values, result_type, call), weak=False)


def as_ufunc_takes(
    cx: Context, ufunc: np.ufunc, numbers: list[Literal | Number], call: Arguments
) -> tuple[list[Expr], Scalar]:
    """The operands in the types that NumPy computes in, and the type of the result. Raises KernelError where NumPy has
    no such function."""
    try:
        kinds, result_type = promote.resolve(ufunc, tuple(number.number_type for number in numbers))
    except NoSuchOperation as reason:
        raise _no_such(cx, call, numbers, reason) from None
    values = [convert(cx, n, kind, call.place(k)) for k, (n, kind) in enumerate(zip(numbers, kinds, strict=True))]
    return values, result_type


def _no_such(cx: Context, call: Arguments, numbers: list[Literal | Number], reason: NoSuchOperation) -> Exception:
    given = " and ".join(describe(number) for number in numbers)
    is_half = "float16" in str(reason)
    return cx.error(
        call.node,
        f"np.{call.name}() of {given}",
        str(reason) if is_half else "NumPy has no such function",
        "convert the argument first, such as np.float32(x)" if is_half else "",
    )


def strong(cx: Context, numbers: list[Literal | Number], node: ast.AST) -> list[Literal | Number]:
    """The operands of a NumPy function: where all are Python's, NumPy takes the first for an array of its own."""
    if any(not number.number_type.weak for number in numbers):
        return numbers
    return [Number(operators.scalar_of(cx, number, node).expr, weak=False) for number in numbers]


def _numpy_bool(value: Literal | Number) -> Number:
    return Number(Const(bool(value.value), BOOL) if isinstance(value, Literal) else value.expr, weak=False)


def _logical(cx: Context, name: str, call: Arguments) -> Value:
    conditions = []
    for k, number in enumerate(call.numbers(cx)):
        known = truth(cx, number, call.place(k))
        conditions.append(Const(known, BOOL) if isinstance(known, bool) else known)
    match name, conditions:
        case "logical_not", [a]:
            return Number(negated(a), weak=False)
        case "logical_and", [a, b]:
            return Number(Binary("and", a, b), weak=False)
        case "logical_or", [a, b]:
            return Number(Binary("or", a, b), weak=False)
        case _, [a, b]:
            return Number(Binary("xor", a, b), weak=False)
        case _:
            raise AssertionError(name)


def _apply(cx: Context, name: str, values: list[Expr], result: Scalar, call: Arguments) -> Expr:
    """A ufunc over operands converted already."""
    kind = values[0].type
    if name in ("absolute", "fabs"):
        return values[0] if kind.kind in ("bool", "uint") else Unary("abs", values[0])
    if name == "negative":
        return Unary("neg", values[0])
    if name == "invert":
        return Unary("invert", values[0])
    if name in ("positive", "conjugate"):
        return values[0]
    if name == "square":
        value = cx.once(values[0], cx.at(call.node))
        return Binary("mul", value, value)
    if name == "sign":
        return _sign(cx, values[0], call)
    if name in ("deg2rad", "radians", "rad2deg", "degrees") and kind.is_float:
        half_turn, pi = (np.array(number, kind.dtype) for number in (180.0, np.pi))
        factor = pi / half_turn if name in ("deg2rad", "radians") else half_turn / pi
        return Binary("mul", values[0], Const(float(factor), kind))
    if name == "reciprocal" and kind.is_float:
        return Binary("truediv", Const(1.0, kind), values[0])
    if name == "float_power":
        return Binary("pow", values[0], values[1])
    if name in _FLOAT_CALLS:
        return _function(cx, name, values, result, call)
    raise cx.error(call.node, f"np.{call.name}() is outside the language")


def _function(cx: Context, name: str, values: list[Expr], result: Scalar, call: Arguments) -> Expr:
    kind = values[0].type
    if kind.is_float:
        return Call(name, tuple(values), result)  # type: ignore[arg-type]
    if name in ("maximum", "fmax", "minimum", "fmin"):
        is_max = name in ("maximum", "fmax")
        if kind == BOOL:
            return Binary("or" if is_max else "and", values[0], values[1])
        return Binary("max" if is_max else "min", values[0], values[1])
    if name in ("floor", "ceil", "trunc"):
        return values[0]
    if name in ("isnan", "isinf", "isfinite"):
        return Const(name == "isfinite", BOOL)
    remedy = "convert the arguments first: np.float64(x)"
    raise cx.error(call.node, f"np.{call.name}() of integers is outside the language", remedy=remedy)


def _sign(cx: Context, value: Expr, call: Arguments) -> Expr:
    kind = value.type
    value = cx.once(value, cx.at(call.node))
    zero, one = (Const(v, kind) if not kind.is_float else Const(float(v), kind) for v in (0, 1))
    below: Expr = zero
    if kind.kind == "int":
        below = Select(Compare("lt", value, zero), Const(-1, kind), zero)
    elif kind.is_float:
        is_zero = Select(Compare("eq", value, zero), zero, value)  # NaN stays NaN
        below = Select(Compare("lt", value, zero), Const(-1.0, kind), is_zero)
    return Select(Compare("gt", value, zero), one, below)


# ---- types ----------------------------------------------------------------------------------------------------


def scalar_of_dtype(cx: Context, value: Value, node: ast.AST) -> Scalar:
    """The machine type that a dtype argument means: np.float32, float, "f4", a.dtype."""
    try:
        dtype = np.dtype(value.value) if isinstance(value, Fixed) and value.value is not None else None  # type: ignore[call-overload]
    except TypeError:
        dtype = None
    scalar = None if dtype is None else from_dtype(dtype)
    if scalar is None:
        what = f"{dtype} is no type of the language" if dtype is not None else f"{describe(value)} is not a dtype"
        raise cx.error(node, what, remedy="use np.bool_, an integer type, np.float64 or np.complex128")
    return scalar


def limits_of_type(cx: Context, call: Arguments) -> Value:
    """`np.iinfo(np.int16)`, `np.finfo(x.dtype)`."""
    call.expect(cx, 1)
    value = call.values[0]
    kind = value.number_type.type if isinstance(value, Literal | Number) else scalar_of_dtype(cx, value, call.node)
    if kind.is_float == (call.name == "iinfo") or kind == BOOL:
        raise cx.error(call.node, f"np.{call.name}() does not know {kind}", "NumPy raises ValueError")
    dtype: Any = kind.dtype
    return Fixed(np.finfo(dtype) if kind.is_float else np.iinfo(dtype))


def limit(value: object, name: str) -> Value | None:
    """`np.iinfo(np.int16).max`; None for what is no number."""
    known = getattr(value, name, None)
    if not isinstance(known, int | float | np.generic):
        return None
    return from_object(known)


def type_call(cx: Context, kind: type[np.generic], call: Arguments) -> Value:
    """`np.int32(x)`."""
    scalar = from_dtype(np.dtype(kind))
    if scalar is None or np.dtype(kind).itemsize != scalar.size_bytes:
        raise cx.error(call.node, f"np.{call.name} is no type of the language",
                       remedy="use np.bool_, an integer type, np.float64 or np.complex128")  # fmt: skip
    call.expect(cx, 0, 1)
    number = call.number(cx, 0) if call.values else Literal(0)
    if scalar == BOOL:
        known = truth(cx, number, call.node)
        return Number(Const(known, BOOL) if isinstance(known, bool) else known, weak=False)
    return Number(convert(cx, number, scalar, call.node), weak=False)


def number_method(cx: Context, name: str, number: Number | Literal, call: Arguments) -> Value:
    """`x.astype(dtype)`, `x.view(dtype)`, `x.item()`."""
    if name in ("conjugate", "conj"):
        call.expect(cx, 0)
        return complex_functions.conjugate(cx, number, call.node)
    if isinstance(number, Literal) or number.weak:
        raise cx.error(call.node, f"'.{name}' of {describe(number)}", "Python's numbers have no such method")
    if name == "item":
        call.expect(cx, 0)
        if number.type.is_integer:
            return truncated(cx, number, call.node)
        if number.type.is_float or number.type.is_complex:
            return Number(convert(cx, number, COMPLEX128 if number.type.is_complex else FLOAT64, call.node), weak=True)
        return Number(number.expr, weak=True)
    call.expect(cx, 1, 1, () if name == "view" else ("copy",))
    to = scalar_of_dtype(cx, call.values[0], call.place(0))
    if name == "view":
        return _same_bits(cx, number, to, call)
    if number.type.is_complex or to.is_complex:
        return Number(convert(cx, number, to, call.node), weak=False)
    return Number(number.expr if number.type == to else Cast(number.expr, to), weak=False)


def _same_bits(cx: Context, number: Number, to: Scalar, call: Arguments) -> Number:
    """`x.view(np.int64)` of a number: the number that is kept in the same bytes."""
    if to == number.type:
        return number
    is_real = not (number.type.is_complex or to.is_complex or BOOL in (number.type, to))
    if not is_real or to.bits != number.type.bits:
        raise cx.error(call.node, f"'.view({to})' of {describe(number)}", "it gives numbers of as many bits")
    bits = number.expr
    if number.type.is_float:
        bits = Call("bits", (bits,), BITS[number.type.name])
    if to.is_float:
        signed = BY_NAME[f"int{to.bits}"]
        return Number(Call("bits", (bits if bits.type == signed else Cast(bits, signed),), to), weak=False)
    return Number(bits if bits.type == to else Cast(bits, to), weak=False)


def _dtype(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    return Fixed(scalar_of_dtype(cx, call.values[0], call.node).dtype)


NUMPY: dict[Any, Handler] = {
    np.dtype: _dtype,
    np.iinfo: limits_of_type,
    np.finfo: limits_of_type,
}

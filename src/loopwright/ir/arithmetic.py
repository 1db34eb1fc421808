"""The meaning of each operator, conversion and function on single values, each a NumPy scalar of the operand's type.

It owns what `a // b` is; `ir/interp.py` owns what is evaluated when, and `ir/simplify.py` folds constants with the
very same functions. NumPy's scalars do the arithmetic: the caller sets `np.errstate(all="ignore")`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, assert_never

import numpy as np

from loopwright.ir.nodes import BinaryOp, CompareOp, Const, Function, UnaryOp
from loopwright.ir.types import INT64, UINT64, Scalar

Value = Any  # a NumPy scalar: np.bool, np.int8 ... np.uint64, np.float32 or np.float64

TRUE, FALSE = np.bool_(True), np.bool_(False)


def constant(const: Const) -> Value:
    """The NumPy scalar of a literal."""
    return const.type.dtype.type(const.value)


def least(a: Value, b: Value) -> Value:
    """Python's min(a, b)."""
    return b if b < a else a


def greatest(a: Value, b: Value) -> Value:
    """Python's max(a, b)."""
    return b if b > a else a


_BINARY: dict[BinaryOp, Callable[[Value, Value], Value]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "min": least,
    "max": greatest,
}


def binary(op: BinaryOp) -> Callable[[Value, Value], Value]:
    """The operator on two values of one type. NumPy's own scalars wrap, give 0 for `// 0` and `% 0`, and shift by
    the width or more, or by a negative amount, to 0 (or -1): tests/ir/test_arithmetic.py holds them to it."""
    return _BINARY[op]


_COMPARE: dict[CompareOp, Callable[[Value, Value], Value]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compare(op: CompareOp) -> Callable[[Value, Value], Value]:
    """The comparison of two values of one type, giving np.bool."""
    return _COMPARE[op]


def unary(op: UnaryOp) -> Callable[[Value], Value]:
    """The operator on one value; neg and abs of the least integer wrap."""
    match op:
        case "neg":
            return operator.neg
        case "abs":
            return operator.abs
        case "invert" | "not":  # `not` is of bools only, where NumPy's ~ is the logical one
            return operator.invert
    assert_never(op)


def cast(source: Scalar, target: Scalar) -> Callable[[Value], Value]:
    """The conversion of a value of type `source` to type `target`."""
    to = target.dtype.type
    if source.is_float and target.is_integer:
        return lambda value: to(wrapped(truncated(value, target), target))
    if target.kind == "bool":
        return lambda value: value != 0
    if source == target:
        return lambda value: value
    dtype = target.dtype
    return lambda value: value.astype(dtype)


def truncated(value: Value, target: Scalar) -> int:
    """A float towards zero, or int64's least value for NaN and what int64 (for uint64: uint64 too) cannot hold."""
    number = float(value)
    if not math.isfinite(number):
        return INT64.minimum
    whole = int(number)
    most = UINT64.maximum if target == UINT64 else INT64.maximum
    return whole if INT64.minimum <= whole <= most else INT64.minimum


def wrapped(value: int, type: Scalar) -> int:
    """Any whole number modulo 2**bits, in the range of an integer type."""
    value &= (1 << type.bits) - 1
    return value - (1 << type.bits) if value > type.maximum else value


def function(name: Function, type: Scalar) -> Callable[..., Value]:
    """The function of NumPy scalars of one float type. `type` is the result's."""
    match name:
        case "bits":
            return lambda value: value.view(type.dtype)
        case "erf":
            return _rounded(math.erf, type)
        case "erfc":
            return _rounded(math.erfc, type)
        case "gamma":
            return _rounded(_gamma, type)
        case "lgamma":
            return _rounded(_lgamma, type)
        case _:
            ufunc: Callable[..., Value] = getattr(np, name)
            return ufunc


def _rounded(of_double: Callable[[float], float], type: Scalar) -> Callable[[Value], Value]:
    to = type.dtype.type
    return lambda value: to(of_double(float(value)))


def _gamma(x: float) -> float:
    """C's tgamma: where math.gamma raises, infinity at a zero and for too large results, NaN at the other poles."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x)
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _lgamma(x: float) -> float:
    """C's lgamma: infinity at the poles and for too large results, where math.lgamma raises."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf

"""Simpler expressions of the same value, for every value: NaN, -0.0 and wrapping included. Part of `ir/simplify.py`.

What may fail (see `cannot_fail`) is never dropped, and nothing is evaluated twice or in another order. Constants are
folded by the very functions that the interpreter uses, where every machine gives the same bits.
"""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np

from loopwright.ir import arithmetic
from loopwright.ir.nodes import (
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    CompareOp,
    Const,
    Dim,
    Expr,
    Function,
    Load,
    Logical,
    Select,
    Unary,
    Var,
)
from loopwright.ir.sunk_operations import behind_choice
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT64, Scalar
from loopwright.ir.walk import children, subexpressions

# Correctly rounded by every library; the others (sin, exp, pow ...) are left to the run.
_EXACT: tuple[Function, ...] = (
    "sqrt", "floor", "ceil", "trunc", "rint", "copysign", "fmod", "maximum", "minimum", "fmax", "fmin",
    "isnan", "isinf", "isfinite", "signbit",
)  # fmt: skip
_OPPOSITE: dict[CompareOp, CompareOp] = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_TRUE, _FALSE = Const(True, BOOL), Const(False, BOOL)


def simpler(expr: Expr) -> Expr:
    """An expression of the same value and type over operands that are simple already; the same object if none."""
    if (folded := _folded(expr)) is not None:
        return folded
    match expr:
        case Const() | Var() | Dim() | Load() | Call():
            return expr
        case Unary():
            return _unary(expr)
        case Binary():
            return _binary(expr)
        case Compare():
            return _compare(expr)
        case Logical():
            return _logical(expr)
        case Select():
            return _select(expr)
        case Cast():
            return _cast(expr)
        case Checked():
            return expr.value if expr.condition == _TRUE else expr
    assert_never(expr)


def cannot_fail(expr: Expr) -> bool:
    """Whether evaluating it gives a value in every state: no element that may be outside, no check, no power of a
    signed integer whose exponent may be negative."""
    for part in subexpressions(expr):
        match part:
            case Load() | Checked():
                return False
            case Binary(op="pow") if part.type.kind == "int":
                if not (isinstance(part.right, Const) and part.right.value >= 0):
                    return False
    return True


def _is(expr: Expr, value: float) -> bool:
    """The constant `value`; of floats -0.0 is not 0.0."""
    if not isinstance(expr, Const) or expr.type == BOOL:
        return False
    return repr(expr.value) == repr(type(expr.value)(value))


# ---- constants ------------------------------------------------------------------------------------------------


def _folded(expr: Expr) -> Const | None:
    operands = children(expr)
    if not operands or not all(isinstance(operand, Const) for operand in operands):
        return None
    values = [arithmetic.constant(operand) for operand in operands if isinstance(operand, Const)]
    with np.errstate(all="ignore"):
        result = _result(expr, values)
    if result is None or result != result:  # a NaN of the run may have a sign, which a literal has not
        return None
    return Const(result.item(), expr.type)


def _fits(value: arithmetic.Value, converted: arithmetic.Value) -> bool:
    return math.isfinite(value) and int(value) == int(converted)


def _result(expr: Expr, values: list[arithmetic.Value]) -> arithmetic.Value | None:
    match expr:
        case Unary():
            return arithmetic.unary(expr.op)(*values)
        case Binary():
            if expr.op == "pow" and (expr.type.is_float or values[1] < 0):
                return None
            return arithmetic.binary(expr.op)(*values)
        case Compare():
            return arithmetic.compare(expr.op)(*values)
        case Cast():
            result = arithmetic.cast(expr.operand.type, expr.type)(*values)
            # A number that does not fit stays: where it fails a check, the error is about it.
            return result if not expr.type.is_integer or _fits(values[0], result) else None
        case Call() if expr.function in _EXACT:
            return arithmetic.function(expr.function, expr.type)(*values)
        case _:
            return None


# ---- operators ------------------------------------------------------------------------------------------------


def _unary(expr: Unary) -> Expr:
    inner = expr.operand
    match expr.op:
        case "neg" | "invert":
            return inner.operand if isinstance(inner, Unary) and inner.op == expr.op else expr
        case "not":
            if isinstance(inner, Unary) and inner.op == "not":
                return inner.operand
            if isinstance(inner, Compare) and (inner.op in ("eq", "ne") or not inner.left.type.is_float):
                return Compare(_OPPOSITE[inner.op], inner.left, inner.right)
            return expr
        case "abs":
            same = expr.type.kind == "uint" or (isinstance(inner, Unary) and inner.op == "abs")
            return inner if same else expr
    assert_never(expr.op)


def _binary(expr: Binary) -> Expr:
    left, right = expr.left, expr.right
    if expr.op in ("min", "max") and left == right:
        return left
    if expr.type.is_float:
        return _float_binary(expr)
    if expr.type == BOOL:
        return _bool_binary(expr)
    if (kept := _neutral(expr)) is not None:
        return kept
    if (value := _absorbed(expr)) is not None and cannot_fail(left) and cannot_fail(right):
        return Const(value, expr.type)
    return expr


def _neutral(expr: Binary) -> Expr | None:
    """The operand of integers that the other one leaves as it is."""
    left, right = expr.left, expr.right
    ones = expr.type.maximum if expr.type.kind == "uint" else -1
    match expr.op:
        case "add" | "or" | "xor" if _is(left, 0):
            return right
        case "mul" if _is(left, 1):
            return right
        case "and" if _is(left, ones):
            return right
        case "add" | "sub" | "or" | "xor" | "shl" | "shr" if _is(right, 0):
            return left
        case "mul" | "floordiv" | "pow" if _is(right, 1):
            return left
        case "and" if _is(right, ones):
            return left
        case "and" | "or" if left == right:
            return left
        case _:
            return None


def _absorbed(expr: Binary) -> int | None:
    """The value of an operator of integers, whatever its other operand."""
    left, right = expr.left, expr.right
    match expr.op:
        case "mul" | "and" if _is(left, 0) or _is(right, 0):
            return 0
        case "sub" | "xor" if left == right:
            return 0
        case "mod" if _is(right, 1):
            return 0
        case "pow" if _is(right, 0):
            return 1
        case _:
            return None


def _float_binary(expr: Binary) -> Expr:
    left, right = expr.left, expr.right
    match expr.op:
        case "add" if _is(right, -0.0):  # x + 0.0 is 0.0 where x is -0.0
            return left
        case "add" if _is(left, -0.0):
            return right
        case "sub" if _is(right, 0.0):
            return left
        case "mul" | "truediv" if _is(right, 1.0):
            return left
        case "mul" if _is(left, 1.0):
            return right
        case _:
            return expr


def _bool_binary(expr: Binary) -> Expr:
    left, right = expr.left, expr.right
    neutral = _TRUE if expr.op == "and" else _FALSE
    if right == neutral:
        return left
    if left == neutral:
        return right
    if expr.op != "xor" and left == right:
        return left
    return expr


def _logical(expr: Logical) -> Expr:
    left, right = expr.left, expr.right
    neutral, decisive = (_TRUE, _FALSE) if expr.op == "and" else (_FALSE, _TRUE)
    if left in (decisive, right) or right == neutral:
        return left
    if left == neutral:
        return right
    if right == decisive and cannot_fail(left):
        return right
    return expr


def _select(expr: Select) -> Expr:
    if isinstance(expr.condition, Const):
        return expr.then if expr.condition.value else expr.otherwise
    if expr.then == expr.otherwise and cannot_fail(expr.condition):
        return expr.then
    if (expr.then, expr.otherwise) == (_TRUE, _FALSE):
        return expr.condition
    if (expr.then, expr.otherwise) == (_FALSE, _TRUE):
        return simpler(Unary("not", expr.condition))
    return behind_choice(expr) or expr


# ---- comparisons ----------------------------------------------------------------------------------------------


def _compare(expr: Compare) -> Expr:
    if expr.left.type.is_float or not (cannot_fail(expr.left) and cannot_fail(expr.right)):
        return expr
    if expr.left == expr.right:
        return Const(expr.op in ("eq", "le", "ge"), BOOL)
    answer = _decided(expr.op, _range(expr.left), _range(expr.right))
    return expr if answer is None else Const(answer, BOOL)


def _range(expr: Expr) -> tuple[int, int]:
    """The least and the greatest value that an integer or bool may have, as its types tell."""
    match expr:
        case Const():
            return int(expr.value), int(expr.value)
        case Dim():
            return 0, INT64.maximum
        case Cast() if not expr.operand.type.is_float and _keeps_value(expr.operand.type, expr.type):
            return _range(expr.operand)
        case _:
            return expr.type.minimum, expr.type.maximum


def _decided(op: CompareOp, left: tuple[int, int], right: tuple[int, int]) -> bool | None:
    match op:
        case "lt":
            return True if left[1] < right[0] else False if left[0] >= right[1] else None
        case "gt":
            return _decided("lt", right, left)
        case "eq":
            return False if left[1] < right[0] or right[1] < left[0] else None
        case "ne" | "le" | "ge":
            answer = _decided(_OPPOSITE[op], left, right)
            return None if answer is None else not answer
    assert_never(op)


# ---- conversions ----------------------------------------------------------------------------------------------


def _keeps_value(source: Scalar, target: Scalar) -> bool:
    """Whether every value of `source` is a value of `target`."""
    if target == BOOL or source == target:
        return source == target
    if source.is_float:
        return source == FLOAT32 and target == FLOAT64
    exact = 1 << (53 if target == FLOAT64 else 24)
    least, most = (-exact, exact) if target.is_float else (target.minimum, target.maximum)
    return least <= source.minimum and source.maximum <= most


def _cast(expr: Cast) -> Expr:
    inner = expr.operand
    if inner.type == expr.type:
        return inner
    if not isinstance(inner, Cast):
        return expr
    middle, source = inner.type, inner.operand.type
    integers = expr.type.is_integer and middle.is_integer and source.is_integer
    if _keeps_value(source, middle) or (integers and middle.bits >= expr.type.bits):
        return _cast(Cast(inner.operand, expr.type))
    return expr

"""NumPy 2's promotion of types (NEP 50), with NumPy itself as the oracle. Types only; no values, no IR.

Two weak operands follow Python's own rules, as NumPy never sees them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

import numpy as np

from loopwright.ir.nodes import BinaryOp
from loopwright.ir.types import BOOL, COMPLEX128, FLOAT64, INT64, Scalar, from_dtype


@dataclass(frozen=True, slots=True)
class NumberType:
    """A machine type, and whether the number is Python's own (bool, int, float or complex): then the type is bool,
    int64, float64 or complex128."""

    type: Scalar
    weak: bool

    def __str__(self) -> str:
        if not self.weak:
            return f"a NumPy {self.type}" if self.type != BOOL else "a NumPy bool"
        match self.type.kind:
            case "bool":
                return "a Python bool"
            case "float" | "complex":
                return f"a Python {self.type.kind}"
            case _:
                return "a Python int"


WEAK_BOOL = NumberType(BOOL, weak=True)
WEAK_INT = NumberType(INT64, weak=True)
WEAK_FLOAT = NumberType(FLOAT64, weak=True)
WEAK_COMPLEX = NumberType(COMPLEX128, weak=True)

UFUNCS: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip


class NoSuchOperation(TypeError):
    """Python or NumPy raises TypeError for these operands, or the result has a type outside the language."""


def binary(op: BinaryOp, left: NumberType, right: NumberType) -> tuple[Scalar, NumberType]:
    """The one type that both operands are converted to, and the type of the result.

    Raises NoSuchOperation. `pow` of weak ints is taken as an int: a negative exponent is the caller's care."""
    if is_pythons(left, right):
        return _weak_binary(op, left.type, right.type)
    operands, result = resolve(UFUNCS[op], (left, right))
    if operands[0] != operands[1]:
        raise NoSuchOperation(f"{left} and {right} have no common type")
    return operands[0], NumberType(result, weak=False)


def is_pythons(left: NumberType, right: NumberType) -> bool:
    """Whether Python computes it, and not NumPy: a float64 on the right of a Python complex number is a float to it."""
    return left.weak and (right.weak or (left == WEAK_COMPLEX and right.type == FLOAT64))


def _weak_binary(op: BinaryOp, left: Scalar, right: Scalar) -> tuple[Scalar, NumberType]:
    floats = FLOAT64 in (left, right)
    if COMPLEX128 in (left, right):
        if op in ("add", "sub", "mul", "truediv", "pow"):
            return COMPLEX128, WEAK_COMPLEX
        raise NoSuchOperation("Python has no such operation of complex numbers")
    match op:
        case "add" | "sub" | "mul" | "floordiv" | "mod" | "pow" | "min" | "max":
            return (FLOAT64, WEAK_FLOAT) if floats else (INT64, WEAK_INT)
        case "truediv":
            return FLOAT64, WEAK_FLOAT
        case "and" | "or" | "xor" | "shl" | "shr":
            if floats:
                raise NoSuchOperation("Python floats have no bit operations")
            if left == right == BOOL and op not in ("shl", "shr"):
                return BOOL, WEAK_BOOL
            return INT64, WEAK_INT
    assert_never(op)


@lru_cache(maxsize=4096)
def resolve(ufunc: np.ufunc, operands: tuple[NumberType, ...]) -> tuple[tuple[Scalar, ...], Scalar]:
    """The types that a ufunc converts its operands to, and that of its result. Raises NoSuchOperation."""
    all_weak = all(operand.weak for operand in operands)
    given = [_as_dtype(operand, as_weak=not all_weak) for operand in operands]
    try:
        resolved = ufunc.resolve_dtypes((*given, None))
    except TypeError as error:
        raise NoSuchOperation(str(error).splitlines()[0]) from None
    scalars = [from_dtype(dtype) for dtype in resolved]
    known = [scalar for scalar in scalars if scalar is not None]
    if len(known) != len(scalars):
        strange = next(str(d) for d, s in zip(resolved, scalars, strict=True) if s is None)
        raise NoSuchOperation(f"NumPy computes it in {strange}, which is outside the language")
    return tuple(known[:-1]), known[-1]


def _as_dtype(number: NumberType, as_weak: bool) -> np.dtype[np.generic] | type:
    if not (number.weak and as_weak) or number.type == BOOL:
        return number.type.dtype
    return complex if number.type.is_complex else float if number.type.is_float else int


def common(left: NumberType, right: NumberType) -> NumberType:
    """The type that NumPy promotes both to: of a conditional expression, of `min`, of a variable."""
    if left.weak and right.weak:
        rank = {BOOL: 0, INT64: 1, FLOAT64: 2, COMPLEX128: 3}
        return max(left, right, key=lambda number: rank[number.type])
    if left.type == right.type:
        return NumberType(left.type, weak=False)
    dtype = np.result_type(_sample(left), _sample(right))
    scalar = from_dtype(dtype)
    if scalar is None:
        raise NoSuchOperation(f"{left} and {right} have no common type")
    return NumberType(scalar, weak=False)


def join(left: NumberType, right: NumberType) -> NumberType | None:
    """`common`, or None where it would lose integers: int64 and uint64 have no integer type in common."""
    joined = common(left, right)
    if left.type.is_integer and right.type.is_integer and joined.type.is_float:
        return None
    return joined


def _sample(number: NumberType) -> np.dtype[np.generic] | complex:
    if not number.weak:
        return number.type.dtype
    return {BOOL: False, INT64: 0, FLOAT64: 0.0, COMPLEX128: 0j}[number.type]

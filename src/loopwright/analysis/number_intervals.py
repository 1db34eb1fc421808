"""Arithmetic of intervals of numbers: what an operator, a conversion or a function gives for any operands of some
intervals, whole numbers and floats, NaN apart. An interval holds every value that the interpreter gives, and every one
that compiled code gives, which rounds a product and a sum of it once (fused multiply-add): so a product that is not
exact is wider by some units in the last place than its rounded ends, and so is what a sum takes for its operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loopwright.ir.nodes import BinaryOp, Call, CompareOp, UnaryOp
from loopwright.ir.types import BOOL, FLOAT32, INT64, Scalar

Number = int | float

SLACK = {"float32": (2.0**-20, 2.0**-147, 3.4028234e38), "float64": (2.0**-49, 2.0**-1072, 1.797e308)}
"""By how much an interval of floats is widened, as a part of its ends and at least; and what is infinite if it is more,
and may be less if it is infinite."""

EXACT = {"float32": 2**24, "float64": 2**53}
"""Whole numbers up to these are kept, and added and multiplied, exactly."""

LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True)
class NumberInterval:
    """The numbers from `low` to `high`, ends included, and NaN where `nan` says so. whole: all of them are whole, and
    no larger than what a float of their type holds exactly."""

    low: Number
    high: Number
    nan: bool = False
    whole: bool = False

    def __or__(self, other: NumberInterval) -> NumberInterval:
        """The numbers of either."""
        return NumberInterval(
            min(self.low, other.low), max(self.high, other.high), self.nan or other.nan, self.whole and other.whole
        )

    def __contains__(self, number: float) -> bool:
        """Whether a number, or NaN, is among them."""
        return self.nan if number != number else self.low <= number <= self.high


def every(kind: Scalar) -> NumberInterval:
    """All that a type holds."""
    if kind.is_float:
        return NumberInterval(-math.inf, math.inf, nan=True)
    return NumberInterval(kind.minimum, kind.maximum, whole=True)


def constant(value: Number, kind: Scalar) -> NumberInterval:
    """One number."""
    if value != value:
        return every(kind)
    return NumberInterval(value, value, whole=not kind.is_float or _is_whole(value, value, kind))


def _is_whole(low: Number, high: Number, kind: Scalar) -> bool:
    most = EXACT[kind.name]
    return -most <= low and high <= most and low == int(low) and high == int(high)


def _floats(low: float, high: float, kind: Scalar, nan: bool, exact: bool = False) -> NumberInterval:
    """The floats between two ends that were rounded somehow; exact: whole ones, if all is exact."""
    if low != low or high != high:
        return every(kind)
    if exact and _is_whole(low, high, kind):
        return NumberInterval(low, high, nan, whole=True)
    part, least, infinite = SLACK[kind.name]
    low, high = low - abs(low) * part - least, high + abs(high) * part + least
    return NumberInterval(
        -math.inf if low < -infinite else low if low <= infinite else infinite,
        math.inf if high > infinite else high if high >= -infinite else -infinite,
        nan,
    )


def _unrounded(numbers: NumberInterval, kind: Scalar) -> NumberInterval:
    """What a sum takes for an operand, which may be a product that was not rounded."""
    return numbers if numbers.whole else _floats(numbers.low, numbers.high, kind, numbers.nan)


def _integers(low: Number, high: Number, kind: Scalar) -> NumberInterval:
    """The whole numbers between two ends, of which none wraps; else all of the type."""
    if kind.minimum <= low and high <= kind.maximum:
        return NumberInterval(low, high, whole=True)
    return every(kind)


# ---- operators ------------------------------------------------------------------------------------------------


def unary(op: UnaryOp, operand: NumberInterval, kind: Scalar) -> NumberInterval:
    """The results of an operator on any of some numbers."""
    low, high = operand.low, operand.high
    if op == "neg":
        low, high = -high, -low
    elif op == "abs":
        low, high = max(low, -high, 0), max(-low, high)
    elif op == "invert" and kind.kind == "int":
        low, high = -1 - high, -1 - low
    else:
        return every(kind)
    return NumberInterval(low, high, operand.nan, operand.whole) if kind.is_float else _integers(low, high, kind)


def binary(op: BinaryOp, left: NumberInterval, right: NumberInterval, kind: Scalar) -> NumberInterval:
    """The results of an operator on any of some numbers and any of others."""
    if op in ("min", "max"):
        return _extreme(op, left, right)
    if kind.is_float:
        found = _FLOATS.get(op)
        return every(kind) if found is None else found(left, right, kind)
    if not kind.is_integer:
        return every(kind)
    a, b, c, d = int(left.low), int(left.high), int(right.low), int(right.high)
    match op:
        case "add":
            return _integers(a + c, b + d, kind)
        case "sub":
            return _integers(a - d, b - c, kind)
        case "mul":
            ends = (a * c, a * d, b * c, b * d)
            return _integers(min(ends), max(ends), kind)
        case "floordiv" if c > 0:
            return _integers(min(a // c, a // d), max(b // c, b // d), kind)
        case "mod" if c > 0:
            return NumberInterval(a, b, whole=True) if a >= 0 and b < c else _integers(0, d - 1, kind)
        case "shr" if c >= 0 and d < kind.bits:
            return _integers(min(a >> c, a >> d), max(b >> c, b >> d), kind)
        case "shl" if c >= 0 and d < kind.bits:
            return _integers(min(a << c, a << d), max(b << c, b << d), kind)
        case "and" if a >= 0 or c >= 0:
            return _integers(0, min(end for start, end in ((a, b), (c, d)) if start >= 0), kind)
        case "or" | "xor" if a >= 0 and c >= 0:
            return _integers(0, (1 << max(b.bit_length(), d.bit_length())) - 1, kind)
        case _:
            return every(kind)


def _extreme(op: BinaryOp, left: NumberInterval, right: NumberInterval) -> NumberInterval:
    """Python's min(a, b) is `b if b < a else a`: a NaN at the left stays, one at the right leaves the left number."""
    choose = min if op == "min" else max
    low, high = choose(left.low, right.low), choose(left.high, right.high)
    if right.nan:
        low, high = min(low, left.low), max(high, left.high)
    return NumberInterval(low, high, left.nan, left.whole and right.whole)


def _add(left: NumberInterval, right: NumberInterval, kind: Scalar) -> NumberInterval:
    exact = left.whole and right.whole
    a, b = _unrounded(left, kind), _unrounded(right, kind)
    opposite = (math.inf in left and -math.inf in right) or (-math.inf in left and math.inf in right)
    found = _floats(float(a.low + b.low), float(a.high + b.high), kind, left.nan or right.nan or opposite, exact)
    return _of_signs(found, left.low >= 0 and right.low >= 0, left.high <= 0 and right.high <= 0)


def _subtract(left: NumberInterval, right: NumberInterval, kind: Scalar) -> NumberInterval:
    return _add(left, NumberInterval(-right.high, -right.low, right.nan, right.whole), kind)


def _of_signs(found: NumberInterval, is_positive: bool, is_negative: bool) -> NumberInterval:
    """What rounding does not carry across zero."""
    low, high = max(found.low, 0.0) if is_positive else found.low, min(found.high, 0.0) if is_negative else found.high
    return NumberInterval(low, high, found.nan, found.whole)


def _multiply(left: NumberInterval, right: NumberInterval, kind: Scalar) -> NumberInterval:
    ends = [float(a) * float(b) for a in (left.low, left.high) for b in (right.low, right.high)]
    ends = [0.0 if end != end else end for end in ends]  # zero by infinity: what is near zero gives anything between
    infinite = _may_be_infinite(left), _may_be_infinite(right)
    nan = left.nan or right.nan or (infinite[0] and 0.0 in right) or (infinite[1] and 0.0 in left)
    found = _floats(min(ends), max(ends), kind, nan, left.whole and right.whole)
    return _of_signs(found, *_signs(left, right))


def _signs(left: NumberInterval, right: NumberInterval) -> tuple[bool, bool]:
    """Whether a product or quotient is never negative, and whether it is never positive."""
    same = (left.low >= 0 and right.low >= 0) or (left.high <= 0 and right.high <= 0)
    opposite = (left.low >= 0 and right.high <= 0) or (left.high <= 0 and right.low >= 0)
    return same, opposite


def _may_be_infinite(numbers: NumberInterval) -> bool:
    return math.inf in numbers or -math.inf in numbers


def _divide(left: NumberInterval, right: NumberInterval, kind: Scalar) -> NumberInterval:
    infinite = _may_be_infinite(left) and _may_be_infinite(right)
    nan = left.nan or right.nan or infinite or (0.0 in left and 0.0 in right)
    if right.low <= 0 <= right.high or infinite:
        return NumberInterval(-math.inf, math.inf, nan)
    ends = [float(a) / float(b) for a in (left.low, left.high) for b in (right.low, right.high)]
    found = _floats(min(ends), max(ends), kind, nan)
    return _of_signs(found, *_signs(left, right))


def _remainder(left: NumberInterval, right: NumberInterval, kind: Scalar) -> NumberInterval:
    """NumPy's, which has the sign of the divisor and may be rounded to it."""
    nan = left.nan or right.nan or _may_be_infinite(left) or 0.0 in right
    if right.low <= 0 or math.inf in right:
        return every(kind)
    return NumberInterval(0.0, right.high, nan, left.whole and right.whole)


_FLOATS: dict[str, Callable[[NumberInterval, NumberInterval, Scalar], NumberInterval]] = {
    "add": _add, "sub": _subtract, "mul": _multiply, "truediv": _divide, "mod": _remainder,
}  # fmt: skip


# ---- conversions and functions ----------------------------------------------------------------------------------


def cast(operand: NumberInterval, source: Scalar, target: Scalar) -> NumberInterval:
    """The results of a conversion."""
    low, high = operand.low, operand.high
    if target.is_float:
        if not source.is_float:
            return _floats(float(low), float(high), target, nan=False, exact=True)
        if EXACT[target.name] >= EXACT[source.name]:
            return operand
        return _floats(low, high, target, operand.nan, operand.whole)
    if target == BOOL or operand.nan or _may_be_infinite(operand):
        return every(target)
    whole = math.trunc(low), math.trunc(high)
    if source.is_float and (whole[0] < INT64.minimum or whole[1] > INT64.maximum):
        return every(target)
    return _integers(*whole, target)


def call(node: Call, operands: Sequence[NumberInterval]) -> NumberInterval:
    """The results of a mathematical function. Libraries may be wrong by some units in the last place."""
    first, kind = operands[0], node.type
    if not kind.is_float:
        return every(kind)
    match node.function:
        case "sqrt":
            low, high = (math.sqrt(max(end, 0.0)) for end in (first.low, first.high))
            return _of_signs(_floats(low, high, kind, first.nan or first.low < 0), True, False)
        case "floor" | "ceil" | "trunc" | "rint":
            return _rounded(_ROUND[node.function], first, kind)
        case "sin" | "cos" if _may_be_infinite(first):
            return _floats(-1.0, 1.0, kind, nan=True)
        case "sin" | "cos" | "tanh" | "erf":
            return _floats(-1.0, 1.0, kind, first.nan)
        case "arctan":
            return _floats(-math.pi / 2, math.pi / 2, kind, first.nan)
        case "arctan2":
            return _floats(-math.pi, math.pi, kind, any(one.nan for one in operands))
        case "exp":
            most = 1.001 * math.exp(first.high) if first.high < LARGEST_EXPONENT else math.inf
            return _of_signs(_floats(0.0, most, kind, first.nan), True, False)
        case "hypot":
            a, b = (max(abs(one.low), abs(one.high)) for one in operands)
            nan = any(one.nan for one in operands)
            return _of_signs(_floats(0.0, math.hypot(a, b), kind, nan), True, False)
        case "maximum" | "minimum":
            found = _extreme("max" if node.function == "maximum" else "min", *operands)
            return NumberInterval(found.low, found.high, operands[0].nan or operands[1].nan, found.whole)
        case "copysign":
            most = max(abs(first.low), abs(first.high))
            return NumberInterval(-most, most, first.nan, first.whole)
        case _:
            return every(kind)


_ROUND: dict[str, Callable[[float], int]] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round}


def _rounded(function: Callable[[float], int], operand: NumberInterval, kind: Scalar) -> NumberInterval:
    low, high = (end if math.isinf(end) else float(function(end)) for end in (operand.low, operand.high))
    return NumberInterval(low, high, operand.nan, whole=max(abs(low), abs(high)) <= EXACT[kind.name])


# ---- comparisons ------------------------------------------------------------------------------------------------


def compare(op: CompareOp, left: NumberInterval, right: NumberInterval) -> bool | None:
    """Whether a comparison is true of all these numbers, or of none; None where that is not known."""
    nan = left.nan or right.nan
    match op:
        case "lt":
            sure, never = left.high < right.low, left.low >= right.high
        case "le":
            sure, never = left.high <= right.low, left.low > right.high
        case "gt":
            sure, never = left.low > right.high, left.high <= right.low
        case "ge":
            sure, never = left.low >= right.high, left.high < right.low
        case "eq":
            sure = left.low == left.high == right.low == right.high
            never = left.high < right.low or left.low > right.high
        case "ne":
            never = left.low == left.high == right.low == right.high and not nan
            sure = left.high < right.low or left.low > right.high
            return True if sure else False if never else None
    return True if sure and not nan else False if never else None


def where(op: CompareOp, left: NumberInterval, right: NumberInterval, kind: Scalar) -> NumberInterval | None:
    """Those of the left numbers for which a comparison with one of the right ones may be true; None where there is
    none. NaN is among them for `ne` only."""
    low, high, nan = left.low, left.high, left.nan and op == "ne"
    if op in ("lt", "le", "eq"):
        high = min(high, _below(right.high, kind) if op == "lt" else right.high)
    if op in ("gt", "ge", "eq"):
        low = max(low, _above(right.low, kind) if op == "gt" else right.low)
    if low > high and not nan:
        return None
    return NumberInterval(low, high, nan, left.whole)


def _below(number: Number, kind: Scalar) -> Number:
    return number - 1 if not kind.is_float else math.nextafter(number, -math.inf) if kind != FLOAT32 else number


def _above(number: Number, kind: Scalar) -> Number:
    return number + 1 if not kind.is_float else math.nextafter(number, math.inf) if kind != FLOAT32 else number

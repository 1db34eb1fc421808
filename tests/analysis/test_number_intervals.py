"""Arithmetic of intervals: the interpreter's result for any numbers of the operands' intervals is in the result's, and
so is that of a sum of a product that is rounded once."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest

from loopwright.analysis.number_intervals import (
    EXACT,
    NumberInterval,
    binary,
    call,
    cast,
    compare,
    constant,
    every,
    unary,
    where,
)
from loopwright.ir import arithmetic
from loopwright.ir.nodes import BinaryOp, Call, CompareOp, Const, Expr, Function
from loopwright.ir.types import ALL, BOOL, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, UINT64, Scalar

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 255.0, 1e-3, 5e-324, -5e-324, 1e-45, 2.2e-308, 1e16, -1e16, 2.0**53, 2.0**24,
    16777217.0, 3.4028234e38, -3.4028234e38, 3.4028236e38, 1.7e308, -1.7e308, 2.0**31, -(2.0**63), math.inf, -math.inf,
]  # fmt: skip
WHOLE = [
    0,
    1,
    -1,
    2,
    3,
    7,
    -8,
    63,
    64,
    100,
    127,
    -128,
    255,
    2**31 - 1,
    -(2**31),
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**64 - 1,
]


def of_type(kind: Scalar, chance: random.Random) -> list[Any]:
    """Some numbers of a type."""
    if kind.is_float:
        found = [chance.choice(FLOATS) * chance.choice((1.0, 1.0, chance.random())) for _ in range(4)]
        with np.errstate(all="ignore"):
            return sorted(kind.dtype.type(one) for one in found)
    return sorted(
        kind.dtype.type(one) for one in chance.choices([w for w in WHOLE if kind.minimum <= w <= kind.maximum], k=4)
    )


def drawn(kind: Scalar, chance: random.Random) -> tuple[NumberInterval, list[Any]]:
    """An interval, and numbers of it."""
    values = of_type(kind, chance)
    numbers = constant(values[0].item(), kind) | constant(values[-1].item(), kind)
    whole = not kind.is_float or (
        chance.random() < 0.5
        and all(math.isfinite(one) and one == int(one) and abs(one) <= EXACT[kind.name] for one in values)
    )
    if kind.is_float and chance.random() < 0.2:
        return NumberInterval(numbers.low, numbers.high, True, whole), [*values, kind.dtype.type(math.nan)]
    return NumberInterval(numbers.low, numbers.high, False, whole), values


def is_in(value: Any, numbers: NumberInterval) -> bool:
    """Whether a result is among them, and as whole as they are."""
    number = value.item()
    return number in numbers and (not numbers.whole or number != number or number == int(number))


@pytest.mark.parametrize("kind", [FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, UINT64], ids=str)
def test_an_operator_gives_what_is_in_the_interval(kind: Scalar) -> None:
    chance = random.Random(str(kind))
    with np.errstate(all="ignore"):
        for op in get_args(BinaryOp):
            if kind.is_float == (op in ("and", "or", "xor", "shl", "shr")) or (op == "truediv" and not kind.is_float):
                continue
            of = arithmetic.binary(op)
            for _ in range(30):
                (left, some), (right, others) = drawn(kind, chance), drawn(kind, chance)
                found = binary(op, left, right, kind)
                for a, b in itertools.product(some, others):
                    if op != "pow" or kind.is_float:
                        assert is_in(of(a, b), found), (op, a, b, left, right, found)
        for one in ("neg", "abs", *(() if kind.is_float else ("invert",))):
            for _ in range(30):
                numbers, values = drawn(kind, chance)
                found = unary(one, numbers, kind)
                assert all(is_in(arithmetic.unary(one)(value), found) for value in values), (one, numbers, found)


@pytest.mark.parametrize("kind", [FLOAT32, FLOAT64], ids=str)
def test_a_sum_may_take_a_product_that_was_not_rounded(kind: Scalar) -> None:
    chance = random.Random(7)
    for _ in range(600):
        (one, some), (other, others), (more, rest) = (drawn(kind, chance) for _ in range(3))
        product = binary("mul", one, other, kind)
        a, b, c = chance.choice(some), chance.choice(others), chance.choice(rest)
        if not all(map(math.isfinite, (a, b, c))):
            continue
        with np.errstate(all="ignore"):
            rounded = a * b
        limited = NumberInterval(
            min(product.low, rounded.item()), rounded.item(), product.nan, product.whole
        )  # as a test leaves it
        for op, sign in (("add", 1), ("sub", -1)):
            exact = Fraction(a.item()) * Fraction(b.item()) + sign * Fraction(c.item())
            try:
                fused = float(exact)
            except OverflowError:
                fused = math.inf if exact > 0 else -math.inf
            with np.errstate(all="ignore"):
                assert is_in(kind.dtype.type(fused), binary(op, limited, more, kind)), (a, b, c, limited, more)


def test_a_conversion_gives_what_is_in_the_interval() -> None:
    chance = random.Random(3)
    with np.errstate(all="ignore"):
        for source, target in itertools.product(ALL, ALL):
            of = arithmetic.cast(source, target)
            for _ in range(8):
                numbers, values = (every(BOOL), [np.False_, np.True_]) if source == BOOL else drawn(source, chance)
                found = cast(numbers, source, target)
                assert all(is_in(of(value), found) for value in values), (source, target, numbers, found)


def test_a_function_gives_what_is_in_the_interval() -> None:
    chance = random.Random(4)
    two = ("arctan2", "hypot", "copysign", "fmod", "maximum", "minimum", "fmax", "fmin")
    with np.errstate(all="ignore"):
        for name, kind in itertools.product(get_args(Function), (FLOAT32, FLOAT64)):
            if name in ("bits", "gamma", "lgamma", "isnan", "isinf", "isfinite", "signbit"):
                continue
            of = arithmetic.function(name, kind)
            for _ in range(30):
                operands = [drawn(kind, chance) for _ in range(1 + (name in two))]
                given: tuple[Expr, ...] = (Const(0.0, kind),) * len(operands)
                found = call(Call(name, given, kind), [numbers for numbers, _ in operands])
                for values in itertools.product(*(some for _, some in operands)):
                    assert is_in(of(*values), found), (name, values, operands, found)


@pytest.mark.parametrize("kind", [FLOAT32, FLOAT64, INT8, UINT64], ids=str)
def test_comparisons_are_decided_rightly_and_leave_what_they_hold_of(kind: Scalar) -> None:
    chance = random.Random(str(kind))
    for op, _ in itertools.product(get_args(CompareOp), range(100)):
        (left, some), (right, others) = drawn(kind, chance), drawn(kind, chance)
        decided, found = compare(op, left, right), where(op, left, right, kind)
        for a, b in itertools.product(some, others):
            truth = bool(arithmetic.compare(op)(a, b))
            assert decided is None or decided is truth, (op, a, b, left, right)
            assert not truth or (found is not None and is_in(a, found)), (op, a, b, left, right, found)


def test_it_is_not_needlessly_wide() -> None:
    bytes_ = NumberInterval(0, 255, whole=True)
    squares = cast(binary("mul", bytes_, bytes_, INT32), INT32, FLOAT64)
    root = call(Call("sqrt", (Const(0.0, FLOAT64),), FLOAT64), [binary("add", squares, squares, FLOAT64)])
    assert (squares.low, squares.high, squares.whole) == (0, 255 * 255, True)
    assert root.low >= 0.0 and root.high < 360.7 and not root.nan
    assert cast(root, FLOAT64, INT64) == NumberInterval(0, 360, whole=True)

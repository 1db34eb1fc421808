"""The operators on single values, against the rules of ir/nodes.py written out once more in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.ir import arithmetic, types
from loopwright.ir.nodes import BinaryOp, Const, Function
from loopwright.ir.types import Scalar

INTEGERS = [scalar for scalar in types.ALL if scalar.is_integer]
FLOATS = [types.FLOAT32, types.FLOAT64]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def modulo(value: int, type: Scalar) -> int:
    """The only value of the type's range that differs from `value` by a multiple of 2**bits."""
    return (value - type.minimum) % 2**type.bits + type.minimum


def shift_left(a: int, b: int, type: Scalar) -> int:
    return a << b if 0 <= b < type.bits else 0


def shift_right(a: int, b: int, type: Scalar) -> int:
    return a >> b if 0 <= b < type.bits else (-1 if a < 0 else 0)


RULES: dict[BinaryOp, Callable[[int, int, Scalar], int]] = {
    "add": lambda a, b, t: a + b,
    "sub": lambda a, b, t: a - b,
    "mul": lambda a, b, t: a * b,
    "floordiv": lambda a, b, t: a // b if b else 0,
    "mod": lambda a, b, t: a % b if b else 0,
    "and": lambda a, b, t: a & b,
    "or": lambda a, b, t: a | b,
    "xor": lambda a, b, t: a ^ b,
    "shl": lambda a, b, t: shift_left(a, b, t),
    "shr": shift_right,
    "min": lambda a, b, t: min(a, b),
    "max": lambda a, b, t: max(a, b),
}


def edge_values(type: Scalar) -> list[int]:
    near = [0, 1, 2, 3, 7, type.bits - 1, type.bits, type.bits + 1, type.minimum, type.minimum + 1]
    return sorted({*near, type.maximum, type.maximum - 1, *([-1, -2, -7] if type.kind == "int" else [])})


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", RULES)
def test_integer_operators(op: BinaryOp, type: Scalar) -> None:
    operation, to = arithmetic.binary(op), type.dtype.type
    for a in edge_values(type):
        for b in edge_values(type):
            result = operation(to(a), to(b))
            assert result.dtype == type.dtype
            assert int(result) == modulo(RULES[op](a, b, type), type), (op, a, b)


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_integer_power_wraps(type: Scalar) -> None:
    for a in edge_values(type):
        for b in (0, 1, 2, 5, 70):
            result = arithmetic.binary("pow")(type.dtype.type(a), type.dtype.type(b))
            assert result.dtype == type.dtype
            assert int(result) == modulo(a**b, type), (a, b)


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_integer_unary_operators_wrap(type: Scalar) -> None:
    for a in edge_values(type):
        for op, rule in (("neg", -a), ("abs", abs(a)), ("invert", ~a)):
            result = arithmetic.unary(op)(type.dtype.type(a))
            assert (result.dtype, int(result)) == (type.dtype, modulo(rule, type)), (op, a)


def test_bools() -> None:
    for a in (False, True):
        assert arithmetic.unary("not")(np.bool_(a)) is np.bool_(not a)
        assert arithmetic.unary("invert")(np.bool_(a)) is np.bool_(not a)
        for b in (False, True):
            assert arithmetic.binary("and")(np.bool_(a), np.bool_(b)) is np.bool_(a and b)
            assert arithmetic.binary("or")(np.bool_(a), np.bool_(b)) is np.bool_(a or b)
            assert arithmetic.binary("xor")(np.bool_(a), np.bool_(b)) is np.bool_(a != b)


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_float_division_is_numpys(type: Scalar) -> None:
    to = type.dtype.type
    floordiv, mod, truediv = (arithmetic.binary(op) for op in ("floordiv", "mod", "truediv"))
    assert [floordiv(to(a), to(b)) for a, b in ((7, 2), (-7, 2), (7, -2))] == [3, -4, -4]
    assert [mod(to(a), to(b)) for a, b in ((7, 2), (-7, 2), (7, -2))] == [1, 1, -1]
    assert floordiv(to(1), to(0)) == math.inf and truediv(to(-1), to(0)) == -math.inf
    assert all(map(np.isnan, (mod(to(1), to(0)), floordiv(to(0), to(0)), truediv(to(0), to(0)))))
    assert mod(to(-1), to(math.inf)) == math.inf  # NumPy's: the sign of the divisor
    assert {op(to(3), to(2)).dtype for op in (floordiv, mod, truediv)} == {type.dtype}


def test_min_and_max_are_pythons() -> None:
    nan = np.float64(math.nan)
    least, greatest = arithmetic.binary("min"), arithmetic.binary("max")
    assert least(nan, np.float64(1)) is nan and greatest(nan, np.float64(1)) is nan  # the second is not smaller
    assert least(np.float64(1), nan) == 1 and greatest(np.float64(1), nan) == 1
    assert math.copysign(1, least(np.float64(0.0), np.float64(-0.0))) == 1
    assert math.copysign(1, greatest(np.float64(-0.0), np.float64(0.0))) == -1


def test_comparisons_with_nan_are_false_but_ne() -> None:
    nan, one = np.float32(math.nan), np.float32(1)
    found = {op: bool(arithmetic.compare(op)(nan, one)) for op in ("eq", "ne", "lt", "le", "gt", "ge")}
    assert found == {"eq": False, "ne": True, "lt": False, "le": False, "gt": False, "ge": False}


@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_casts_between_integers_wrap(source: Scalar) -> None:
    for target in INTEGERS:
        for value in edge_values(source):
            result = arithmetic.cast(source, target)(source.dtype.type(value))
            assert (result.dtype, int(result)) == (target.dtype, modulo(value, target))


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_casts_from_float_to_integer(source: Scalar, target: Scalar) -> None:
    cast = arithmetic.cast(source, target)
    highest = 2.0**64 if target == types.UINT64 else 2.0**63

    def rule(value: float) -> int:
        if math.isnan(value) or not -(2.0**63) <= value < highest:
            return -(2**63)
        return math.trunc(value)

    values = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 200.0, -200.0, 3e9, -3e9, 2.0**62, 2.0**63, -(2.0**63), 1.5 * 2.0**63]
    for value in [*values, 2.0**64, 1e30, -1e30, math.inf, -math.inf, math.nan, np.nextafter(2.0**63, 0)]:
        given = source.dtype.type(value)
        assert cast(given) == modulo(rule(float(given)), target), value
        assert cast(given).dtype == target.dtype


def test_casts_to_bool_and_between_floats() -> None:
    to_bool = arithmetic.cast(types.FLOAT64, types.BOOL)
    assert [bool(to_bool(np.float64(x))) for x in (0.0, -0.0, 0.1, math.nan, math.inf)] == [False, False, *[True] * 3]
    assert arithmetic.cast(types.INT8, types.BOOL)(np.int8(-3)) is np.bool_(True)
    assert arithmetic.cast(types.FLOAT64, types.FLOAT32)(np.float64(1e300)) == np.float32(math.inf)
    assert arithmetic.cast(types.BOOL, types.FLOAT32)(np.bool_(True)).dtype == np.float32
    rounds_twice = 2**60 + 2**36 + 1  # through a double it would become 2**60
    assert arithmetic.cast(types.INT64, types.FLOAT32)(np.int64(rounds_twice)) == np.float32(2.0**60 + 2.0**37)


@given(st.sampled_from(types.ALL), st.sampled_from(types.ALL), st.data())
def test_casts_agree_with_astype_where_c_defines_it(source: Scalar, target: Scalar, data: st.DataObject) -> None:
    value = data.draw(
        st.booleans() if source.kind == "bool"
        else st.integers(source.minimum, source.maximum) if source.is_integer
        else st.floats(0 if target.kind == "uint" else -100, 100, width=source.bits)
    )  # fmt: skip
    with np.errstate(all="ignore"):
        given_value = source.dtype.type(value)
        expected = np.array([given_value]).astype(target.dtype)[0]
        result = arithmetic.cast(source, target)(given_value)
    assert (result.dtype, result.tobytes()) == (expected.dtype, expected.tobytes())


BINARY_FUNCTIONS = {"arctan2", "hypot", "copysign", "fmod", "maximum", "minimum", "fmax", "fmin"}


@pytest.mark.parametrize("name", get_args(Function))
@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_every_function_gives_its_type(name: Function, type: Scalar) -> None:
    is_test = name in ("isnan", "isinf", "isfinite", "signbit")
    arguments = [type.dtype.type(0.5)] * (2 if name in BINARY_FUNCTIONS else 1)
    wanted = types.BOOL if is_test else types.BITS[type.name] if name == "bits" else type
    result = arithmetic.function(name, wanted)(*arguments)
    assert result.dtype == wanted.dtype


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("gamma", 5.0, 24.0), ("gamma", 0.0, math.inf), ("gamma", -0.0, -math.inf), ("gamma", -1.0, math.nan),
        ("gamma", 200.0, math.inf), ("gamma", -math.inf, math.nan), ("lgamma", 1.0, 0.0), ("lgamma", -2.0, math.inf),
        ("lgamma", 1e307, math.inf), ("erf", math.inf, 1.0), ("erfc", -math.inf, 2.0), ("rint", 2.5, 2.0),
        ("sqrt", -1.0, math.nan), ("log", 0.0, -math.inf),
    ],
)  # fmt: skip
def test_functions_never_raise(name: Function, argument: float, expected: float) -> None:
    result = arithmetic.function(name, types.FLOAT64)(np.float64(argument))
    assert repr(float(result)) == repr(expected)


def test_maximum_carries_nan_and_fmax_drops_it() -> None:
    nan, one = np.float64(math.nan), np.float64(1)
    assert np.isnan(arithmetic.function("maximum", types.FLOAT64)(one, nan))
    assert arithmetic.function("fmax", types.FLOAT64)(one, nan) == 1


def test_constants() -> None:
    assert arithmetic.constant(Const(0.1, types.FLOAT32)) == np.float32(0.1)
    assert arithmetic.constant(Const(2**64 - 1, types.UINT64)).dtype == np.uint64
    assert arithmetic.constant(Const(True, types.BOOL)) is np.bool_(True)

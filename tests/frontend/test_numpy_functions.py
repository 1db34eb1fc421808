"""NumPy's scalar functions and types for every dtype, against NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from frontend.judge import define, outcome, refusal, same
from loopwright.errors import KernelError
from loopwright.ir.types import ALL

UNARY_NAMES = """
    sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh
    arctanh floor ceil trunc rint isnan isinf isfinite signbit abs absolute fabs negative positive square sign
    deg2rad radians rad2deg degrees invert bitwise_not logical_not asin acos atan
"""
BINARY_NAMES = """
    arctan2 atan2 hypot copysign fmod maximum minimum fmax fmin add subtract multiply divide true_divide floor_divide
    remainder mod power bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal less less_equal
    greater greater_equal logical_and logical_or logical_xor float_power
"""
UNARY, BINARY = UNARY_NAMES.split(), BINARY_NAMES.split()
KINDS = [*(kind.name for kind in ALL), "weak int", "weak float"]


def value(kind: str, number: float) -> object:
    if kind.startswith("weak"):
        return int(number) if kind == "weak int" else float(number)
    return np.dtype(kind).type(number)


def judged(function, *arguments):
    """The front end agrees, or refuses what NumPy refuses and what would be a float16."""
    try:
        expected = outcome(function, arguments)
    except TypeError:
        assert "KernelError" in refusal(function, *arguments)
        return
    if np.asarray(expected).dtype == np.float16:
        assert "float16" in refusal(function, *arguments)
        return
    try:
        same(function, *arguments)
    except KernelError as error:
        assert "integers is outside the language" in str(error) or "float16" in str(error)


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(name):
    function = define(f"def f(x):\n    return np.{name}(x)\n")
    for kind, number in itertools.product(KINDS, (0, 1, 0.75, 3)):
        judged(function, value(kind, number))
    for number in (-0.5, -0.0, np.nan, np.inf):
        judged(function, np.float64(number))
        judged(function, np.float32(number))


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name):
    function = define(f"def f(x, y):\n    return np.{name}(x, y)\n")
    for left, right in itertools.product(KINDS, KINDS):
        for x, y in ((3, 2), (0, 1)):
            judged(function, value(left, x), value(right, y))


@pytest.mark.parametrize("name", [*(kind.name for kind in ALL), "bool_", "intp", "double", "single", "int_"])
def test_types_as_functions(name):
    function = define(f"def f(x):\n    return np.{name}(x)\n")
    for kind in KINDS:
        for number in (0, 1, 100):
            judged(function, value(kind, number))
    judged(function, np.float64(2.75))
    judged(function, 2.75)
    judged(function, np.int64(-1) if name != "bool" else np.int64(2))


def test_a_python_int_must_fit():
    function = define("def f(x):\n    return np.uint8(x)\n")
    assert same(function, 256) is OverflowError
    assert same(function, -1) is OverflowError
    assert "does not fit uint8" in refusal(define("def f():\n    return np.uint8(256)\n"))


@pytest.mark.parametrize("dtype", ["np.float32", "np.int8", "'i4'", "float", "bool"])
def test_astype_and_item(dtype):
    function = define(f"def f(a):\n    return a[0].astype({dtype}), a[1].item()\n")
    for kind in ALL:
        same(function, np.array([3, 5]).astype(kind.name))


def test_constants():
    function = define("def f():\n    return np.pi, np.inf, -np.inf, np.nan, np.e\n")
    same(function)


def test_functions_of_known_numbers():
    function = define("def f():\n    return np.sqrt(2.0), np.maximum(1, 2), np.add(1, 2.5), np.float32(0.1)\n")
    same(function)


def test_ints_of_float_functions_are_refused_with_a_remedy():
    text = refusal(define("def f(x, y):\n    return np.fmod(x, y)\n"), np.int32(3), np.int32(2))
    assert "np.float64(x)" in text

"""The module math against CPython's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from frontend.judge import define, kernel_of, same
from loopwright.ir.interp import interpret

ONE_NAMES = """
    sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh atanh
    isnan isinf isfinite erf erfc gamma lgamma fabs degrees radians floor ceil trunc
"""
ONE = ONE_NAMES.split()
TWO = ["atan2", "copysign", "fmod", "hypot", "pow", "log"]


def close(function, *arguments):
    """The same type, and the same value up to the last digits: NumPy has mathematical functions of its own."""
    expected, found = function(*arguments), interpret(kernel_of(function, *arguments), arguments)
    assert type(expected) is type(found)
    assert math.isclose(expected, found, rel_tol=1e-15)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one(name):
    function = define(f"def f(x):\n    return math.{name}(x)\n", math=math)
    for x in (0.75, np.float64(0.5), np.float32(0.25)):
        if name != "trunc" or not isinstance(x, np.float32):  # NumPy has left that one out
            close(function, x)


@pytest.mark.parametrize("name", ["sqrt", "exp", "acosh", "floor", "gamma", "isnan", "radians"])
def test_integers_become_floats(name):
    function = define(f"def f(x):\n    return math.{name}(x)\n", math=math)
    for x in (3, np.int8(3), np.uint64(3), True):
        close(function, x)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two(name):
    function = define(f"def f(x, y):\n    return math.{name}(x, y)\n", math=math)
    close(function, 2.5, 3.5)
    close(function, np.float32(2.5), 3)
    close(function, 7, np.int8(2))


@pytest.mark.parametrize("name", ONE + TWO)
def test_known_arguments_are_computed_by_python(name):
    given = "2.5, 3" if name in TWO[:-1] else "0.5"
    same(define(f"def f():\n    return math.{name}({given})\n", math=math))


def test_constants_and_names_imported_alone():
    function = define("def f(x):\n    return root(x) * math.pi + inf + math.tau\n", math=math, root=math.sqrt, inf=1e3)
    close(function, 2.0)

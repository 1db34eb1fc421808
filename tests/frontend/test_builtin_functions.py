"""Python's own functions over numbers, against CPython."""

from __future__ import annotations

import math

import numpy as np
import pytest

from frontend.judge import define, refusal, same

NUMBERS = [3, -7, True, 2.5, -0.4, np.int8(-3), np.uint16(9), np.float32(2.5), np.float64(-3.5), np.bool_(True)]


@pytest.mark.parametrize("expression", ["abs(x)", "int(x)", "float(x)", "bool(x)", "round(x)", "pow(x, 2)"])
def test_of_one_number(expression):
    function = define(f"def f(x):\n    return {expression}\n")
    for x in NUMBERS:
        if expression != "round(x)" or not isinstance(x, np.bool_):
            same(function, x)


def test_without_arguments_and_of_constants():
    function = define(
        "def f():\n    return int(), float(), bool(), int(2.9), abs(-3), float(2), bool(0.0), round(2.5)\n"
    )
    same(function)
    same(define("def f():\n    return float('inf'), float('-1.5'), tuple((1, 2))[0], len((1, 2, 3))\n"))


@pytest.mark.parametrize("name", ["min", "max"])
def test_several_numbers(name):
    same(define(f"def f(x, y):\n    return {name}(x, y), {name}(y, x, 3), {name}((x, y))\n"), 2, 5)
    same(define(f"def f(x, y):\n    return {name}(x, y)\n"), np.float32(2), np.float32(math.nan))
    same(define(f"def f():\n    return {name}(1, 2.5, True)\n"))


def test_the_type_of_an_extreme_is_that_of_all():
    function = define("def f(x, y):\n    return max(x, y)\n")
    assert isinstance(same(function, np.int16(5), np.int8(3)), np.int16)
    assert "no integer type in common" in refusal(function, np.int64(1), np.uint64(1))


def test_divmod():
    function = define("def f(x, y):\n    q, r = divmod(x, y)\n    return q, r\n")
    for x, y in ((7, -2), (-7.5, 2.0), (np.int8(-7), np.int8(2)), (7, np.float32(2))):
        same(function, x, y)
    assert same(function, 7, 0) is ZeroDivisionError


def test_floats_that_are_no_ints():
    function = define("def f(x):\n    return int(x)\n")
    for x in (math.nan, np.float32(math.nan), np.float64(math.nan)):
        assert same(function, x) is ValueError
    assert same(function, 2.0**62) == 2**62
    assert same(function, -(2.0**63)) == -(2**63)


def test_large_unsigned_ints_are_not_made_negative():
    from frontend.judge import kernel_of
    from loopwright.ir.interp import interpret

    function = define("def f(x):\n    return int(x)\n")
    same(function, np.uint64(2**63 - 1))
    with pytest.raises(OverflowError):
        interpret(kernel_of(function, np.uint64(2**63)), (np.uint64(2**63),))

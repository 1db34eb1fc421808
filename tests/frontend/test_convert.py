"""Conversions: what is stored, what is checked, what is an index."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from frontend.judge import define, refusal, same, text_of
from loopwright.ir.types import ALL


def store(a, x):
    a[0] = x


@pytest.mark.parametrize("kind", [kind.name for kind in ALL])
def test_python_numbers_into_arrays(kind):
    for x in (0, 1, -1, 127, 128, 255, 256, -129, 2**31, 2**63 - 1, -(2**63), True, 2.75, -0.5, 255.9, -128.5):
        same(store, np.zeros(2, kind), x)


def test_python_floats_that_do_not_fit_raise_what_python_raises():
    for kind, x in itertools.product(("int8", "uint32", "int64", "uint64"), (1e300, -1e300, 2.0**64)):
        assert same(store, np.zeros(2, kind), x) is OverflowError
    assert same(store, np.zeros(2, "int16"), math.nan) is ValueError
    assert same(store, np.zeros(2, "int16"), math.inf) is OverflowError


@pytest.mark.parametrize("kind", ["int32", "float32", "uint8", "int64"])
def test_numpy_numbers_into_arrays(kind):
    for scalar in ALL:
        same(store, np.zeros(2, kind), scalar.dtype.type(1))
        same(store, np.zeros(2, kind), scalar.dtype.type(100))


def test_loop_variables_are_checked_where_they_might_not_fit():
    function = define("def f(a):\n    for i in range(len(a)):\n        a[i] = i\n")
    assert "overflow" in text_of(function, np.zeros(3, np.int8))
    assert "overflow" not in text_of(function, np.zeros(3, np.int64))
    same(function, np.zeros(100, np.int8))
    assert same(function, np.zeros(200, np.int8)) is OverflowError


def test_indices_of_unsigned_64_bits():
    from frontend.judge import kernel_of
    from loopwright.ir.interp import interpret

    function = define("def f(a, i):\n    return a[i]\n")
    same(function, np.arange(3.0), np.uint64(2))
    assert "Python float" in refusal(function, np.arange(3.0), 1.5)
    with pytest.raises(OverflowError):
        interpret(kernel_of(function, np.arange(3.0), np.uint64(1)), (np.arange(3.0), np.uint64(2**64 - 1)))


def angles(a):
    ahead = np.array([[np.cos(a[0])], [np.sin(a[0])]])
    out = np.zeros(len(a))
    for i in range(len(a)):
        angle = np.arctan2(ahead[1], ahead[0]) - a[i]
        if angle > np.pi:
            angle = angle - 2 * np.pi
        elif angle < -np.pi:
            angle = angle + 2 * np.pi
        out[i] = -angle[0]
    return out


def counted_down(x):
    left = np.zeros((1, 1))
    left[0, 0] = x
    count = 0
    while left > 0:
        left -= 1
        count += 1
    if left:
        count += 100
    return count, 5 if not left else 7


def test_an_array_that_has_one_element_is_a_condition():
    same(angles, np.array([3.0, -1.0, 9.0, np.nan]))
    same(counted_down, 3.0)
    same(counted_down, 2.5)
    text = "def f(n):\n    if np.zeros(n) > 0:\n        return 1\n    return 0\n"
    assert "a condition must be a number or a bool" in refusal(define(text), 1)

"""Conversions: what is stored, what is checked, what is an index."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from frontend.judge import define, refusal, same, text_of
from loopwright.ir.types import ALL


def store(a, x):
    a[0] = x


@pytest.mark.parametrize("kind", [kind.name for kind in ALL])
def test_python_numbers_into_arrays(kind):
    for x in (0, 1, -1, 127, 128, 255, 256, -129, 2**31, 2**63 - 1, -(2**63), True, 2.75, -0.5, 255.9):
        if isinstance(x, float) and np.dtype(kind).kind in "iu" and not fits(x, kind):
            continue  # ValueError here, OverflowError there
        same(store, np.zeros(2, kind), x)


def fits(x: float, kind: str) -> bool:
    info = np.iinfo(kind)
    return info.min - 1 < x < info.max + 1


def test_floats_that_do_not_fit_are_an_error():
    from frontend.judge import kernel_of
    from loopwright.ir.interp import interpret

    for kind, x in itertools.product(("int8", "uint32", "int64", "uint64"), (1e300, -1e300, float("inf"))):
        kernel = kernel_of(store, np.zeros(2, kind), x)
        with pytest.raises(ValueError, match="cannot convert"):
            interpret(kernel, (np.zeros(2, kind), x))
    assert same(store, np.zeros(2, "int16"), float("nan")) is ValueError


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

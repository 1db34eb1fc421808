"""NumPy's reductions: of all elements or along axes; NaN, no elements, types of results, places of extremes."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import alike, define, kernel_of, refusal, same
from loopwright.ir.interp import interpret

WHOLE = [
    "np.sum(a)", "a.sum()", "np.prod(a)", "np.max(a)", "a.min()", "np.ptp(a)", "np.mean(a)", "a.std()",
    "np.var(a, ddof=1)", "np.any(a)", "a.all()", "np.count_nonzero(a)", "np.argmax(a)", "a.argmin()", "np.nansum(a)",
    "np.nanmax(a)", "np.average(a)", "sum(a)", "max(a)", "min(a)", "any(a)", "all(a)", "np.sum(a > 1)",
    "np.mean(a > 1)", "np.sum(a[1:] * 2)",
]  # fmt: skip
ARRAYS = {
    "float64": np.array([3.0, -1.0, 4.0, 0.0]), "float32": np.array([0.5, 2.0, -1.0, 1.0], np.float32),
    "int32": np.array([3, 0, -7, 2], np.int32), "uint8": np.array([200, 100, 1, 0], np.uint8),
    "bool": np.array([True, False, True, True]), "one": np.array([2.0]), "backwards": np.arange(4.0)[::-1],
}  # fmt: skip


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("name", ARRAYS)
def test_of_all_elements(text, name):
    array = ARRAYS[name]
    if array.dtype == bool and ("ptp" in text or "* 2" in text):
        pytest.skip("NumPy refuses it, or it says nothing new")
    if (array.dtype.kind in "iu" and text == "np.nanmax(a)") or (text == "sum(a)" and array.dtype != np.float64):
        pytest.skip("a type of its own")
    if len(array) == 1 and "ddof" in text:
        pytest.skip("0 / 0")
    same(define(f"def f(a):\n    return {text}\n"), array)


NAN = [
    "np.sum(a)", "np.max(a)", "np.min(a)", "np.argmax(a)", "np.argmin(a)", "np.nansum(a)", "np.nanmax(a)",
    "np.nanmin(a)", "np.nanmean(a)", "np.mean(a)", "np.any(a)", "np.any(np.isnan(a))",
]  # fmt: skip


@pytest.mark.parametrize("text", NAN)
def test_of_nan(text):
    function = define(f"def f(a):\n    return {text}\n")
    for values in ([1.0, np.nan, 5.0], [np.nan, 1.0, 2.0], [np.nan, np.nan, 0.0], [3.0, np.inf, np.nan]):
        same(function, np.array(values))


NOTHING = [
    "np.sum(a)", "np.prod(a)", "np.any(a)", "np.all(a)", "np.count_nonzero(a)", "np.max(a)", "np.min(a)",
    "np.argmax(a)", "a[:0].sum()", "all(a)", "max(a)",
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING)
def test_of_nothing(text):
    same(define(f"def f(a):\n    return {text}\n"), np.zeros(0))


AXES = [
    "np.sum(m, axis=0)", "m.sum(1)", "m.sum(axis=-1)", "np.max(m, axis=0)", "np.mean(m, axis=1)",
    "np.prod(m, axis=(0, 1))", "m.argmax(axis=0)", "np.argmin(m, axis=1)", "np.sum(m, axis=1, keepdims=True)",
    "m - m.mean(axis=1, keepdims=True)", "np.any(m > 4, axis=0)", "np.all(m >= 0, axis=1)", "np.std(m, axis=0)",
    "np.sum(m, axis=0)[1:]", "np.sum(m * m, axis=1) / 2", "np.sum(m, dtype=np.float32)",
    "np.count_nonzero(m, axis=0)",
]  # fmt: skip


@pytest.mark.parametrize("text", AXES)
def test_along_axes(text):
    function = define(f"def f(m):\n    return {text}\n")
    matrix = np.arange(12.0).reshape(3, 4) % 5
    for one in (matrix, matrix[:1], matrix.T, matrix[::-1, ::2], matrix.astype(np.int64)):
        if one.dtype.kind == "i" and ("dtype" in text or "std" in text):
            continue
        same(function, one)


def test_three_axes():
    function = define("""
        def f(c):
            return c.sum(axis=(0, 2)), c.max(axis=1), c.sum(axis=2).sum(axis=0), c.mean()
        """)
    same(function, np.arange(24.0).reshape(2, 3, 4))


def with_initial(a):
    return a.max(initial=1), a.sum(initial=2), np.min(a, initial=3, axis=0), np.prod(a, initial=2), a[:0].max(initial=0)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8, np.uint16])
def test_reductions_begin_with_what_they_are_told(kind):
    same(with_initial, np.arange(5).astype(kind))
    same(with_initial, np.zeros(0, kind))
    same(with_initial, np.arange(6).astype(kind).reshape(2, 3))


def of_nothing(a, k):
    nothing = a[:0]
    if k == 1:
        return nothing.max()
    if k == 2:
        return np.argmin(nothing) + 0.0
    return a[:2].min()


def test_an_extreme_of_nothing_is_an_error_where_it_runs():
    for k in range(3):
        same(of_nothing, np.arange(3.0), k)
    same(define("def f():\n    return np.max(np.zeros(0))\n"))


def test_small_floats_are_added_up_in_64_bits():
    function = define("def f(a):\n    return a.sum(), a.mean()\n")
    values = np.full(1000, 0.1, np.float32)
    total, mean = interpret(kernel_of(function, values), (values,))
    wide = values.astype(np.float64)
    assert alike((total, mean), (np.float32(wide.sum()), np.float32(wide.mean())))


@pytest.mark.parametrize(("text", "message"), [
    ("np.sum(m, axis=2)", "axis 2 is out of bounds for an array of 2 axes"),
    ("np.sum(m, axis=n)", "an axis must be known at compile time"),
    ("np.sum(m, axis=(0, 0))", "an axis is named twice"),
    ("np.any(m, initial=1)", "no keyword 'initial'"),
    ("(m > 0).sum(initial=0.5)", "of integers begins with an integer"),
    ("sum(m)", "sum() takes an array of one axis"),
])  # fmt: skip
def test_refused(text, message):
    assert message in refusal(define(f"def f(m, n):\n    return {text}\n"), np.zeros((2, 2)), 1)


def weighted(a, w):
    return np.average(a, weights=w)


def test_weights_that_add_up_to_nothing():
    for weights in (np.ones(3), np.zeros(3), np.array([1.0, -1.0, 0.0])):
        same(weighted, np.arange(3.0), weights)
    same(weighted, np.arange(3), np.array([2, -1, -1]))

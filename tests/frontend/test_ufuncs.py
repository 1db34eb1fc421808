"""NumPy's functions of elements: `out`, `where`, `clip`, `round`, of numbers and of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same

TEXTS = [
    "np.add(a, b)", "np.add(a, 1, out=b)", "np.sqrt(abs(a), b)", "np.where(a > 0, a, -a)", "np.where(True, a, b)",
    "np.where(a > 0, a[0], 2.0)", "float(np.where(len(a) > 2, 1, 2.5))",
    "np.clip(a, -1, 1)", "np.clip(a, None, b)", "np.clip(a, b, None)",
    "np.clip(a[0], 0, 1)", "np.round(a)", "np.round(a, 1)", "np.around(a, -1)", "round(a[0], 1)", "np.minimum(a, 0.5)",
    "np.power(a, 2)", "np.logical_and(a > 0, b > 0)", "np.arctan2(a, b)", "np.float32(a)", "np.int64(b)",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_of_elements(text):
    function = define(f"def f(a, b):\n    return {text}\n")
    for size in (1, 3):
        same(function, np.array([-2.5, 0.25, 15.0])[:size], np.array([1.0, -1.0, 3.0])[:size])
    same(function, np.array([0.5, -1.5, 2.5])[::-1], np.zeros(6)[::2])


def test_a_part_is_clipped_where_it_is():
    function = define("""
        def f(a):
            y = np.clip(a=a, a_min=0.0, a_max=1.0, out=a)
            y[0] = 5.0
            np.clip(a[1:], a_min=None, a_max=0.25, out=a[::-1][:-1])
            return y, np.sum(a=a), np.full(shape=2, fill_value=a[0]), np.dot(b=a, a=a)
        """)
    for size in (1, 2, 5):
        same(function, np.linspace(-1.0, 3.0, size))
    same(function, np.linspace(-1.0, 3.0, 7)[::-2])


def test_a_choice_that_is_not_taken_is_read_anyway():
    function = define("def f(a, p):\n    return np.where(p < len(a), a[p], 0.0)\n")
    same(function, np.arange(3.0), np.array([0, 2]))
    same(function, np.arange(3.0), np.array([0, 3]))


@pytest.mark.parametrize(("text", "message"), [
    ("np.sqrt(a, out=1)", "'out' must be an array"), ("np.where(a, 1)", "a condition and two choices"),
    ("np.round(a, n)", "must be known at compile time"),
])  # fmt: skip
def test_refused(text, message):
    assert message in refusal(define(f"def f(a, n):\n    return {text}\n"), np.zeros(3), 2)


def rounded_into(x, y, z):
    np.around(x, 1, y)
    np.round(x, out=z)
    np.round(x, 1, out=x)
    return np.round(x, decimals=0).sum()


def test_rounding_into_an_array():
    same(rounded_into, np.arange(4.0) * 1.37, np.zeros(4), np.zeros(4))
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    with pytest.raises(lw.ArgumentValueError, match="read-only"):
        lw.kernel(rounded_into)(np.ones(4), fixed, np.zeros(4))


def into(a, b, places, c):
    np.sum(a, axis=0, out=b)
    total = b.sum() + a.max(axis=1, out=c)[0]
    np.cumsum(a[0], out=a[0])
    a[1].take(np.array([1, 0]), out=b[:])
    np.argmax(a, axis=0, out=places)
    a[1].clip(0, 2, out=a[1])
    mean = np.mean(a, axis=1, keepdims=True, out=c.reshape(2, 1))
    return total, mean.shape, np.prod(a, axis=0, out=None)


def test_results_go_into_out():
    a = np.arange(4.0).reshape(2, 2)[::-1].copy()
    same(into, a, np.zeros(2), np.zeros(2, np.int64), np.zeros(2))
    same(into, a, np.zeros(3), np.zeros(2, np.int64), np.zeros(2))
    for others in ((np.zeros(2, np.float32), np.zeros(2, np.int64)), (np.zeros(2), np.zeros(2, np.int32))):
        assert "has another type, or other axes" in refusal(into, a, *others, np.zeros(2))
    assert "has another type, or other axes" in refusal(define("def f(a, b):\n    a.sum(axis=0, out=b)\n"), a, a)

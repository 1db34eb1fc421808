"""`and`, `or`, conditional expressions: values, types, and what is not evaluated, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, kernel_of, same, same_value, text_of
from loopwright.ir.interp import interpret

EXPRESSIONS = [
    "x and y", "x or y", "not x", "x and y or 3", "x > 1 and y", "x > 1 or y > 1 and x", "x if y else 2",
    "x if x > y else y", "(x or 0) and (y or 1)", "not (x and y)", "x and 0", "0 or y", "0 and y", "1 and y",
    "x if True else a", "None or y", "(x, y)[0] if x > 1 else y", "(x and y, x or y)", "a[0] > 1 and a[9]",
    "a[0] > 1 and 0 or y", "x if a[0] > 9 and a[9] > 1 else y",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_like_python(expression):
    function = define(f"def f(a, x, y):\n    r = {expression}\n    return r\n")
    for x, y in ((3, 2), (0, 2), (2, 0), (0, 0)):
        a = np.zeros(4)
        same_value(function, a, x, y)
        same_value(function, a, x > 1, y > 1)
        same_value(function, a, np.float32(x), np.float32(y))


@pytest.mark.parametrize(
    "expression", ["x and y", "x or y", "not x", "x if y else x", "x > 1 and y > 1", "x or y or x"]
)
def test_operands_of_one_type_keep_it(expression):
    function = define(f"def f(x, y):\n    return {expression}\n")
    for x, y in ((3, 2), (0, 2), (2, 0), (0, 0)):
        for kind in (int, bool, float, np.float32, np.int8, np.bool_):
            same(function, kind(x), kind(y))


def tuples_of_calls(x, k):
    low, high = (x.min(), x.max()) if k else (0.0, 0.5)
    row, (total, one) = (x * 2, (x.sum(), 1.0)) if k > 1 else (x, (0.0, 2.0))
    quotient, rest = divmod(int(x.sum()), k) if k else (int(x.sum()), 0)
    return float(low), float(high), row + 1, float(total), one, quotient, rest


def test_conditional_expressions_choose_tuples_that_calls_make():
    for k in range(3):
        same(tuples_of_calls, np.arange(3.0) + 1, k)
    same(tuples_of_calls, np.zeros(0), 0)
    same(tuples_of_calls, np.zeros(0), 1)


def test_an_operand_that_does_not_fit_the_type_of_both():
    function = define("def f(a, x):\n    return x or a[0]\n")
    same_value(function, np.ones(1, np.int8), 5)
    same_value(function, np.ones(1, np.int8), 0)
    kernel = kernel_of(function, np.ones(1, np.int8), 300)
    with pytest.raises(OverflowError):
        interpret(kernel, (np.ones(1, np.int8), 300))


def test_nothing_is_added_where_nothing_is_needed():
    function = define("def f(a, i):\n    if i > 0 and a[i - 1] > 0 or not a[i] < 3:\n        a[i] = 1\n")
    assert "if i > 0 and a[i - 1] > 0.0 or not a[i] < 3.0:" in text_of(function, np.zeros(3), 1)


def test_a_choice_of_tuples():
    function = define("def f(x, y):\n    p, q = (x, y) if x > y else (y, x)\n    return p, q\n")
    same(function, 3, 2)
    same(function, 2, 3)


def test_conditions_that_need_statements():
    function = define("""
        def f(a, n):
            def first(k):
                for i in range(len(a)):
                    if a[i] == k:
                        return i
                return -1

            count = 0
            while n < 5 and first(n) >= 0 or first(9) == 0:
                n += 1
                count += first(n) if first(n) > 0 else 10
            if first(1) == 0 or first(2) == 0 and first(3) == 0:
                count += 100
            elif first(3) > first(2):
                count += 1000
            return count
        """)
    same(function, np.array([3, 1, 4, 2]), 1)
    same(function, np.array([1, 2, 3, 4]), 1)

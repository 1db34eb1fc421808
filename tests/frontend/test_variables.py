"""Variables: names of expressions, values that must not change, captured names."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, same, text_of


def test_a_name_for_an_expression_keeps_its_value():
    function = define("""
        def f(a, n):
            i = 0
            k = i + n
            i = 5
            size = len(a)
            n = 2
            pair = (i, n)
            i = 7
            n = 9
            return k, i, n, size, pair[0], pair[1]
        """)
    same(function, np.zeros(4), 3)


def test_a_name_in_a_loop_is_that_of_its_iteration():
    function = define("""
        def f(a, b):
            for i in range(3):
                k = i * 2
                row = b[i]
                for j in range(2):
                    a[k + j - j] += row[j]
                    k2 = k + j
                    a[k2] += 1
        """)
    same(function, np.zeros(8), np.arange(6.0).reshape(3, 2))


def test_rotating_values():
    function = define("""
        def f(n):
            a, b, c = 0, 1, 2
            for i in range(n):
                a, b, c = b, c, a + b
            return a, b, c
        """)
    same(function, 9)


def test_tuple_assignment_adds_nothing_where_nothing_is_needed():
    function = define("def f(a, i):\n    x, y = a[i], a[i + 1]\n    a[0], z = y, x\n    return z\n")
    assert "t.1" not in text_of(function, np.zeros(3), 1)
    same(function, np.arange(3.0), 1)
    function = define("def f(a, i):\n    a[0], z = 5, a[i]\n    return z\n")
    assert "t.1" in text_of(function, np.zeros(3), 1)
    same(function, np.arange(3.0), 0)


def test_nested_targets_in_order():
    function = define("""
        def f(a):
            x, y, z = 1, 2, 3
            for k in range(3):
                (x, y), z = (z, x), y
                y, (a[x % 3], z) = z + k, (x, y)
                a[y % 3], (x, y) = x, (y, a[0])
            return x, y, z
        """)
    same(function, np.zeros(3, np.int64))


def test_tuples_that_rotate():
    function = define("""
        def f(n):
            t = (0, 1)
            for i in range(n):
                t = (t[1], t[0] + t[1])
            return t[0], t[1]
        """)
    same(function, 9)


def test_parameters_that_are_assigned():
    function = define("""
        def f(a, n, x):
            n = n + 1
            if n > 3:
                x = x * 2
            n += a.shape[0]
            return n, x
        """)
    same(function, np.zeros(2), 3, 1.5)
    same(function, np.zeros(2), 2, np.float32(1.5))
    assert "n.2" not in text_of(function, np.zeros(2), 3, 1.5)


def test_flags_have_names_of_their_own():
    function = define("""
        def f(p, n):
            for i in range(n):
                if p["set"][i] > 0:
                    x = i
            return x + p["x"][0]
        """)
    records = np.zeros(3, [("set", "i8"), ("x", "f8")])
    records["set"][1] = 1
    same(function, records, 3)
    assert same(function, records, 1) is UnboundLocalError


@pytest.mark.parametrize(
    "test", ["best is None", "best == None", "None is best", "not best is not None", "not best != None"]
)
def test_a_variable_that_is_none_at_times(test):
    function = define(f"""
        def f(a):
            best = None
            for x in a:
                if {test} or x > best:
                    best = x
            return best, best is None
        """)
    for size in (0, 1, 4):
        same(function, np.array([2.0, 5.0, 1.0, 3.0])[:size])


def test_numbers_in_an_expression_of_arrays_are_those_of_their_place():
    same(define("def f(a, s):\n    s = s + 1\n    b = (a * s) + (s := 2)\n    return b, s\n"), np.arange(3.0), 4)


def test_a_number_where_an_array_was_is_told_in_words():
    function = define("""
        def f(a, c):
            x = a + 1
            if c > 0:
                x = 1.0
            return x
        """)
    with pytest.raises(lw.KernelError, match="'x' is a Python float here and an array elsewhere"):
        lw.kernel(function)(np.ones(3), 1)

"""Variables: names of expressions, values that must not change, captured names."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same, text_of


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
            while c > 0:
                x, c = 1.0, 0
            return x
        """)
    with pytest.raises(lw.KernelError, match="'x' is a Python float here and an array elsewhere"):
        lw.kernel(function)(np.ones(3), 1)


NONE_AT_TIMES = [
    "b = None\nif c > 0:\n    b = a * 2\nreturn b",
    "b = None\nif c > 0:\n    b = a[a > c]\nif b is None:\n    return a[0]\nreturn b.sum()",
    "b = None\nfor i in range(c):\n    if b is None:\n        b = a * i\n    else:\n        b = b + a\nreturn b",
    "k, b = None, None\n"
    "for i in range(len(a)):\n    if a[i] > c:\n        k, b = i, a + a[i]\n        break\nreturn k, b, c",
    "b = a\nif c == 0:\n    b = None\nreturn b",
    "b = None\nif c > 0:\n    b = np.zeros((c, 2))\nx = None\nif c == 1:\n    x = a * 1j\nreturn b, x",
    "b = None\nif c > 0:\n    b = (c, 2.0)\nif b is None:\n    return -1.0\nreturn b[1]",
    "b = None\nif c > 0:\n    b = (c, 2.0)\nreturn b",
    "b = None\nfor i in range(c):\n    if b is None or a[i] < b[1]:\n        b = (i, a[i])\n"
    "if b is not None:\n    i, v = b\n    return v\nreturn a[0]",
    "b = (1, None)\nif c > 0:\n    b = (2, 3.0)\nif b[1] is None:\n    return 0.5\nreturn 0.25",
    "def h():\n    if c > 0:\n        return a[c]\n    return None\nr = h()\nif r is None:\n    return a[0]\nreturn r",
    "def h(x):\n    if x > 1.0:\n        return x ** 0.5\nreturn h(a[c])",
    "def h(x):\n    if x > 1.0:\n        return x\nb = None\n"
    "for i in range(len(a)):\n    t = h(a[i] + c)\n"
    "    if t is None:\n        continue\n    if b is None or t < b:\n        b = t\nreturn b",
]


@pytest.mark.parametrize("body", NONE_AT_TIMES)
@pytest.mark.parametrize("c", [0, 1, 2])
def test_what_is_none_at_times(body, c):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    same(define(f"def f(a, c):\n{lines}\n"), np.array([0.5, 3.0, 1.0]), c)


def test_a_result_of_a_helper_that_is_an_array_or_none_is_refused():
    function = define("""
        def f(a, c):
            def h():
                if c > 0:
                    return a * 2, None
                return a * 1, a * 3
            x, y = h()
            return x, y
        """)
    assert "an array on some paths, and None on others" in refusal(function, np.ones(3), 1)


def first_of(a, c):
    b = None
    if c > 1:
        b = a * 2
    return b[0]


def one_more(a, c):
    def above(x):
        if x > c:
            return x
        return None

    return above(a[0]) + 1


@pytest.mark.parametrize("function", [first_of, one_more])
def test_none_used_as_what_it_is_not_is_a_type_error(function):
    for c in (0, 2):
        a = np.array([1.5])
        try:
            expected = function(a, c)
        except TypeError:
            with pytest.raises(TypeError):
                lw.kernel(function)(a, c)
        else:
            assert lw.kernel(function)(a, c) == expected


def part_of(a, k):
    if k > 1:
        chosen = slice(0, k)
    else:
        chosen = slice(k, a.size)
    return a[chosen].sum(), chosen.start


def parts_in_a_loop(a, n):
    total = 0.0
    for j in range(n):
        if j % 2:
            part, start = part_of(a, j)
            total += part * start + j
    return total


def moving_part(a, n):
    total, s = 0.0, slice(0, 1)
    for i in range(n):
        total += a[s].sum() * (i + 1)
        s = slice(s.start + 1, s.stop + 2)
    return total, a[s].copy(), s.step is None


def with_steps(a, k):
    s = slice(0, 6, 2)
    if k:
        s = slice(1, 6, 3)
    return a[s].copy(), s.step


def test_a_name_of_several_slices():
    a = np.arange(7.0) ** 2
    same(part_of, a, 3)
    same(part_of, a, 1)
    same(parts_in_a_loop, a, 4)
    same(moving_part, a, 3)
    same(with_steps, a, 0)
    same(with_steps, a, 1)

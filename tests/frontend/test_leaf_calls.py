"""Calls that end at once: computed before anything is kept, with what they return and nothing else set."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, kernel_of, same
from loopwright.ir.nodes import If, Store
from loopwright.ir.walk import statements


def _is_tested_first(function, *arguments) -> bool:
    """Whether each call is kept in a branch, behind a test of what it is given."""
    body = kernel_of(function, *arguments).body
    tests = [stmt for stmt in statements(body, If) if ".leaf" in str(stmt.condition)]
    kept = {id(stmt) for stmt in statements(body, Store) if stmt.array.endswith(".stack")}
    return bool(kept) and kept <= {id(stmt) for test in tests for stmt in statements(test.otherwise, Store)}


FIRST = {
    "a test and what follows": """
        def f(n):
            if n < 2:
                return n
            return f(n - 1) + f(n - 2)
        """,
    "one of two": """
        def f(n):
            return n if n < 2 else f(n - 1) + f(n - 2)
        """,
    "the other of two": """
        def f(n):
            if n > 1:
                return f(n - 1) + f(n - 2)
            else:
                return 3 * n + 1
        """,
    "two tests": """
        def f(n, k):
            if k == 0:
                return 1
            if n < 0 or k < n % 3:
                return -n
            return f(n - k, k - 1) + 2 * f(n - 1, k)
        """,
    "arguments exchanged": """
        def f(a, b, c):
            if a <= 0:
                return b - c
            return f(a - 1, c, b) * 2 + f(a - 2, b + c, a)
        """,
    "a value of the caller, used again": """
        def f(n):
            if n == 0:
                t = 5
                return t
            t = n * n
            u = f(n - 1)
            return t + u + f(0)
        """,
    "two results": """
        def f(n):
            if n < 1:
                return n, 2.5
            a, b = f(n - 1)
            c, d = f(n - 3)
            return a + c, b * d
        """,
}


@pytest.mark.parametrize("which", FIRST)
def test_what_ends_at_once_is_not_kept(which):
    f = define(FIRST[which])
    more = range(3, 2 + f.__code__.co_argcount)
    for n in (0, 1, 6):
        same(f, n, *more)
    assert _is_tested_first(f, 6, *more)


OTHERS = {
    "no test first": """
        def f(n, a):
            a[n] += 1
            if n < 1:
                return 0
            return f(n - 1, a) + f(n - 1, a)
        """,
    "work at the end": """
        def f(n, a):
            if n < 1:
                for k in range(3):
                    a[k] += k
                return a[0] + a[1]
            return f(n - 1, a) + f(n - 1, a)
        """,
    "an element decides": """
        def f(n, a):
            if n < 0 or a[n] > 3:
                return a[n % 5] + n
            a[n] += 1
            return f(n - 1, a) + f(n - 2, a)
        """,
    "an error decides": """
        def f(n, a):
            if a[5 - n] > 3:
                return 1
            return f(n - 1, a) + f(n - 2, a)
        """,
    "no value": """
        def f(n, a):
            if n < 0:
                return
            f(n - 1, a)
            a[n] = a[n] * 2 + n
            f(n - 2, a)
        """,
    "a name without a value": """
        def f(n, a):
            if n < 0:
                return n
            if n == 2:
                z = 3
            return f(n - 1, a) + (z if n == 2 else 1)
        """,
}


@pytest.mark.parametrize("which", OTHERS)
def test_others_are_as_in_python(which):
    f = define(OTHERS[which])
    for n in (-1, 0, 4):
        same(f, n, np.arange(5))


def test_a_call_too_deep_is_an_error_still():
    f = define("def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\n")
    same(f, 900)
    assert same(f, 1100) is RecursionError

"""Helpers: module-level, nested, marked, with early returns, tuples and arrays; each against CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from frontend.judge import define, kernel_of, lowered, same, text_of
from loopwright.ir.nodes import Block, ReturnedScalar
from loopwright.ir.types import INT64
from loopwright.ir.walk import statements

SCALE = 3


def square(x):
    return x * x


@loopwright.function
def clip(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def find(a, value):
    for i in range(len(a)):
        if a[i] == value:
            return i
    return -1


def both(x, y):
    return x + y, x - y


def fill(a, value, start=0, *, step=1):
    for i in range(start, len(a), step):
        a[i] = value


def scaled(x):
    return clip(square(x), 0, 20) * SCALE


def new(n, value):
    out = np.zeros(n)
    for i in range(n):
        out[i] = value + i
    return out


def first_large(a):
    i = 0
    while True:
        if a[i] > 3:
            return a[i]
        i += 1
        if i == len(a):
            break
    return -1


def uses(a, b):
    for i in range(len(a)):
        b[i] += square(a[i]) + clip(a[i], 1, 3) + scaled(i)
    return find(a, 4), find(a, 99)


def test_helpers_of_helpers():
    same(uses, np.array([3, 1, 0, 4]), np.zeros(4))
    same(uses, np.array([3, 1, 0, 4], np.float32), np.zeros(4, np.int32))


def uses_arrays(a):
    fill(a, 2)
    fill(a, step=2, value=5.5)
    fill(value=7, start=3, a=a)
    s, d = both(a[0], a[1])
    t = both(s, d)
    mine = new(3, s)
    return t[0] * mine[1] + len(mine)


def test_arrays_tuples_and_keywords():
    same(uses_arrays, np.zeros(5))


def order(a):
    def bump():
        a[0] += 1
        return a[0]

    x = a[0] + bump()
    a[1] = a[0] * 10 + bump()
    y = bump() + a[0]
    z = a[0] if bump() > 3 else -a[0]
    return x, y, z


def test_operands_before_a_call_keep_their_value():
    same(order, np.zeros(3))


def lazy(a):
    def bump(k):
        a[k] += 1
        return a[k] > 1

    p = a[0] > 0 or bump(0)
    q = a[0] > 5 and bump(1)
    r = 0 < a[0] < (2 if bump(2) else 3)
    s = bump(3) if a[0] > 0 else bump(4)
    t = bump(5) or bump(5) or bump(5)
    return p, q, r, s, t


def test_calls_are_made_only_when_python_makes_them():
    same(lazy, np.zeros(6))


def test_one_return_needs_no_block():
    kernel = kernel_of(uses, np.zeros(4), np.zeros(4))
    assert [stmt.name for stmt in statements(kernel.body) if isinstance(stmt, Block)] == ["find.body", "find.body.2"]


def early_exit(a):
    return first_large(a) + first_large(a)


def test_return_from_an_inner_loop():
    same(early_exit, np.array([1, 2, 5, 4]))
    assert lowered(early_exit, np.array([1, 2])).kernel.returned == (ReturnedScalar(INT64, python=False),)


def index_argument(a, b):
    def at(i, j):
        return a[i + 1, j]

    for i in range(a.shape[0] - 1):
        for j in range(a.shape[1]):
            b[i, j] = at(i, j) + at(i, j - 1)


def test_index_arguments_stay_affine():
    arguments = np.arange(12.0).reshape(3, 4), np.zeros((3, 4))
    same(index_argument, *arguments)
    assert "b[i, j] = a[i + 1, j] + a[i + 1, j - 1]" in text_of(index_argument, *arguments)


def higher(a):
    def apply(f, x):
        return f(x, 2)

    def power(x, k):
        return x**k

    return apply(power, a[0]) + apply(lambda_like, a[1])


def lambda_like(x, k):
    return x + k


def test_functions_as_arguments():
    same(higher, np.array([3.0, 4.0]))


def optional(a, weight=None):
    if weight is None:
        weight = 1.0
    for i in range(len(a)):
        a[i] *= weight


def passes_none(a):
    optional(a)
    optional(a, 2)
    optional(a, None)
    optional(a, a[0])


def test_arguments_that_are_none():
    same(passes_none, np.array([2.0, 3.0]))


def test_numba_helpers_are_inlined():
    numba = pytest.importorskip("numba")
    helper = numba.njit(square)
    function = define("def f(x):\n    return helper(x) + 1\n", helper=helper)
    kernel_of(function, 3.0)


def changed_parameter(x, n):
    def halve(n):
        n = n // 2
        n += 1
        return n

    return halve(n) + halve(x) + n


def test_parameters_can_be_assigned():
    same(changed_parameter, 9, 4)
    same(changed_parameter, np.int8(9), 4)


def only_effects(a):
    def clear(k):
        if k < 0:
            return
        a[k] = 0

    clear(1)
    for i in range(2):
        clear(i - 1)


def may_be_none(x, y):
    def first(a, b=None):
        if x > 100:
            return b
        return None

    def value(a):
        if a is None:
            return 3
        return a + 1

    return first(x) is None, value(first(x)), value(y), value(None)


def test_helpers_that_return_none():
    same(may_be_none, 1, 2)


def test_calls_for_their_effects():
    same(only_effects, np.ones(3))

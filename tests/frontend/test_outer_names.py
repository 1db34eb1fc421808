"""`nonlocal`: what a nested function assigns of the functions around it."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same


def counted(a, n):
    count, total = 0, 0.0

    def add(x):
        nonlocal count, total
        count += 1
        total = total + x
        return count

    def twice(x):
        add(x)
        return add(2 * x) + count

    first = count + twice(1) * 100 + count
    for i in range(n):
        if a[i] > 0:
            add(a[i])
    return count, total, first


def with_a_stack(n):
    top, out = -1, 0
    stack = np.zeros(20, np.int64)

    def push(x):
        nonlocal top
        top += 1
        stack[top] = x

    def pop():
        nonlocal top
        top -= 1
        return stack[top + 1]

    push(n)
    while top >= 0:
        v = pop()
        out += v
        if v > 1:
            push(v // 2)
            push(v - v // 2 - 1)
    return out, top


def of_a_parameter(n, more):
    if more:
        n += 1

    def less():
        nonlocal n
        n -= 1
        return n > 0

    count = 0
    while less():
        count += 1
    for i in range(n + 3):
        n += i
    return count, n


def two_around(n):
    x, y = 1, 2

    def outer():
        nonlocal x

        def inner():
            nonlocal x, y
            x, y = y, x + y

        inner()
        x += 0.5

    for _ in range(n):
        outer()
    return x, y


def above_its_first_line(n):
    def more():
        nonlocal v
        v = v + n
        return v

    v = 3
    total = more() + more()
    v *= 2
    return total, v, [more() for _ in range(3)][2]


def the_best(a):
    best, where = -1.0, -1

    def see(i):
        nonlocal best, where
        if a[i] > best:
            best, where = a[i], i

    for i in range(len(a)):
        see(i)
    return best, where


def in_a_recursion(n):
    x = 0

    def visit(depth):
        nonlocal x
        x += depth
        if depth > 0:
            visit(depth - 1)
            visit(depth - 2)
        x += 1

    visit(n)
    return x


def in_a_condition(n):
    x = count = 0

    def step(k):
        nonlocal x
        x += k
        return x < 10

    for i in range(n):
        if step(i) and step(i):
            count += x
        else:
            count -= 1
    return count, x


def in_a_loop(n):
    k = total = 0

    def upto(m):
        nonlocal k
        for k in range(m):
            if k * k > m:
                break
        return k

    for i in range(1, n):
        total += upto(i) + k
    return k, total


def a_bound_that_changes(n):
    def less():
        nonlocal n
        n -= 1
        return n

    total = 0
    for i in range(n):
        total += i * less()
    return total, n + less() * n


def beside_an_exchange(n):
    u, v, k = np.zeros(3), np.ones(3), 0

    def put(w):
        nonlocal k
        w[k] += 1
        k = (k + 1) % 3

    for _ in range(n):
        put(u)
        u, v = v, u
        put(v)
    return u, v, k


def in_a_generator(n):
    k = total = 0

    def items(m):
        nonlocal k
        for i in range(m):
            k += 1
            yield i * k

    for x in items(n):
        total += x + k
        k += 10
    return total, k


def before_it_raises(n):
    k = total = 0

    def put(i):
        nonlocal k
        k = i
        if i > 2:
            raise ValueError("big")
        return k

    for i in range(n):
        try:
            total += put(i) + k
        except ValueError:
            total += 100 * k
    return total, k


def none_at_first(n):
    largest = None

    def see(i):
        nonlocal largest
        if largest is None or i > largest:
            largest = i

    for i in range(n):
        see(i % 4)
    return largest


def handed_on(n):
    k = 5

    def more():
        nonlocal k
        k += n
        return k

    def around(function, m):
        return function() + m + function()

    return around(more, k), around(lambda: more() * k, k), k


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (counted, (np.array([1.0, -2.0, 3.0]), 3)),
        (with_a_stack, (9,)),
        (of_a_parameter, (4, True)),
        (of_a_parameter, (4, False)),
        (two_around, (4,)),
        (above_its_first_line, (4,)),
        (the_best, (np.array([1.0, 5.0, 3.0]),)),
        (in_a_loop, (4,)),
        (in_a_recursion, (4,)),
        (in_a_condition, (5,)),
        (a_bound_that_changes, (5,)),
        (beside_an_exchange, (5,)),
        (in_a_generator, (4,)),
        (before_it_raises, (5,)),
        (none_at_first, (6,)),
        (none_at_first, (0,)),
        (handed_on, (2,)),
    ],
)
def test_nested_functions_assign(function, arguments):
    same(function, *arguments)


def test_refused():
    text = "def f(a):\n    x = a + 1\n    def g():\n        nonlocal x\n        x = a * 2\n    g()\n    return x\n"
    assert "only numbers, and tuples of numbers" in refusal(define(text), np.ones(2))
    text = "def f(n):\n    k = 0\n    def g():\n        nonlocal k\n        return (k := n)\n    return g() + k\n"
    assert "only '=' and 'for' assign such a name" in refusal(define(text), 3)
    text = "def make():\n    v = 2\n    def put(w):\n        nonlocal v\n        v = w\n    return put\nf = make()\n"
    assert "'nonlocal' is outside the language" in refusal(define(text), 3)

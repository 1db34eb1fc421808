"""Arrays that a call is given and gives back: what a helper makes of its parameter is the caller's from then on."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import same


def larger(stack):
    made = np.empty(2 * len(stack), stack.dtype)
    made[: len(stack)] = stack
    return made


def more_rows(stack):
    made = np.empty((2 * stack.shape[0], 2), stack.dtype)
    made[: stack.shape[0]] = stack
    return made


def pushed(stack, x, size):
    if size >= len(stack):
        stack = larger(stack)
    stack[size] = x
    return stack, size + 1


def pushed_unless(stack, x, size):
    if x % 3 == 0:
        return stack, size
    if size >= len(stack):
        stack = larger(stack)
    stack[size] = x
    return stack, size + 1


def pair_pushed(stack, x, y, size):
    if size >= stack.shape[0]:
        stack = more_rows(stack)
    stack[size, 0] = x
    stack[size, 1] = y
    return stack, size + 1


def doubled(a, b):
    for k in range(2):
        a[0] += k
        if k:
            a = a * 2
    return a, b + a


def exchanged(a, b):
    for k in range(2):
        a[0] += k
        if k:
            a = a * 2
            b = b + a
    return a, b


def kept_inside(a, n):
    old = a.copy()
    for k in range(n):
        a[k] += 1
        if k == 1:
            a = a + old
    return a, old


def on_a_stack(n):
    stack, size = np.empty(2, np.int64), 0
    for k in range(n):
        stack, size = pushed(stack, k, size)
    return stack[:size], len(stack)


def on_a_stack_at_times(n):
    stack, size = np.empty(2, np.int64), 0
    for k in range(n):
        stack, size = pushed_unless(stack, k, size)
    return stack[:size], len(stack)


def on_a_stack_of_pairs(n):
    stack, size = np.empty((2, 2), np.int64), 0
    for k in range(n):
        stack, size = pair_pushed(stack, k, -k, size)
    return stack[:size].sum(axis=0), size


def beside_what_is_made_of_it(n):
    a = np.arange(4.0)
    for k in range(n):
        before = a * 2
        a, c = doubled(a, before)
        before[0] = k
    return a, c, before


def beside_a_part_of_it(n):
    a = np.arange(4.0)
    for _ in range(n):
        a, c = doubled(a, a[1] + a)
    return a, c


def in_the_other_order(n):
    a, b = np.arange(3.0), np.ones(3)
    for _ in range(n):
        b, a = exchanged(a, b)
    return a, b


def twice_in_a_call(n):
    a, s = np.arange(4.0), 0.0
    for _ in range(n):
        a, old = kept_inside(a, 3)
        s += old[1]
    return a, s


def with_a_view_before(n):
    a = np.arange(4.0)
    for k in range(n):
        first = a[:2].copy()
        a, old = kept_inside(a, 2)
        a[k % 4] += first[1] + old[0]
    return a


def shortened(n):
    a = np.arange(9)
    for k in range(n):
        a = a[: 5 - k]
        a[0] += k
    return a, len(a)


CASES = [
    on_a_stack, on_a_stack_at_times, on_a_stack_of_pairs, beside_what_is_made_of_it, twice_in_a_call,
    with_a_view_before, shortened,
]  # fmt: skip
OPEN = [in_the_other_order, beside_a_part_of_it]


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("function", CASES, ids=lambda one: one.__name__)
def test_as_in_python(function, n):
    same(function, n)


def by_a_nested_function_that_reads_the_name_too(n):
    a = np.arange(4.0)

    def inner(b):
        for k in range(2):
            b[0] += k
            if k:
                b = b * 2
        return b + a

    for _ in range(n):
        a = inner(a)
    return a


@pytest.mark.parametrize("function", [*OPEN, by_a_nested_function_that_reads_the_name_too])
def test_refused_or_as_in_python(function):
    try:
        same(function, 2)
    except lw.KernelError as error:
        assert "another" in str(error)


def test_compiled():
    for n in (0, 5, 100):
        expected, found = on_a_stack(n), lw.kernel(on_a_stack)(n)
        assert np.array_equal(expected[0], found[0]) and expected[1] == found[1]

"""Generators that a loop of a kernel goes over, against CPython: what is read and written comes in the same order."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, refusal, same, same_made


def groups(c):
    start = 0
    while start < len(c) and c[start] == -1:
        yield start, start + 1
        start += 1
    stop = start
    while stop < len(c):
        start, label = stop, c[stop]
        while stop < len(c) and c[stop] == label:
            stop += 1
        yield start, stop


def up(n, k=1):
    if n < 0:
        return
    for i in range(0, n, k):
        if i == 7:
            return
        yield i
    yield -1


def over_groups(c):
    out = [0]
    n = 0
    for a, b in groups(c):
        if b - a == 2:
            continue
        n += 1
        if a > 8:
            break
        out.append(a * 100 + b)
    else:
        out.append(-5)
    return out, n


def nested(c):
    n = 0
    for i in up(len(c), k=2):
        for j in up(i, 2):
            n += i * j + 1
            if j > 3:
                break
        for j in up(n % 5 - 2):
            if j == 1:
                continue
            n += 1000 * j
    return n


@pytest.mark.parametrize("text", ["-1 -1 0 0 0 1 2 2 3 4 4 4", "", "5", "-1", "1 1", "0 1 2 3 4 5 6 7 8 9"])
def test_loops_over_generators(text):
    c = np.array(text.split(), np.int64)
    for function in (over_groups, nested):
        same(function, c)
        same(function, np.repeat(c, 2)[::-2])


def written(a, log):
    for i in range(len(a)):
        a[i] += 1
        yield a[i]
        log[i] = a[i]


def writes_in_turns(a, b, log):
    total = 0
    for x in written(a, log):
        total = 2 * total + x
        b[0] += 10  # of the same memory, at times: the generator sees it when it goes on
    return int(total)


def test_the_generator_and_the_loop_take_turns():
    same(writes_in_turns, np.arange(4), np.zeros(1, np.int64), np.zeros(4, np.int64))
    same_made(writes_in_turns, lambda: (lambda a: (a, a[2:], np.zeros(4, np.int64)))(np.arange(4)))
    same_made(writes_in_turns, lambda: (lambda a: (a, a[1:], a))(np.arange(4)))


def rows(m):
    for row in m:
        yield row[::-1]
    yield m[0]


def writes_rows(m):
    for k, row in ((0, m[0]), (1, m[1])):
        row[0] += k
    for row in rows(m):
        row[1:] += 1.0
    return float(m.sum())


def test_what_is_yielded_may_be_a_view():
    same(writes_rows, np.arange(6.0).reshape(2, 3))


def raising(n):
    for i in range(n):
        if i == 2:
            raise ValueError("too far")
        yield i


def test_an_exception_leaves_what_was_done():
    function = define("""
        def f(a, n):
            for i in raising(n):
                a[i] += 1
            return n
        """, raising=raising)  # fmt: skip
    for n in (0, 2, 3):
        a, b = np.zeros(4), np.zeros(4)
        try:
            expected = function(a, n)
        except ValueError:
            expected = None
        if expected is None:
            with pytest.raises(ValueError, match="too far"):
                lw.kernel(function)(b, n)
        else:
            assert lw.kernel(function)(b, n) == expected
        assert alike(a, b)


def endless(x):
    while True:
        yield x
        x *= 0.5


def test_one_without_an_end_and_on_a_gpu():
    function = define("""
        def f(x):
            total = 0.0
            for y in endless(x):
                if y < 0.01:
                    break
                total += y
            return total
        """, endless=endless)  # fmt: skip
    same(function, 3.0)
    with lw.options(device="emulated"):
        assert lw.kernel(function)(3.0) == function(3.0)


def test_a_jitted_generator_is_a_helper_too():
    from loopwright.numba import njit

    function = define(
        "def f(c):\n    n = 0\n    for a, b in groups(c):\n        n += a * b\n    return n\n", groups=groups
    )
    jitted = define(
        "def f(c):\n    n = 0\n    for a, b in groups(c):\n        n += a * b\n    return n\n", groups=njit(groups)
    )
    c = np.array([-1, 0, 0, 3])
    assert njit(jitted)(c) == function(c)
    assert lw.kernel(define(
        "def f(c):\n    n = 0\n    for a, b in groups(c):\n        n += a * b\n    return n\n", groups=lw.kernel(groups)
    ))(c) == function(c)  # fmt: skip


@pytest.mark.parametrize(("body", "message"), [
    ("return sum(up(3))", "take them in a loop"), ("x = up(3)", "take them in a loop"),
    ("for k, x in enumerate(up(3)):\n        pass", "take them in a loop"),
    ("b = a * 2\n    for x in groups(b):\n        b = b + 1\n    return b", "assigned again while a loop goes over"),
])  # fmt: skip
def test_refused(body, message):
    assert message in refusal(define(f"def f(a):\n    {body}\n", up=up, groups=groups), np.ones(3))


def test_a_call_of_a_generator_is_refused():
    generator = lw.kernel(up)
    with pytest.raises(lw.KernelError, match="'up' is a generator"):
        generator(3)
    assert list(generator.py_func(3)) == list(up(3))


def test_a_nested_generator_reads_and_keeps_what_is_around_it():
    function = define("""
        def f(a, n):
            k = 2
            def primes(n):
                for i in range(2, n):
                    for j in range(2, i):
                        if i % j == 0:
                            break
                    else:
                        yield i * k
            def pairs(x):
                for i in range(len(x)):
                    yield i, x[i]
            s = 0.0
            for p in primes(n):
                s += p
                k = 3
                if s > 60:
                    break
            for i, v in pairs(a):
                for j, w in pairs(a[i:]):
                    s += v * w * j + k
            return s
    """)
    for n in (0, 9, 40):
        same(function, np.arange(5.0), n)

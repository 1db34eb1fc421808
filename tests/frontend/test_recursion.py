"""Helpers that call themselves at their end: loops."""

from __future__ import annotations

import numpy as np

from frontend.judge import define, refusal, same


def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


def place(a, wanted, low, high):
    """A binary search."""
    if low >= high:
        return -1
    middle = (low + high) // 2
    if a[middle] == wanted:
        return middle
    elif a[middle] < wanted:
        return place(a, wanted, middle + 1, high)
    else:
        return place(a, wanted, low, middle)


def power(x, n, result):
    return result if n == 0 else power(x * x, n // 2, result * x if n % 2 else result)


def endless(n):
    return endless(n + 1)


def test_as_python():
    names = {"gcd": gcd, "place": place, "power": power}
    function = define("""
        def f(a, n):
            total = 0
            for i in range(n):
                total += gcd(i * 12, 18) + place(a, i, 0, len(a))
            def steps(k, count):
                return count if k == 1 else steps(k // 2 if k % 2 == 0 else 3 * k + 1, count + 1)
            return total, power(1.5, n, 1.0), steps(n + 1, 0)
        """, "last_calls.py", **names)  # fmt: skip
    for n in (0, 1, 9):
        same(function, np.array([0, 2, 3, 5, 6]), n)


def test_no_end():
    same(define("def f(n):\n    return endless(n)\n", "endless.py", endless=endless), 3)


def with_one_more(a, n):
    if a.min() <= 0:
        a += 1
    a = np.hstack((a, np.array([0])))
    below = a[:1] if n == 0 else with_one_more(a[:2], n - 1)
    return below + a.sum()


def test_a_kernel_that_calls_itself_and_has_a_parameter_taken_apart_is_read_to_an_end():
    assert "KernelError" in refusal(with_one_more, np.arange(5), 2)

"""Functions of `heapq` and `math` that are loops of their own."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, same


def sorted_by_a_heap(a):
    heap = []
    for k in range(len(a)):
        heapq.heappush(heap, (a[k], -k))
    order = []
    while heap:
        x, k = heapq.heappop(heap)
        order.append((k, x))
    return order


def exchanged(a):
    heap = [a[0], a[1], a[2]]
    heapq.heapify(heap)
    x = heapq.heapreplace(heap, a[3])
    y = heapq.heappushpop(heap, a[4])
    z = heapq.heappushpop(heap, a[4] - 100)
    return x, y, z, heap


def of_a_comprehension(a):
    heap = [(x, k) for k, x in enumerate(a)]
    heapq.heapify(heap)
    return heap


@pytest.mark.parametrize("a", [[3.0, 1, 2, 1, 5, 0, 2], [1.0] * 6, [5.0, 4, 3, 2, 1], [1.0, 2, 3, 4, 5, 6, 7, 8]])
def test_heaps(a):
    same(sorted_by_a_heap, np.array(a))
    same(exchanged, np.array(a))
    same(of_a_comprehension, np.array(a))


def test_empty():
    same(sorted_by_a_heap, np.zeros(0))
    empty = define(
        "def f(a):\n    h = []\n    for x in a:\n        h.append(x)\n    return heapq.heappop(h)\n", heapq=heapq
    )
    same(empty, np.ones(1))
    with pytest.raises(IndexError):
        lw.kernel(empty)(np.zeros(0))


def whole_numbers(a, b):
    return math.gcd(a, b), math.lcm(a, b), math.factorial(abs(a) % 20), math.comb(abs(a), abs(b)), math.isqrt(abs(a))


def test_whole_numbers():
    for a, b in ((12, 18), (0, 0), (0, 5), (-4, 6), (7, 3), (20, 10), (10**9, 2), (2**62, 1)):
        same(whole_numbers, a, b)
    for text in ("math.factorial(n)", "math.comb(n, 1)", "math.isqrt(n)"):
        with pytest.raises(ValueError):
            lw.kernel(define(f"def f(n):\n    return {text}\n", math=math))(-1)


def divisor_of_all(a):
    result = int(a[0])
    for x in a:
        result = math.gcd(result, x)
    return result


def test_of_elements():
    same(divisor_of_all, np.array([12, 18, -6]))
    same(divisor_of_all, np.array([12, 18], np.uint8))

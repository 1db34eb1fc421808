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


def floats(x, y, n, k):
    return (
        math.isclose(x, y), math.isclose(x, y, rel_tol=0.1), math.isclose(x, y, abs_tol=1.0, rel_tol=0.0),
        math.modf(x), math.modf(n), math.perm(n, k),
    )  # fmt: skip


def test_functions_of_floats():
    for x, y in (
        (1.0, 1.0 + 1e-10),
        (2.75, 3.0),
        (-0.0, 0.5),
        (math.inf, math.inf),
        (-math.inf, 1.0),
        (-2.5, math.nan),
    ):
        same(floats, x, y, 5, 3)
    for text in ("math.perm(-1, 2)", "math.isclose(x, x, rel_tol=-x)"):
        with pytest.raises(ValueError):
            lw.kernel(define(f"def f(x):\n    return {text}\n", math=math))(1.0)


def rounded_by_two(x, n):
    return round(x, 2), round(x, 0), round(x, ndigits=15), round(n, 1), round(2.675, 2)


def many_rounded(x, out):
    for i in range(len(x)):
        out[i] = round(float(x[i]), 2)


def test_a_number_of_digits():
    for x in (2.675, 1.005, 0.125, -0.125, 2.5, -0.001, 0.0, -0.0, 1e17 / 3, 2.0**52 / 100, 1e300, math.inf):
        same(rounded_by_two, x, 7)
    rng = np.random.default_rng(0)
    x = np.concatenate((rng.integers(0, 10**6, 3000) / 1000, (rng.integers(0, 10**6, 3000) + 0.5) / 100))
    out = np.zeros(len(x))
    lw.kernel(many_rounded)(x, out)
    assert out.tolist() == [round(one, 2) for one in x.tolist()]


def parts_of_a_float(x, y, n):
    return math.frexp(x), math.ldexp(x, n), math.nextafter(x, y), math.ulp(x), math.ldexp(math.frexp(x)[0], 3)


EDGES = (0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, math.inf,
         -math.inf, math.nan)  # fmt: skip


def test_parts_of_floats():
    for x in EDGES:
        for y in (0.0, 2.0, -math.inf, math.nan, x):
            same(parts_of_a_float, x, y, -3)


def scaled(x, n):
    return math.ldexp(x, n)


def test_scaled_by_a_power_of_two():
    for x in (1.7, -0.3, 1.9999999999999998, 5e-324, 1.1 * 2.0**-1000, 1e300):
        for n in (0, 1, -60, -1022, -1023, -1074, -1075, -1100, -2200, 20, 1024 - 1075):
            same(scaled, x, n)
    kernel = lw.kernel(scaled)
    assert kernel(5e-324, 2097) == math.ldexp(5e-324, 2097)
    assert kernel(1.0, 5000) == math.inf  # Python raises: see the differences in docs/language.md
    assert kernel(-1.0, -5000) == 0.0

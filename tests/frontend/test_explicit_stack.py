"""Functions that call themselves anywhere: as CPython runs them, interpreted, compiled, in parallel and on a GPU."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, kernel_of, outcome, same
from loopwright.ir.walk import statements


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def table(out):
    for i in range(len(out)):
        out[i] = fibonacci(i % 9) + fibonacci(5)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def quicksort(a, low, high):
    if low < high:
        i = low
        for j in range(low, high):
            if a[j] < a[high]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        quicksort(a, low, i - 1)
        quicksort(a, i + 1, high)


def integral(a, b, fa, fm, fb, whole, eps):
    m = 0.5 * (a + b)
    first, second = math.sin(0.25 * (a + m) ** 2), math.sin(0.25 * (m + b) ** 2)
    left, right = (m - a) / 6 * (fa + 4 * first + fm), (b - m) / 6 * (fm + 4 * second + fb)
    error = left + right - whole
    if abs(error) <= 15 * eps:
        return left + right + error / 15
    return integral(a, m, fa, first, fm, left, eps / 2) + integral(m, b, fm, second, fb, right, eps / 2)


def queens(n, row, columns, up, down):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if columns[c] or up[row + c] or down[row - c + n]:
            continue
        columns[c] = up[row + c] = down[row - c + n] = True
        count += queens(n, row + 1, columns, up, down)
        columns[c] = up[row + c] = down[row - c + n] = False
    return count


def flood(grid, i, j, new):
    if i < 0 or j < 0 or i >= grid.shape[0] or j >= grid.shape[1] or grid[i, j] != 0:
        return
    grid[i, j] = new
    for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        flood(grid, i + di, j + dj, new)


def extremes(a, low, high):
    if high - low == 1:
        return a[low], a[low]
    middle = (low + high) // 2
    x, y = extremes(a, low, middle)
    u, v = extremes(a, middle, high)
    return min(x, u), max(y, v)


def walk(seen, left, right, k):
    if k < 0:
        return
    walk(seen, left, right, left[k])
    seen.append(right[k])
    walk(seen, left, right, right[k])


def walked(left, right):
    seen = []
    walk(seen, left, right, left[0])
    return seen


def loops(n, depth=0):
    """Every way in and out of a loop around a call."""
    total = 0
    while n > 1:
        if depth > 3:
            break
        for k in range(4, 1, -1):
            if k == 3:
                continue
            if n % 7 == k:
                break
            total += loops(n // k, depth + 1)
        else:
            total += 1
        n -= 3
    return total


def is_even(n):
    return True if n == 0 else is_odd(n - 1) and n > 0


def is_odd(n):
    return False if n == 0 else is_even(n - 1) and n > 0


def nested(n, pair):
    def moves(k, a, b, c):
        return 0 if k == 0 else moves(k - 1, a, c, b) + 1 + moves(k - 1, c, b, a)

    def drawn(pair, k):
        x, y = pair
        return x + y if k == 0 else drawn((x + 1, y * 2), k - 1) - drawn((x, y - 1.0), k - 1)

    return moves(n, 0, 1, 2), is_even(n), is_odd(n), drawn(pair, n)


def unset(n):
    if n > 1:
        z = n
    return (unset(n - 1) if n > 0 else 0) + z


def stopped(a, n):
    if n == 0:
        raise ValueError("the end")
    a[n] += 1
    stopped(a, n - 1)
    a[n] += 5


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def remembered(n, known):
    if n in known:
        return known[n]
    if n < 2:
        return n
    known[n] = remembered(n - 1, known) + remembered(n - 2, known)
    return known[n]


def quickly(n):
    known = {-1: 0}
    return remembered(n, known)


def _numbers(n):
    return np.random.default_rng(3).random(n)


_CHILDREN = np.array([1, 3, -1, -1]), np.array([2, -1, -1, -1])
_GRID = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 1]])

CASES = [
    (fibonacci, (12,)), (table, (np.zeros(20, np.int64),)), (ackermann, (2, 3)), (quicksort, (_numbers(30), 0, 29)),
    (integral, (0.0, 2.0, 0.0, math.sin(1.0), math.sin(4.0), 0.5, 1e-7)),
    (queens, (5, 0, np.zeros(5, np.bool_), np.zeros(10, np.bool_), np.zeros(11, np.bool_))), (flood, (_GRID, 0, 0, 7)),
    (extremes, (_numbers(9), 0, 9)), (walked, _CHILDREN), (loops, (23, 0)), (nested, (5, (1, 2.0))), (unset, (4,)),
    (stopped, (np.zeros(4), 3)), (deep, (900,)), (deep, (1100,)), (quickly, (40,)),
]  # fmt: skip


_NAMES = [f"{function.__name__}{number}" for number, (function, _) in enumerate(CASES)]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=_NAMES)
def test_as_python(function, arguments):
    same(function, *arguments)
    mine, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected, found = outcome(function, mine), outcome(lw.kernel(strict=True)(function), ours)
    assert alike(expected, found)
    assert all(map(alike, mine, ours))


def test_parallel_and_on_a_gpu():
    out, expected = np.zeros(30, np.int64), np.zeros(30, np.int64)
    table(expected)
    kernel = lw.kernel(table)
    assert "parallel" in str(kernel.explain(out))
    with lw.options(device="emulated"):
        kernel(out)
    assert (out == expected).all()


@pytest.mark.parametrize(
    ("function", "arguments"), [(quicksort, (np.arange(5.0), 0, 4)), (fibonacci, (5,)), (ackermann, (2, 2))]
)
def test_every_statement_stands_in_one_place(function, arguments) -> None:
    every = [id(stmt) for stmt in statements(kernel_of(function, *arguments).body)]
    assert len(every) == len(set(every))

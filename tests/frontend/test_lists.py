"""Lists of numbers and of tuples: append, pop, an index, a loop; returned as lists."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same

BODIES = [
    "x = []; x.append(1.0); x.append(float(a[0])); return x", "x = [1.5, 2.5]; x[0] = float(a[1]); return x",
    "x = [k * 2 for k in range(n)]; return x", "x = [float(v) for v in a]; x.append(3.0); return len(x), x",
    "x = [0.0]; x.append(a[0]); x.append(a[1]); return x.pop(), x[-1], len(x)",
    "x = [1, 2, 3]; return sum(x), max(x), min(x)", "x = [0.0] * n; x[n - 1] = float(a[0]); return x",
    "x = [1]; x.append(n); return np.array(x)", "x = [1.0]; x.extend([2.0, float(a[0])]); return x",
    "x = [(1, 2.0)]; x.append((n, a[0])); i, v = x[-1]; return i, v, len(x)",
    "x = [1.0, 2.0, 3.0]; y = x[1:]; x[1] = 9.0; y2 = y[0]; return y2, x[1], len(y)",
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_small_programs(body):
    lines = "\n".join(f"    {line.strip()}" for line in body.split(";"))
    same(define(f"def f(a, n):\n{lines}\n"), np.array([4.0, 0.5]), 3)


def stack(a):
    todo = [(0, len(a))]
    total = 0.0
    while todo:
        low, high = todo.pop()
        if high - low <= 1:
            for i in range(low, high):
                total += a[i] * i
            continue
        middle = (low + high) // 2
        todo.append((low, middle))
        todo.append((middle, high))
    return total


def chosen(a, limit):
    places = []
    for i in range(len(a)):
        if a[i] > limit:
            places.append(i)
    for k in range(len(places)):
        a[places[k]] = -k
    total = 0
    for place in places:
        total += place
    return total, len(places)


@pytest.mark.parametrize("size", [1, 2, 9])
def test_loops(size):
    same(stack, np.arange(1.0, size + 1.0))
    for limit in (-1.0, 2.0, 99.0):
        same(chosen, np.arange(float(size)), limit)


@pytest.mark.parametrize("body", ["x.pop()", "x[3] = 1.0", "y = x[2]", "y = x[-3]"])
def test_out_of_range(body):
    function = define(
        f"def f(a):\n    x = [a[0]]\n    x.append(a[1])\n    {body}\n    x.pop()\n    x.pop()\n    return len(x)\n"
    )
    same(function, np.arange(2.0))


def test_refused():
    assert "KernelError" in refusal(define("def f(a):\n    x = []\n    x.append('text')\n    return x\n"), np.zeros(2))


def test_a_list_that_grows_while_a_loop_goes_over_it_is_refused():
    function = define("""
        def f(n):
            x = [n]
            for v in x:
                if v > 0:
                    x.append(v - 1)
            return x
        """)
    assert "'x' changes its length while a loop goes over it" in refusal(function, 3)


def peaks(x, apart):
    found = []
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] >= x[i + 1]:
            if found and i - found[-1] < apart:
                if x[i] > x[found[-1]]:
                    found[-1] = i
            else:
                found.append(i)
    return found


def test_a_test_of_elements_that_its_branches_append():
    same(peaks, np.array([0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 0.0, 0.0, 2.0, 0.0]), 3)

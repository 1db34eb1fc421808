"""Loops over arrays, tuples, enumerate, zip and reversed; comprehensions."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same

HEADS = [
    "x in a", "x in a[1:]", "x in a[::-1]", "x in reversed(a)", "x in a * 2", "k, x in enumerate(a)",
    "k, x in enumerate(a, 5)", "k, x in enumerate(a, start=n)", "x, k in zip(a, range(n))", "x, k in zip(a, b)",
    "k, (x, y) in enumerate(zip(a, b))", "x in (1.0, 2.5, n)", "x in [n, 2]", "x in ()", "x, k in ((1, 2), (3, 4))",
    "x in m[:, 0]", "x, k in m[:, :2]", "k, x in enumerate((3, 4))", "x, k in zip(a, (1, 2, 3))",
    "k, x in reversed(((1, 2), (3, 4)))", "x in range(n, 0, -1)", "k, x in enumerate(range(2, n))",
    "x in range(n, -3, -k)", "k, x in enumerate(range(0, n, k + 1))",
]  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_loops(head):
    function = define(f"""
        def f(a, b, m, n):
            total = 0.0
            k = 1
            for {head}:
                if x == 3:
                    continue
                if total > 50:
                    break
                total = total * 2 + x * k
            return float(total)
        """)
    for size in (0, 1, 4):
        same(function, np.arange(float(size)), np.arange(3.0), np.arange(6.0).reshape(2, 3), size)


def rows(m, out):
    for i, row in enumerate(m):
        row += i
        for j, x in enumerate(row):
            out[i] += x * j
    for column in m.T:
        column[0] = 1.0


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 2)])
def test_rows_are_views(shape):
    same(rows, np.arange(6.0)[: shape[0] * shape[1]].reshape(shape), np.zeros(shape[0]))


def kept(a):
    x = -1.0
    for x in a:  # noqa: B007
        pass
    return float(x)


def test_the_variable_after_the_loop():
    same(kept, np.arange(3.0))
    same(kept, np.zeros(0))


COMPREHENSIONS = [
    "sum(x for x in a)", "sum(x * y for x, y in zip(a, b))", "max(x for x in a if x < 3)", "any(x > 2 for x in a)",
    "all([x >= 0 for x in a])", "np.array([x * x for x in a])", "np.array([k for k, x in enumerate(a) if x > 0.0])",
    "np.sum([x for x in a])", "len([x for x in a if x > 1])", "np.array([(k, x) for k, x in enumerate(a)])",
    "min([abs(x - 2) for x in a])",
]  # fmt: skip


@pytest.mark.parametrize("text", COMPREHENSIONS)
def test_comprehensions(text):
    function = define(f"def f(a, b):\n    return {text}\n")
    for size in (2, 4):
        same(function, np.arange(float(size)), np.arange(3.0))


@pytest.mark.parametrize(("head", "message"), [
    ("x in n", "a loop cannot go over a Python int"), ("x in 'abc'", "a loop cannot go over a str"),
    ("x, y in a", "only a tuple can be unpacked"), ("x in zip()", "zip() takes sequences"),
    ("x in enumerate(a, 1, 2)", "enumerate() takes a sequence and a start"),
])  # fmt: skip
def test_refused(head, message):
    assert message in refusal(define(f"def f(a, n):\n    for {head}:\n        pass\n"), np.zeros(3), 3)


@pytest.mark.parametrize("n", [0, 3, 7])
def test_ranges_are_values(n):
    function = define("""
        def f(a, n):
            r, last = range(2, n), 0
            if n > 3:
                r, last = range(n - 2), 1
            total = 0.0
            for k in r:
                total += a[k] * k
            down = range(n, -1, last - 2)
            for k in down:
                total = total * 2 + a[k]
            return total, len(r), len(down), len(range(n, 0, -2))
        """)
    same(function, np.arange(8.0), n)


@pytest.mark.parametrize(("start", "stop", "step"), [(1, 9, 3), (9, -5, -2), (-3, 9, 1), (4, 4, 1), (2, -4, -1)])
def test_numbers_in_ranges(start, stop, step):
    function = define("""
        def f(a, b, c):
            found = 0
            for k in range(-12, 12):
                if k in range(a, b, c):
                    found = found * 2 + k
                if k in range(3) or k not in range(1, 9, 3):
                    found += 1
                if k / 2 in range(a, b, c) or k / 2 in range(4):
                    found -= k
            return found
        """)
    same(function, start, stop, step)


def test_slices_are_values():
    function = define("""
        def f(a, n):
            s = slice(1, n, 2)
            total = a[s].sum() + a[slice(3)][0]
            for x in a[slice(1, None)]:
                total += x
            return total
        """)
    same(function, np.arange(8.0), 6)


def side_by_side(m):
    total, pair = 0, (m[0], m[1, 1:])
    for i, j in zip(*np.nonzero(m)):  # noqa: B905
        total += m[i, j] * (i + 1)
    for x, y in zip(*pair):  # noqa: B905
        total += x * y
    return total


def test_items_of_a_tuple_side_by_side():
    same(side_by_side, np.arange(6).reshape(2, 3) % 4)
    function = define("def f(m):\n    for i, j in zip(*m):\n        m[i] = j\n")
    assert "needs a tuple" in refusal(function, np.ones((2, 2)))

"""Loops over arrays, tuples, enumerate, zip and reversed; comprehensions."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, refusal, same, same_made

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
    ("x in n", "a loop cannot go over a Python int"),
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


def test_items_of_ranges():
    """Also that a step of zero is an error where no loop is over the range itself."""
    function = define("""
        def f(a, n, k, step):
            r = range(2, n, step)
            for place, value in enumerate(r):
                a[place] = value
            total = r[-1] + len(r)
            for value, x in zip(range(0, n, step), a):
                total += value * x
            return total, range(n, 0, -2)[k]
        """)
    a = np.zeros(8)
    for k, step in ((1, 2), (-2, 3), (0, -1), (7, 2), (-8, 2), (1, 0)):
        same(function, a, 9, k, step)
    assert "step of a range must not be zero" in refusal(define("def f(n):\n    return len(range(0, n, 0))\n"), 3)


def test_a_prange_with_a_name_is_a_range():
    function = define("""
        def f(a, n):
            rounds = lw.prange(n) if n > 1 else range(n)
            for k in rounds:
                a[k] += k
            return len(lw.prange(n)), 2 in lw.prange(n)
        """, lw=lw)  # fmt: skip
    for n in (0, 1, 4):
        same(function, np.ones(5), n)


def test_slices_are_values():
    function = define("""
        def f(a, n):
            s = slice(1, n, 2)
            total = a[s].sum() + a[slice(3)][0]
            for x in a[slice(1, None)]:
                total += x
            if n > 5:
                chosen = slice(0, n - 1)
            else:
                chosen = slice(n, a.size)
            total += chosen.start * 10.0 + chosen.stop + np.argmax(a[chosen])
            return total if s.step == 2 and chosen.step is None and slice(3).start is None else -total
        """)
    same(function, np.arange(8.0), 6)
    same(function, np.arange(8.0), 2)


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


def records():
    made = np.zeros(4, [("t", "i8"), ("kind", "i4"), ("on", "?"), ("v", "f8", (2,))])
    made["t"], made["kind"] = [3, 1, 4, 1], [1, 0, 2, 5]
    return made


def over_records(s, other):
    total = 0
    for i, x in enumerate(s):
        x["on"] = x["t"] > 2
        x["kind"] = i
        total += x["t"] * i
    for x, y in zip(s, other):  # noqa: B905
        total += x["t"] * y["kind"]
    for x in reversed(s):
        x["v"][0] = x["t"]
        total = 2 * total + x["t"]
    return int(total), [x["t"] for x in s]


def test_a_loop_over_records_gives_views_of_them():
    same(over_records, records(), records())
    same(over_records, records()[::-1], records()[:2])
    same(over_records, records()[:0], records())
    shared = lambda: (lambda one: (one, one[::-1]))(records())  # noqa: E731
    same_made(over_records, shared)
    same_made(over_records, lambda: (lambda one: (one, one))(records()))


def fields(s):
    for x in s:
        x.t += 1
        x.kind = x.t


def test_attributes_of_records():
    same(fields, records().view(np.recarray))


def double(v):
    return v, v * 2


def mapped(x, a):
    p, q = map(np.radians, [x, 2 * x])
    total = sum(map(abs, [p, -q]))
    shifted = lambda v: v + p  # noqa: E731
    for y in map(shifted, a):
        total += y
    z = list(map(int, a))
    for k, u in enumerate(map(max, z, [3, 1, 2, 9])):
        total += k * u
    first, *rest = map(double, (1, 2.5, x))
    return p, q, float(total), len(z), first, rest[1], tuple(map(len, (a, a[1:])))


@pytest.mark.parametrize("size", [0, 1, 3, 7])
def test_map(size):
    if size > 2:
        same(mapped, 30.0, np.arange(float(size)))
    text = "def f(a):\n    t = 0.0\n    for x in map(abs, a):\n      t += x\n    return float(t), max(map(len, [a, a]))"
    same(define(text + "\n"), -np.arange(float(size)))


def bumped(row):
    row[0] += 1
    return row


def map_of_rows(m):
    total = 0.0
    for row in map(bumped, m):
        row[1] = 7.0
        total += row.sum()
    return total


def test_map_gives_what_the_function_gives():
    same(map_of_rows, np.arange(6.0).reshape(3, 2))
    twice = define("def f(a):\n    m = map(abs, a)\n    return sum(m) + sum(m)\n")
    assert "used only once" in refusal(twice, np.ones(2))


def test_the_bounds_of_a_range():
    function = define("""
        def f(n, k):
            r = range(n, -3, -k)
            total = 0
            for i in r:
                total += i * r.step + r.start - r.stop
            return total
        """)
    for n in (-5, 0, 9):
        same(function, n, 2)


def test_a_comprehension_over_prange():
    function = define("def f(x):\n    return np.array([x[i] * 2 for i in prange(len(x))])\n", prange=lw.prange)
    assert alike(lw.kernel(function)(np.arange(3.0)), np.arange(3.0) * 2)


def total_of(x):
    total = 0
    for value in x:
        total += value
    return total + len(x)


def test_a_comprehension_as_an_argument():
    """An array where NumPy takes it, a list for a helper and where a list takes it."""
    function = define("""
        def f(q, xs, ys):
            a = np.interp([x / 100 for x in q], xs, ys)
            b = np.maximum([x * 2 for x in q], 40.0)
            t = total_of([x + 1 for x in q if x > 30])
            h = [[0]]
            h.append([int(x) for x in q])
            h.append([k for k in range(2)])
            return a, b, t, h, np.sqrt([v for v in xs if v > 1])
        """, total_of=total_of)  # fmt: skip
    for q in ((25, 50, 75), (99,)):
        same(function, q, np.array([0.0, 0.5, 1, 2]), np.array([1.0, 2, 4, 9]))
    assert "KernelError" in refusal(
        define("def f(a):\n    return total_of(x for x in a)\n", total_of=total_of), np.ones(3)
    )


def over_what_it_was_when_the_loop_began(a, s):
    m, found = a.reshape(2, 3), []
    for i, x in enumerate(a[:2], s):
        s += 10
        found.append(i + x)
    for x in (s, s + 1, a[0], a[1]):
        s += 5
        a[1] = 50.0
        found.append(float(x))
    s = 1
    for x in [s, 2 * s]:
        s = x + 7
        found.append(float(s))
    s = 1
    for x, y in zip(range(s, s + 4), m[s]):  # noqa: B905
        s = 0
        found.append(x + y)
    for i, x in enumerate(range(s, 3)):
        s -= 1
        found.append(float(i + x))
    for x, (y, z) in enumerate(((s, s * 2), (s + 1, 3)), s):
        s += x
        found.append(float(x + y * z))
    return np.array(found), s


def test_a_loop_goes_over_what_it_was_given_at_first():
    same(over_what_it_was_when_the_loop_began, np.arange(6.0), 2)

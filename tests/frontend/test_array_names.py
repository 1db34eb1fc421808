"""Two names for one array: a copy where no difference shows, refused where one does."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, lowered, refusal, same
from loopwright.errors import KernelError

A = np.arange(4.0)
SAME = {
    "a view until it is another array": "y = x\nif n > 2:\n    y = x * 2\nreturn y.sum(), y",
    "kept at the end of a round": """
        keep = np.zeros(4)
        for k in range(n):
            now = np.full(4, float(k))
            now[0] = 9
            keep = now
        return keep
    """,
    "written under a name that is another array by then": """
        for first in [True, False]:
            made = np.zeros((n + 1, 2))
            made[0, 0] = x[n]
            out = made
            if n > 1:
                out = np.ones((n, 2))
            if first:
                one = out
            else:
                two = out
        return one, two
    """,
    "exchanged in a loop with a way out": """
        u = x * 1
        v = x + 1
        for k in range(5):
            v[1:] = u[:-1]
            if k == n:
                break
            u, v = v, u
        return u, v
    """,
    "a buffer that doubles": """
        room, m = np.zeros(1), 0
        for k in range(9 + n):
            if m == len(room):
                wider = np.zeros(2 * m)
                wider[:m] = room
                room = wider
            room[m] = x[k % 4] + k
            m += 1
        return room[:m]
    """,
    "the other one is used no more": "y = x * 1\nz = y\nif n > 2:\n    z = y * 2\nz[0] = 5\nreturn z",
    "three names": "y = np.zeros(4)\nfor k in range(n):\n    t = x\n    x = y\n    y = t + 1\nreturn x, y",
    "handed to a helper that only reads": "y = x\nif total(x) > n:\n    y = shorter(x)\nreturn y, x",
    "an argument that is another array on one path": "if n > 2:\n    x = x * 2\nreturn x",
    "written after it is another array": "if n > 2:\n    x = x * 2\nelse:\n    x = x * 3\n    x[1] = 7\nreturn x",
    "several arrays chosen": "y = x[:2] if n > 2 else x * 2\nz = x if n else y\nreturn y, z.sum(), len(y)",
    "the helper returns what it is given": "y = either(x, n)\nreturn y.sum(), y",
    "the helper gives other sizes": "y = parts(x, n)\ny[0] = 5\nreturn y, x",
    "the helper returns from a loop": "y, k = first_above(x, n)\nreturn y, k",
    "the helper assigns its parameter": "return doubled(x, n), x",
    "the helper has a name of its own for it": """
        b = np.zeros(4)
        for i in range(n):
            y = grown(x, i)
            b[i] = y[1]
        return b
    """,
    "a type beside it, and a method of what has no name": """
        b = np.asarray(x, dtype=np.int16)
        if n > 2:
            b = np.concatenate((b, np.zeros(4, dtype=np.int16)))
        b = b.reshape(-1, 4)
        return (b * 2).sum(axis=1).astype(np.int8)
    """,
    "another array after that": "for k in range(n):\n    x = bumped(x, k)\nx = x * 2\nreturn x",
    "an argument through a helper that writes it": "for k in range(n):\n    x = bumped(x, k)\nreturn x",
    "a new array through a helper that writes it": """
        a, size = np.zeros(3), 0
        for k in range(n + 3):
            a, size = pushed(a, size, k)
        return a, size, x
    """,
    "through a helper that hands it on": "y = np.zeros(4)\ny, k = pushed_twice(y, 1, n)\ny[3] += 1\nreturn y, k",
    "two results of a helper that nobody writes": "y, z = twice(x, n)\nreturn y.sum(), z + 1",
    "a copy on one path": "if n > 2:\n    x = x.copy()\nx[0] = 3\nreturn x",
    "a conditional expression": "y = x if n else x * 2\ny[0] = 1\nreturn y",
    "written later under one name": "y = x\nif n > 2:\n    y = x * 2\ny[0] = 5\nreturn y",
    "written later under the other one": "y = x\nif n > 2:\n    y = x * 2\nx[0] = 5\nreturn y",
    "overwritten by a helper": "return overwritten(x, n)",
}
REFUSED = {
    "y = x\nfor k in range(n):\n    if k: y = z[k:]\n    y[0] = 1.0\n    z = y * 2\nreturn y": "another name for 'x'",
    "for k in range(n):\n    x[k] = 3\n    x = x.copy()\nreturn x": "'x' is an argument that is written in place",
    "y = x\nfor k in range(n):\n    y[0] = 5\n    y = x * 2\nreturn y": "'y' is another name for 'x' here",
    "b = x * 1\nk = x * 1\nfor i in range(n):\n    k[0] += i\n    x = x + b\n    k = b\nreturn x": "'k' is another",
    "b = x * 2\nk = x * 1\nfor i in range(n):\n    b += 9\n    x = x + k\n    k = b\nreturn x": "'k' is another",
    "k = x * 1\nfor i in range(n):\n    b = x + i\n    if i: k = b\n    b += 9\n    x += k\nreturn x": "'k' is",
    "k = x * 1\nfor i in range(n):\n    b = x + i\n    k = b\n    b[0] = 9\nreturn k": "'k' is another name for",
    "b = x * 2\nk = x * 1\nfor i in range(n):\n    k = b\n    b[0] = i\n    b = x + i\nreturn k": "'k' is another name",
    "t = 0.0\nfor row in x:\n    x = x * 2\n    t += row\nreturn t": "'x' is assigned again while a loop goes over it",
    "y = either(x, n)\ny[0] = 1\nreturn y": "one of several results is the caller's array",
    "y = either(x, n)\nx[0] = 1\nreturn y": "one of several results is the caller's array",
    "y, z = twice(x, n)\ny[0] = 9\nreturn z": "two of the results are one array",
    "y, z = renamed(x, n)\ny[0] = 9\nreturn z": "'r' is another name for 'q' here",
    "y, k = crossed(x, x * 2, n)\ny[0] = 1\nreturn k": "one of several results is the caller's array",
    "for k in range(n):\n    x = bumped(x, k)\n    if k: x = x * 2\nreturn x": "'x' is an argument that is written",
}
HELPERS = """
    def total(a):
        return a.sum()
    def shorter(a):
        return a[1:] * 2
    def either(a, n):
        if n > 2:
            return a
        return a * 2
    def parts(a, n):
        if n > 2:
            return a[:n].copy()
        return np.zeros(n)
    def first_above(a, n):
        for k in range(len(a)):
            if a[k] > n:
                return a[:k] * 2, k
        return a * 3, -1
    def doubled(x, n):
        if n > 2:
            x = x * 2
        return x.sum()
    def grown(x, n):
        b = np.zeros(4)
        for k in range(n):
            b = b + x
        return b
    def bumped(x, k):
        x[k] += k + 1
        return x
    def pushed(stack, size, x):
        if size >= len(stack):
            return stack, size
        stack[size] = x + 1
        return stack, size + 1
    def pushed_twice(stack, size, x):
        stack, size = pushed(stack, size, x)
        stack, size = pushed(stack, size, x)
        return stack, size
    def crossed(x, y, n):
        if n > 2:
            return x, y
        return y, x
    def twice(x, n):
        q = np.zeros(4)
        if n > 2:
            q = q + x
        return q, q
    def renamed(x, n):
        q = np.zeros(4)
        if n > 2:
            q = q + x
        r = q
        return q, r
    def overwritten(x, n):
        if n > 2:
            x = x * 2
        x[0] = 1
        return x.sum()
"""


def made(body: str):
    return define(textwrap.dedent(HELPERS) + "def f(x, n):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    "))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("body", SAME.values(), ids=SAME)
def test_as_in_python(body, n):
    same(made(body), A, n)


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body):
    assert REFUSED[body] in refusal(made(body), A, 3)


GIVERS = {  # helpers that give their argument, a part of it, or an array of their own
    "itself": "return a", "a part": "return a[1:]", "reversed": "b = a[::-1]\nreturn b",
    "of two": "return a if n > 1 else a * 2", "or": "return a * 1 if n > 5 else a[0:2]", "transposed": "return a.T",
    "as an array": "return np.asarray(a)", "reshaped": "return a.reshape(-1)", "its own": "return a * 2",
    "a copy": "b = a.copy()\nreturn b", "zeros": "b = np.zeros(3)\nb[:] = a\nreturn b",
    "through a name": "b = a\nc = b[:2]\nreturn c", "of a helper": "return inner(a)",
    "own of a helper": "return inner(a) + 1", "of a loop": "for row in (a, a * 2):\n    b = row\nreturn b",
    "walrus": "return (b := a)", "of a tuple": "b, c = a, n\nreturn b", "an item": "b = (a, n)\nreturn b[0]",
    "own of a loop": "b = a + 0\nfor k in range(2):\n    b = b * 2\nreturn b",
    "of a dict": "b = {'a': a}\nreturn b['a']",
    "of a nested one": "def g():\n    return a\nreturn g()", "its sum": "b = np.full(2, a.sum())\nreturn b",
    "of a list": "return [r for r in (a, a)][0]",
}  # fmt: skip


@pytest.mark.parametrize("after", ["x[0] = 99.0", "y[0] = 99.0"])
@pytest.mark.parametrize("giver", GIVERS.values(), ids=GIVERS)
def test_what_a_helper_gives_is_put_into_a_list(giver, after):
    """Refused, or the same as in Python: never a copy where it shows."""
    text = "def inner(a):\n    return a[:2]\ndef h(a, n):\n" + textwrap.indent(giver, "    ")
    text += f"\ndef f(x, n):\n    found = []\n    y = h(x, n)\n    found.append(y)\n    {after}\n"
    text += "    return float(found[0][0]), float(y[0]), float(x[0])\n"
    function = define(text)
    arguments = (np.array([1.0, 2.0, 3.0]), 3)
    try:
        lowered(function, *arguments)
    except KernelError:
        assert giver not in ("b = np.zeros(3)\nb[:] = a\nreturn b", "return a * 2") or after[0] == "y"
        return
    same(function, *arguments)


def test_rows_that_helpers_make_are_put_into_a_list():
    function = define("""
        def places(idx, width):
            found = np.zeros((len(idx), 2), np.int16)
            for i in range(len(idx)):
                found[i, 0] = idx[i] // width
                idx[i] -= found[i, 0] * width
                found[i, 1] = idx[i]
            found -= 1
            return found
        def filled(image, p, buffer, width):
            buffer[0] = p
            return image[p] > 2, places(buffer[:2], width)
        def f(image, width):
            buffer = np.zeros(9, np.int64)
            nodes = []
            for p in range(len(image)):
                is_last, found = filled(image, p, buffer, width)
                if is_last:
                    continue
                nodes.append(found)
            for p in range(3):
                nodes.append(places([p, 2 * p], width))
            return nodes
        """)
    same(function, np.array([1, 2, 3, 4]), 3)


def slope(t, y):
    return np.array([y[1], -t * y[0]])


def spoils(t, y):
    y[0] = t
    return y * 2.0


def integrated(f, y0, n):
    y = y0
    for k in range(n):
        y = y + 0.1 * f(k, y)
    return y


def all_of_them(f, y0, n):
    y = y0
    kept = [y]
    for k in range(n):
        y = y + 0.1 * f(k, y)
        kept.append(y)
    return np.array(kept)


def shortest(d, n):
    tour = np.arange(len(d))

    def length(t):
        total = 0.0
        for i in range(len(t)):
            total += d[t[i], t[i - 1]]
        return total

    best = length(tour)
    for k in range(n):
        new = tour.copy()
        new[k % len(d)], new[0] = new[0], new[k % len(d)]
        here = length(new)
        if here < best:
            tour, best = new, here
    return tour, best


def test_functions_that_are_known():
    for function in (slope, spoils):
        known = define(
            "def f(y0, n):\n    return integrated(function, y0, n)\n", function=function, integrated=integrated
        )
        if function is slope:
            same(known, np.ones(2), 3)
        else:
            assert "is another name for" in refusal(known, np.ones(2), 3)
    found = lw.kernel(all_of_them)(slope, np.ones(2), 3)  # a function that is an argument
    np.testing.assert_allclose(found, all_of_them(slope, np.ones(2), 3))


def test_nested_functions_that_leave_the_array_alone():
    same(shortest, np.arange(36.0).reshape(6, 6) ** 2 % 17, 9)


def steps_kept(y0, n):
    def slope_of(t, y):
        return np.array([t * y[0], y[1]])

    y, t = y0.copy(), 0.0
    kept = [y0.copy()]
    while t < n:
        k = slope_of(t, y)
        y = y + k
        t += 1
        kept.append(y)
    return kept[-1], kept[1], len(kept)


def steps_of_one_array(y0, n):
    own = np.zeros(len(y0))

    def here(t):
        return own

    kept = [y0.copy()]
    for t in range(n):
        k = here(t)
        own[0] += 1
        kept.append(k)
    return kept[1]


def test_what_nested_functions_give_back():
    same(steps_kept, np.array([1.0, 2.0]), 4)
    assert "'kept' holds a copy of 'k'" in refusal(steps_of_one_array, np.ones(2), 3)

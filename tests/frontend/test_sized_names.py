"""Names for arrays of several sizes: what a mask leaves, parts of themselves, another size in each branch."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same, text_of


def shrinking(z, n):
    out = np.zeros(len(z), np.int64)
    i = np.arange(len(z))
    for k in range(n):
        if not len(z):
            break
        z = z * 1.5
        far = np.abs(z) > 4
        out[i[far]] = k + 1
        z = z[~far]
        i = i[~far]
    return out, z, i, z.sum(), len(z)


def in_branches(n, m, c):
    if c:
        x = np.ones((n, n))
    else:
        x = np.arange(n * m).reshape(n, m) * 1.0
    x = -x
    return x, x.sum(axis=0), x.T.copy()


def chosen(a, c):
    if c:
        x = a[a > 0]
    else:
        x = a[a < 0]
    return x, x.sum()


def tails(a):
    while len(a) > 2:
        a = a[1:]
    return a, a * 2


def halves(a):
    total = 0.0
    while len(a) > 1:
        half = len(a) // 2
        a = a[:half] + a[half : half * 2]
        total += a[0]
    return a[0], total


def of_constants(n):
    x = np.zeros(3)
    y = x
    for k in range(n):
        x = np.ones(5) * k
    return x, y


def sizes_are_those_of_the_time(z):
    a = np.zeros(len(z))
    z = z[z > 0]
    b, count = np.zeros(len(z)), len(z)
    z = z[z > 1]
    return a, b, count, z, z[0], z[-1], z[::-1].copy()


def other_names(a, n):
    x = a[a > 0]
    y = x
    for k in range(n):
        y = x
        x = x[x > k]
    return x, y


def shapes_that_are_assigned(n, m):
    x = np.arange(n * m).reshape(n, m) * 1.0
    y = x.sum(axis=0)
    x.shape = n * m
    y.shape = (m, 1)
    for k in range(n):
        x = x[x > k]
    return x, y


def of_two_axes(m, n):
    while m.shape[0] > n:
        m = m[1:, :-1]
    return m, m.sum(axis=0), m @ m.T


def of_a_mask(a, given):
    grid = np.empty((0, 0), np.bool_)
    if given:
        grid = (a > 1)[None, :] * (a > 2)[:, None]
    return grid, grid.size > 0, grid[:2].sum(axis=0)


def a_table_in_each_branch(order):
    if order == 1:
        t, w = np.array([[2.0]]), np.array([2.0])
    elif order == 2:
        t, w = np.array([[1.0, 3.0]]), np.array([1.0, 1.0])
    elif order == 3:
        t, w = np.array([[1.0, 3.0, 4.0]]), np.array([1.0, 0.5, 0.5])
    elif order == 4:
        t, w = np.array([[1.0, 3.0, 4.0, 6.0]]), np.full(4, 0.5)
    elif order == 5:
        t, w = np.array([[1.0], [3.0]]), np.full(3, 0.25)
    elif order == 6:
        t, w = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]), np.full(9, 0.25)
    else:
        t, w = np.ones((3, 1)), np.array([1.0])
    return t, w, t.sum(axis=1), w @ w


def rows_are_stacked(a, n):
    rows = np.empty((0, a.shape[1]))
    for i in range(n):
        if a[i, 0] > 0:
            rows = np.vstack((rows, a[i : i + 1]))
        rows = np.append(rows, a[i].reshape(1, -1) * 2, axis=0)
    return rows, rows.shape[0], rows[-1:], rows.sum(axis=0)


def columns_are_stacked(a, n):
    wide = np.zeros((len(a), 1), np.float32)
    other = wide
    for i in range(n):
        other = wide
        wide = np.hstack((wide, np.ones((len(a), 2), np.float32) * i))
    return wide, other, wide[:, -1]


def room_is_doubled(a, n):
    store, k = np.zeros((2, 3), np.int32), 0
    for i in range(n):
        if k == store.shape[0]:
            larger = np.zeros((2 * store.shape[0], 3), np.int32)
            larger[:k] = store
            store = larger
        store[k] = i
        k += 1
    return store[:k], store


def cubes_of_a_helper(a, n):
    def more(found, row):
        return np.concatenate((found, row[None]))

    found = a[:1].copy()
    for i in range(n):
        found = more(found, found[-1] + a[i])
    return found, found.T.copy()


def of_other_rows(a, n):
    rows = np.zeros((1, 3))
    for i in range(n):
        rows = np.vstack((rows, a[:, : i + 1]))
    return rows


def appended_beside_itself(a, n):
    x = np.zeros(0)
    other = x
    for i in range(n):
        other = x
        x = np.append(x, a[i, 0])
        x = np.concatenate((x, other[::-1], np.concatenate((x, x[:1]))))
        x = np.append(np.append(x, i), x[1:])
        if len(x) > 9:
            x = np.append(x[4:], x[:3])
    return x, other


def as_long_either_way(a, up):
    found = a[a > 1]
    twice = found * 2 if up else found[::-1] * 3
    return found if up else found[::-1], twice


SOME = np.linspace(-1, 5, 13)
TABLE = np.arange(12.0).reshape(4, 3) - 2
CASES = [
    (shrinking, SOME, 6), (shrinking, SOME * 1j, 3), (shrinking, SOME[:0], 2), (in_branches, 3, 4, True),
    (in_branches, 3, 4, False), (in_branches, 3, 2, True), (chosen, SOME, True), (chosen, SOME, False), (tails, SOME),
    (tails, SOME[:1]), (halves, SOME[:8]), (of_constants, 0), (of_constants, 2), (shapes_that_are_assigned, 2, 3),
    (a_table_in_each_branch, 1), (a_table_in_each_branch, 4), (a_table_in_each_branch, 6),
    (a_table_in_each_branch, 7), (of_a_mask, SOME, True), (of_a_mask, SOME[:0], True), (of_a_mask, SOME, False),
    (of_a_mask, SOME[-1:], True), (rows_are_stacked, TABLE, 0), (rows_are_stacked, TABLE, 4),
    (rows_are_stacked, TABLE[:, :0], 0), (appended_beside_itself, TABLE, 4), (appended_beside_itself, TABLE, 0),
    (columns_are_stacked, TABLE, 3), (columns_are_stacked, TABLE, 0), (room_is_doubled, TABLE, 9),
    (room_is_doubled, TABLE, 0), (cubes_of_a_helper, TABLE, 3), (cubes_of_a_helper, np.ones((3, 2, 2)), 2),
    (of_other_rows, TABLE, 0), (of_other_rows, TABLE, 1), (sizes_are_those_of_the_time, SOME), (other_names, SOME, 4),
    (of_two_axes, np.arange(20.0).reshape(5, 4), 3), (as_long_either_way, SOME, True),
    (as_long_either_way, SOME, False),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_several_sizes(case):
    function, *arguments = case
    same(function, *arguments)


@pytest.mark.parametrize("case", CASES[::3], ids=lambda case: case[0].__name__)
def test_compiled(case):
    function, *arguments = case
    expected, found = function(*arguments), lw.kernel(function)(*arguments)
    for mine, theirs in zip(expected, found, strict=True):
        assert np.array_equal(mine, theirs) and np.result_type(mine) == np.result_type(theirs)


@pytest.mark.parametrize("c", [-1, 0, 1, 3])
def test_a_name_that_may_have_no_array(c):
    text = """
        def f(a, c):
            if c > 0:
                x = a[a > 0]
            for k in range(2):
                if k < -c:
                    x = a[a < 0]
            return x.sum()
        """
    same(define(text), SOME, c)
    same(define("def f(a, c):\n    while c > 0:\n        x = a + c\n        c -= 1\n    return x.sum()\n"), SOME, c)


def test_refused():
    for lines in ("a.shape = 13", "x = a.copy()\n    y = x\n    x.shape = (1, 13)\n    a[0] = len(y)"):
        assert "cannot be assigned here" in refusal(define(f"def f(a):\n    {lines}\n"), SOME)
    grown = "def f(n):\n    x = np.zeros((1, 2))\n    for k in range(n):\n        x = np.kron(x, x)\n    return x\n"
    assert "'x' has 4 elements here" in refusal(define(grown), 3)


def test_what_grows_is_not_copied():
    text = "def f(a):\n    x = a[:1]\n    for k in range(9):\n        x = np.{}\n    return x\n"
    for joined, given in (("append(x, k)", SOME), ("vstack((x, a[1:2], x))", TABLE), ("hstack((x, a[:1]))", TABLE)):
        function = define(text.format(joined))
        same(function, given)
        assert text_of(function, given).count("allocate") <= 2  # its room, and what it begins with


def doubled(n):
    x = np.ones(1)
    for k in range(n):
        x = np.append(x, x * k)
    return x


def appended(a):
    found = np.empty(0, np.int64)
    for k in range(len(a)):
        found = np.concatenate((found, np.arange(a[k])))
    return found, found.sum(), len(found)


def nearest(x, y, most):
    best, least = y, np.inf
    for k in range(-most, most + 1):
        if k == 0:
            moved = y
        elif k < 0:
            moved = np.append(y[-k:], np.zeros(-k))
        else:
            moved = np.append(np.zeros(k), y[:-k])
        distance = np.abs(x - moved).sum()
        if distance < least:
            best, least = moved, distance
    return best, least


def until_one(a):
    x = a.copy()
    while len(x) > 1:
        x = x[::2] + x[1::2]
    return x


def test_of_any_size():
    for n in (0, 1, 5):
        same(doubled, n)
    for sizes in ([3, 1, 0, 2], [0], []):
        same(appended, np.array(sizes, np.int64))
    same(nearest, np.arange(6.0) ** 2, np.arange(6.0), 2)
    for size in (0, 1, 8):
        same(until_one, np.arange(1.0 * size))


def halved(x):
    seen = []
    y = x.copy()
    while len(y) > 1:
        seen.append(y.max())
        y = (y[: len(y) // 2 * 2 : 2] + y[1::2]) / 2
    return seen, y


def test_what_is_halved_grows_no_room():
    for n in (0, 1, 5, 16):
        same(halved, np.arange(float(n)))


def test_too_large():
    function = define("def f(n):\n    x = np.zeros(1)\n    if n[0] > 1:\n        x = np.zeros(n[0])\n    return x\n")
    with pytest.raises(MemoryError):
        lw.kernel(function)(np.array([2**27 + 1]))

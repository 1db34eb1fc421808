"""Lists of lists of lists, and deeper."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define
from loopwright.errors import KernelError


def grown_at_each_depth(n):
    out = [[[0.0]]]
    for i in range(n):
        out.append([[1.0 * i]])
        out[i].append([2.0, 3.0])
        out[i][0].append(4.0)
    return out


def built_inside_out(n):
    out = []
    for i in range(n):
        row = []
        for j in range(i):
            cell = []
            for k in range(j):
                cell.append(k * 1.0)
            row.append(cell)
        out.append(row)
    return len(out), len(out[n - 1]), out


def of_comprehensions(n):
    out = [[[] for j in range(3)] for i in range(n)]
    for i in range(n):
        for j in range(min(i + 1, 3)):
            out[i][j].append(i * 10 + j)
    return out


def numbers_by_place(n):
    out = [[[0 for k in range(n)] for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                out[i][j][k] = i * j + k
    return out[1][1][n - 1]


def inner_names(n):
    out = []
    for i in range(n):
        out.append([[i]])
    out[0][0][0] = 9
    x = out[1]
    x.append([7, 8])
    y = x[0]
    y.append(5)
    t = 0
    for row in out:
        for cell in row:
            for v in cell:
                t += v
    return out, t, out[-1][-1][-1], len(out[1])


def arrays_inside(n):
    out = []
    for i in range(n):
        rows = []
        for j in range(2):
            rows.append(np.ones(j + 1) * i)
        out.append(rows)
    return out, out[0][1].sum() if n > 0 else 0.0


def one_list_in_two_places(n):
    out = [[[1, 2], [3]], [[4]]]
    a = out[0][0]
    out[1].append(a)
    a.append(n)
    return out


def rearranged(n):
    out = [[[1, 2], [3]], [[4]]]
    out.append([])
    out[2].append([5])
    z = out.pop(0)
    del out[0][0]
    out.reverse()
    out[0], out[1] = out[1], out[0]
    z[0][1] = 8
    return out, z


def empty_at_first(n):
    out = []
    for _ in range(n):
        out.append([])
    for i in range(n):
        for _ in range(2):
            out[i].append([])
    out[0][1].append(2.5)
    return out, out[0][1] == [2.5]


def four_deep(n):
    out = []
    for i in range(n):
        out.append([[[i, 1]], [[2], [3]]])
    out[0][1][1].append(n)
    return out, out[0][1][1][-1]


def in_a_dict(n):
    d = {}
    d[1] = [[1, 2]]
    d[1][0].append(n)
    return d


def a_row_with_a_name(n):
    out = []
    for i in range(n):
        row = [[i]]
        out.append(row)
    e = out[0]
    e[0].append(5)
    return out, e


def copies_of_rows(n):
    out = []
    row = [[1], [2]]
    out.append([c.copy() for c in row])
    row[0].append(n)
    return out, row


def of_rows(n):
    rows = [[1], [2, 3]]
    rows.append([])
    rows[2].append(n)
    return rows, len([r for r in rows if len(r) > 1])


FUNCTIONS = [
    grown_at_each_depth, built_inside_out, of_comprehensions, numbers_by_place, inner_names, arrays_inside,
    one_list_in_two_places, rearranged, empty_at_first, four_deep, in_a_dict, a_row_with_a_name, copies_of_rows,
    of_rows,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_as_python(function):
    kernel = lw.kernel(function)
    for n in (3, 4):
        assert repr(kernel(n)) == repr(function(n))
    if function is inner_names:
        with lw.options(device="emulated"):
            assert repr(kernel(3)) == repr(function(3))


def test_none_at_all():
    for function in (of_comprehensions, four_deep_of_none, grown_at_each_depth):
        assert lw.kernel(function)(0) == function(0)


def four_deep_of_none(n):
    out = []
    for i in range(n):
        out.append([[[i]]])
    return out, len(out)


@pytest.mark.parametrize("body", [
    "x = []\n    y = [[1]]\n    x.append(y)\n    y[0].append(n)\n    return x",
    "x = []\n    y = [[1]]\n    x.append(y.copy())\n    y[0].append(n)\n    return x",
    "x = []\n    y = [[1]]\n    x.append([y[0], [4]])\n    y[0].append(n)\n    return x",
    "x = []\n    y = [[1]]\n    x.append([c for c in y])\n    y[0].append(n)\n    return x",
    "x = []\n    y = [1]\n    x.append([y])\n    y.append(n)\n    return x",
    "x = []\n    y = [[1]]\n    x.append(y)\n    for c in x[0]:\n        c.append(n)\n    return y",
    "y = [[1]]\n    x = [y, y]\n    x[0].append([n])\n    return len(y), len(x[1])",
    "def f(r):\n        r[0][0].append(5)\n    x = [[[1]]]\n    y = x[0]\n    f([y])\n    return x",
])  # fmt: skip
def test_a_copy_that_would_show(body):
    with pytest.raises(KernelError, match=r"holds a copy|holds copies|of a list is outside"):
        lw.kernel(define(f"def f(n):\n    {body}\n"))(2)

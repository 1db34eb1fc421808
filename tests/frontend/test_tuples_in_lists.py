"""Lists of tuples with arrays, lists and texts among their items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define
from loopwright.errors import KernelError


class Named(NamedTuple):
    name: str
    place: np.ndarray
    weight: float


def returned(a):
    found = []
    for i in range(len(a)):
        found.append((i, a[: i + 1].copy(), "even" if i % 2 == 0 else "odd", [k + 1 for k in range(i)]))
    return found


def written_in_place(a):
    found = [(1, a.copy())]
    found[0][1][0] = 5.0
    k, v = found[0]
    v *= 2
    return found, v.sum(), k


def a_stack(a):
    stack = [(0, a.copy())]
    total, count = 0.0, 0
    while len(stack) > 0:
        depth, x = stack.pop()
        total += x.sum() * depth
        count += 1
        if len(x) > 1:
            stack.append((depth + 1, x[: len(x) // 2].copy()))
            stack.append((depth + 1, x[len(x) // 2 :].copy()))
    return total, count


def rearranged(a):
    found = [(3.0, "c", a[:1] * 1), (1.0, "aa", a[:2] * 1), (2.0, "b", a[1:] * 1)]
    found.sort(key=lambda one: one[0])
    found.reverse()
    del found[0]
    found.insert(1, (9.0, "z", a * 3))
    return found, found.copy(), found[1:], [name for _, name, _ in found]


def searched(a):
    found = [("a", 1), ("b", 2)]
    found.append(("longer", 3))
    total = 0
    for name, v in found:
        if name == "longer":
            total += v
    return ("b", 2) in found, ("c", 2) in found, found.index(("longer", 3)), total


def named(a):
    found = [Named("x", np.zeros(2), 1.0)]
    for i in range(len(a)):
        found.append(Named("yy", np.ones(3) * i, found[-1].weight + i))
    total = 0.0
    for one in found:
        total += one.place.sum() * one.weight
    return total, found[0].name, found[-1].name == "yy", found


def stepped_through(a):
    found = [(i, a[:i]) for i in range(len(a))]
    total, best = 0.0, (0, a[:1].copy())
    for k in range(1, len(found)):
        (i, x), (j, y) = found[k - 1], found[k]
        total += i * x.sum() + j * y.sum()
    for one in found:
        if one[1].sum() > best[1].sum():
            best = one
    return total, best[0], best[1]


def filled_by_a_helper(a):
    def put(found, i):
        found.append((i, a * i))
        return len(found)

    found = [(0, a.copy())]
    count = 0
    for i in range(3):
        count += put(found, i)
    return count, found


def perhaps_empty(a):
    found = []
    if len(a) > 3:
        found.append((np.zeros((2, 2)), a[:2] * 1, 1j))
    return found


def same(one, other):
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str):
        return one == other and type(other) is str
    return np.array_equal(one, other) and np.result_type(one) == np.result_type(other)


FUNCTIONS = [
    returned, written_in_place, a_stack, rearranged, searched, named, stepped_through, filled_by_a_helper, perhaps_empty
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_as_python(function):
    kernel = lw.kernel(function)
    for a in (np.arange(6.0) - 2, np.arange(1.0, 3.0), np.arange(3, dtype=np.float32)):
        assert same(function(a.copy()), kernel(a.copy()))
    if function is returned:
        assert kernel(np.zeros(0)) == []
        with lw.options(device="emulated"):
            assert same(function(np.arange(3.0)), kernel(np.arange(3.0)))


@pytest.mark.parametrize(("body", "message"), [
    ("x = [(1, a.copy())]\n    x.append((2, x[0][1]))\n    x[0][1][0] = 9.0\n    return x", "holds a copy"),
    ("x = [(1, a.copy())]\n    y = x.copy()\n    y.append(x[0])\n    x[0][1][0] = 9.0\n    return x, y", "copies"),
    ("x = [(1, 'a')]\n    x.append((2, 3))\n    return x", "a text in one place"),
    ("x = [(1, a.copy())]\n    x.append((2, a[0]))\n    return x", "no type in common"),
    ("x = [(1, a.copy())]\n    x.append((3, a[:, None] * 1))\n    return x", "one kind"),
    ("x = [(2, a.copy())]\n    x.append((1, a.copy()))\n    x.sort()\n    return x", "no order"),
    ("x = [(2, a.copy())]\n    x.append((1, a.copy()))\n    return (1, a) in x", "not searched"),
    ("x = [(2, 'a')]\n    x.append((1, 'b'))\n    return np.array(x)", "takes no list of tuples"),
])  # fmt: skip
def test_refused(body, message):
    function = define(f"def f(a):\n    {body}\n")
    with pytest.raises(KernelError, match=message):
        lw.kernel(function)(np.ones(3))

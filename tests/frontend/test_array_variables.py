"""Names that stand for one array now and for another one later."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from frontend.judge import define, refusal, same


def again(a, n):
    x = a.copy()
    for k in range(n):
        x = x * 2 + k
    return x


def in_branches(a, flag):
    if flag:
        x = a + 1
    else:
        x = a[::-1] * 2
    return x


def of_an_argument(a, n):
    for _ in range(n):
        a = a[::-1] + 1.0
    return a


def two_names(a, n):
    x = a + 0
    y = x
    for _ in range(n):
        x = x + y
    return x, y


def swapped_once(a, b):
    a, b = b, a
    return a - 2 * b


def unpacked_together(a):
    x, y = a + 1, a * 2
    x, y = y + x, x - y
    return x, y


def of_two_counts_and_shorter(n):
    x = np.arange(n, -1, -1) ** 2.0 * np.arange(0, n + 1)
    for _ in range(n):
        x = x[1:] * 2
    return x


def shorter_than_a_product(a, n):
    x = a[::-1] * np.arange(len(a), 0, -1)
    for k in range(n):
        x = x[k % 2 :] + 1.0
    return x


def test_names_of_arrays_that_become_shorter():
    for n in (0, 1, 4):
        same(of_two_counts_and_shorter, n)
        same(shorter_than_a_product, np.arange(5.0), n)


@pytest.mark.parametrize("size", [0, 1, 4])
def test_names_of_several_arrays(size):
    array = np.arange(float(size))
    for n in (0, 1, 3):
        same(again, array, n)
        same(of_an_argument, array, n)
        same(two_names, array, n)
    for flag in (True, False):
        same(in_branches, array, flag)
    same(swapped_once, array, array + 1)
    same(unpacked_together, array)


def test_arguments_stay_as_they_are():
    array = np.arange(3.0)
    same(of_an_argument, array, 2)
    same(of_an_argument, array[::-1], 2)


@pytest.mark.parametrize(("body", "message"), [
    ("x = np.zeros(3)\n    for _ in range(2):\n        x = np.zeros((3, 3))\n    return x", "'x' is a 2-dim"),
    ("x = a[:2, None]\n    for _ in range(2):\n        x = np.vstack((x, x))\n    return x", "depends on its own size"),
    ("x = 1\n    for _ in range(2):\n        x = a\n    return x", "something else elsewhere"),
])  # fmt: skip
def test_refused(body, message):
    assert message in refusal(define(f"def f(a):\n    {body}\n"), np.zeros(3))


class Pair(NamedTuple):
    x: np.ndarray
    k: int


def in_a_tuple(a, n):
    u = a.copy()
    pair, both, table = Pair(u, 1), (u, a), {"x": u}
    for _ in range(n):
        u = u * 2.0 + a
    return pair.x[0], both[0][0], table["x"][0], u[0]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_what_holds_an_array_keeps_it(n):
    same(in_a_tuple, np.arange(1.0, 4.0), n)


@pytest.mark.parametrize(
    ("holds", "read", "said"),
    [
        ("it = iter(u)", "next(it)", "while an iterator goes over it"),
        ("it = zip(u, a)", "sum([x * y for x, y in it])", "while an iterator goes over it"),
        ("def first(x=u):\n        return x[0]", "first()", "a default until then"),
        ("table = {'x': u}\n    u[0] = 3.0", "table['x'][0]", "is another name for 'u'"),
    ],
)
def test_what_holds_an_array_whose_name_gets_another_one(holds, read, said):
    text = (
        f"def f(a):\n    u = a.copy()\n    {holds}\n    for _ in range(2):\n        u = u * 2.0\n    return {read}, u\n"
    )
    assert said in refusal(define(text), np.ones(3))

"""Names that stand for one array now and for another one later."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import loopwright as lw
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
    ("x = a[:2, None]\n    for _ in range(2):\n        x = np.kron(x, x.T)\n    return x", "depends on its own size"),
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


# ---- arrays that a loop reads above the line that assigns them -------------------------------------------------------


def counted_and_filled(n):
    points = None
    for round_ in range(2):
        count = 0
        for i in range(n):
            if i % 3 != 1:
                if round_ == 1:
                    points[count] = i
                count += 1
        if round_ == 0:
            points = np.empty(count)
    return points


def counted_and_filled_without_none(n):
    for round_ in range(2):
        count = 0
        for i in range(n):
            if round_ == 1:
                points[count] = i  # noqa: F821
            count += 1
        if round_ == 0:
            points = np.zeros(count)
    return points, len(points)


def with_the_row_before(a):
    last = None
    total = 0.0
    for i in range(a.shape[0]):
        if last is not None:
            total += (a[i] * last).sum() + last.shape[0]
        last = a[i] * 2.0
    return total


def with_the_product_before(a):
    total = 0.0
    for i in range(a.shape[0]):
        if i > 0:
            total += last[0, 1] + last.shape[1]  # noqa: F821
        last = np.outer(a[i], a[i])  # noqa: F841
    return total


def with_what_was_kept_before(a):
    total = 0.0
    for i in range(3):
        if i > 0:
            total += kept.size + kept[-1]  # noqa: F821
            kept[0] = 5.0  # noqa: F821
        kept = a[a > 0.2 * i]
    return total, kept


def test_read_above_the_line_that_assigns_it():
    for n in (0, 1, 7):
        same(counted_and_filled, n)
        same(counted_and_filled_without_none, n)
    a = np.arange(12.0).reshape(4, 3) / 12
    same(with_the_row_before, a)
    same(with_the_product_before, a)
    same(with_what_was_kept_before, a[3] - 0.1)
    kernel = lw.kernel(counted_and_filled)
    assert kernel(7).tolist() == counted_and_filled(7).tolist()


def test_read_before_it_is_there():
    unassigned = "def f(n):\n    for i in range(2):\n        s = x[0]\n        x = np.zeros(n)\n    return s\n"
    with pytest.raises(UnboundLocalError):
        lw.kernel(define(unassigned))(3)
    with pytest.raises(TypeError):
        lw.kernel(define(unassigned.replace("for", "x = None\n    for")))(3)


def test_the_size_must_be_known_where_it_has_two_axes():
    text = """
    def f(a):
        total = 0.0
        for i in range(len(a)):
            if i > 0:
                total += last[0, 0]
            k = int(a[i] * 3) + 1
            last = np.ones((k, k + 1))
        return total
    """
    assert "'last' is read above the line that assigns it" in refusal(define(text), np.ones(3))

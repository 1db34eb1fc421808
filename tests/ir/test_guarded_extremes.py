from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.guarded_extremes import guards_of_extremes_apart
from loopwright.ir.nodes import If
from loopwright.ir.text import parse_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import statements


def conditions(condition: str, *then: str) -> int:
    """How many conditions there are once those of extremes are apart."""
    inside = "".join(f"            {line}\n" for line in then)
    kernel = parse_kernel(
        "kernel f(a: float64[1] C, q: int8[1] C, k: int64):\n    var m: float64\n    var n: int64\n    m = 0.0\n"
        f"    n = 0\n    for i in 0 .. size(a, 0):\n        if {condition}:\n{inside}    a[0] = m + float64(n)\n"
    )
    changed = guards_of_extremes_apart(kernel)
    verify(changed)
    found = len(list(statements(changed.body, If)))
    assert (changed is kernel) == (found == 1)
    return found


@pytest.mark.parametrize(
    ("condition", "then", "found"),
    [
        ("i > k and a[i] > m", ["m = a[i]"], 2),
        ("i > k and m >= a[i]", ["m = a[i]"], 2),
        ("a[i] > 2.0 and a[i] < 3.0 and a[i] > m", ["m = a[i]"], 2),
        ("a[i] > m", ["m = a[i]"], 1),
        ("a[i] > m and i > k", ["m = a[i]"], 1),  # which is only asked where the other holds
        ("i > k or a[i] > m", ["m = a[i]"], 1),
        ("i > k and a[i] > m", ["m = a[i]", "n = i"], 2),
        ("i > n and a[i] > m", ["m = a[i]", "n = i"], 1),
        ("i > k and a[i] > m", ["n = i", "m = a[i] + 1.0"], 1),
        ("i > k and a[i] > m", ["m = a[i] + 1.0"], 1),
        ("m > 1.0 and a[i] > m", ["m = a[i]"], 1),
        ("i > k and m + 1.0 > m", ["m = m + 1.0"], 1),
        ("i > k and a[i] != m", ["m = a[i]"], 1),
        ("q[i] > int8(0) and a[i] > m", ["m = a[i]"], 1),
    ],
)
def test_which_conditions_come_apart(condition: str, then: list[str], found: int) -> None:
    assert conditions(condition, *then) == found


@pytest.mark.parametrize(
    ("condition", "store", "found"),
    [
        ("a[j] < a[i] and d[j] + 1 > d[i]", "d[i] = d[j] + 1", 2),
        ("a[j] < a[i] and d[j] + 1 > d[j]", "d[j] = d[j] + 1", 1),  # one of each iteration
        ("a[j] < a[i] and d[j] + 1 > d[n]", "d[n] = d[j] + 1", 1),
        ("d[i] > 3 and d[j] + 1 > d[i]", "d[i] = d[j] + 1", 1),
        ("a[j] < a[i] and d[j] + 1 > d[i + 1]", "d[i] = d[j] + 1", 1),
    ],
)
def test_which_conditions_of_elements_come_apart(condition: str, store: str, found: int) -> None:
    kernel = parse_kernel(
        "kernel f(a: float64[1] C, d: int64[1] C):\n    var n: int64\n    n = 0\n    for i in 0 .. size(a, 0):\n"
        f"        for j in 0 .. i:\n            n = n + 1\n            if {condition}:\n                {store}\n"
    )
    changed = guards_of_extremes_apart(kernel)
    verify(changed)
    assert len(list(statements(changed.body, If))) == found


def growing(a: Any) -> Any:
    lengths, most = np.ones(len(a), np.int64), np.zeros(2)
    for i in range(len(a)):
        for j in range(i):
            if a[j] < a[i] and lengths[j] + 1 > lengths[i]:
                lengths[i] = lengths[j] + 1
            if a[j] != 3 and a[j] * 0.5 >= most[1]:
                most[1] = a[j] * 0.5
    return lengths, most


def test_longest_rising_part() -> None:
    kernel = lw.kernel(growing)
    a = np.random.default_rng(5).integers(0, 40, 50)
    for mine, other in zip(kernel(a), growing(a), strict=True):
        np.testing.assert_array_equal(mine, other)
    x = np.random.default_rng(6).random(9)
    x[3] = np.nan
    for mine, other in zip(kernel(x), growing(x), strict=True):
        np.testing.assert_array_equal(mine, other)


def longest(a: Any, x: Any) -> Any:
    lengths, most = np.ones(len(a), np.int64), -3.0
    for i in range(len(a)):
        best = 0
        for j in range(i):
            if a[j] < a[i] and j != 3 and lengths[j] > best:
                best = lengths[j]
        lengths[i] = best + 1
    for i in range(len(x)):
        if i > 0 and x[i] <= x[0] and x[i] >= most:
            most = x[i]
    least = x[0]
    for i in range(len(x)):
        if a[i] > 2 and x[i] < least:
            least = x[i]
    return lengths.sum(), most, least


@pytest.mark.parametrize("first", [0.0, -0.0, np.nan, 9.0])
def test_results_are_pythons(first: float) -> None:
    kernel = lw.kernel(longest)
    a, x = np.random.default_rng(3).integers(0, 40, 50), np.random.default_rng(4).integers(-5, 5, 50) * 1.0
    x[7], x[0] = np.nan, first
    np.testing.assert_array_equal(kernel(a, x), longest(a, x))


def nearest(x: Any, taken: Any) -> Any:
    best, where = -np.inf, -1
    for i in range(len(x)):
        if taken[i] == 0 and x[i] > best:
            where = i
            best = x[i]
    least, at, other = 99.0, -1, 0
    for i in range(len(x)):
        if where != 2 and i != where and x[i] <= least:
            least, at, other = x[i], i, taken[i]
    last = -1.0
    for i in range(len(x)):
        if last < 5.0 and x[i] > last:  # asks for the extreme before
            last = x[i]
            at += 1
    return best, where, least, at, other, last


@pytest.mark.parametrize("first", [0.0, -0.0, np.nan, np.inf])
def test_places_go_along_with_an_extreme_behind_a_condition(first: float) -> None:
    x, taken = np.random.default_rng(5).integers(-9, 9, 70) * 1.0, np.random.default_rng(6).integers(0, 2, 70)
    x[0], x[9] = first, np.nan
    kernel = lw.kernel(nearest)
    np.testing.assert_array_equal(kernel(x, taken.astype(np.uint8)), nearest(x, taken.astype(np.uint8)))
    loops = str(kernel.explain(x, taken.astype(np.uint8)))
    assert re.search("iterations meet only in '(best|where)' and '(best|where)'", loops)

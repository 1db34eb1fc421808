"""Names for several lists: the frontier of a search, a list that is begun anew; what is refused."""

# ruff: noqa: E501
from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same


def levels(indptr, indices, start):
    distance = np.full(len(indptr) - 1, -1)
    distance[start] = 0
    frontier = [start]
    level = 0
    while frontier:
        level += 1
        following = []
        for v in frontier:
            for k in range(indptr[v], indptr[v + 1]):
                if distance[indices[k]] < 0:
                    distance[indices[k]] = level
                    following.append(int(indices[k]))
        frontier = following
    return distance


def runs(a):
    found = []
    current = []
    for x in a:
        if x < 0:
            found.append(len(current) + sum(current))
            current = []
        else:
            current.append(int(x))
    found.append(len(current))
    return found, current


def shifted(by, n):
    found = []
    for k in range(n):
        found.append(k + by)
    return found


def from_helpers(n):
    current = []
    current.append(1)
    for k in range(n):
        current = shifted(k, k + 2)
    return current


def two_at_once(n):
    even, odd, count = [], [n], 0
    for k in range(n):
        if k % 2:
            odd.append(k)
        else:
            even.append((k, 0.5))
    return len(even), odd, count


def turned(n):
    x = [1]
    for i in range(n):
        if i % 3:
            x = sorted(x)
        else:
            x = [v + 1 for v in x if v > 1]
        x.append(i)
    return x


def test_searches():
    indptr, indices = np.array([0, 2, 4, 5, 6, 6]), np.array([1, 2, 3, 0, 3, 4])
    for start in range(5):
        same(levels, indptr, indices, start)


def test_lists_begun_anew():
    same(from_helpers, 3)
    same(two_at_once, 5)
    same(runs, np.array([1, 2, -1, 3, -1, -1, 4]))
    same(runs, np.array([-1]))
    for n in (0, 1, 7):
        same(turned, n)


def begun_on_the_way(a, least):
    for k in range(len(a)):
        if a[k] < least:
            continue
        if a[k] == least:
            places = [k]
        places.append(10 * k)
        places += list(a[:k])
    return np.array(places)


def test_lists_that_are_not_always_begun():
    same(begun_on_the_way, np.array([1, 3, 4, 3, 5]), 3)
    kernel = lw.kernel(begun_on_the_way)
    for function in (kernel, begun_on_the_way):
        for least in (3, 9):
            with pytest.raises(UnboundLocalError):
                function(np.array([4, 3]), least)


def counted(c):
    if c:
        x = [1, 2]
    return len(x)


def test_a_list_of_constants_that_is_only_counted():
    same(counted, True)
    same(counted, False)


REFUSED = {
    "x = [1]; y = [2]\n    for i in range(n):\n        y.append(i)\n        x = y\n        y.append(7)\n    return len(x)":
        "'x' is assigned a list that another name still refers to",
    "x = [1]\n    for i in range(n):\n        z = x\n        z.append(3)\n        x = [i, len(x)]\n    return x":
        "'z' is another name for a list that is assigned again",
    "x = [n]\n    x.append(2)\n    y = [1]\n    for i in range(n):\n        y.append(i)\n        y = given(x)\n    return len(y)":
        "'y' is assigned a list that another name still refers to",
    "x = [n]\n    emptied(x)\n    return len(x)": "'x' is a list of the caller, and assigned again here",
}  # fmt: skip


def given(x):
    return x


def emptied(x):
    while len(x) > 1:
        x = []
    x.append(1)


def emptied_or_not(x):
    if len(x) > 1:
        x = []
    x.append(1)


def test_a_list_of_the_caller_that_one_branch_assigns_again():
    text = "def f(n):\n    x = [n] * n\n    emptied_or_not(x)\n    return x\n"
    for n in (0, 1, 2):
        same(define(text, "emptied.py", emptied_or_not=emptied_or_not), n)


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body):
    function = define(f"def f(n):\n    {body}\n", f"lists_{len(body)}.py", given=given, emptied=emptied)
    assert REFUSED[body] in refusal(function, 3)


def longest(a):
    best, current = [], []
    for v in a:
        if v > 0:
            current.append(v)
        else:
            if len(current) > len(best):
                best = current
            current = []
    if len(current) > len(best):
        best = current
    return best


def two_rows(a):
    previous, row = [0] * (len(a) + 1), [0] * (len(a) + 1)
    for i in range(len(a)):
        for j in range(1, len(a) + 1):
            row[j] = max(row[j - 1], previous[j - 1] + int(a[j - 1] > i))
        previous, row = row, previous
    return previous, row


def row_after_row(a):
    previous, row = [0], [0]
    for i in range(len(a)):
        row = [i] * len(a)
        for j in range(1, len(a)):
            row[j] += previous[(j - 1) % len(previous)]
        previous = row
    return previous, row


def kept_before(a):
    current, old = [1], [0]
    for i in range(len(a)):
        new = []
        for v in current:
            new.append(v + old[0])
            new.append(i)
        old = current
        current = new
    return current, old


def exchanged(a):
    x, y = [1], [2, 3]
    for i in range(len(a)):
        x, y = y, x
        x.append(i)
    return x, y


def copied_and_joined(a):
    best, row = [], [1]
    for i in range(len(a)):
        if len(row) > i:
            best = row.copy()
        row = [i] + [v + 1 for v in row]
    return best, row


ALIASES = [longest, two_rows, row_after_row, kept_before, exchanged, copied_and_joined]


@pytest.mark.parametrize("function", ALIASES)
@pytest.mark.parametrize(
    "a", [np.array([1, 2, -1, 3, 4, 5, 0, 6]), np.array([-1]), np.arange(5)[::-1], np.zeros(0, int)]
)
def test_a_name_may_get_the_list_of_another_one(function, a):
    same(function, a)


@pytest.mark.parametrize(
    "body",
    [
        "        old = current\n        current.append(i)",
        "        old = current\n        old.append(i)",
        "        old = current\n        current[0] = i\n        current = [i]",
        "        if i == 1: old = current\n        current[0] = i",
        "        old = current\n        grow(current)\n        current = [i, i]",
        "        old = current\n        grows(current)\n        current = [i, i]",
        "        old = x\n        old[0] = 7",
    ],
)
def test_refused_where_the_copy_would_show(body):
    text = "def f(x, n):\n    def grow(v):\n        v.append(3)\n    current, old = [1], [0]\n    for i in range(n):\n"
    function = define(f"{text}{body}\n    return current, old\n", grows=grows)
    with pytest.raises(lw.KernelError):
        lw.kernel(function)([1, 2], 3)


def grows(v):
    v.append(3)

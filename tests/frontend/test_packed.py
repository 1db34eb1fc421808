"""Lists and dicts as arguments: what they hold is read; what would have to show in them is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import loopwright as lw
from breadth.cases import differences, outcome, same_error

A = np.array([1.0, 2.0, 4.0])


def numbers(x):
    total = 0
    for v in x:
        total += v
    return total, len(x), x[-1], sum(x), [v * 2 for v in x], np.array(x), x


def letters(x, place):
    total = 0
    for v in x:
        total = total * 3 + v
    for k in range(len(x)):
        total += x[k]
    return total, x[place], 98 in x


def test_bytes_hold_ints_of_python():
    kernel = lw.kernel(letters)
    for x, place in ((b"\xff\xfe\xfd" * 5, -1), (b"abc", 1)):
        assert kernel(x, place) == letters(x, place)
        assert type(kernel(x, place)[1]) is int
    for other in (b"", b"abc"):
        with pytest.raises(IndexError):
            kernel(other, 3)


def arrays(x):
    total = 0.0
    for k, row in enumerate(x):
        total += row.sum() * k
        for j in range(len(row)):
            total += x[k][j] * j
    return total, x[1][:2] * 2, np.concatenate(x), x


def images(x):
    total = np.zeros(x[0].shape)
    for one in x:
        total += one
    return total, x[1].shape, x[0][1, 0]


def graph(neighbours, start):
    seen = [start]
    for u in seen.copy():
        for v in neighbours[u]:
            if v not in seen:
                seen.append(v)
    return seen, len(neighbours[start]), neighbours


def pairs(x):
    total = 0.0
    for a, b in x:
        total += a * b
    return total, x[1], x[0][1]


def table(d, k):
    total = 0.0
    while k in d:
        total += d[k]
        k += 1
    for key, value in d.items():
        total += key * value
    return total, len(d), d.get(99, -1.0)


def texts(d, x):
    total = d["w"] * x.mean() + d.get("q", 2.0) + len(d)
    if d["mode"] == "mean" and "w" in d and "v" not in d:
        total += 100.0
    for key in d:
        if key == "w":
            total += 1000.0
    return total


def literal(x, n):
    d = {"a": n * 2, "b": x[0]}
    n = 7
    total = 0.0
    for value in d.values():
        total += value
    return total, d["a"], n


@pytest.mark.parametrize(
    "function, arguments",
    [
        (numbers, ([1, 2, 3],)),
        (numbers, ([1.0, 2.5],)),
        (numbers, ([np.float32(1), np.float32(2)],)),
        (numbers, ([True, False],)),
        (numbers, ([2**61, -1],)),
        (arrays, ([A, A[:2], A * 2],)),
        (arrays, ([A[::2], A[::-1]],)),
        (arrays, ([A[:0], A],)),
        (arrays, ([A.astype(np.float32), A.astype(np.float32)],)),
        (images, ([np.ones((2, 3)), np.arange(6.0).reshape(3, 2).T],)),
        (graph, ([[1, 2], [0], [], [5, 1]], 0)),
        (pairs, ([(1, 2.0), (3, 4.0)],)),
        (table, ({1: 0.5, 2: 0.25, 7: 3.0}, 1)),
        (texts, ({"mode": "mean", "w": 2.5}, A)),
        (texts, ({"mode": "sum", "w": 2}, A)),
        (literal, (A, 3)),
    ],
)
def test_as_cpython(function, arguments):
    expected = outcome(function, copy.deepcopy(arguments))
    actual = outcome(lw.kernel(function), copy.deepcopy(arguments))
    assert same_error(expected.error, actual.error)
    assert differences(expected.result, actual.result) == []


def grows(x):
    x.append(1)


def changes(x):
    x[0] = 2


def sorts(x):
    x.sort()


def changes_inside(x):
    row = x[0]
    row[0] = 3.0


def grows_inside(x):
    x[0].append(3)


def puts(x):
    x[1] = 2.0


def takes(x):
    x.pop(1)


@pytest.mark.parametrize(
    "function, given",
    [
        (grows, [1, 2]),
        (changes, [1, 2]),
        (sorts, [2, 1]),
        (changes_inside, [A]),
        (grows_inside, [[1], [2]]),
        (puts, {1: 3.0}),
        (takes, {1: 3.0}),
    ],
)
def test_what_would_change_them_is_refused(function, given):
    with pytest.raises(lw.KernelError):
        lw.kernel(function)(given)


def first_after(rows, a):
    a[0] = 5.0
    return rows[0][0]


def test_an_array_of_a_list_that_is_written_under_another_name_is_refused():
    a = A.copy()
    with pytest.raises(lw.ArgumentValueError, match="also one that is written"):
        lw.kernel(first_after)([a, a], a)
    assert lw.kernel(first_after)([a, a], a.copy()) == 1.0


@pytest.mark.parametrize("given", [[], [A, A.astype(np.float32)], [A, A.reshape(1, 3)], [object()], {}, {1: 2, 3: 0.5}])
def test_what_is_of_several_kinds_is_no_argument(given):
    with pytest.raises((lw.ArgumentTypeError, lw.KernelError)):
        lw.kernel(numbers)(given)


def of_a_range(r, a):
    total = a[0]
    for k in r:
        total += a[k] * k
    return total, len(r)


def mixed(x):
    total = 0.0
    for v in x:
        total += v
    return total, x[0], len(x), x


def of_pairs(pairs, a):
    total = 0.0
    for weight, b in pairs:
        total += weight * b.sum()
        b[0] = 7.0
    return total, len(pairs), a[0]


def zipped(a, b):
    def from_there_on(k):
        return zip(a[k:], b[k:])  # noqa: B905

    total = 0.0
    for k in range(2):
        for x, y in from_there_on(k):
            total += x * y
    return total


@pytest.mark.parametrize("function, arguments", [
    (of_a_range, (range(3), A)), (of_a_range, (range(2, -1, -1), A)), (of_a_range, (range(0), A)),
    (of_pairs, ([(3, A + 1), (4.5, A * 2)], A)), (mixed, ([1, 2.5, True],)), (zipped, (A, A + 1)),
])  # fmt: skip
def test_ranges_short_lists_of_anything_and_zips(function, arguments):
    test_as_cpython(function, arguments)


def named_zip(a, b):
    def both():
        return zip(a, b)  # noqa: B905

    pairs = both()
    return sum([x * y for x, y in pairs])


def test_a_zip_that_could_be_gone_over_twice_is_refused():
    with pytest.raises(lw.KernelError, match="a zip cannot be assigned to a name"):
        lw.kernel(named_zip)(A, A)


def count(x):
    return len(x)


@pytest.mark.parametrize("given", [[1, 2**63], [[1], [2**63]], {0: 2**63}])
def test_a_python_int_that_64_bits_do_not_hold_is_named(given):
    with pytest.raises(OverflowError, match="the Python int 9223372036854775808 does not fit int64"):
        lw.kernel(count)(given)

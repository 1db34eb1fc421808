from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.steps.rank import Rank
from steps.before_after import check_same
from steps.kernels import known
from steps.pictures import check_picture

COUNT = """
kernel count(c: {type}[1] C, k: int64[1] C, x: float64[1] C, a: int64[1] C, first: int64):
    var p: {type}
    var j: int64
    for i in {range}:
        {body}
"""
UPWARDS, DOWNWARDS = "first .. size(k, 0)", "size(k, 0) - 1 .. first - 1 step -1"


def test_the_picture() -> None:
    check_picture(Rank)


def calls(dtype: str) -> list[list[object]]:
    random = np.random.default_rng(3)
    return [
        [random.integers(0, 9, size).astype(dtype), random.integers(-size, size, n), random.random(n),
         np.full(n, -1), first]
        for n in (0, 1, 2, 300) for first in (0, 1, 5) for size in (1, 7, 300)
    ]  # fmt: skip


@pytest.mark.parametrize("range_", [UPWARDS, DOWNWARDS])
@pytest.mark.parametrize(
    "body",
    [
        "a[i] = c[k[i]]\n        c[k[i]] = c[k[i]] + 1",
        "c[k[i]] = c[k[i]] - 1\n        a[i] = c[k[i]] * 2",
        "j = k[i]\n        p = c[j]\n        c[j] = p + 3\n        a[i] = p + c[j]",
        "if x[i] > 0.4:\n            p = c[k[i]]\n            c[k[i]] = 1 + p\n            a[i] = p",
        "p = c[k[i]]\n        if p % 2 == 0:\n            a[i] = p\n        c[k[i]] = p + 1",
    ],
)
def test_each_iteration_finds_what_those_before_it_have_counted(body: str, range_: str, tmp_path: Path) -> None:
    check_same(COUNT.format(type="int64", range=range_, body=body), "rank i", calls("int64"), tmp_path)


def test_counters_of_a_byte_wrap_around(tmp_path: Path) -> None:
    body = "a[i] = int64(c[k[i]])\n        c[k[i]] = c[k[i]] + 1i8"
    check_same(COUNT.format(type="int8", range=UPWARDS, body=body), "rank i", calls("int8"), tmp_path)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("a[i] = c[k[i]]\n        c[k[i]] = c[k[i]] * 2", "adds a constant"),
        ("a[i] = c[k[i]]\n        c[k[i]] = c[k[i]] + i", "adds a constant"),
        ("c[k[i]] = c[k[i]] + 1", "is not used"),
        ("a[i] = c[0]\n        c[k[i]] = c[k[i]] + 1", "other elements"),
        ("a[i] = c[k[i]]\n        if x[i] > 0.5:\n            c[k[i]] = c[k[i]] + 1", "in other places"),
        ("j = k[i]\n        a[i] = c[j]\n        j = j + 1\n        c[j] = c[j] + 1", "in the middle"),
        ("a[i] = c[a[i]]\n        c[a[i]] = c[a[i]] + 1", "in the middle"),
        ("a[k[i]] = i\n        p = c[a[i]]\n        c[a[i]] = p + 1", "'a' is written in the loop"),
        ("for h in 0 .. 2:\n            c[k[i]] = c[k[i]] + 1", "adds a constant"),
    ],
)
def test_refusals_say_why(body: str, word: str) -> None:
    rejection = Rank("i").illegal(*known(COUNT.format(type="int64", range=UPWARDS, body=body)), strict=False)
    assert rejection is not None and word in rejection.reason


def counting_sort(key, start, out):
    for i in range(len(key)):
        k = key[i]
        out[start[k]] = i
        start[k] += 1


def from_the_end(key, end, out):
    for i in range(len(key) - 1, -1, -1):
        end[key[i]] -= 1
        out[end[key[i]]] = key[i]


def cells(x, width, count, members):
    for i in range(len(x)):
        c = int(x[i] / width)
        p = count[c]
        if p < members.shape[1]:
            members[c, p] = i
        count[c] = p + 1


def planes(x, y, count, out):
    for i in range(len(x)):
        out[i] = count[x[i], y[i]]
        count[x[i], y[i]] += 1


def rows_of_a_sparse_matrix(row, column, value, begin, filled, columns, values):
    for e in range(len(row)):
        r = row[e]
        d = begin[r] + filled[r]
        columns[d] = column[e]
        values[d] = value[e]
        filled[r] += 1


def cases(n: int, size: int) -> list[tuple[Callable[..., object], tuple[Any, ...]]]:
    random = np.random.default_rng(n)
    key = random.integers(0, size, n)
    counts = np.bincount(key, minlength=size)
    begin = np.cumsum(counts) - counts
    return [
        (counting_sort, (key, begin.copy(), np.zeros(n, np.int64))),
        (counting_sort, (random.integers(-size, size, n), random.integers(0, 3, size), np.zeros(n + 3, np.int64))),
        (from_the_end, (key.astype(np.int32), np.cumsum(counts).astype(np.int32), np.zeros(n, np.int32))),
        (cells, (random.random(n) * size, 1.0, np.zeros(size, np.int64), np.full((size, 3), -1))),
        (planes, (key % 3, key, np.zeros((3, size), np.int16), np.zeros(n))),
        (rows_of_a_sparse_matrix, (key, random.integers(0, 9, n), random.random(n), begin, np.zeros(size, np.int64),
                                   np.zeros(n, np.int64), np.zeros(n))),
    ]  # fmt: skip


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 1), (300, 7), (3000, 700)])
def test_counting_loops_are_shared_on_a_gpu(n: int, size: int) -> None:
    for function, args in cases(n, size):
        right = [one.copy() if isinstance(one, np.ndarray) else one for one in args]
        function(*right)
        kernel = lw.kernel(function)  # type: ignore[attr-defined]
        with lw.options(device="emulated"):
            kernel(*args)
            steps = str(kernel.explain(*args).to_dict()["schedule"])
        for mine, wanted in zip(args, right, strict=True):
            np.testing.assert_array_equal(mine, wanted)
        assert steps.startswith("rank ")


def test_a_counter_that_is_not_there_is_an_error_all_the_same() -> None:
    out: Any = np.zeros(4, np.int64)
    with lw.options(device="emulated"), pytest.raises(IndexError):
        lw.kernel(counting_sort)(np.array([0, 2, 9, 1]), np.zeros(4, np.int64), out)

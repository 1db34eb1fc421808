"""Indices that an earlier access has checked: where that is known, where not, and that failures stay what they are."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.execution import compiled
from codegen.scheduled import after, host_text
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel

HEAD = """
kernel f(a: int64[1] C, h: int64[1] C, g: int64[1] C):
    var p: int64
    var q: int64
    for i in 0 .. size(a, 0):
        p = a[i]
"""


def outcome(run: Callable[[list[Any]], object], arguments: list[Any]) -> object:
    """What a call returns, or the class of its error."""
    try:
        return run(arguments)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(
    ("body", "checks"),
    [
        ("        h[p] = h[p] + 1\n", 1),
        ("        h[a[i]] = h[a[i]] + 1\n        h[a[i]] = 3\n", 1),  # nothing writes to a
        ("        h[p] = g[p]\n", 2),  # another size
        ("        q = h[p]\n        p = q\n        h[p] = 5\n", 2),  # another number
        ("        if h[p] > 3 and g[p] < 9:\n            g[p] = 1\n        h[p] = 2\n", 2),
        ("        if i > 3 and g[p] < 9:\n            g[p] = 1\n        g[p] = 2\n", 2),  # not in any case
        ("        if i > 3 or g[p] < 9:\n            h[p] = 1\n        else:\n            g[p] = 2\n", 2),
        ("        if i > 3:\n            h[p] = 1\n        h[p] = h[p] + 2\n", 2),
        # before the first of the rounds that are written out, and behind each:
        ("        while h[p] > 0 named w:\n            h[p] = h[p] - 1\n        h[p] = 7\n", 5),
        ("        while h[p] > 0 named w:\n            h[p] = h[p] - 1\n            p = 0\n        h[p] = 7\n", 5),
        ("        h[p] = 1\n        for j in 0 .. 3:\n            h[p] = h[p] + j\n            p = p - p\n", 2),
        ("        g[a[p - p]] = 1\n        a[p] = 0\n        g[a[p - p]] = 2\n", 3),  # an element may be another
    ],
)
def test_how_often(body: str, checks: int, tmp_path: Path) -> None:
    text = HEAD + body
    written = host_text(text, "").split(" lw_kernel(", 1)[1]
    assert written.count("LW_INDEX(") == checks
    kernel, facts = after(text, "", strict=False)
    code = compiled(kernel, tmp_path, facts, check_all=False, strict=False)
    for numbers in ([0, 4, -1, -5, 2], [1, 5, 0], [1, -6, 0]):
        mine = [np.array(numbers), np.arange(5), np.arange(5) * 3]
        expected = copy.deepcopy(mine)
        right = outcome(lambda given: interpret(parse_kernel(text), given), expected)
        assert outcome(lambda given: code.run(tuple(given)), mine) == right
        for found, wanted in zip(mine, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def merged(parent: Any, a: Any, b: Any) -> int:
    count = 0
    for e in range(len(a)):
        x = a[e]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        y = b[e]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            parent[max(x, y)] = min(x, y)
            count += 1
    return count


def heaviest(parent: Any, weight: Any, take: Any, skip: Any) -> float:
    for i in range(len(parent)):
        take[i] = weight[i]
    for i in range(len(parent) - 1, 0, -1):
        p = parent[i]
        take[p] += skip[i]
        skip[p] += max(take[i], skip[i])
    return max(take[0], skip[0])


def test_as_python() -> None:
    random = np.random.default_rng(3)
    parents = np.array([0, *(random.integers(max(0, i - 9), i) - (i % 2) * 200 for i in range(1, 200))])
    calls: list[tuple[Any, list[Any]]] = [
        (merged, [np.arange(99), random.integers(0, 99, 80), random.integers(0, 99, 80)]),
        (heaviest, [parents, random.random(200), np.zeros(200), np.zeros(200)]),
    ]
    for function, arguments in calls:
        mine, expected = copy.deepcopy(arguments), copy.deepcopy(arguments)
        assert lw.kernel(function)(*mine) == function(*expected)
        for found, right in zip(mine, expected, strict=True):
            np.testing.assert_array_equal(found, right)


def binned(x: Any, weight: Any, h: Any) -> None:
    for i in range(len(x)):
        h[int(x[i] * 8.0), int(weight[i])] += 1


def test_an_index_that_is_a_float_cut_off_is_tested_once() -> None:
    kernel = lw.kernel(binned, threads=1)
    x = np.array([0.0, 0.5, -0.05, 0.99, -0.2])
    for last, error in (
        (0.3, None),
        (1.0, IndexError),
        (np.nan, ValueError),
        (np.inf, OverflowError),
        (-1.2, IndexError),
    ):
        given, weight = np.append(x, last), np.arange(6.0) / 2
        mine, right = np.zeros((8, 4), np.int64), np.zeros((8, 4), np.int64)
        if error is None:
            kernel(given, weight, mine)
        else:
            with pytest.raises(error):
                kernel(given, weight, mine)
        with np.errstate(all="ignore"):
            assert outcome(lambda own: binned(*own), [given, weight, right]) == error
        np.testing.assert_array_equal(mine, right)
    path = re.search(r"/\S+kernel\.c", str(kernel.explain(x, x, right)))
    assert path is not None and Path(path[0]).read_text(encoding="utf-8").count("LW_INDEX(LW_TRUNCATED(") == 2

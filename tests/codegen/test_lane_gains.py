"""From how many iterations on loops are done in lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text
from loopwright.codegen.lane_gains import changes_columns, fewest_for_sums, flags_are_wide
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel
from loopwright.ir.types import FLOAT32, FLOAT64, INT64
from loopwright.ir.walk import statements

HEAD = """
kernel k(a: float64[1] C, d: bool[1] C, f: float32[1] C, v: uint8[1] C, p: int64[1] C, x: float64[2] C):
    var s: float64
    var n: int64
    s = 0.0
    for i in 0 .. size(a, 0):
"""
MANY, FAR = "256", "(LW_MASKED_GATHERS ? 128 : 1024)"


def loop(*lines: str) -> For:
    return next(statements(parse_kernel(HEAD + "".join(f"        {line}\n" for line in lines)).body, For))


@pytest.mark.parametrize(
    ("lines", "fewest"),
    [
        (("s = s + a[i]",), "16"),
        (("s = s + a[p[i]]",), FAR),
        (("s = s + a[p[i]] * exp(a[i])",), "16"),
        (("s = s + x[p[0], i]",), "16"),  # a row that data say
        (("n = p[i] + 1", "s = s + a[n]"), FAR),
        (("if v[i] == 0:", "    s = s + a[i]"), MANY),
        (("s = s + (a[i] if v[i] == 0 else 0.0)",), MANY),
        (("if v[i] == 0 and a[i] > 0.5:", "    s = s + a[i]"), MANY),
        (("if f[i] > 0.5:", "    s = s + a[i]"), "16"),  # half as wide
        (("if a[i] > 0.5:", "    s = s + float64(v[i])"), "16"),  # a byte decides nothing
        (("if p[i] >= 0:", "    s = s + a[i] * a[p[i]]"), FAR),
        (("if v[i] == 0:", "    s = s + a[p[i]]"), FAR),
        (("if v[i] == 0:", "    s = s + exp(a[i])"), "16"),
        (("if p[i] >= 0:", "    s = s + a[p[i]] / a[i]"), "16"),
    ],
)
def test_how_many_iterations_are_worth_lanes(lines: tuple[str, ...], fewest: str) -> None:
    assert fewest_for_sums(loop(*lines), [FLOAT64]) == fewest


def test_other_sums() -> None:
    narrow = loop("if v[i] == 0:", "    s = s + a[i]")
    assert fewest_for_sums(narrow, [FLOAT32]) == MANY  # a fourth
    assert fewest_for_sums(narrow, []) == fewest_for_sums(narrow, [FLOAT64, INT64]) == "16"
    assert fewest_for_sums(loop("if f[i] > 0.5:", "    s = s + a[i]"), [FLOAT32]) == "16"


def test_what_changes_columns() -> None:
    assert changes_columns(loop("x[i, 0] = x[i, 0] + a[i]")) and changes_columns(
        loop("x[i + 1, 2] = x[i + 1, 2] * 2.0")
    )
    assert not changes_columns(loop("x[0, i] = x[0, i] + a[i]")) and not changes_columns(loop("a[i] = a[i] + x[i, 0]"))
    assert not changes_columns(loop("x[i, 0] = x[0, i]"))  # one store each
    assert not changes_columns(loop("x[i, i] = x[i, i] + a[i]"))  # a diagonal


def test_where_flags_are_as_wide_as_all_else() -> None:
    assert flags_are_wide(loop("if d[i]:", "    a[i] = x[0, i]"))
    assert not flags_are_wide(loop("a[i] = 1.0 if d[i] else 0.0"))  # no store is left out
    assert not flags_are_wide(loop("if d[i]:", "    f[i] = float32(0)"))
    assert not flags_are_wide(loop("if d[i]:", "    a[i] = float64(f[i])"))
    head = "kernel k(a: float64[1] C, d: bool[1] C, x: float64[1] C):\n    for i in 0 .. size(a, 0):\n"
    body = "        if not d[i] and x[i] < a[i]:\n            a[i] = x[i]\n"
    assert "(!(-(int64_t)d_[i_] < 0))" in host_text(head + body, "vectorize i")
    assert "(!(d_[i_] != 0))" in host_text(head + body, "")


def relaxed(done: Any, cost: Any, near: Any) -> None:
    for r in range(cost.shape[0]):
        for i in range(near.shape[0]):
            if not done[i] and cost[r, i] < near[i]:
                near[i] = cost[r, i]


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 31, 64, 100])
def test_flags_may_be_any_bytes(columns: int) -> None:
    draw = np.random.default_rng(columns)
    done = np.array([0, 1, 2, 127, 128, 255], np.uint8)[draw.integers(0, 6, columns)].view(np.bool_)
    cost, near = draw.integers(0, 9, (3, columns)) / 2, np.full(columns, 3.0)
    mine, pythons = near.copy(), near.copy()
    lw.kernel(relaxed)(done, cost, mine)
    relaxed(done, cost, pythons)
    np.testing.assert_array_equal(mine, pythons)


def test_the_text_of_few_and_of_many() -> None:
    head = "kernel k(a: float64[1] C, v: uint8[1] C, x: float64[2] C, n: int64):\n    var s: float64\n    s = 0.0\n"
    loops = "    for i in 0 .. size(a, 0):\n        if v[i] == 0:\n            s = s + a[i]\n"
    stores = "    for j in 0 .. size(x, 0):\n        x[j, n] = x[j, n] - s\n"
    text = host_text(head + loops + stores, "vectorize i; vectorize j")
    assert "if (LW_SELDOM(lw_trip(0L, a_n0_, 1L) >= 256)) {" in text
    assert "#pragma GCC unroll 4 for (int64_t i_" in text  # those that are fewer
    assert "if (lw_trip(0L, x_n0_, 1L) < 8) {" in text and text.count("LW_ONE_BY_ONE;") == 2


def summed(visited: Any, places: Any, a: Any, b: Any, x: Any, out: Any) -> None:
    for r in range(a.shape[0]):
        total = 0.0
        far = 0.0
        for j in range(a.shape[1]):
            if not visited[j]:
                total += a[r, j] * b[r, j]
        for j in range(a.shape[1]):
            k = places[r, j]
            if k >= 0 and k != r:
                far += a[r, j] * b[0, k]
        for j in range(a.shape[1]):
            far += out[places[r, j] % 3]
        for j in range(a.shape[1]):
            x[j, r] += a[r, j] * total
        out[r] = total - far


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 15, 16, 60, 255, 256, 300, 1100])
def test_results_are_those_of_python(columns: int) -> None:
    draw = np.random.default_rng(columns)
    visited, places = draw.random(columns) > 0.5, draw.integers(-1, max(columns, 1), (3, columns))
    a, b = draw.integers(-4, 5, (2, 3, columns)).astype(np.float64)
    given = [[np.zeros((columns, 3)), np.zeros(3)] for _ in range(2)]
    lw.kernel(summed)(visited, places, a, b, *given[0])
    summed(visited, places, a, b, *given[1])
    for mine, right in zip(*given, strict=True):
        np.testing.assert_array_equal(mine, right)

"""One comparison whether a number is inside a size, and one jump for two comparisons of two things."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import grid_text, host_text

HEAD = """
kernel f(a: int64[1] C, x: float64[1] C, y: float64[1] C, out: int64[1] C, m: int64):
    var n: int64
    var j: int64
    n = 0
    for i in 0 .. size(a, 0):
        j = a[i]
        if {condition}:
            n = n + 1
            out[i] = n * j
"""


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("j >= 0 and j < size(out, 0)", "if ((((uint64_t)j_) < ((uint64_t)out_n0_)))"),
        ("0 <= j and size(out, 0) > j", "if ((((uint64_t)j_) < ((uint64_t)out_n0_)))"),
        ("j - m < size(out, 0) and j - m >= 0", "if ((((uint64_t)(j_ - m_)) < ((uint64_t)out_n0_)))"),
        ("j < 0 or j >= size(out, 0)", "if ((((uint64_t)j_) >= ((uint64_t)out_n0_)))"),
        ("j >= 0 and m > 3 and j < size(out, 0)", "if (((((uint64_t)j_) < ((uint64_t)out_n0_)) && (m_ > 3L)))"),
        ("j >= 0 and j < m", None),  # which may be below 0
        ("j >= 1 and j < size(out, 0)", None),
        ("j >= 0 and m < size(out, 0)", None),
        ("j >= 0 or j < size(out, 0)", None),
        ("j >= 0 and a[j] > 3 and j < size(out, 0)", None),  # where that fails, it has to
        ("j >= 0 and j <= size(out, 0)", None),
        ("i >= 0 and i < size(out, 0)", None),  # the C compiler knows where loops begin
    ],
)
def test_which_pairs_ask_for_a_range(condition: str, text: str | None) -> None:
    written = host_text(HEAD.format(condition=condition))
    assert ("((uint64_t)out_n0_)" in written) == (text is not None)
    assert text is None or text in written


def test_a_gpu_asks_as_it_is_written() -> None:
    kernel = HEAD.format(condition="j >= 0 and j < size(out, 0)").replace("n * j", "j").replace("n = n + 1", "n = 1")
    assert "((uint64_t)out_n0_)" not in grid_text(kernel, "bind i block.x")


def inside(a: Any, out: Any) -> int:
    n = 0
    for i in range(len(a)):
        if 0 <= a[i] < len(out):
            n += 1
            out[a[i]] += i
        if a[i] + 1 < 0 or a[i] + 1 >= len(out):
            n += 100
    return n


@pytest.mark.parametrize("size", [0, 1, 5])
def test_ranges_are_the_same(size: int) -> None:
    a = np.array([-(2**63), -2, -1, 0, 1, 4, 5, 6, 2**63 - 2])
    mine, right = np.zeros(size, np.int64), np.zeros(size, np.int64)
    with np.errstate(over="ignore"):
        assert lw.kernel(inside)(a, mine) == inside(a, right)
    assert (mine == right).all()


PAIRS = """
kernel f(x: float64[1] C, y: float64[1] C, out: int64[1] C, q: int8[1] C):
    var n: int64
    n = 0
    for i in 0 .. size(x, 0):
        for j in 0 .. i:
            if {condition}:
                out[n] = j
                n = n + 1
"""


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("x[i] <= y[j] and x[j] <= y[i]", 1),
        ("x[j] < x[i] + y[i] and x[i] < x[j] + y[j]", 1),
        ("x[i] <= y[j] and x[j] <= y[i] and x[i] + 1.0 <= y[j] and x[j] + 1.0 <= y[i]", 2),
        ("x[j] < x[j + 1] and x[j + 1] > x[j + 2]", 0),  # of one thing: mostly smooth
        ("x[j] < y[i] and x[j] > 3.0", 0),
        ("x[i] <= y[j] or x[j] <= y[i]", 0),
        ("x[i] == y[j] and x[j] == y[i]", 0),
        ("x[i] <= y[j] and x[j] <= y[n]", 0),
    ],
)
def test_which_comparisons_have_one_jump(condition: str, count: int) -> None:
    found = host_text(PAIRS.format(condition=condition)).count("LW_AT_ONCE((")
    assert found == 2 * count  # the loop stands there for few iterations, too


def overlaps(low: Any, high: Any, out: Any) -> int:
    n = 0
    for i in range(len(low)):
        for j in range(i):
            if low[i] <= high[j] and low[j] <= high[i]:
                out[n] = i * 1000 + j
                n += 1
    return n


def test_pairs_are_the_same() -> None:
    generator = np.random.default_rng(4)
    low = generator.integers(0, 50, 60).astype(float)
    high = low + generator.integers(0, 9, 60)
    low[7], high[11] = np.nan, np.nan
    mine, right = np.zeros(2000, np.int64), np.zeros(2000, np.int64)
    assert lw.kernel(overlaps)(low, high, mine) == overlaps(low, high, right)
    assert (mine == right).all()

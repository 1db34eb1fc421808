"""One jump for two comparisons of two things with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import grid_text, host_text

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


def test_a_gpu_asks_as_it_is_written() -> None:
    kernel = (
        PAIRS.format(condition="x[i] <= y[j] and x[j] <= y[i]")
        .replace("out[n] = j", "out[i] = j")
        .replace("n = n + 1", "n = 1")
    )
    assert "LW_AT_ONCE" not in grid_text(kernel, "bind i block.x")

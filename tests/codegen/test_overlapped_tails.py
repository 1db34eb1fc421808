"""Rows of narrow elements in whole registers: which loops, and that iterations done twice change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text


def opened(mask: Any, o: Any) -> None:
    for i in range(1, mask.shape[0] - 1):
        for j in range(1, mask.shape[1] - 1):
            if mask[i, j] and mask[i - 1, j] and mask[i, j + 1]:
                o[i, j] = 1


def thinned(a: Any, o: Any) -> None:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            o[i, j] = 0
            if a[i, j] > 9:
                x = a[i - 1, j]
                if x < 200:
                    if a[i, j + 1] > x:
                        o[i, j] = x
                    elif a[i, j - 1] > x:
                        o[i, j] = 7


@pytest.mark.parametrize("function", [opened, thinned])
@pytest.mark.parametrize("element", [np.uint8, np.int16])
@pytest.mark.parametrize("threads", [1, 3])
def test_as_in_python(function: Any, element: Any, threads: int) -> None:
    kernel, rng = lw.kernel(function, threads=threads), np.random.default_rng(4)
    for width in (1, 3, 33, 34, 35, 65, 66, 67, 130, 131, 195, 300):
        a = rng.integers(0, 250, (5, width)).astype(element)
        mine, right = np.full((2, 5, width), 3, element)
        kernel(a, mine)
        function(a, right)
        np.testing.assert_array_equal(mine, right)


HEAD = """
kernel f(a: {0}[2] C, b: {0}[2] C, c: int64[2] C, at: int64[1] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            {1}
"""


@pytest.mark.parametrize(
    ("element", "statement", "count"),
    [
        ("uint8", "b[i, j] = a[i, j] + uint8(1)", 64),
        ("int16", "b[i, j] = a[i, j]", 32),
        ("int32", "b[i, j] = a[i, j]", 0),  # few are left over
        ("uint8", "c[i, j] = int64(a[i, j])", 64),
        ("uint8", "a[i, j] = a[i, j] + uint8(1)", 0),  # not twice
        ("uint8", "b[i, j] = a[i, 2 * j]", 0),  # no whole registers
        ("uint8", "c[0, 0] = c[0, 0] + int64(a[i, j])", 0),
    ],
)
def test_which_loops(element: str, statement: str, count: int) -> None:
    text = host_text(HEAD.format(element, statement), "vectorize j")
    assert (f"lw_filled += {count})" in text) if count else "lw_filled" not in text

"""One store of a number that is chosen: which stores become one, and that results are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

HEAD = """
kernel f(a: int64[1] C, b: int64[1] C, c: int8[1] C, x: float64[1] C, k: int64):
    var s: int64
    s = a[0]
    for i in 1 .. size(a, 0):
"""


def is_chosen(*lines: str) -> bool:
    """Whether a loop has the statements without a jump."""
    text = HEAD + "".join(f"        {line}\n" for line in lines)
    return "lw_else0" in host_text(text, "").split(" lw_kernel(", 1)[1]


@pytest.mark.parametrize(
    "lines",
    [
        ("if b[i] > 3:", "    a[i] = a[i - 1] + 1", "else:", "    a[i] = max(a[i - 1], b[i])"),
        ("if c[i] == c[i - 1]:", "    a[i] = a[i - 1]", "else:", "    a[i] = 0"),
        ("if x[i] < x[i - 1]:", "    a[i] = a[i - 1] + k", "else:", "    a[i] = k"),
        (
            "if b[i] > 3:", "    a[i] = 1", "else:",
            "    if x[i] != 0.5:", "        a[i] = a[i - 1]", "    else:", "        a[i] = -b[i] + a[i - 1]",
        ),
        ("a[i] = a[i - 1] if b[i] == 0 else a[i - 1] * 3",),
        ("s = s + b[i]", "a[i] = s - 7 if s > 7 else s"),  # by a scalar that is computed from elements
        ("if x[b[b[i]]] > x[a[i]]:", "    a[i] = 2 * a[i] + k", "else:", "    a[i] = 2 * a[i]"),  # checked: no lanes
    ],
)  # fmt: skip
def test_which_are_chosen(lines: tuple[str, ...]) -> None:
    assert is_chosen(*lines) == ("-b" not in "".join(lines))


@pytest.mark.parametrize(
    "lines",
    [
        ("if i > 3:", "    a[i] = a[i - 1] + 1", "else:", "    a[i] = 0"),
        ("if b[i] > i:", "    a[i] = a[i - 1] + 1", "else:", "    a[i] = 0"),  # which may keep an index inside
        ("if b[i] > 3 and i > 5:", "    a[i] = a[i - 1] + 1", "else:", "    a[i] = 0"),
        ("if b[i] > 3:", "    a[i] = a[i - 1] // k", "else:", "    a[i] = 0"),
        ("if b[i] > 3:", "    a[i] = a[s]", "else:", "    a[i] = 0"),  # checked: it fails in its own branch
        ("if b[i] > 3:", "    a[i] = a[b[i]]", "else:", "    a[i] = 0"),
        ("if b[i] > 3:", "    a[i] = a[i - 1]", "else:", "    a[i - 1] = 0"),
        ("if b[i] > 3:", "    a[i] = a[i - 1]", "else:", "    b[i] = 0"),
        ("if b[i] > 3:", "    a[i] = a[i - 1]"),
        ("if b[i] > 3:", "    x[i] = x[i - 1]", "else:", "    x[i] = 0.0"),
        ("if b[i] > 3:", "    a[i] = b[i] + 1", "else:", "    a[i] = 0"),  # in parallel
        ("if b[i] > 3 and x[b[b[i]]] > x[a[i]]:", "    a[i] = a[i] + 1", "else:", "    a[i] = 0"),  # by b[i]
        ("s = s + i", "a[i] = a[i - 1] - 7 if s > 7 else s"),  # no element decides
        ("s = b[i]", "a[i] = a[s] - 7 if s > 7 else s"),  # which may keep the index inside
    ],
)
def test_which_are_not(lines: tuple[str, ...]) -> None:
    assert not is_chosen(*lines)


def subsequence(a: Any, b: Any) -> Any:
    t = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            elif t[i - 1, j] >= t[i, j - 1]:
                t[i, j] = t[i - 1, j]
            else:
                t[i, j] = t[i, j - 1]
    return t


def streaks(won: Any, run: Any) -> None:
    for i in range(len(won)):
        if won[i]:
            run[i + 1] = run[i] + 1
        else:
            run[i + 1] = -run[0]


def butterflies(a: Any, w: int, p: int) -> None:
    """The places are tested before the loop, or one by one."""
    half = len(a) // 2
    for i in range(half):
        u = a[i]
        v = a[i + half] * w % 17
        a[i] = u + v if u + v < p else u + v - p
        a[i + half] = u - v if u >= v else u - v + p
        w = w * 3 % 17


def looked_up(kinds: Any, table: Any, out: Any) -> None:
    """The element that decides is the index as well."""
    for i in range(1, len(kinds)):
        k = kinds[i]
        if kinds[i] < 3:
            out[i] = table[k] + out[i - 1]
        else:
            out[i] = out[i - 1]


def test_results_are_pythons() -> None:
    rng = np.random.default_rng(5)
    kernel = lw.kernel(subsequence)
    for n, m in ((0, 3), (1, 1), (17, 40)):
        a, b = rng.integers(0, 3, n).astype(np.int8), rng.integers(0, 3, m).astype(np.int8)
        np.testing.assert_array_equal(kernel(a, b), subsequence(a, b))
    for first in (0, 2**63 - 1, -(2**63)):
        won = rng.random(50) < 0.7
        mine, pythons = (np.full(51, first) for _ in range(2))
        lw.kernel(streaks)(won, mine)
        with np.errstate(over="ignore"):
            streaks(won, pythons)
        np.testing.assert_array_equal(mine, pythons)
    for n in (0, 2, 40):
        mine = rng.integers(0, 17, n)
        pythons = mine.copy()
        lw.kernel(butterflies)(mine, 2, 17)
        butterflies(pythons, 2, 17)
        np.testing.assert_array_equal(mine, pythons)
    kinds = rng.integers(0, 9, 60).astype(np.uint8)
    mine, pythons = np.zeros(60, np.int64), np.zeros(60, np.int64)
    lw.kernel(looked_up)(kinds, np.array([5, 6, 7]), mine)
    looked_up(kinds, np.array([5, 6, 7]), pythons)
    np.testing.assert_array_equal(mine, pythons)


def longest(x: Any, run: Any) -> None:
    for i in range(1, len(x)):
        if x[i] > x[i - 1]:
            run[i] = run[i - 1] + 1
        else:
            run[i] = 0


@pytest.mark.parametrize("kind", ["int8", "uint32", "uint64"])
def test_numbers_of_all_widths_are_compared(kind: str) -> None:
    ends = np.iinfo(kind)
    x = np.array([0, 1, ends.max, ends.min, ends.max - 1, ends.max, ends.max // 2 + 1, 5, ends.min, 7], kind)
    mine, pythons = np.zeros(10, np.int64), np.zeros(10, np.int64)
    lw.kernel(longest)(x, mine)
    longest(x, pythons)
    assert mine.tolist() == pythons.tolist()

"""Several scalars that one condition changes: which are chosen without a jump, and that results are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text
from loopwright.codegen.chosen_scalars import GREATEST, LEAST, chosen_scalars, simplified
from loopwright.ir.nodes import Binary, Compare, If, Select, Var
from loopwright.ir.text import parse_kernel
from loopwright.ir.types import INT64
from loopwright.ir.walk import statements

HEAD = """
kernel f(a: int64[1] C, x: float64[1] C, k: int64):
    var n: int64
    var m: int64
    var j: int64
    var s: float64
    var best: float64
    n = 0
    m = 0
    j = 0
    s = 0.0
    best = 0.0
    for i in 1 .. size(x, 0):
"""
EXTREME = ("if x[i] > 0.5:", "    n = n + 1", "    if n > m:", "        m = n", "else:", "    n = 0")
PLACE = (*EXTREME[:4], "        j = i", *EXTREME[4:])


def text_of(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in (*lines, "a[i] = n + m + j + int64(s)"))


def branch(*lines: str) -> If:
    return next(statements(parse_kernel(text_of(*lines)).body, If))


@pytest.mark.parametrize(
    ("lines", "whole", "sums", "seldom"),
    [
        (EXTREME, {"n", "m"}, set(), 0),
        (PLACE, {"n"}, set(), 1),
        (("if x[i] < 0.1:", "    n = 0", "else:", "    s = s + x[i]", "    n = n + 1"), {"n"}, {"s"}, 0),
        (("if a[i] == 0:", "    if n > 3:", "        m = m + n", "    n = 0", "else:", "    n = n + 1"),
         {"n", "m"}, set(), 0),
        ((*EXTREME[:2], "    if x[i] > best:", "        best = 1.0", *EXTREME[4:]), None, set(), 0),
        (("if x[i] > 0.5:", "    n = n + 1"), None, set(), 0),  # the C compiler does without a jump
        (("if x[i] > 0.5:", "    n = n + 1", "else:", "    if x[i] < 0.2:", "        n = n - 1"), {"n"}, set(), 0),
        (("if x[i] > 0.5:", "    if k > n:", "        n = k"), None, set(), 0),  # seldom
        (("if a[i] > n:", "    n = a[i]", "    m = i"), None, set(), 0),  # seldom, and elements are read
        (("if k > n:", "    n = k", "    m = i"), None, set(), 0),  # seldom
        (("if x[i] > 0.5:", "    n = n // k", "    m = m + 1"), None, set(), 0),
        (("if x[i] > 0.5:", "    s = s + x[i]", "    n = n + int64(s)"), None, set(), 0),
        (("if x[i] > 0.5:", "    s = s + x[i - 1]", "    n = n + 1"), None, set(), 0),  # read under the condition only
        (("if x[i] > 0.5:", "    n = n + 1", "    a[i] = 0", "else:", "    n = 0"), None, set(), 0),
        ((*PLACE, "a[i - 1] = m"), {"n"}, set(), 1),
    ],
)  # fmt: skip
def test_what_is_chosen(lines: tuple[str, ...], whole: set[str] | None, sums: set[str], seldom: int) -> None:
    found = chosen_scalars(branch(*lines))
    assert (None if found is None else set(found.whole)) == whole
    if found is not None:
        assert set(found.sums) == sums and len(found.seldom) == seldom


def test_an_extreme_behind_a_condition_waits_for_one_comparison() -> None:
    n, m, k = (Var(name, INT64) for name in "nmk")
    asked = Compare("lt", k, LEAST)
    for op, least in (("gt", LEAST), ("lt", GREATEST)):
        better = Select(Compare("gt" if op == "gt" else "lt", n, m), n, m)
        kind = "max" if op == "gt" else "min"
        assert simplified(Select(asked, better, m)) == Binary(kind, m, Select(asked, n, least))
    assert simplified(Select(asked, n, m)) == Select(asked, n, m)


def test_the_text_has_no_jump() -> None:
    for lines in (EXTREME, PLACE):
        inside = host_text(text_of(*lines), "").split(" lw_kernel(", 1)[1]
        assert "lw_chosen_gt_float64(" in inside and "else {" not in inside
    assert "LW_RARE((lw_better0 > m_))" in inside


def counted(x: Any, a: Any, low: float, o: Any) -> Any:
    now = 0
    best = 0
    at = -1
    longest = 0
    zeros = 0
    runs = 0
    total = 0.0
    rest = 0.0
    for i in range(x.shape[0]):
        if x[i] > low:
            now += 1
            if now > best:
                best = now
                at = i - now
        else:
            now = 0
        if a[i] == 0:
            if zeros < longest:
                longest = zeros
            zeros = 0
        else:
            zeros -= 1
        if x[i] <= low:
            runs += 1
            total += x[i]
        else:
            rest -= abs(x[i])
            runs -= 2
        o[i] = now + best + runs + total * rest
    return now, best, at, longest, zeros, runs, total, rest


def united(left: Any, right: Any, both: Any, wide: Any, sums: Any) -> int:
    """As Fitch's sets of states: narrow numbers that wrap, of several widths."""
    changes = 0
    last = left[0]
    far = np.int64(0)
    for i in range(left.shape[0]):
        one = left[i] & right[i]
        if one == 0:
            one = left[i] | right[i]
            changes += 1
        if wide[i] < 0:
            last = last + one
            far = far - wide[i]
        else:
            last = last - left[i]
        both[i] = one ^ last
        sums[i] = far
    return changes


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int32, np.uint64])
def test_narrow_numbers_are_chosen_too(kind: Any) -> None:
    draw = np.random.default_rng(5)
    left, right = draw.integers(0, 127, (2, 400)).astype(kind)
    wide = draw.integers(-300, 300, 400).astype(np.int16)
    mine, pythons = ([left, right, np.zeros(400, kind), wide, np.zeros(400, np.int64)] for _ in range(2))
    with np.errstate(all="ignore"):
        assert lw.kernel(united)(*mine) == united(*pythons)
    for found, expected in zip(mine, pythons, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_narrow_extremes_and_their_places_are_left_to_a_jump() -> None:
    narrow = HEAD.replace("var n: int64", "var n: uint8\n    var w: uint8")
    narrow = narrow.replace("    n = 0", "    n = uint8(0)\n    w = uint8(k)")
    lines = "        w = uint8(a[i])\n        if w > n:\n            n = w\n            j = i\n"
    assert chosen_scalars(next(statements(parse_kernel(narrow + lines).body, If))) is None
    other = lines.replace("if w > n", "if x[i] > 0.5")
    assert chosen_scalars(next(statements(parse_kernel(narrow + other).body, If))) is not None


def test_the_text_of_narrow_numbers_has_no_jump() -> None:
    narrow = HEAD.replace("var n: int64", "var n: uint8\n    var w: uint8")
    narrow = narrow.replace("    n = 0", "    n = uint8(0)\n    w = uint8(k)")
    lines = "        if x[i] > 0.5:\n            n = n | w\n            m = m + 1\n        a[i] = int64(n) + m\n"
    inside = host_text(narrow + lines, "").split(" lw_kernel(", 1)[1]
    assert "if ((x_" not in inside and "n_ = lw_next" in inside


def test_results_are_those_of_python() -> None:
    random, kernel = np.random.default_rng(3), lw.kernel(counted)
    x, a = random.integers(-8, 9, 300) / 4.0, random.integers(0, 3, 300)
    x[::17] = -0.0
    for part, low in ((x, 0.5), (x[:1], 0.0), (x[:0], 0.0), (np.where(x > 1.5, np.nan, x), -1.0), (x, np.nan)):
        mine, right = np.zeros(part.shape), np.zeros(part.shape)
        found, expected = kernel(part.copy(), a, low, mine), counted(part, a, low, right)
        assert [str(float(one)) for one in found] == [str(float(one)) for one in expected]
        np.testing.assert_array_equal(mine, right)

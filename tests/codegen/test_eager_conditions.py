"""Conditions of which both sides are asked in lanes: which these are, and that results are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

HEAD = """
kernel f(a: int64[1] C, b: int64[1] C, x: float64[1] C, m: bool[1] C, k: int64):
    var n: int64
    n = 0
    for i in 0 .. size(a, 0):
"""


def condition_of(condition: str, *lines: str) -> str:
    """The C text of a condition under which a loop in lanes counts."""
    body = "".join(f"        {line}\n" for line in (*lines, f"if {condition}:", "    n = n + 1"))
    text = host_text(f"{HEAD}{body}    b[0] = n\n", "vectorize i")
    return next(line for line in text.split(";") if "? 1L : 0L)" in line)


@pytest.mark.parametrize(
    ("condition", "both"),
    [
        ("a[i] == 1 and x[i] > 0.5", True),
        ("a[i] < a[i] or a[i] == k", True),  # k is no element, but guards no index either
        ("a[i] == 1 or not x[i] > -x[i]", True),
        ("i > 3 and k > 5", True),  # nothing is read behind it
        ("i > 3 and a[i] == 1", False),  # which may keep the index inside
        ("a[i] > i and a[i] == 1", False),
        ("a[i] == 1 and a[i] // k > 3", False),
        ("a[i] == 1 and m[i]", True),
        ("m[i] and a[i] == 1", True),
        ("a[i] == 1 and int64(x[i]) == 3", False),
        ("k == 1 and a[i] == 2", False),
    ],
)
def test_which_ask_both(condition: str, both: bool) -> None:
    assert (" & " in condition_of(condition) or " | " in condition_of(condition)) == both


def test_what_a_test_before_the_loop_has_freed_is_asked_for() -> None:
    """`j` may be anywhere: one version is for where it is inside, and the other asks for `m[i]` first."""
    head = HEAD.replace("    n = 0", "    var j: int64\n    j = b[0]\n    n = 0")
    text = host_text(f"{head}        if m[i] and a[j] == 1:\n            x[i] = 0.0\n", "vectorize i")
    assert "< 0) & (a_[j_] ==" in text and "!= 0) && (a_[LW_INDEX(j_" in text and "&& (a_[j_]" not in text


def looked_up(a: Any, m: Any, c: Any, o: Any) -> None:
    for i in range(len(m)):
        if m[i] and a[c[i]] == 1:
            o[i] = 2


def test_what_only_an_inspector_has_freed_is_not() -> None:
    """Where `m[i]` does not hold, `c[i]` may be anywhere."""
    m = np.random.default_rng(3).random(4000) < 0.5
    c = np.where(m, np.arange(4000) % 9, 2**50)
    mine, pythons = np.zeros(4000, np.int64), np.zeros(4000, np.int64)
    kernel = lw.kernel(looked_up, threads=1)
    kernel(np.arange(9), m, c, mine)
    looked_up(np.arange(9), m, c, pythons)
    np.testing.assert_array_equal(mine, pythons)


def test_of_many_all_are_asked() -> None:
    assert "&&" not in condition_of("a[i] == 1 and (a[i] < 7 and (x[i] > 0.5 and (a[i] > 3 and a[i] < k)))")


def edges(a: Any, o: Any) -> Any:
    n = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if i > 0 and a[i - 1, j] == 1 and j + 1 < a.shape[1] and a[i, j + 1] == 0:
                n += 1
            o[i, j] = a[i, j] == 1 and (a[i, j] < 0 or a[i, 0] == 2 or not a[i, j] > a[0, j])
    return n


def test_results_are_those_of_python() -> None:
    kernel = lw.kernel(edges)
    for shape in ((9, 70), (1, 1), (5, 3)):
        a = np.random.default_rng(4).integers(0, 3, shape)
        mine, right = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        assert kernel(a, mine) == edges(a, right)
        np.testing.assert_array_equal(mine, right)

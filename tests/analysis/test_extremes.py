"""The least or greatest value with what goes along: what is one, and what only looks like one."""

from __future__ import annotations

import pytest

from analysis.test_reductions import loop
from loopwright.analysis.facts import Reduction

PAIRS = {
    "if a[i] > s:\n        s = a[i]\n        k = i": ("max", "first"),
    "if a[i] >= s:\n        s = a[i]\n        k = i": ("max", "last"),
    "if s > a[i]:\n        k = i\n        s = a[i]": ("min", "first"),
    "if s >= a[i]:\n        s = a[i]\n        k = 2 * i + n": ("min", "last"),
    "if a[i] + b[i, 0] < s:\n        s = a[i] + b[i, 0]\n        k = i": ("min", "first"),
    "if a[i] > 0.0:\n        if a[i] < s:\n            s = a[i]\n            k = i": ("min", "first"),
    "for j in range(n):\n        if b[i, j] > s:\n            s = b[i, j]\n            k = i + j": ("max", "first"),
}


@pytest.mark.parametrize("line", PAIRS)
def test_pairs(line: str) -> None:
    found = loop(f"for i in range(n):\n    {line}")
    op, tie = PAIRS[line]
    assert found.verdict == "reduction", found.reason
    expected = [Reduction(name, op, "scalar", True, by="s", tie=tie) for name in "sk"]  # type: ignore[arg-type]
    assert sorted(found.reductions, key=lambda one: one.target, reverse=True) == expected


NAN = "a[i] {0} s or (a[i] != a[i] and s == s)"


@pytest.mark.parametrize(("sign", "op"), [(">", "maximum"), ("<", "minimum")])
def test_a_nan_may_come_before_all(sign: str, op: str) -> None:
    found = loop(f"for i in range(n):\n    if {NAN.format(sign)}:\n        s = a[i]\n        k = i")
    assert {(one.target, one.op, one.tie, one.by) for one in found.reductions} == {
        ("s", op, "first", "s"), ("k", op, "first", "s"),
    }  # fmt: skip
    same = "(a[i] == s or (a[i] != a[i] and s != s))"
    condition = f"{NAN.format(sign)} or ({same} and x[i] < k)"
    found = loop(f"for i in range(n):\n    if {condition}:\n        s = a[i]\n        k = x[i]")
    assert {(one.target, one.op, one.tie) for one in found.reductions} == {("s", op, "least"), ("k", op, "least")}


@pytest.mark.parametrize(
    "condition",
    [
        "a[i] >= s or (a[i] != a[i] and s == s)",  # later ones of equal values
        "a[i] > s or (a[i] != a[i] and s != s)",
        "a[i] > s or (a[i] == a[i] and s == s)",
        "a[i] > s or a[i] != a[i]",  # the last NaN
        "a[i] > s or (a[i] != a[i] and s == s) or (a[i] == s and x[i] < k)",  # of several NaN any
    ],
)
def test_what_only_looks_as_if_a_nan_came_first(condition: str) -> None:
    assert loop(f"for i in range(n):\n    if {condition}:\n        s = a[i]\n        k = x[i]").verdict == "sequential"


def test_a_flag_goes_along() -> None:
    found = loop("for i in range(n):\n    if a[i] > s:\n        s = a[i]\n        seen = True")
    assert [(one.target, one.by) for one in found.reductions] == [("s", "s"), ("seen", "s")]


def test_a_place_in_the_condition_decides_between_equal_values() -> None:
    for sign, tie in (("<", "least"), (">", "greatest")):
        condition = f"a[i] > s or a[i] == s and x[i] {sign} k"
        found = loop(f"for i in range(n):\n    if {condition}:\n        s = a[i]\n        k = x[i]")
        assert {(one.target, one.tie, one.position) for one in found.reductions} == {("s", tie, "k"), ("k", tie, "k")}


NOT = [
    "if a[i] > s:\n        s = a[i] + 1.0\n        k = i",
    "if a[i] > s:\n        s = a[i]\n        k = i\n    else:\n        k = 0",
    "if a[i] > s:\n        s = a[i]\n        k = k + i",
    "if a[i] > s:\n        s = a[i]\n        k = i\n    a[i] = s",
    "if a[i] > s:\n        s = a[i]\n        k = i\n    x[i] = k",
    "if a[i] > s:\n        s = a[i]\n        k = i\n    k = 0",
    "if a[i] != s:\n        s = a[i]\n        k = i",
    "if a[i] > s:\n        s = a[i]\n        k = i\n    s += 1.0",
    "if a[i] > s:\n        s = a[i]\n        a[i] = 0.0\n        k = i",
    "if a[i] > s or a[i] == s and i < n:\n        s = a[i]\n        k = i",
    "if a[i] >= s or a[i] == s and i < k:\n        s = a[i]\n        k = i",
    "if a[i] > s:\n        s = a[i]\n        k = x[x[i]]",  # would fail where the loop does not
    "if a[i] > s:\n        s = a[i]\n        k = checked(i // x[i], x[i] != 0)",
    "if a[i] > s:\n        s = a[i]\n        s = a[i]",
]


@pytest.mark.parametrize("line", NOT)
def test_no_pairs(line: str) -> None:
    assert loop(f"for i in range(n):\n    {line}").verdict == "sequential"

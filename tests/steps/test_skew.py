from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.skew import Skew
from steps.kernels import MATMUL, ROWS, WHILE, known
from steps.pictures import check_picture
from steps.same import after, check_same, refusal

SWEEPS = """
kernel sweeps(n: int64, steps: int64, a: float64[1] C):
    for t in 0 .. steps:
        for i in 1 .. n:
            a[i] = a[i - 1] + a[i] + a[i + 1]
"""
IMPERFECT = """
kernel imperfect(n: int64, a: float64[2] C):
    for i in 0 .. n:
        a[i, 0] = 1.0
        for j in i .. n step 2:
            for k in j .. n:
                a[j, k] = a[j, k] + 1.0
        for p in n .. i step -1:
            a[p, i] = a[p, i] + 2.0
"""
FAR = """
kernel far(n: int64, a: float64[1] C):
    for i in 0 .. n:
        for j in i * 4096 .. i * 4096 + n:
            a[0] = a[0] + 1.0
"""


def test_the_picture() -> None:
    check_picture(Skew)


@pytest.mark.parametrize("factor", [-3, -1, 1, 2, 64])
def test_the_same_iterations(factor: int) -> None:
    check_same(SWEEPS, f"skew t i {factor}", extra=(3,))
    for outer, inner in (("i", "j"), ("i", "k"), ("j", "k"), ("i", "p")):
        check_same(IMPERFECT, f"skew {outer} {inner} {factor}")


def test_there_and_back() -> None:
    changed = check_same(SWEEPS, "skew t i 2; skew t i.s -2", extra=(3,))
    assert "for i.s.s in 1 .. n:" in print_kernel(changed) and "a[i.s.s] = a[i.s.s - 1]" in print_kernel(changed)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (SWEEPS, "skew i t 1", "does not stand inside"),
        (IMPERFECT, "skew j p 1", "does not stand inside"),
        (SWEEPS, "skew t t 1", "named twice"),
        (SWEEPS, "skew t i 65", "at most 64"),
        (FAR, "skew i j 1", "the numbers of 'j' could become too large"),
        (MATMUL, "skew k x 1", "no loop 'x'"),
        (WHILE, "skew w w 1", "while"),
        (SWEEPS.replace("1 .. n:", "1 .. n vector:"), "skew t i 1", "marked to run vector"),
        (
            SWEEPS.replace("1 .. n:", "1 .. n:\n            if a[i] > 1.0:\n                continue i"),
            "skew t i 1",
            "a con",
        ),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step)


def test_instances() -> None:
    found = Skew.instances(*known(ROWS), strict=True)
    assert found == (Skew("i", "j", 1), Skew("i", "j", 2))
    assert Skew.instances(*known(print_kernel(after(ROWS, "skew i j 1"))), strict=True) == ()


def test_text() -> None:
    assert str(Skew("i", "j", -3)) == "skew i j -3"
    assert Skew.parse(("i", "j", "-3")) == Skew("i", "j", -3)
    for words in (("i", "j"), ("i", "j", "0"), ("i", "j", "x")):
        with pytest.raises(ValueError, match="FACTOR"):
            Skew.parse(words)


def test_bounds_near_the_end_of_the_whole_numbers_are_part_of_the_guard() -> None:
    text = SWEEPS.replace("a[i] = a[i - 1] + a[i] + a[i + 1]", "a[0] = a[0] + 1.0")
    _, skewed = apply_schedule(*known(text), parse_schedule("skew t i 2"), strict=True)
    assert "v0 <= " in skewed.guard.c_text and "v1 <= " in skewed.guard.c_text

from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.complete import Complete
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after, check_same
from steps.kernels import MATMUL, ROWS, WHILE, known
from steps.pictures import check_picture
from steps.test_specialize import square_calls

READ = """
kernel read(n: int64[1] C, a: float64[1] C):
    var s: float64
    s = 0.0
    for i.o in 0 .. size(a, 0) step 4:
        for i in i.o .. min(i.o + 4, n[0]):
            s = s + a[i]
    a[0] = s
"""
APART = """
kernel apart(a: float64[2] C, n: int64):
    for i in 0 .. n:
        a[i, 0] = 1.0
        for j in 0 .. n:
            a[i, j] = a[i, j] + 1.0
"""
DOWN = """
kernel down(a: float64[1] C, n: int64):
    for i.o in n .. 0 step -4:
        for i in i.o .. max(i.o - 4, 0) step -1:
            a[i] = a[i] + 1.0
"""
TRIANGLE = """
kernel triangle(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j.o in 0 .. i + 1 step 4:
            for j in j.o .. min(j.o + 4, i + 1):
                a[i, j] = a[i, j] + 1.0
"""
STRIDED = """
kernel strided(a: float64[1] C, n: int64):
    for i.o in 0 .. n step 8:
        for i in i.o .. min(i.o + 8, n) step 3:
            a[i] = a[i] + float64(i)
"""
INNER = """
kernel inner(a: float64[2] C, first: int64[1] C, n: int64):
    for i.o in 0 .. n step 4:
        for i in i.o .. min(i.o + 4, n):
            for j in first[i] .. n:
                a[i, j] = a[i, j] + 1.0
"""


def test_the_picture() -> None:
    check_picture(Complete)


@pytest.mark.parametrize(
    "schedule",
    [
        "split i 4; complete i",
        "tile i 4 j 3; complete i j",
        "tile i 4 j 3 k 2; complete i j k",
        "tile i 4 j 8 k 3; complete j i; split i 2; reorder k.o k i.o.1 i j; reorder j i",
    ],
)
def test_products_compute_the_same(schedule: str) -> None:
    check_same(MATMUL, f"reorder i j k; {schedule}", square_calls((0, 1, 3, 4, 9)))


def test_lengths_are_constant_then() -> None:
    text = print_kernel(after(ROWS, "tile i 4 j 8; complete i j; split i 2"))
    assert "for i.o.1 in i.o .. i.o + 4 step 2:" in text and "for i in i.o.1 .. i.o.1 + 2:" in text
    assert "if i < size(a, 0) and j < size(a, 1):" in text


@pytest.mark.parametrize("text", [TRIANGLE, STRIDED])
def test_other_ends_and_steps(text: str) -> None:
    rank = 2 if text is TRIANGLE else 1
    calls = [[np.zeros((n + 1,) * rank), n] for n in (0, 1, 4, 7, 8, 13)]
    check_same(text, f"complete {'j' if text is TRIANGLE else 'i'}", calls)


def test_the_condition_stays_outside_of_bounds_that_are_read() -> None:
    """Where an iteration is not there, the bounds inside it may not be either."""
    text = print_kernel(after(INNER, "complete i"))
    assert text.index("if i < n:") < text.index("for j in first[i]")


@pytest.mark.parametrize(
    ("text", "before", "step", "word"),
    [
        (WHILE, "", "complete w", "while"),
        (ROWS, "", "complete i", "'i' is not the inner loop of a `split`"),
        (APART, "split i 4; split j 4", "complete i j", "'i' and 'j' are no perfect nest"),
        (ROWS, "split i 4", "complete k", "no loop 'k'"),
        (ROWS, "split i 4; parallelize i", "complete i", "marked parallel"),
        (READ, "", "complete i", "the bounds of 'i' are read from an array"),
        (DOWN, "", "complete i", "not the inner loop of a `split`"),
    ],
)
def test_refusals_say_why(text: str, before: str, step: str, word: str) -> None:
    kernel, facts = apply_schedule(*known(text), parse_schedule(before), strict=False)
    rejection = parse_schedule(step)[0].illegal(kernel, facts, strict=False)
    assert rejection is not None and word in rejection.reason, rejection


def test_what_was_proven_holds_on() -> None:
    schedule = parse_schedule("tile i 4 j 8; complete i j")
    kernel, facts = apply_schedule(*known(ROWS), schedule, strict=True)
    assert all(bounds.kind == "proven" for found in facts.bounds.values() for bounds in found)
    assert {facts.loops[name].verdict for name in loops(kernel)} == {"parallel"}


def test_instances() -> None:
    kernel, facts = apply_schedule(*known(ROWS), parse_schedule("tile i 4 j 8"), strict=True)
    assert Complete.instances(kernel, facts, strict=True) == (Complete(("i",)), Complete(("j",)))


def test_text() -> None:
    assert str(Complete.parse(("i", "j"))) == "complete i j"
    with pytest.raises(ValueError, match="complete LOOP"):
        Complete.parse(())

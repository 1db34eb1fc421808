from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.ir.nodes import If
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops, statements
from loopwright.steps.bind import Bind
from loopwright.steps.guard import Guard
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import ROWS, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same

TRIANGLE = """
kernel triangle(a: float64[2] C, n: int64, m: int64):
    for i in 1 .. n - 1:
        for j in i .. n:
            a[i, j] = a[i, j] * 2.0 + a[j, i] + float64(m)
"""
SPARSE = """
kernel sparse(start: int64[1] C, a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in i + start[i] .. n:
            a[i, j] = 1.0
"""
JUMPS = """
kernel jumps(a: float64[2] C, n: int64):
    for i in 0 .. n:
        if a[i, i] > 8.0:
            OUTER i
        for j in 0 .. i:
            if a[i, j] > 3.0:
                INNER j
            a[i, j] = a[i, j] + 1.0
"""
CHANGES = """
kernel changes(a: float64[2] C, n: int64):
    var m: int64
    m = n
    for i in 0 .. m:
        m = m - 1
        for j in i .. n:
            a[i, j] = a[i, j] + 1.0
"""
NESTED = """
kernel nested(a: float64[3] C, n: int64):
    for i in 0 .. n:
        for j in i .. n:
            for k in max(i, j - 2) .. min(n, i + j):
                a[i, j, k] = a[i, j, k] + float64(i + 2 * j + 3 * k)
"""
SUM = """
kernel added(a: float64[2] C, b: float64[1] C, n: int64) -> python float64:
    var s: float64
    var t: float64
    s = 0.0
    for i in 0 .. n:
        t = 1.0
        for j in 0 .. i + 1:
            t = t + a[i, j]
            s = max(s, t)
        b[i] = t
    return s
"""


def test_the_picture() -> None:
    check_picture(Guard)


@pytest.mark.parametrize(
    ("bounds", "widest"),
    [
        ("i .. n", "1 .. n"),
        ("i + 1 .. n + 2", "2 .. n + 2"),
        ("0 .. i", "0 .. n - 2"),
        ("0 .. i + 1", "0 .. n - 1"),
        ("i - 2 .. i + 3", "-1 .. n + 1"),
        ("n - i .. n", "2 .. n"),
        ("0 .. n - i", "0 .. n - 1"),
        ("i .. 2 * i", "1 .. (n - 2) * 2"),
        ("i * 2 .. 2 * n", "1 * 2 .. n * 2"),
        ("max(0, i - 2) .. min(n, i + 3)", "max(0, -1) .. min(n, n + 1)"),
        ("max(0, i - 2) - i .. min(n, i + 3) - i", "max(0 - (n - 2), -2) .. min(n - 1, 3)"),
        ("min(i, 4) .. max(i, m)", "min(1, 4) .. max(n - 2, m)"),
        ("m - i * 3 .. i + n // 2", None),
        ("0 .. i - i", None),
        ("i .. i", "1 .. n - 2"),
    ],
)
def test_the_widest_bounds(bounds: str, widest: str | None) -> None:
    changed = check_same(TRIANGLE.replace("i .. n:\n            a", f"{bounds}:\n            a"), "guard j i")
    if widest is not None:
        assert f"for j in {widest}:" in print_kernel(changed)
    tests = [len(stmt.then) for stmt in statements(changed.body) if isinstance(stmt, If)]
    assert tests == ([] if bounds == "0 .. i - i" else [1])  # nothing is left to ask there


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        (NESTED, "guard j i"),
        (NESTED, "guard k i"),
        (NESTED, "guard k j; guard k i; guard j i"),
        (NESTED, "guard k j; guard j i; tile i 2 j 3"),
        (SUM, "guard j i"),
        (TRIANGLE, "guard j i; tile i 2 j 3"),
        (TRIANGLE, "guard j i; tile i 2 j 3; bind i.o block.y; bind j.o block.x"),
    ],
)  # fmt: skip
def test_the_kernel_computes_the_same(text: str, schedule: str) -> None:
    check_same(text, schedule, scalars=(0, 1, 2, 3, 4, 7))


def test_jumps_that_lead_elsewhere_may_stay() -> None:
    text = JUMPS.replace("OUTER i", "return").replace("INNER j", "return")
    check_same(text, "guard j i")


def test_a_triangle_becomes_blocks() -> None:
    tiles = "tile i 2 j 3; bind i.o block.y; "
    kernel, facts = apply_schedule(*known(TRIANGLE), parse_schedule(tiles), strict=True)
    assert Bind("j.o", "block.x").illegal(kernel, facts, strict=True) is not None
    kernel, facts = apply_schedule(*known(TRIANGLE), parse_schedule("guard j i; " + tiles), strict=True)
    assert Bind("j.o", "block.x").illegal(kernel, facts, strict=True) is None


def test_what_was_proven_holds_on() -> None:
    kernel, facts = apply_schedule(*known(TRIANGLE), parse_schedule("guard j i"), strict=True)
    assert {facts.loops[name].verdict for name in loops(kernel)} == {known(TRIANGLE)[1].loops["i"].verdict}
    assert all(bounds.kind == "proven" for found in facts.bounds.values() for bounds in found)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (WHILE, "guard w w", "'w' is a while loop"),
        (TRIANGLE, "guard k i", "no loop 'k'"),
        (TRIANGLE, "guard i i", "'i' is named twice"),
        (TRIANGLE, "guard i j", "'i' is not inside 'j'"),
        (TRIANGLE.replace("i .. n:", "i .. n step 2:"), "guard j i", "only loops that count up by ones can be widened"),
        (TRIANGLE.replace("n - 1:", "n - 1 step 2:"), "guard j i", "only loops that count up by ones can be widened"),
        (TRIANGLE.replace("i .. n:", "i .. 0 step -1:"), "guard j i", "only loops that count up by ones"),
        (SPARSE, "guard j i", "the bounds of 'j' may change while it runs"),
        (CHANGES, "guard j i", "the bounds of 'i' may change while it runs"),
        (JUMPS.replace("OUTER i", "break i").replace("INNER j", "return"), "guard j i", None),
        (JUMPS.replace("OUTER i", "return").replace("INNER", "break"), "guard j i", "'j' holds a break"),
        (JUMPS.replace("OUTER i", "return").replace("INNER", "continue"), "guard j i", "'j' holds a continue"),
        (ROWS, "guard j i", "the bounds of 'j' do not depend on 'i'"),
        (TRIANGLE.replace("i .. n:", "i // 2 .. n:"), "guard j i", "the bounds of 'j' are no sums, minima or maxima"),
        (TRIANGLE.replace("i .. n:", "0 .. i * i:"), "guard j i", "the bounds of 'j' are no sums, minima or maxima"),
        (TRIANGLE.replace("i .. n:", "-2 * i .. n:"), "guard j i", "the bounds of 'j' are no sums, minima or maxima"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str | None) -> None:
    rejection = parse_schedule(step)[0].illegal(*known(text), strict=False)
    if word is None:
        assert rejection is None
    else:
        assert rejection is not None and word in rejection.reason, rejection


def test_loops_that_are_marked_stay_as_they_are() -> None:
    """With a test inside, not every iteration gives a value any more that is needed after the last one."""
    kernel, facts = apply_schedule(*known(TRIANGLE), parse_schedule("bind j thread.x 8"), strict=True)
    rejection = Guard("j", "i").illegal(kernel, facts, strict=True)
    assert rejection is not None and "'j' is marked thread.x already" in rejection.reason


def test_instances() -> None:
    assert Guard.instances(*known(TRIANGLE), strict=True) == (Guard("j", "i"),)
    found = [str(step) for step in Guard.instances(*known(NESTED), strict=True)]
    assert found == ["guard j i", "guard k i", "guard k j"]
    assert Guard.instances(*known(ROWS), strict=True) == ()
    kernel, facts = known(TRIANGLE)
    assert Guard("j", "i").illegal(replace(kernel, overlap=True), facts, strict=True) is None  # the order stays


def test_text() -> None:
    assert str(Guard("j", "i.o")) == "guard j i.o"
    assert Guard.parse(("j", "i.o")) == Guard("j", "i.o")
    for words in (("i",), ("i", "j", "k"), ()):
        with pytest.raises(ValueError, match="guard LOOP OUTER"):
            Guard.parse(words)

from __future__ import annotations

import pytest

from loopwright.ir.nodes import For
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.collapse import Collapse
from steps.kernels import MATMUL, WHILE, known
from steps.pictures import check_picture
from steps.same import after, check_same, refusal

HEAD = """
kernel counts(n: int64, m: int64, k: int64[1] C, a: float64[1] C, b: float64[2] C):
    var s: float64
"""
NEST = f"""{HEAD}
    s = 0.0
    for i in 2 .. n:
        for j in 0 .. 3:
            for q in i - i .. m + 1:
                s = s + b[i, q]
                a[j] = s
"""
BOX = NEST.replace("i - i", "1 - m")


def test_the_picture() -> None:
    check_picture(Collapse)


@pytest.mark.parametrize("names", ["i j", "j q", "i j q"])
@pytest.mark.parametrize("m", [-2, 0, 2])
def test_iterations_keep_their_order(names: str, m: int) -> None:
    """Also where loops have none at all."""
    check_same(BOX.replace("b[i, q]", "b[i, max(q, 0)]"), f"collapse {names}", extra=(m,))


def test_what_ends_an_iteration_of_the_innermost_ends_one() -> None:
    text = BOX.replace(
        "                s = s", "                if a[i] > 0.0:\n                    continue q\n                s = s"
    )
    after = print_kernel(check_same(text, "collapse i j q"))
    assert "continue i.q" in after


@pytest.mark.parametrize(
    ("text", "schedule", "word"),
    [
        (NEST, "collapse i j q", "how often 'q' runs depends on the loops around it"),
        (BOX.replace("m + 1", "k[0]"), "collapse i j q", "the bounds of 'q' may change while it runs"),
        (
            BOX.replace("m + 1", "k[0]").replace("a[j] = s", "s = 2.0 * s"),
            "collapse i j q",
            "how often 'q' runs may only be asked in 'j'",
        ),
        (BOX.replace("0 .. 3", "0 .. 3 step 2"), "collapse i j", "'j' does not count by ones"),
        (BOX.replace("0 .. 3", "0 .. 3 parallel"), "collapse i j", "'j' is marked parallel already"),
        (BOX.replace("a[j] = s", "if s > 9.0:\n                    break q"), "collapse j q", "'q' holds a break"),
        (
            BOX.replace("a[j] = s", "if s > 9.0:\n                    continue j"),
            "collapse j q",
            "'j' holds a continue",
        ),
        (BOX, "collapse j i", "the nest is i j, from outside to inside"),
        (BOX, "collapse i q", "'i' holds other statements too"),
        (MATMUL, "collapse k j", "holds other statements too"),
        (WHILE, "collapse i j", "no loop 'i'"),
    ],
)
def test_refusals_say_why(text: str, schedule: str, word: str) -> None:
    assert word in refusal(text, schedule)


def test_instances_and_text() -> None:
    assert Collapse.instances(*known(BOX), strict=True) == (Collapse(("i", "j", "q")),)
    assert str(Collapse.parse(("i", "j"))) == "collapse i j"


PAIRS = """
kernel pairs(x: float64[1] C, n: int64, h: int64):
    for i in 0 .. n:
        for j in 0 .. h:
            x[i * (2 * h) + j] = x[i * (2 * h) + j] + x[i * (2 * h) + j + h]
"""


def test_what_needed_no_order_needs_none_as_one_loop() -> None:
    changed = after(PAIRS, "collapse i j")
    (one,) = [loop for name, loop in loops(changed).items() if name == "i.j"]
    assert isinstance(one, For) and one.asserted == "independent"


def test_a_prange_around_a_loop_that_needs_its_order_says_nothing_of_both() -> None:
    text = PAIRS.replace("0 .. n:", "0 .. n asserted:").replace("+ j + h]", "+ j - 1]")
    changed = after(text, "collapse i j")
    (one,) = [loop for name, loop in loops(changed).items() if name == "i.j"]
    assert isinstance(one, For) and not one.asserted

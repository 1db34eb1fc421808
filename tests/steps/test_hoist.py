from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.hoist import Hoist
from steps.kernels import MATMUL, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = """
kernel hoists(n: int64, m: int64, k: int64[1] C, a: float64[1] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    var t: float64
    var u: float64
    var x: float64
"""
PAIRS = f"""{HEAD}
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 0):
            s = 0.0
            t = 0.0
            u = 1.0
            for p in 0 .. size(b, 1):
                x = b[j, p]
                s = s + b[i, p] * x
                t = t + b[i, p] * b[i, p]
                u = u + x * x
            c[i, j] = s / (t + u)
"""
GIVEN = PAIRS.replace("i in 0 .. size(b, 0)", "i in 0 .. n").replace("j in 0 .. size(b, 0)", "j in 0 .. m")


def test_the_picture() -> None:
    check_picture(Hoist)


def test_what_a_loop_does_not_change_goes_before_it() -> None:
    text = print_kernel(check_same(PAIRS, "hoist t j"))
    assert text.index("t = t +") < text.index("for j in") < text.index("s = s +")


def test_what_differs_along_other_loops_gets_an_array() -> None:
    text = print_kernel(check_same(PAIRS, "hoist u i"))
    assert text.index("u.x[j] = u.1") < text.index("for i in") and "u = u.x[j.1]" in text
    text = print_kernel(check_same(PAIRS, "hoist u i; hoist t i"))
    assert text.index("t.x[i] = t.1") < text.index("for i.1 in")


def test_conditions_go_along() -> None:
    plain, under = "                u = u + x * x\n", "                if x > 0.5:\n                    u = u + x\n"
    check_same(PAIRS.replace(plain, under), "hoist u i")


def test_guarded_it_is_computed_where_there_are_iterations() -> None:
    check_same(PAIRS.replace("size(b, 0)", "n"), "hoist t i")  # rows of `b` are used anyway
    assert "may fail" in refusal(GIVEN, "hoist u i")
    for columns in (0, 2):
        text = print_kernel(check_same(GIVEN, "hoist t i guarded; hoist u i.1 guarded", [0, 1, 3], extra=(columns,)))
    assert "if 0 < m:" in text and "if 0 < n:" in text
    slanted = GIVEN.replace("for j in 0 .. m", "for j in i + 1 .. n")
    assert "if i + 1 < n:" in print_kernel(check_same(slanted, "hoist t i guarded", [0, 1, 3]))


BEFORE = PAIRS.replace("            s = 0.0\n", "            a[i] = a[i] + t\n            s = 0.0\n")
LEFT = PAIRS.replace("s = s +", "if x > 2.0:\n                    break p\n                s = s +")


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (PAIRS, "hoist s j", "it depends on 'j'"),
        (PAIRS, "hoist s i", "it depends on 'i' and 'j'"),
        (PAIRS, "hoist u j", "it depends on 'j'"),
        (PAIRS, "hoist x p", "it depends on 'p'"),
        (PAIRS.replace("c[i, j] =", "b[i, j] ="), "hoist t j", "'j' changes 'b'"),
        (PAIRS.replace("t = 0.0", "t = t + 1.0"), "hoist t j", "also used before"),
        (BEFORE, "hoist t j", "also used before"),
        (PAIRS + "    a[0] = t\n", "hoist t j", "also used"),
        (PAIRS.replace("u + x * x", "u + x * x + t"), "hoist t j", "also needed before it has its last value"),
        (PAIRS.replace("b[i, p] * b[i, p]", "a[k[i]]"), "hoist t j", "may fail"),
        (
            PAIRS.replace("for j in 0 .. size(b, 0)", "for j in 0 .. size(b, 0) parallel"),
            "hoist t j",
            "parallel already",
        ),
        (PAIRS.replace("for j in 0 .. size(b, 0)", "for j in 0 .. i"), "hoist u i", "it depends on 'i' and 'j'"),
        (GIVEN, "hoist t j guarded", "it has one value only"),
        (LEFT, "hoist t j", "'t' is set in a loop that can be left"),
        (MATMUL, "hoist q j", "'q' is not set in one body"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step)


def test_what_is_proven_only_inside_the_loop_stays() -> None:
    """`b[0, 0]` is there if `i` has an iteration and rows have elements."""
    text = f"""{HEAD}
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            s = b[0, 0]
            c[i, j] = s
"""
    assert "may fail" in refusal(text, "hoist s i")


def test_instances_and_text() -> None:
    assert set(Hoist.instances(*known(PAIRS), strict=True)) == {
        Hoist("t", "j"), Hoist("t", "i"), Hoist("u", "i"), Hoist("x", "i")
    }  # fmt: skip
    assert str(Hoist.parse(("u", "i", "guarded"))) == "hoist u i guarded"

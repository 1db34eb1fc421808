from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.predicate import Predicate
from steps.kernels import MATMUL, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = """
kernel tests(n: int64, m: int64, k: int64[1] C, a: float64[1] C, b: float64[1] C, c: float64[2] C):
    var s: float64
    var l: int64
"""
DEEP = f"""{HEAD}
    for i in 0 .. n:
        l = i + 1
        if a[i] > 0.0:
            a[i + 1] = a[i + 1] + 1.0
            for j in 0 .. 3:
                for q in 0 .. m:
                    b[q] = b[q] + c[i, j]
                c[j, 0] = 2.0
            b[i] = b[i] - 1.0
"""
PLAIN = f"""{HEAD}
    for i in 0 .. n:
        l = 2
        if a[i] > 0.0:
            for j in 0 .. m:
                b[j] = b[j] + c[i, j]
"""


def test_the_picture() -> None:
    check_picture(Predicate)


def test_each_stretch_between_loops_gets_the_condition() -> None:
    text = print_kernel(check_same(DEEP.replace("a[i + 1]", "c[i, 1]"), "predicate j"))
    assert text.count("if a[i] > 0.0:") == 4
    assert "        for j in 0 .. 3:\n            for q in 0 .. m:\n                if a[i] > 0.0:" in text


def test_the_loops_change_places_then() -> None:
    check_same(PLAIN.replace("        l = 2\n", ""), "predicate j; reorder j i")


def test_inner_loops_are_left_and_inner_conditions_stay_whole() -> None:
    inside = "if b[j] > 3.0:\n                    break j\n"
    inside += "                if b[j] < 0.0:\n                    s = 1.0\n"
    inside += "                b[j] = b[j] + c[i, j]"
    check_same(PLAIN.replace("b[j] = b[j] + c[i, j]", inside), "predicate j")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (DEEP.replace("a[i + 1] = a[i + 1]", "a[i] = a[i]"), "'a' changes under the condition, which reads it"),
        (DEEP, "'a' changes under the condition, which reads it"),
        (PLAIN.replace("a[i] >", "s >").replace("b[j] = b[j] +", "s = s +"), "'s' changes under the condition"),
        (
            PLAIN.replace("for j in 0 .. m", "l = 3\n            for j in 0 .. l"),
            "how often 'j' runs depends on 'l'",
        ),
        (PLAIN.replace("0 .. m", "0 .. k[i]"), "how often 'j' runs may only be asked under the condition"),
        (PLAIN.replace("0 .. m", "0 .. m // n"), "how often 'j' runs may only be asked under the condition"),
        (PLAIN.replace("a[i] >", "a[k[i]] >"), "the condition may fail"),
        (PLAIN.replace("            for", "            allocate t: float64[2]\n            for"), "arrays are made"),
        (PLAIN.replace("            for", "            if s > 1.0:\n                break i\n            for"), "left"),
        (PLAIN + "        else:\n            b[0] = 1.0\n", "'j' does not stand directly under a condition"),
        (PLAIN.replace("0 .. m", "0 .. m parallel"), "'j' is marked parallel already"),
        (MATMUL, "'j' does not stand directly under a condition"),
        (WHILE, "no loop 'j'"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    assert word in refusal(text, "predicate j")


def test_instances_and_text() -> None:
    assert Predicate.instances(*known(PLAIN), strict=True) == (Predicate("j"),)
    assert str(Predicate.parse(("j",))) == "predicate j"

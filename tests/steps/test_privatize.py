from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.privatize import Privatize
from steps.kernels import MATMUL, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = """
kernel fills(n: int64, m: int64, a: float64[1] C, b: float64[1] C):
    var s: float64
    var p: int64
"""
FILLED = f"""{HEAD}
    allocate t: float64[3] = 0.0
    for i in 0 .. size(a, 0):
        for k in 0 .. 3:
            t[k] = a[i] * float64(k)
        for k2 in 1 .. 3:
            s = t[k2]
            p = k2 - 1
            while p >= 0 and t[p] > s named w:
                t[p + 1] = t[p]
                p = p - 1
            t[p + 1] = s
        b[i] = t[1] + t[2]
"""


SIZED = FILLED.replace("    allocate t: float64[3]", "    p = m + 3\n    allocate t: float64[p]")


def test_the_picture() -> None:
    check_picture(Privatize)


def test_each_iteration_makes_its_own_which_it_need_not_fill_with_zeros() -> None:
    text = print_kernel(check_same(FILLED, "privatize t i"))
    assert text.index("for i in") < text.index("allocate t: float64[3]\n")


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (FILLED.replace("for k in 0 .. 3", "for k in 0 .. 2"), "privatize t i", "what earlier ones have left in 't'"),
        (FILLED.replace("for k in 0 .. 3", "for k in 0 .. m"), "privatize t i", "what earlier ones have left in 't'"),
        (FILLED + "    b[0] = t[0]\n", "privatize t i", "'t' is also used outside of 'i'"),
        (
            FILLED.replace("float64[3]", "float64[p]").replace("    allocate", "    p = m\n    allocate"),
            "privatize t i",
            "size",
        ),
        (FILLED, "privatize t k", "'t' is also used outside of 'k'"),
        (FILLED, "privatize a i", "'a' is no local array"),
        (FILLED.replace("size(a, 0):", "size(a, 0) parallel:"), "privatize t i", "marked parallel already"),
        (MATMUL, "privatize t i", "'t' is no local array"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step)


def test_instances_and_text() -> None:
    assert Privatize.instances(*known(FILLED), strict=True) == (Privatize("t", "i"),)
    assert str(Privatize.parse(("t", "i"))) == "privatize t i"

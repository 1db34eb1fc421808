from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.uncap import Uncap
from steps.kernels import WHILE, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = """
kernel finds(n: int64, m: int64, k: int64[1] C, a: float64[1] C, b: float64[1] C) -> int64:
    var s: int64
"""
PLAIN = f"""{HEAD}
    s = 0
    for i in 0 .. n:
        if a[i] > 0.0 and s < m:
            b[s] = a[i]
            s = s + 1
    return s
"""
DEEP = f"""{HEAD}
    s = m - 2
    for i in 0 .. n:
        for j in 0 .. 3:
            if a[i + j] > 0.0:
                if s < 4:
                    b[max(s, 0)] = a[j]
                    s = s + 1
    return s
"""


def test_the_picture() -> None:
    check_picture(Uncap)


@pytest.mark.parametrize("m", [-1, 0, 1, 3, 100])
def test_a_counter_ends_where_it_did(m: int) -> None:
    """Also one that begins beyond its bound, and one whose bound is below zero."""
    for text in (PLAIN, PLAIN.replace("a[i] > 0.0 and s < m", "s < m and a[i] > 0.0"), PLAIN.replace("s = 0", "s = 2")):
        check_same(text, "uncap s i", extra=(m,))
    check_same(PLAIN.replace("            b[s] = a[i]\n", ""), "uncap s i", extra=(m,))
    check_same(DEEP, "uncap s i", extra=(m,))


def test_the_place_is_asked_for_inside_what_counts() -> None:
    text = print_kernel(check_same(DEEP, "uncap s i"))
    assert "    s.u = s\n" in text and "                if s.u < 4:\n" in text
    assert "                s.u = s.u + 1\n    s = min(s.u, max(s, 4))\n" in text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (PLAIN.replace("s = s + 1", "s = s + 2"), "does not count 's' by ones"),
        (PLAIN.replace("s < m", "s < k[0]"), "does not count 's' by ones"),
        (PLAIN.replace("a[i] > 0.0", "a[s] > 0.0"), "does not count 's' by ones"),
        (PLAIN.replace("            b[s]", "            s = s + 1\n            b[s]"), "does not count 's' by ones"),
        (PLAIN.replace("    return", "        a[i] = float64(s)\n    return"), "does not count 's' by ones"),
        (
            PLAIN.replace("    return", "        else:\n            b[0] = 0.0\n    return"),
            "does not count 's' by ones",
        ),
        (PLAIN.replace("b[s] = a[i]", "if a[i] > 5.0:\n                continue i"), "may end an iteration"),
        (PLAIN.replace("a[i] > 0.0 and s < m", "s < m and a[k[i]] > 0.0"), "may fail elsewhere"),
        (PLAIN.replace("0 .. n", "0 .. n parallel"), "marked parallel already"),
        (WHILE, "no loop 'i'"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    assert word in refusal(text, "uncap s i")


def test_instances_and_text() -> None:
    assert Uncap.instances(*known(PLAIN), strict=True) == (Uncap("s", "i"),)
    assert str(Uncap.parse(("s", "i"))) == "uncap s i"

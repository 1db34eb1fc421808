from __future__ import annotations

import pytest

from loopwright.steps.demote import Demote
from steps.kernels import MATMUL, TOTAL, known
from steps.pictures import check_picture

DOT = """
kernel dot(a: float64[2] C, b: float64[2] C, c: float{bits}[2] C, n: int64):
    var s: float64
    for i in 0 .. n:
        for j in 0 .. n:
            s = {start}
            for k in 0 .. n:
                s = s + a[i, k] * {other}[k, j]{inner}
            c[i, {j}] = {last}{end}
"""


def dot(
    bits: int = 64, start: str = "0.0", other: str = "b", inner: str = "", j: str = "j", last: str = "s", end: str = ""
) -> str:
    return DOT.format(bits=bits, start=start, other=other, inner=inner, j=j, last=last, end=end)


def test_the_picture() -> None:
    check_picture(Demote)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (dot(other="c"), "'c' is used in between"),
        (dot(start="c[j, i]"), "'c' is used in between"),
        (dot(last="2.0 * s"), "stored as it is"),
        (dot(bits=32, last="float32(s)"), "stored as it is"),
        (dot(inner="\n                if s > 9.0:\n                    return"), "left in the middle"),
        (dot(end="\n            b[i, j] = s + 1.0"), "used elsewhere"),
        (TOTAL, "stored as it is"),
        (MATMUL, "stored as it is"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    rejection = Demote("s").illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason


def test_an_index_that_is_read_is_refused() -> None:
    text = """
kernel by(a: float64[2] C, at: int64[1] C, c: float64[1] C, n: int64):
    var s: float64
    for i in 0 .. n:
        s = 0.0
        for k in 0 .. n:
            s = s + a[i, k]
        c[at[i]] = s
"""
    rejection = Demote("s").illegal(*known(text), strict=True)
    assert rejection is not None and "may change" in rejection.reason


def test_instances() -> None:
    assert Demote.instances(*known(dot()), strict=True) == (Demote("s"),)
    assert Demote.instances(*known(TOTAL), strict=True) == ()


def test_text() -> None:
    assert str(Demote("s")) == "demote s"
    assert Demote.parse(("s",)) == Demote("s")
    with pytest.raises(ValueError, match="SCALAR"):
        Demote.parse(())

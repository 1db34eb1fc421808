from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.demote import Demote, ends_plainly
from steps.before_after import check_same
from steps.kernels import MATMUL, TOTAL, known
from steps.pictures import check_picture
from steps.test_specialize import numbers

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
        (dot(last="s / c[i, i]"), "'c' is used in between"),
        (dot(bits=32, last="float32(s)"), "of different types"),
        (dot(last="s", end="\n            a[i, j] = s"), "not set and then stored"),
        (dot(inner="\n                c[i, k] = 1.0"), "'c' is written in between"),
        (dot(inner="\n                if s > 9.0:\n                    return"), "left in the middle"),
        (dot(end="\n            if s > 0.0:\n                b[i, j] = 1.0"), "used elsewhere"),
        (TOTAL, "not set and then stored"),
        (MATMUL, "not set and then stored"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    rejection = Demote("s").illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason


FACTORS = """
kernel factors(a: float64[2] C, b: float64[2] C, c: float64[2] C, n: int64):
    var s: float64
    for i in 0 .. n:
        for j in 0 .. i:
            s = {start}
            for k in 0 .. j:
                s = s - a[i, k] * a[k, j]
            a[i, j] = {last}
"""


@pytest.mark.parametrize("start", ["a[i, j]", "2.0 * a[i, j]", "a[j, i] + 1.0"])
@pytest.mark.parametrize("last", ["s", "s * 3.0 - b[i, j]", "s + a[j, j]", "min(s, a[i, i]) + s"])
def test_other_elements_of_the_array_may_be_used(start: str, last: str, tmp_path: Path) -> None:
    calls = [[numbers(n + 1, n + 1), numbers(n + 1, n + 1), numbers(n + 1, n + 1), n] for n in (0, 1, 2, 6)]
    text = FACTORS.format(start=start, last=last)
    changed = print_kernel(check_same(text, "demote s", calls, tmp_path))
    assert "a[i, j] = a[i, j] - a[i, k] * a[k, j]" in changed
    assert "a[i, j] = a[i, j]\n" not in changed  # the element is there already


def test_what_is_kept_under_a_condition_is_stored_without_one(tmp_path: Path) -> None:
    text = dot(start="9.0").replace("s = s + a[i, k] * b[k, j]", "if a[i, k] + b[k, j] < s:\n    s = a[i, k] + b[k, j]")
    text = text.replace("\n    s = a[i, k] + b", "\n                    s = a[i, k] + b")
    calls = [[numbers(n + 1, n + 1), numbers(n + 1, n + 1), numbers(n + 1, n + 1), n] for n in (0, 1, 2, 6)]
    changed = print_kernel(check_same(text, "demote s", calls, tmp_path))
    assert "c[i, j] = a[i, k] + b[k, j] if a[i, k] + b[k, j] < c[i, j] else c[i, j]" in changed


def test_the_same_element_may_not() -> None:
    longer = FACTORS.format(start="0.0", last="s").replace("0 .. j:", "0 .. j + 1:")
    for text in (FACTORS.format(start="0.0", last="s + a[i, j]"), longer):
        rejection = Demote("s").illegal(*known(text), strict=True)
        assert rejection is not None and "it may be the same element" in rejection.reason


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


def test_what_ends_plainly() -> None:
    for text, plainly in ((dot(), True), (dot(last="2.0 * s"), False), (dot(other="c"), False), (TOTAL, False)):
        assert ends_plainly(known(text)[0], "s") == plainly


def test_instances() -> None:
    assert Demote.instances(*known(dot()), strict=True) == (Demote("s"),)
    assert Demote.instances(*known(TOTAL), strict=True) == ()


def test_text() -> None:
    assert str(Demote("s")) == "demote s"
    assert Demote.parse(("s",)) == Demote("s")
    with pytest.raises(ValueError, match="SCALAR"):
        Demote.parse(())

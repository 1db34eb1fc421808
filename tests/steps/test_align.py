from __future__ import annotations

import pytest

from loopwright.ir.nodes import Const, For
from loopwright.ir.walk import loops
from loopwright.steps.align import Align
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after
from steps.kernels import MATMUL, known
from steps.pictures import check_picture

FROM = """
kernel inside(a: float64[1] C, b: float64[1] C):
    for i in START .. END:
        b[i] = a[i] + 1.0
"""


def inside(start: str, end: str = "size(a, 0)") -> str:
    return FROM.replace("START", start).replace("END", end)


def test_the_picture() -> None:
    check_picture(Align)


@pytest.mark.parametrize(
    ("start", "more", "first"), [("1", 0, 0), ("31", 0, 24), ("9", 2, 6), ("-3", 0, -8), ("7", 1, None), ("8", 0, None)]
)
def test_where_the_first_stretch_begins(start: str, more: int, first: int | None) -> None:
    kernel, facts = known(inside(start))
    split, facts = apply_schedule(kernel, facts, parse_schedule("split i 8"), strict=True)
    rejection = Align("i", more).illegal(split, facts, strict=True)
    if first is None:
        assert rejection is not None and "already begin there" in rejection.reason
        return
    outer = loops(Align("i", more).apply(split))["i.o"]
    assert rejection is None and isinstance(outer, For) and isinstance(outer.lower, Const)
    assert outer.lower.value == first


def test_a_loop_of_whole_stretches_gets_its_end_back() -> None:
    """33 .. 65 in stretches of 8 from 33 on needs no minimum; from 32 on it does."""
    loop = loops(after(inside("33", "65"), "split i 8; align i"))["i"]
    assert str(loop.upper).count("min") == 1  # type: ignore[union-attr]


def test_stretches_of_stretches() -> None:
    kernel = after(inside("1"), "split i 64; align i; split i 8")
    assert list(loops(kernel)) == ["i.o", "i.o.1", "i"]


def test_refusals_say_why() -> None:
    kernel, facts = known(MATMUL)
    for loop, schedule, word in (
        ("x", "", "no loop 'x'"),
        ("i", "", "not the inner loop of a `split`"),
        ("i", "split i 8; split j 8; reorder i.o j.o i j", "holds more than 'i'"),
        ("i", "split i 8; parallelize i.o", "marks come last"),
    ):
        before, now = apply_schedule(kernel, facts, parse_schedule(schedule), strict=False)
        rejection = Align(loop).illegal(before, now, strict=False)
        assert rejection is not None and word in rejection.reason, (schedule, rejection)
    kernel, facts = known("kernel f(a: float64[1] C, n: int64):\n    for i in n .. size(a, 0):\n        a[i] = 1.0\n")
    kernel, facts = apply_schedule(kernel, facts, parse_schedule("split i 8"), strict=True)
    rejection = Align("i").illegal(kernel, facts, strict=True)
    assert rejection is not None and "constant" in rejection.reason


def test_what_reads_the_start_of_its_stretch() -> None:
    text = """
kernel starts(a: float64[1] C, n: int64):
    for i.o in 3 .. n step 8:
        for i in i.o .. min(i.o + 8, n):
            a[i] = float64(i.o)
"""
    rejection = Align("i").illegal(*known(text), strict=True)
    assert rejection is not None and "holds more" in rejection.reason


def test_text() -> None:
    assert str(Align("i")) == "align i" and str(Align("i", 3)) == "align i 3"
    assert Align.parse(("i",)) == Align("i") and Align.parse(("i", "3")) == Align("i", 3)
    for words in ((), ("i", "0"), ("i", "x"), ("i", "1", "2")):
        with pytest.raises(ValueError, match="MORE"):
            Align.parse(words)

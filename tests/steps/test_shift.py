from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.shift import Shift
from steps.kernels import PREFIX, WHILE, known
from steps.pictures import check_picture
from steps.same import after, check_same, refusal

HEAD = "\nkernel moved(n: int64, m: int64, a: float64[1] C, c: int64[1] C):\n"


def _over(bounds: str, body: str = "a[i] = a[max(i - 1, 0)] + 1.0") -> str:
    return f"{HEAD}    for i in {bounds}:\n        {body}\n"


def test_the_picture() -> None:
    check_picture(Shift)


@pytest.mark.parametrize("bounds", ["0 .. n", "m .. n", "n .. 0 step -1", "0 .. n step 3", "n .. 1 step -2", "0 .. 1"])
@pytest.mark.parametrize("by", [-4, 1, 1000])
def test_the_same_iterations(bounds: str, by: int) -> None:
    changed = check_same(_over(bounds), f"shift i {by}")
    assert set(loops(changed)) == {"i.s"}
    back = check_same(_over(bounds), f"shift i {by}; shift i.s {-by}")
    assert f"in {bounds}:" in print_kernel(back)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (WHILE, "shift w 1", "while"),
        (PREFIX, "shift j 1", "no loop 'j'"),
        (_over("0 .. n", "if a[i] > 1.0:\n            break i"), "shift i 1", "holds a break"),
        (_over("0 .. c[0]"), "shift i 1", "not known"),
        (_over("0 .. n vector"), "shift i 1", "marked to run vector"),
        (_over("0 .. n"), "shift i 99999999", "at most"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step)


def test_bounds_near_the_end_of_the_whole_numbers_are_part_of_the_guard() -> None:
    text = _over("n - 2 .. n", "a[0] = a[0] + 1.0")
    kernel, facts = known(text)
    _, moved = apply_schedule(kernel, facts, parse_schedule("shift i 5"), strict=True)
    assert "v0 <= " in moved.guard.c_text


def test_loops_inside_keep_what_they_mean() -> None:
    text = """
kernel triangle(n: int64, a: float64[2] C):
    for i in 0 .. n:
        for j in i .. n:
            a[i, j] = a[i, j] + 1.0
"""
    changed = check_same(text, "shift i 2; shift j 1")
    assert "for j.s in i.s - 1 .. n + 1:" in print_kernel(changed)
    assert "a[i.s - 2, j.s - 1]" in print_kernel(changed)


def test_instances() -> None:
    assert Shift.instances(*known(PREFIX), strict=True) == (Shift("i", 1),)
    assert Shift.instances(*known(print_kernel(after(PREFIX, "shift i 1"))), strict=True) == ()


def test_text() -> None:
    assert str(Shift("i", -3)) == "shift i -3"
    assert Shift.parse(("i", "-3")) == Shift("i", -3)
    for words in (("i",), ("i", "0"), ("i", "x"), ("i", "--1")):
        with pytest.raises(ValueError, match="NUMBER"):
            Shift.parse(words)


def test_numbers_beyond_64_bits_are_refused() -> None:
    text = _over("9223372036854775800 .. 9223372036854775807", "c[0] = c[0] + 1")
    assert "not every iteration would run" in refusal(text, "shift i 1")
    check_same(text, "shift i -1", scalars=(1,))

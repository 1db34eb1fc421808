from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.cut import Cut
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import MATMUL, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same

PATHS = """
kernel paths(p: float64[2] C, n: int64):
    for k in 0 .. n:
        for i in 0 .. n:
            for j in 0 .. n:
                p[i, j] = min(p[i, j], p[i, k] + p[k, j])
"""


def test_the_picture() -> None:
    check_picture(Cut)


def test_the_parts_on_either_side_of_the_point_are_free() -> None:
    kernel, facts = known(PATHS)
    assert [facts.loops[name].verdict for name in "kij"] == ["sequential"] * 3
    cuts, marks = "cut j k; cut j.1 k+1; cut i k; cut i.1 k+1", "parallelize i; parallelize i.1.1; vectorize j"
    schedule = f"{cuts}; {marks}; vectorize j.1"
    _, found = apply_schedule(kernel, facts, parse_schedule(schedule), strict=True)
    assert found.loops["k"].verdict == "sequential"


def test_the_second_part_begins_at_the_point_where_the_loop_never_begins_behind_it() -> None:
    text = """
kernel panels(n: int64, a: float64[1] C):
    for k.o in 0 .. n step 4:
        for k in k.o .. min(k.o + 4, n):
            for i in k + 1 .. n:
                a[i] = a[i] + a[k]
"""
    assert "for i.1 in k.o + 4 .. n:" in print_kernel(check_same(text, "cut i k.o+4"))
    for start in ("k + 2", "n - k", "2 * k"):
        changed = check_same(text.replace("k + 1 .. n", f"{start} .. n"), "cut i k.o+4")
        assert f"for i.1 in max({start}, k.o + 4) .. n:" in print_kernel(changed)


TRIANGLES = """
kernel triangles(n: int64, a: float64[2] C):
    for i.o in 0 .. n step 4:
        for k in 0 .. n:
            for i in max(i.o, k + 1) .. min(i.o + 4, n):
                for j in i.o .. min(n, min(i.o + 4, k)):
                    a[i, j] = a[i, j] + a[k, j]
"""


def test_ends_of_inner_loops_that_a_part_knows_are_left_out() -> None:
    text = print_kernel(check_same(TRIANGLES, "cut k i.o"))
    below, above = text.split("for k.1 in")
    assert "for i in i.o .. min(i.o + 4, n):" in below and "min(i.o + 4, k))" in below
    assert "max(i.o, k.1 + 1) .." in above and "min(i.o + 4, k.1))" in above
    text = print_kernel(check_same(TRIANGLES, "cut k i.o+4"))
    below, above = text.split("for k.1 in")
    assert "max(i.o, k + 1) .." in below and "min(i.o + 4, k))" in below
    assert "for j.1 in i.o .. min(n, i.o + 4):" in above
    text = print_kernel(check_same(TRIANGLES, "cut k i.o+2"))  # which tells neither of them
    assert text.count("max(i.o, k") == 2 and text.count("min(i.o + 4, k") == 2


def test_the_first_part_ends_at_the_point_where_the_loop_never_ends_before_it() -> None:
    text = """
kernel rows(n: int64, a: float64[1] C):
    for i.o in 0 .. n step 4:
        for i in i.o .. min(i.o + 4, n):
            for k in 0 .. i + 1:
                a[i] = a[i] + a[k]
"""
    assert "for k in 0 .. i.o + 1:" in print_kernel(check_same(text, "cut k i.o+1"))
    assert "for k in 0 .. min(i + 1, i.o + 2):" in print_kernel(check_same(text, "cut k i.o+2"))
    changed = check_same(text.replace("0 .. i + 1", "0 .. n - i"), "cut k i.o")
    assert "for k in 0 .. min(n - i, i.o):" in print_kernel(changed)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (WHILE, Cut("w", "", 3), "while"),
        (MATMUL, Cut("j", "n"), "'n' is no loop around 'j'"),
        (MATMUL, Cut("k", "j"), "'j' is no loop around 'k'"),
        ("kernel two(a: float64[1] C, n: int64):\n    for i in 0 .. n step 2:\n        a[i] = 0.0\n", Cut("i", "n"),
         "is not 1"),
    ],
)  # fmt: skip
def test_refusals_say_why(text: str, step: Cut, word: str) -> None:
    rejection = step.illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason


def test_instances() -> None:
    assert Cut("j", "k", 1) in Cut.instances(*known(PATHS), strict=True)


def test_text() -> None:
    for text, step in (("j k", Cut("j", "k")), ("j k+1", Cut("j", "k", 1)), ("j k-2", Cut("j", "k", -2)),
                       ("j 8", Cut("j", "", 8)), ("j -3", Cut("j", "", -3))):  # fmt: skip
        assert Cut.parse(tuple(text.split())) == step
        assert str(step) == f"cut {text}"
    for words in (("j",), ("j", "k*2"), ("j", "")):
        with pytest.raises(ValueError, match="POINT"):
            Cut.parse(words)


def test_a_jump_would_end_only_its_part() -> None:
    text = "kernel f(a: float64[1] C, n: int64):\n    for i in 0 .. n:\n        if a[i] > 2.0:\n            {} i\n"
    for jump in ("break", "continue"):
        rejection = Cut("i", "", 4).illegal(*known(text.format(jump)), strict=False)
        assert rejection is not None and jump in rejection.reason

from __future__ import annotations

from itertools import permutations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.reorder import Reorder
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import MATMUL, PREFIX, ROWS, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

WAVE = """
kernel wave(a: float64[2] C, n: int64):
    for i in 1 .. n:
        for j in 0 .. n - 1:
            a[i, j] = a[i - 1, j + 1] + 1.0
"""
TRIANGLE = """
kernel triangle(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. i:
            a[i, j] = 1.0
"""
OWN = """
kernel own(a: float64[2] C, b: float64[2] C, n: int64):
    var s: float64
    for i in 0 .. n:
        for j in 0 .. n:
            s = a[i, j]
            b[i, j] = s * s
"""
LAST = """
kernel last(a: float64[2] C, n: int64) -> python float64:
    var s: float64
    s = 0.0
    for i in 0 .. n:
        for j in 0 .. n:
            s = a[i, j]
    return s
"""


def test_the_picture() -> None:
    check_picture(Reorder)


@pytest.mark.parametrize(
    ("text", "order", "word"),
    [
        (WAVE, ("j", "i"), "touch the same elements of 'a'"),
        (TRIANGLE.replace("0 .. i", "i .. n step 2"), ("j", "i"), "its step is not 1"),
        (TRIANGLE.replace("0 .. i", "0 .. i * n"), ("j", "i"), "not known"),
        (
            TRIANGLE.replace("0 .. i", "0 .. c[i]").replace("n: int64", "n: int64, c: int64[1] C"),
            ("j", "i"),
            "not known",
        ),
        (TRIANGLE.replace("0 .. i:", "0 .. i vector:"), ("j", "i"), "marked to run vector"),
        (TRIANGLE.replace("a[i, j] = 1.0", "break j"), ("j", "i"), "holds a break"),
        (TRIANGLE.replace("= 1.0", "= a[j, i] + 1.0"), ("j", "i"), None),
        (TRIANGLE.replace("a[i, j] = 1.0", "a[j, i + 1] = a[j, i] + a[j + 1, i]"), ("j", "i"), "change places"),
        (LAST, ("j", "i"), "'s'"),
        (MATMUL, ("k", "i", "m"), "no loop 'm'"),
        (MATMUL, ("k", "k"), "named twice"),
        (PREFIX, ("i", "j"), "no loop 'j'"),
    ],
)
def test_refusals_say_why(text: str, order: tuple[str, ...], word: str | None) -> None:
    rejection = Reorder(order).illegal(*known(text), strict=False)
    if word is None:
        assert rejection is None
    else:
        assert rejection is not None and word in rejection.reason


def test_a_value_of_one_iteration_does_not_stand_in_the_way() -> None:
    assert Reorder(("j", "i")).illegal(*known(OWN), strict=True) is None


def test_the_order_of_a_sum_matters_only_under_strict() -> None:
    kernel, facts = known(MATMUL)
    assert Reorder(("i", "j", "k")).illegal(kernel, facts, strict=True) is None  # each sum still goes from k = 0 up
    total = known(
        """
kernel total(a: float64[2] C) -> python float64:
    var s: float64
    s = 0.0
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            s = s + a[i, j]
    return s
"""
    )
    assert Reorder(("j", "i")).illegal(*total, strict=False) is None
    assert Reorder(("j", "i")).illegal(*total, strict=True) is not None


def test_inside_a_while_loop_and_a_branch() -> None:
    text = """
kernel relax(a: float64[2] C, b: float64[2] C, n: int64):
    while b[0, 0] > 1.0 named w:
        if n > 3:
            for i in 1 .. n:
                for j in 1 .. n:
                    a[i, j] = a[i - 1, j{}] + b[i, j]
        b[0, 0] = b[0, 0] - a[1, 1]
"""
    assert Reorder(("j", "i")).illegal(*known(text.format(" - 1")), strict=True) is None
    assert Reorder(("j", "i")).illegal(*known(text.format(" + 1")), strict=True) is not None


def test_a_loop_that_may_end_early_stays_as_it_is() -> None:
    text = """
kernel find(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            if a[i, j] > 0.0:
                break j
            a[i, j] = 1.0
"""
    rejection = Reorder(("j", "i")).illegal(*known(text), strict=True)
    assert rejection is not None and "break" in rejection.reason


SKIPPED = """
kernel skipped(a: float64[2] C, n: int64, m: int64):
    for i in 0 .. n:
        for j in 0 .. m:
            for k in i .. n:
                if a[i, j] > 2.0:
                    continue k
"""


def test_an_iteration_that_ends_early_in_a_loop_that_needs_no_order() -> None:
    kernel, facts = apply_schedule(*known(SKIPPED), parse_schedule("skew i j 1"), strict=False)
    assert Reorder(("k", "j.s")).illegal(kernel, facts, strict=False) is not None


def test_part_of_a_nest() -> None:
    kernel, facts = known(MATMUL)
    assert Reorder(("j", "i")).illegal(kernel, facts, strict=True) is None
    rejection = Reorder(("j", "k")).illegal(kernel, facts, strict=True)
    assert rejection is not None and "no perfect nest" in rejection.reason


@pytest.mark.parametrize(
    ("outer", "inner", "shown"),
    [
        ("0 .. n", "0 .. i", ("0 .. n - 1", "j + 1 .. n")),
        ("0 .. n", "i .. n", ("0 .. n", "0 .. j + 1")),
        ("0 .. n", "i .. i + m", ("0 .. n + m - 1", "max(0, j - m + 1) .. min(j + 1, n)")),
        ("n .. 0 step -1", "i .. 0 step -1", ("n .. 0 step -1", "n .. j - 1 step -1")),
        ("0 .. n", "n .. i step -1", ("n .. 0 step -1", "0 .. j")),
        ("0 .. n", "0 .. (i + 1) // 2", ("0 .. n // 2", "j * 2 + 1 .. n")),
        ("m .. n", "0 .. min(i, 4)", ("0 .. min(4, n - 1)", "max(j + 1, m) .. n")),
        ("0 .. n", "max(0, i - m) .. min(i + m, n)", ("0 .. n", "max(0, j - m + 1) .. min(j + m + 1, n)")),
        ("0 .. size(a, 1) // 4", "i .. size(a, 1) // 4 + 1", None),
        ("0 .. n step 2", "0 .. m", ("0 .. m", "0 .. n step 2")),
    ],
)
def test_bounds_that_depend_on_one_another(outer: str, inner: str, shown: tuple[str, str] | None) -> None:
    text = TRIANGLE.replace("n: int64", "n: int64, m: int64").replace("0 .. i", inner).replace("0 .. n", outer, 1)
    text = text.replace("a[i, j] = 1.0", "a[i, j] = a[i, j] + 1.0")
    changed = print_kernel(check_same(text, "reorder j i"))
    if shown is not None:
        assert f"for j in {shown[0]}:" in changed and f"for i in {shown[1]}:" in changed


def test_a_nest_of_three() -> None:
    text = """
kernel three(n: int64, a: float64[2] C):
    for i in 0 .. n:
        for j in 0 .. i + 1:
            for k in j .. i + 1:
                a[j, k] = a[j, k] + 1.0
"""
    for order in permutations("ijk"):
        if order != ("i", "j", "k"):
            check_same(text, f"reorder {' '.join(order)}", scalars=(0, 1, 2, 6))


def test_a_nest_inside_another_loop() -> None:
    text = """
kernel inside(n: int64, a: float64[2] C):
    var k: int64
    for p in 0 .. n:
        k = p + 2
        for i in p .. n:
            for j in k .. i + k:
                a[i, j] = a[i, j] + 1.0
"""
    changed = print_kernel(check_same(text, "reorder j i"))
    assert "for i in max(j - p - 1, p) .. n:" in changed


def test_what_the_user_promised_of_inner_iterations_does_not_hold_for_outer_ones() -> None:
    text = TRIANGLE.replace("0 .. i:", "0 .. i asserted:").replace("0 .. n:", "0 .. n asserted:")
    asserted = {name: loop.asserted for name, loop in loops(check_same(text, "reorder j i")).items()}  # type: ignore[union-attr]
    assert asserted == {"j": False, "i": True}


SPARSE = """
kernel sparse(n: int64, m: int64, p: int64[1] C, x: float64[2] C, y: float64[2] C):
    for i in 0 .. n:
        for k in 0 .. p[i]:
            for j in 0 .. m:
                y[i, j] = y[i, j] + x[k, j]
"""


def test_loops_whose_bounds_data_tells_change_places_inside_the_one_that_reads_them() -> None:
    text = SPARSE.replace("p[i]", "min(p[i], n)")
    for steps in ("reorder j k", "reorder i j k"):
        changed = list(loops(check_same(text, steps)))
        assert changed == ["i", "j", "k"]
    assert "are not known before" in refusal(SPARSE, "reorder k i")
    assert "are not known before" in refusal(SPARSE.replace("0 .. m", "0 .. p[i] + k"), "reorder j k")
    moved = SPARSE.replace("y[i, j] = y[i, j] + x[k, j]", "x[k, j] = x[k + 1, j - 1]")
    assert "would change places" in refusal(moved, "reorder j k")
    assert "are not known before" in refusal(
        SPARSE.replace("y[i, j] =", "p[i + 1] = 1\n                y[i, j] ="), "reorder j k"
    )


def test_instances() -> None:
    assert len(Reorder.instances(*known(MATMUL), strict=True)) == 5
    assert Reorder.instances(*known(ROWS), strict=True) == (Reorder(("j", "i")),)
    assert Reorder.instances(*known(WAVE), strict=True) == ()


def test_text() -> None:
    assert str(Reorder(("j", "i"))) == "reorder j i"
    assert Reorder.parse(("j", "i")) == Reorder(("j", "i"))
    with pytest.raises(ValueError, match="LOOP"):
        Reorder.parse(("i",))

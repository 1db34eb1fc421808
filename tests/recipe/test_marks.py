from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.recipe.marks import marks
from loopwright.steps.schedule import print_schedule
from steps.kernels import COUNT, MATMUL, PREFIX, ROWS, TOTAL, WHILE, known


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ROWS, "parallelize i; vectorize j"),
        (PREFIX, ""),
        (WHILE, ""),
        (TOTAL, "parallelize i; vectorize j"),
        (COUNT, "parallelize i"),
        (MATMUL, "parallelize i; vectorize j"),  # not k: that would need a copy of c for each thread
    ],
)
def test_the_marks_from_facts(text: str, expected: str) -> None:
    assert print_schedule(marks(*known(text), strict=False)) == expected


def test_strict_leaves_a_float_sum_alone() -> None:
    assert marks(*known(TOTAL), strict=True) == ()


def test_overlapping_arguments_are_not_reordered() -> None:
    kernel, facts = known(ROWS)
    assert marks(replace(kernel, overlap=True), facts, strict=False) == ()


def test_a_sum_into_elements_stays_outside_where_nothing_inside_is_a_nest() -> None:
    text = """
kernel atax(a: float64[2] C, t: float64[1] C, y: float64[1] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            y[j] = y[j] + a[i, j] * t[i]
"""
    assert print_schedule(marks(*known(text), strict=False)) == "parallelize i; vectorize j"


@pytest.mark.parametrize(("rows", "expected"), [(8192, "parallelize j; parallelize k"), (16, "parallelize i")])
def test_what_a_core_cannot_hold_is_made_by_all_threads_together(rows: int, expected: str) -> None:
    text = f"""
kernel panels(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        allocate t: float64[{rows}, 16]
        for j in 0 .. {rows}:
            for p in 0 .. 16:
                t[j, p] = a[i, p] * float64(j)
        for k in 0 .. {rows}:
            for q in 0 .. 16:
                b[i, k] = b[i, k] + t[k, q]
"""
    found = print_schedule(marks(*known(text), strict=True, lanes=False))
    assert found == expected


@pytest.mark.parametrize(
    ("size", "expected"), [("3", "vectorize k"), ("4000", "parallelize k"), ("size(c, 0)", "parallelize k")]
)
def test_threads_do_not_share_a_loop_of_little_work_in_another_one(size: str, expected: str) -> None:
    text = f"""
kernel moments(a: float64[2] C, c: float64[1] C):
    for k.1 in 0 .. 3:
        c[k.1] = 0.0
    for i in 0 .. size(a, 0):
        for k in 0 .. {size}:
            c[k] = 0.5 * c[k] + a[i, k] * a[i, 0]
"""
    assert print_schedule(marks(*known(text), strict=True)) == f"parallelize k.1; {expected}"


@pytest.mark.parametrize(("upper", "expected"), [("min(i + 2, size(a, 0))", ""), ("size(a, 0)", "parallelize k")])
def test_loops_that_are_cut_off_at_borders_are_known_to_be_short(upper: str, expected: str) -> None:
    text = f"""
kernel mended(a: float64[1] C, c: float64[1] C):
    for i in 0 .. size(a, 0):
        for k in max(0, i - 1) .. {upper}:
            c[k] = 0.5 * c[k] + a[i]
"""
    found = print_schedule(marks(*known(text), strict=True))
    assert found.replace("vectorize k", "").strip("; ") == expected

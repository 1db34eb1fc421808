from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.walk import loops
from loopwright.recipe.interchange import along_rows, depends
from recipe.planning import (
    COLUMN,
    COLUMN_SHAPES,
    MATMUL_BY_ELEMENTS,
    MATMUL_SHAPES,
    TRMM,
    TRMM_SHAPES,
    check_same,
    planned,
    reasons,
    steps,
)
from steps.kernels import COUNT, MATMUL, PREFIX, ROWS, TOTAL, WHILE
from steps.test_specialize import numbers

VECTOR = """
kernel vector(a: float64[2] C, x: float64[1] C, y: float64[1] C):
    for i in 0 .. size(a, 1):
        for j in 0 .. size(a, 0):
            x[i] = x[i] + a[j, i] * y[j]
"""
VECTOR_SHAPES = {"a": "nm", "x": "m", "y": "n"}
DOWN = """
kernel down(a: float64[2] C):
    for j in 0 .. size(a, 1):
        for i in 1 .. size(a, 0):
            a[i, j] = a[i, j] + a[i - 1, j]
"""
TRIANGLE = """
kernel triangle(a: float64[2] C, c: float64[2] C):
    for i in 0 .. size(c, 0):
        for k in 0 .. size(a, 1):
            for j in 0 .. i + 1:
                c[i, j] = c[i, j] + a[i, k] * a[j, k]
"""
CORNER = """
kernel corner(a: float64[2] C):
    for j in 1 .. size(a, 1):
        for i in 1 .. size(a, 0):
            a[i, j] = a[i - 1, j] + a[i, j - 1]
"""
WINDOW = """
kernel window(a: float64[2] C):
    for j in 0 .. size(a, 1) - 2:
        for x in 0 .. 3:
            for i in 0 .. size(a, 0):
                a[i, j + x] = 2.0 * a[i, j + x] + 1.0
"""
FILTER = """
kernel filter(x: float64[1] C, y: float64[1] C, h: float64[1] C):
    var s: float64
    for i in 0 .. size(y, 0):
        s = 0.0
        for k in 0 .. size(h, 0):
            s = s + h[k] * x[i + k]
        y[i] = s
"""
"""With `i` innermost `h` would stay, but the sums would come from memory and go there."""
MANY = ((0, 0, 0), (1, 1, 1), (3, 127, 1), (3, 128, 2), (4, 300, 2))
"""Widths of less than a stretch, of one, and of some and a part."""


def because(best: str, inner: str, element: str) -> str:
    return f"'{best}' innermost walks along rows: with '{inner}' innermost each {element} is another cache line"


STRETCHES = "only '{}' can be split: threads take pieces of it, 128 elements each"


@pytest.mark.parametrize(
    ("text", "shapes", "expected", "why"),
    [
        (COLUMN, COLUMN_SHAPES, "reorder i j", [because("j", "i", "a[i, j]")]),
        (MATMUL_BY_ELEMENTS, MATMUL_SHAPES, "reorder k j", [because("j", "k", "b[k, j]")]),
        (VECTOR, VECTOR_SHAPES, "reorder j i", [because("i", "j", "a[j, i]")]),
        (TRIANGLE, {"a": "nl", "c": "nn"}, "reorder j k", [because("k", "j", "a[j, k]")]),
        # No stretches: 'j' needs its order too.
        (CORNER, {"a": "nm"}, "reorder i j", [because("j", "i", "a[i - 1, j]")]),
        # Of loops that are as good as one another the one that is further in.
        (WINDOW, {"a": "nl"}, "reorder i x", [because("x", "i", "a[i, j + x]")]),
    ],
    ids=["column", "matmul", "vector", "triangle", "corner", "window"],
)
def test_the_innermost_loop_walks_along_rows(text: str, shapes: dict[str, str], expected: str, why: list[str]) -> None:
    partial = planned(along_rows, text)
    assert (steps(partial), reasons(partial)) == (expected, why)
    check_same(partial.written, partial.kernel, shapes)


@pytest.mark.parametrize(
    ("text", "shapes", "strict", "expected", "why"),
    [
        (DOWN, {"a": "nm"}, False, "reorder i j; split j 128; reorder j.o i j", [because("j", "i", "a[i, j]"), "j"]),
        (DOWN, {"a": "nm"}, True, "reorder i j; split j 128; reorder j.o i j", [because("j", "i", "a[i, j]"), "j"]),
        # As a sum that may be split, the loop outside is shared among threads, each with a vector of its own.
        (VECTOR, VECTOR_SHAPES, True, "reorder j i; split i 128; reorder i.o j i", [because("i", "j", "a[j, i]"), "i"]),
        (TRMM, TRMM_SHAPES, False, "fission j 2; reorder k j; split j 128; reorder j.o k j",
         [because("j", "k", "a[k, i]"), "j"]),
    ],
    ids=["down", "down-strict", "vector-strict", "trmm"],
)  # fmt: skip
def test_threads_take_stretches_where_only_the_innermost_loop_is_free(
    text: str, shapes: dict[str, str], strict: bool, expected: str, why: list[str]
) -> None:
    partial = planned(along_rows, text, strict)
    assert (steps(partial), reasons(partial)) == (expected, [why[0], STRETCHES.format(why[1])])
    check_same(partial.written, partial.kernel, shapes, MANY)


NOT_TAKEN = {
    "a filter": FILTER,
    "along rows already": ROWS,
    "along rows already, all three": MATMUL,
    "one loop": PREFIX,
    "no nest": WHILE,
    "places from data": COUNT,
    "a sum along a row": TOTAL,
    "a sum along a row into an element": """
kernel k(a: float64[2] C, x: float64[1] C, y: float64[1] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            x[i] = x[i] + a[i, j] * y[j]
""",
    "as good the other way": """
kernel k(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[j, i] = a[i, j]
""",
    "hardly better the other way": """
kernel k(a: float64[2] C, b: float64[2] C, c: float64[2] C, d: float64[2] C, e: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            e[j, i] = a[i, j] + b[i, j] + d[i, j] + c[j, i] + c[j, i] + c[j, i]
""",
    "columns are contiguous": COLUMN.replace("] C", "] F"),
    "the other order is not legal": """
kernel k(a: float64[2] C):
    for j in 1 .. size(a, 1):
        for i in 0 .. size(a, 0) - 1:
            a[i, j] = 2.0 * a[i + 1, j - 1]
""",
    "not legal after a cut that is": """
kernel k(a: float64[2] C, x: float64[1] C):
    for j in 1 .. size(a, 1):
        for i in 0 .. size(a, 0) - 1:
            a[i, j] = 2.0 * a[i + 1, j - 1]
        x[j] = 1.0
""",
    "each step of the other loop waits for the one before, and rows are used again": """
kernel k(y: float64[1] C, c: float64[2] C, z: float64[2] C):
    var v: float64
    var u: float64
    for n in 0 .. size(y, 0):
        v = y[n]
        for s in 0 .. size(c, 0):
            u = c[s, 0] * v + z[s, 0]
            z[s, 0] = c[s, 1] * v - c[s, 2] * u + z[s, 1]
            z[s, 1] = c[s, 3] * v - c[s, 4] * u
            v = u
        y[n] = v
""",
    "what is in between is needed": """
kernel k(a: float64[2] C, x: float64[1] C):
    for j in 0 .. size(a, 1):
        x[0] = a[0, j]
        for i in 0 .. size(a, 0):
            a[i, j] = a[i, j] + x[0]
""",
}


@pytest.mark.parametrize("text", NOT_TAKEN.values(), ids=NOT_TAKEN.keys())
def test_the_order_stays(text: str) -> None:
    assert steps(planned(along_rows, text)) == ""


def test_columns_are_walked_along_where_they_are_contiguous() -> None:
    partial = planned(along_rows, ROWS.replace("] C", "] F"))
    assert (steps(partial), reasons(partial)) == ("reorder j i", [because("i", "j", "a[i, j]")])
    check_same(partial.written, partial.kernel, COLUMN_SHAPES)


def test_strict_keeps_the_order_of_a_sum_in_one_scalar() -> None:
    text = TOTAL.replace("a[i, j]", "a[j, i]").replace("(a, 0)", "(a, x)").replace("(a, 1)", "(a, 0)")
    text = text.replace("(a, x)", "(a, 1)")
    assert steps(planned(along_rows, text, strict=True)) == ""
    partial = planned(along_rows, text)
    assert (steps(partial), reasons(partial)) == ("reorder j i", [because("i", "j", "a[j, i]")])
    check_same(partial.written, partial.kernel, {"a": "nm"})


def test_each_nest_by_itself() -> None:
    second = COLUMN.partition("\n    ")[2].replace("a[", "c[").replace("(a,", "(c,")
    second = second.replace("j", "j.2").replace("i in", "i.2 in").replace("[i,", "[i.2,")
    partial = planned(along_rows, COLUMN.replace("(a:", "(c: float64[2] C, a:") + "    " + second)
    assert steps(partial) == "reorder i j; reorder i.2 j.2"
    assert len(reasons(partial)) == 2
    check_same(partial.written, partial.kernel, {"a": "nm", "b": "nm", "c": "nm"})


def test_bounds_that_depend_on_a_loop() -> None:
    j = loops(parse_kernel(TRIANGLE))["j"]
    assert isinstance(j, For)
    assert depends(j, "i") and not depends(j, "k")


BAND = """
kernel band(a: float64[2] C, m: int64):
    var s: float64
    for j in 0 .. size(a, 0) - 8:
        for k in 1 .. min(m, j) + 1:
            a[j, 0] = a[j, 0] - a[j - k, k]
        for i in 1 .. m + 1:
            s = a[j, i]
            for k.2 in 1 .. min(m - i, j) + 1:
                s = s - a[j - k.2, k.2] * a[j - k.2, k.2 + i]
            a[j, i] = s / a[j, 0]
"""


PROJECTIONS = """
kernel projections(q: float64[2] C, r: float64[2] C):
    var s: float64
    for j in 0 .. size(q, 1):
        for i in 0 .. size(q, 0):
            q[i, j] = q[i, j] / r[j, j]
        for k in j + 1 .. size(q, 1):
            s = 0.0
            for i.2 in 0 .. size(q, 0):
                s = s + q[i.2, j] * q[i.2, k]
            r[j, k] = s
            for i.3 in 0 .. size(q, 0):
                q[i.3, k] = q[i.3, k] - s * q[i.3, j]
"""


def test_what_is_left_of_the_version_for_many_is_put_in_order_too() -> None:
    taken = steps(planned(along_rows, PROJECTIONS))
    assert taken.startswith("specialize k >= 8 in k; split k 128; ") and "; reorder i.3 k." in taken


def test_few_sums_of_a_loop_that_runs_again_and_again_are_not_accumulated_side_by_side() -> None:
    partial = planned(along_rows, BAND)
    assert steps(partial).startswith("specialize i >= 8 in i; split i 128; expand s i; ")
    assert partial.few == {"i.1", "k.2.1"}
    assert "for k.2.1 in 1 .. min(m - i.1, j) + 1:" in print_kernel(partial.kernel)
    assert "specialize" not in steps(planned(along_rows, BAND.replace("1 .. m + 1", "1 .. 30")))
    for n, m in ((9, 1), (20, 3), (40, 12)):
        outs = [numbers(n, 64), numbers(n, 64)]
        for kernel, out in zip((partial.written, partial.kernel), outs, strict=True):
            interpret(kernel, [out, m])
        np.testing.assert_array_equal(*outs)


AGAIN = """
kernel again(a: float64[2] C, l: int64):
    for s in 0 .. l:
        for j in 0 .. size(a, 1):
            for i in 1 .. size(a, 0):
                a[i, j] = a[i, j] * 3.0 + a[i - 1, j]
"""
AGAIN_SHAPES = {"a": "nm"}


def test_where_the_cheapest_loop_cannot_be_innermost_the_next_one_is() -> None:
    """All iterations of `s` use the same elements, but it cannot come after `i`."""
    partial = planned(along_rows, AGAIN)
    assert steps(partial).startswith("reorder i j; ")
    check_same(partial.written, partial.kernel, AGAIN_SHAPES)


def test_around_a_loop_whose_iterations_use_the_same_elements_one_walks_along_rows() -> None:
    partial = planned(along_rows, AGAIN.replace(" + a[i - 1, j]", ""))
    assert steps(partial) == "reorder i j s"
    check_same(partial.written, partial.kernel, AGAIN_SHAPES)

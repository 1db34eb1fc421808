from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.recipe.interchange import along_rows
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.register_blocking import in_registers
from loopwright.recipe.target import CpuTarget
from recipe.planning import MATMUL_SHAPES, Sizes, check_same, planned, reasons, steps

PRODUCT = """
kernel product(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            for k in 0 .. size(a, 1):
                s = s + a[i, k] * b[k, j]
            c[i, j] = 2.0 * s + 3.0 * c[i, j]
"""
SYMM = """
kernel symm(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            for k in 0 .. i:
                c[k, j] = c[k, j] + 2.0 * b[i, j] * a[i, k]
                s = s + b[k, j] * a[i, k]
            c[i, j] = 3.0 * c[i, j] + b[i, j] * a[i, i] + s
"""
VECTOR = """
kernel vector(a: float64[2] C, b: float64[1] C, c: float64[1] C):
    var s: float64
    for i in 0 .. size(c, 0):
        s = 0.0
        for k in 0 .. size(a, 0):
            s = s + a[k, i] * b[k]
        c[i] = 2.0 * s + c[i]
"""
SIZES: tuple[Sizes, ...] = ((0, 0, 0), (1, 1, 1), (3, 5, 2), (49, 3, 4), (7, 300, 3))
"""Also more than one block of rows, and of columns."""


def rows_then_blocks(partial: PartialSchedule) -> None:
    along_rows(partial)
    in_registers(partial, CpuTarget())


@pytest.mark.parametrize("strict", [False, True])
def test_sums_in_a_scalar_become_blocks(strict: bool) -> None:
    partial = planned(along_rows, PRODUCT, strict)
    assert steps(partial) == "tile i 48 j 256; expand s i j; fission j 3; fission j 2; reorder k j.1.1"
    assert reasons(partial)[0].endswith("another cache line; until then there is an element of 's' for each iteration")
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)


def test_and_the_blocks_stay_in_registers() -> None:
    partial = planned(rows_then_blocks, PRODUCT)
    assert "allocate s.x.r.1: float64[6, 8]" in print_kernel(partial.kernel)
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)


DISTANCES = """
kernel distances(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    var t: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            for k in 0 .. size(a, 1):
                t = a[i, k] - b[k, j]
                s = s + t * t
            c[i, j] = c[i, j] + 2.0 * s
"""


def test_only_what_iterations_hand_on_needs_an_element() -> None:
    partial = planned(along_rows, DISTANCES)
    assert steps(partial) == "tile i 48 j 256; expand s i j; fission j 3; fission j 2; reorder k j.1.1"
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)


@pytest.mark.parametrize("strict", [False, True])
def test_a_value_of_one_iteration_does_not_keep_a_block_out_of_registers(strict: bool) -> None:
    partial = planned(rows_then_blocks, DISTANCES, strict)
    assert "allocate s.x.r.1: float64[6, 8]" in print_kernel(partial.kernel) and "var t:" in print_kernel(
        partial.kernel
    )
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)


def test_where_rows_need_their_order_one_row_at_a_time() -> None:
    partial = planned(along_rows, SYMM, strict=True)
    assert steps(partial) == "split j 128; expand s j; reorder j.o i; fission j 3; fission j 2; reorder k j.1.1"
    check_same(partial.written, partial.kernel, {"a": "nn", "b": "nm", "c": "nm"}, SIZES)


def test_one_loop_alone() -> None:
    partial = planned(along_rows, VECTOR)
    assert steps(partial) == "split i 128; expand s i; fission i 3; fission i 2; reorder k i.1.1"
    check_same(partial.written, partial.kernel, {"a": "ln", "b": "l", "c": "n"}, ((0, 0, 0), (1, 0, 1), (130, 0, 3)))


def test_a_sum_that_is_used_elsewhere_stays() -> None:
    text = PRODUCT.replace("            s = 0.0\n", "").replace("    for i in 0", "    s = 0.0\n    for i in 0")
    assert steps(planned(along_rows, text, strict=True)) == ""

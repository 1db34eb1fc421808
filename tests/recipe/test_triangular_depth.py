from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.verify import verify
from loopwright.recipe.interchange import in_order
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.register_blocking import in_registers
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.triangular_depth import in_blocks
from loopwright.recipe.tunable import Choices
from recipe.planning import MATMUL_BY_ELEMENTS, TRMM, TRMM_SHAPES, Sizes, check_same, plan_of, reasons, steps
from steps.kernels import ROWS as SUMS_OF_ROWS

SIZES: tuple[Sizes, ...] = ((0, 3, 0), (1, 1, 1), (7, 2, 0), (24, 3, 0), (50, 11, 0))
"""Nothing, a part of a block, a whole one, and several of 24 rows."""

SOLVE = """
kernel solve(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            for k in 0 .. i:
                b[i, j] = b[i, j] - a[i, k] * b[k, j]
            b[i, j] = b[i, j] * a[i, i]
"""
SOLVE_BY_ROWS = """
kernel solve(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(b, 0):
        for k in 0 .. i:
            for j in 0 .. size(b, 1):
                b[i, j] = b[i, j] - a[i, k] * b[k, j]
        for j.1 in 0 .. size(b, 1):
            b[i, j.1] = b[i, j.1] * a[i, i]
"""
LOWER = """
kernel lower(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            for k in 0 .. i + 1:
                s = s + a[i, k] * b[k, j]
            c[i, j] = s
"""
SOLVE_IN_SCALARS = """
kernel solve(a: float64[2] C, b: float64[2] C):
    var s: float64
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            s = b[i, j]
            for k in 0 .. i:
                s = s - a[i, k] * b[k, j]
            b[i, j] = s * a[i, i]
"""
BELOW = """
kernel below(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 0 .. size(c, 0):
        for k in 0 .. i:
            for j in 0 .. size(c, 1):
                c[k, j] = c[k, j] + a[i, k] * b[i, j]
"""
BACKWARDS = """
kernel solve(a: float64[2] C, b: float64[2] C):
    for i in size(b, 0) - 1 .. -1 step -1:
        for j in 0 .. size(b, 1):
            for k in {}:
                b[i, j] = b[i, j] - a[i, k] * b[k, j]
            b[i, j] = b[i, j] * a[i, i]
"""
BELOW_BY_ELEMENTS = """
kernel below(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            for k in 0 .. i:
                c[k, j] = c[k, j] + a[i, k] * b[i, j]
"""
APART = "fission j 3; fission j 2; fission i 3; fission i 2"
PRODUCT_SHAPES = {"a": "nn", "b": "nm", "c": "nm"}
BAND = SOLVE.replace("0 .. i:", "max(0, i - 8) .. i:")
ABOVE_BY_ROWS = SOLVE.replace("b[k, j]", "b[i, k]").replace("size(b, 1)", "size(b, 0)")


def cut(text: str, strict: bool = False) -> tuple[Kernel, PartialSchedule]:
    """A kernel, and the plan for it: which counts as written what is left in the end."""
    partial = plan_of(text, strict, Choices({"rows of a block of a triangle": 24}))
    written = partial.kernel
    in_blocks(partial)
    verify(partial.kernel)
    return written, partial


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        (SOLVE, TRMM_SHAPES, "specialize i >= 24 in i; split i 24; cut k i.o; fission j 2; fission i 2"),
        (SOLVE_BY_ROWS, TRMM_SHAPES, "specialize i >= 24 in i; split i 24; cut k i.o; fission i 2"),
        (TRMM, TRMM_SHAPES, f"specialize i >= 24 in i; split i 24; cut k i.o+24; {APART}"),
        (
            SOLVE_IN_SCALARS,
            TRMM_SHAPES,
            "demote s; specialize i >= 24 in i; split i 24; cut k i.o; fission j 2; fission i 2",
        ),
        (
            LOWER,
            PRODUCT_SHAPES,
            f"demote s; specialize i >= 24 in i; split i 24; cut k i.o+1; {APART}",
        ),
        (
            BELOW_BY_ELEMENTS,
            PRODUCT_SHAPES,
            "reorder k i j; specialize k >= 24 in k; split k 24; cut i k.o+24; fission k 2",
        ),
        (BELOW, PRODUCT_SHAPES, "reorder k i j; specialize k >= 24 in k; split k 24; cut i k.o+24; fission k 2"),
    ],
    ids=["solve", "solve_by_rows", "trmm", "solve_in_scalars", "lower", "below_by_elements", "below"],
)
def test_a_rectangle_for_each_block_of_rows(text: str, shapes: Mapping[str, str], expected: str, strict: bool) -> None:
    written, partial = cut(text, strict)
    assert steps(partial) == expected
    check_same(written, partial.kernel, shapes, SIZES)


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        ("i + 1 .. size(b, 0)", "split i 24; cut k i.o+1; swap j 2; fission j 2; fission i 2; reverse i"),
        ("0 .. i", f"split i 24; cut k i.o-23; swap j 2; {APART}; reverse i.1.1"),
    ],
)
def test_rows_from_the_last_one_on_where_sums_may_be_in_another_order(depth: str, expected: str) -> None:
    written, partial = cut(BACKWARDS.format(depth))
    assert steps(partial) == expected
    random = np.random.default_rng(1)
    for n in (0, 5, 24, 50):
        a, b = random.random((n, n)) / max(n, 1), random.random((n, 3))
        found = b.copy()
        interpret(written, [a, b])
        interpret(partial.kernel, [a, found])
        np.testing.assert_allclose(found, b, rtol=1e-12)
    assert not cut(BACKWARDS.format(depth), strict=True)[1].decisions


def test_the_reason() -> None:
    few, why = reasons(cut(SOLVE)[1])
    assert few == "fewer iterations of 'i' are a triangle and nothing else"
    assert why == "'k' ends where 'i' stands: for 24 iterations of 'i' together most of it is the same"


@pytest.mark.parametrize("text", [MATMUL_BY_ELEMENTS, SUMS_OF_ROWS, BAND, ABOVE_BY_ROWS])
def test_others_stay_as_they_are(text: str) -> None:
    assert not cut(text)[1].decisions


def test_the_rectangle_is_blocked_in_registers_and_what_all_its_rows_use_is_copied() -> None:
    for text in (SOLVE, TRMM):
        written, partial = cut(text)
        in_registers(partial, CpuTarget())
        assert "pack b " in steps(partial) and "promote b " in steps(partial)
        check_same(written, partial.kernel, TRMM_SHAPES, ((5, 3, 0), (50, 9, 0)))


def test_what_is_left_of_the_triangle_walks_along_rows() -> None:
    for text, shapes in ((SOLVE, TRMM_SHAPES), (LOWER, PRODUCT_SHAPES), (BELOW_BY_ELEMENTS, PRODUCT_SHAPES)):
        written, partial = cut(text)
        in_order(partial)
        inner = {chain[-1].name.partition(".")[0] for chain in partial.chains() if chain[0].name.endswith(".o")}
        assert inner == {"j"}
        check_same(written, partial.kernel, shapes, ((50, 9, 0),))


def test_calls_agree_with_python() -> None:
    def solve(a, b):
        for i in range(b.shape[0]):
            for j in range(b.shape[1]):
                for k in range(i):
                    b[i, j] -= a[i, k] * b[k, j]
                b[i, j] /= a[i, i]

    kernel = lw.kernel(solve)
    random = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (96, 24), (201, 37)):
        a, b = np.tril(random.random((n, n))) / max(n, 1) + np.eye(n), random.random((n, m))
        expected, reverse = b.copy(), b[::-1, ::-1].copy()[::-1, ::-1]
        for row in range(n):
            expected[row] = (expected[row] - a[row, :row] @ expected[:row]) / a[row, row]
        for given in (b, reverse):
            kernel(a, given)
            np.testing.assert_allclose(given, expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(IndexError):
        kernel(np.eye(70)[:69], np.ones((70, 30)))

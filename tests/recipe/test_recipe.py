from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.text import print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops
from loopwright.recipe.marks import marks
from loopwright.recipe.recipe import Recipe, recipe
from loopwright.recipe.target import CpuTarget
from loopwright.steps.schedule import apply_schedule, parse_schedule, print_schedule
from polybench.data import shaken, sizes
from recipe.planning import (
    COLUMN,
    COLUMN_SHAPES,
    GEMM,
    JACOBI,
    JACOBI_SHAPES,
    MATMUL_BY_ELEMENTS,
    MATMUL_SHAPES,
    PATHS,
    PATHS_SHAPES,
    TRMM,
    TRMM_SHAPES,
    check_same,
)
from recipe.test_interchange import AGAIN, AGAIN_SHAPES
from steps.kernels import COUNT, PREFIX, ROWS, TOTAL, WHILE, known
from steps.test_reschedule import polybench

LINE = """
kernel line(p: float64[1] C):
    for k in 0 .. size(p, 0):
        for j in 0 .. size(p, 0):
            p[j] = p[j] + p[k]
"""
SMALL_CACHES = CpuTarget(l2_bytes=2)
"""A machine on which every array is too large for the caches, so that what is meant for large ones runs."""


def chosen(text: str, strict: bool = False, target: CpuTarget | None = SMALL_CACHES) -> Recipe:
    """The recipe of a kernel's text; its kernel is well formed, and its facts are those of its kernel."""
    found = recipe(*known(text), strict, target)
    verify(found.kernel)
    assert set(found.facts.loops) == set(loops(found.kernel))
    return found


CASES = {
    "column": (COLUMN, COLUMN_SHAPES, "reorder i j; parallelize i; vectorize j"),
    # Small arrays do not go in tiles of several sweeps, and not down columns either.
    "columns again and again": (
        AGAIN,
        AGAIN_SHAPES,
        "reschedule smart tile 16 32 wavefront above 8 16; reorder i j.1; parallelize i.o; parallelize j.1; "
        "vectorize j",
    ),
    # Rows come first: blocks are for the order that is left.
    "matmul": (
        MATMUL_BY_ELEMENTS,
        MATMUL_SHAPES,
        "reorder k j; specialize 24*j j*k >= 96 in i; reorder i.1 j.1 k.1; promote c k.1; reorder k i j; tile k "
        "384 i 6 j 8; reorder k.o j.o i.o; split i.o 84; reorder i.o.o j.o i.o; pack a j.o fill i blocks i.o; "
        "pack b i.o fill j; specialize i j full; promote c k; specialize i.2 full; complete j.2; promote c k.2; "
        "overrun j.2; reorder i.2.1 k.2.1; specialize j.2.1 full; promote c k.2.1; parallelize i.o.p; parallelize "
        "j.o; parallelize i.1; vectorize i.p; vectorize i.p.1; vectorize j.p; vectorize j.p.1; vectorize j.r; "
        "vectorize j; vectorize j.w; vectorize j.2.r; vectorize j.2.r.1; vectorize j.2; vectorize j.2.w; "
        "vectorize j.2.w.1; vectorize j.2.1.r; vectorize j.2.1; vectorize j.2.1.w; vectorize j.2.1.1",
    ),
    "gemm": (
        GEMM,
        MATMUL_SHAPES,
        "specialize 24*j.2 j.2*k >= 96 in i; reorder j.2.1 k.1; promote c k.1; fission i 2; reorder k i.1.1 j.2; "
        "tile k 384 i.1.1 6 j.2 8; reorder k.o j.2.o i.1.1.o; split i.1.1.o 84; reorder i.1.1.o.o j.2.o i.1.1.o; "
        "pack a j.2.o fill i.1.1 blocks i.1.1.o; pack b i.1.1.o fill j.2; specialize i.1.1 j.2 full; promote c k; "
        "specialize i.1.1.1 full; complete j.2.2; promote c k.2; overrun j.2.2; reorder i.1.1.1.1 k.2.1; "
        "specialize j.2.2.1 full; promote c k.2.1; parallelize i; parallelize i.1.1.o.p; parallelize j.2.o; "
        "parallelize i.1; vectorize j; vectorize i.1.1.p; vectorize i.1.1.p.1; vectorize j.2.p; vectorize "
        "j.2.p.1; vectorize j.2.r; vectorize j.2; vectorize j.2.w; vectorize j.2.2.r; vectorize j.2.2.r.1; "
        "vectorize j.2.2; vectorize j.2.2.w; vectorize j.2.2.w.1; vectorize j.2.2.1.r; vectorize j.2.2.1; "
        "vectorize j.2.2.1.w; vectorize j.2.2.1.1",
    ),
    "trmm": (
        TRMM,
        TRMM_SHAPES,
        "specialize i >= 96 in i; split i 96; cut k i.o+96; fission j 3; fission j 2; fission i 3; fission i 2; "
        "reorder k j; split j 128; reorder j.o k j; reorder k.2 j.1.2; fission j.1 2; reorder k.1 j.1; split j.1 "
        "128; reorder j.1.o k.1 j.1; specialize 24*j.1.2 j.1.2*k.2 >= 96 in i.1.2; reorder i.1.2.1 j.1.2.1 k.2.1; "
        "promote b k.2.1; reorder k.2 i.1.2 j.1.2; tile k.2 384 i.1.2 6 j.1.2 8; reorder k.2.o j.1.2.o i.1.2.o; "
        "split i.1.2.o 84; reorder i.1.2.o.o j.1.2.o i.1.2.o; pack a j.1.2.o fill i.1.2 blocks i.1.2.o; pack b "
        "i.1.2.o fill j.1.2; specialize i.1.2 j.1.2 full; promote b k.2; specialize i.1.2.2 full; complete "
        "j.1.2.2; promote b k.2.2; overrun j.1.2.2; reorder i.1.2.2.1 k.2.2.1; specialize j.1.2.2.1 full; promote "
        "b k.2.2.1; parallelize j.o; parallelize i.1.2.o.p; parallelize j.1.2.o; parallelize i.1.2.1; parallelize "
        "i.1.1; parallelize j.1.o; parallelize j.1.1.1; vectorize j; vectorize i.1.2.p; vectorize i.1.2.p.1; "
        "vectorize j.1.2.p; vectorize j.1.2.p.1; vectorize j.1.2.r; vectorize j.1.2; vectorize j.1.2.w; vectorize "
        "j.1.2.2.r; vectorize j.1.2.2.r.1; vectorize j.1.2.2; vectorize j.1.2.2.w; vectorize j.1.2.2.w.1; "
        "vectorize j.1.2.2.1.r; vectorize j.1.2.2.1; vectorize j.1.2.2.1.w; vectorize j.1.2.2.1.1; vectorize "
        "j.1.1; vectorize j.1",
    ),
    # Over time before all others, and then none of them: neither rows nor points.
    "jacobi": (
        JACOBI,
        JACOBI_SHAPES,
        "reschedule smart tile 16 32 wavefront above 8 16; parallelize i.o; parallelize i; parallelize i.2; "
        "vectorize j; vectorize j.2; vectorize j.1; vectorize j.2.1",
    ),
    "paths": (
        PATHS,
        PATHS_SHAPES,
        "cut j k; cut j.1 k+1; cut i k; cut i.1 k+1; parallelize i; parallelize i.1; parallelize i.1.1; vectorize j; "
        "vectorize j.1.1; vectorize j.2; vectorize j.1.1.1; vectorize j.2.1; vectorize j.1.1.1.1",
    ),
    "line": (LINE, {"p": "n"}, "cut j k; cut j.1 k+1; parallelize j; parallelize j.1.1"),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("text", "shapes", "expected"), CASES.values(), ids=CASES.keys())
def test_what_is_decided(text: str, shapes: dict[str, str], expected: str, strict: bool) -> None:
    found = chosen(text, strict)
    assert print_schedule(found.schedule) == expected
    check_same(known(text)[0], found.kernel, shapes)


@pytest.mark.parametrize("text", [ROWS, PREFIX, TOTAL, COUNT, WHILE, *(case[0] for case in CASES.values())])
@pytest.mark.parametrize("strict", [False, True])
def test_without_a_target_loops_are_only_marked(text: str, strict: bool) -> None:
    kernel, facts = known(text)
    assert chosen(text, strict, target=None).schedule == marks(kernel, facts, strict)


@pytest.mark.parametrize("text", [ROWS, PREFIX, TOTAL, COUNT, WHILE])
def test_what_is_well_ordered_is_only_marked(text: str) -> None:
    kernel, facts = known(text)
    assert chosen(text).schedule == marks(kernel, facts, strict=False)


@pytest.mark.parametrize("text", [case[0] for case in CASES.values()], ids=CASES.keys())
def test_nothing_is_done_where_arguments_overlap(text: str) -> None:
    kernel, facts = known(text)
    kernel = replace(kernel, overlap=True)
    found = recipe(kernel, facts, False, SMALL_CACHES)
    assert found.schedule == () and found.kernel is kernel


def test_what_changes_loops_has_a_reason_and_marks_have_none() -> None:
    for text, _, _ in CASES.values():
        for decision in chosen(text).decisions:
            assert (decision.why == "") == (decision.step.name in ("parallelize", "vectorize"))


# ---- PolyBench: a recipe is a schedule that anybody can apply ------------------------------------------------------


@pytest.mark.parametrize("name", ["gemm", "mvt", "trmm", "floyd-warshall", "atax", "doitgen"])
def test_a_recipe_is_replayable_from_its_text_and_computes_the_same(name: str) -> None:
    module, kernel, facts = polybench(name)
    found = recipe(kernel, facts, True, SMALL_CACHES)
    again, _ = apply_schedule(kernel, facts, parse_schedule(print_schedule(found.schedule)), strict=True)
    assert print_kernel(again) == print_kernel(found.kernel)
    given = shaken(module.initialise(**sizes(module)))
    expected, actual = ({k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()} for _ in "ab")
    interpret(kernel, list(expected.values()))
    interpret(found.kernel, list(actual.values()))
    for output in module.OUTPUTS:
        np.testing.assert_array_equal(actual[output], expected[output])


@pytest.mark.parametrize("name", ["gemm", "mvt", "trmm", "floyd-warshall", "atax", "doitgen"])
def test_a_recipe_that_may_reorder_sums_is_replayable_from_its_text(name: str) -> None:
    _, kernel, facts = polybench(name)
    found = recipe(kernel, facts, False, CpuTarget())
    again, _ = apply_schedule(kernel, facts, parse_schedule(print_schedule(found.schedule)), strict=False)
    assert print_kernel(again) == print_kernel(found.kernel)

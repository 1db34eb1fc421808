from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import For, Kernel, Location, Stmt
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.walk import loops, rewrite_body
from loopwright.recipe.gpu import gpu_recipe
from loopwright.recipe.recipe import Recipe
from loopwright.steps.schedule import apply_schedule, print_schedule
from recipe.planning import (
    COLUMN,
    COLUMN_SHAPES,
    GEMM,
    JACOBI,
    JACOBI_SHAPES,
    MATMUL_BY_ELEMENTS,
    MATMUL_SHAPES,
    PATHS,
    TRMM,
    TRMM_SHAPES,
    check_same,
)
from steps.kernels import COUNT, MATMUL, PREFIX, ROWS, TOTAL, WHILE, known

TRIANGLE = """
kernel triangle(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in i + 1 .. size(a, 0):
            b[i, j] = b[i, j] + a[j, i]
"""
SMOOTH = """
kernel smooth(a: float64[3] C, b: float64[3] C):
    for i in 1 .. size(a, 0) - 1:
        for j in 1 .. size(a, 1) - 1:
            for k in 1 .. size(a, 2) - 1:
                b[i, j, k] = a[i - 1, j, k] + a[i, j - 1, k] + a[i, j, k + 1]
"""
BATCH = """
kernel batch(a: float64[2] C, b: float64[2] C, l: int64):
    for p in 0 .. 2:
        for i in 0 .. size(a, 0):
            for j in 0 .. size(a, 1):
                for k in 0 .. l:
                    b[i, j] = b[i, j] + a[i, j] * float64(k + p)
"""
CSR = """
kernel csr(start: int64[1] C, at: int64[1] C, v: float64[1] C, x: float64[1] C, y: float64[1] C):
    var s: float64
    for i in 0 .. size(y, 0):
        s = 0.0
        for k in start[i] .. start[i + 1]:
            s = s + v[k] * x[at[k]]
        y[i] = s
"""
MEANS = """
kernel means(a: float64[2] C, b: float64[1] C):
    var s: float64
    for i in 0 .. size(a, 0):
        s = 0.0
        for j in 0 .. size(a, 1):
            s = s + a[i, j]
        b[i] = s
    for j.2 in 0 .. size(a, 1):
        for i.2 in 0 .. size(a, 0):
            a[i.2, j.2] = a[i.2, j.2] - b[i.2]
"""

GRID = "bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"
NEIGHBOURS = "iterations need no order, and neighbours of 'j' touch neighbouring elements"


def written(text: str) -> tuple[Kernel, Facts]:
    """The kernel of a text, whose loops have places in the user's source, as those from the front end have."""
    lines = itertools.count(1)

    def mark(stmt: Stmt) -> tuple[Stmt, ...]:
        return (replace(stmt, at=Location("f.py", next(lines), 0, 1)),) if isinstance(stmt, For) else (stmt,)

    kernel = parse_kernel(text)
    kernel = replace(kernel, body=rewrite_body(kernel.body, stmt=mark))
    return kernel, analyse(kernel)


def decided(text: str, strict: bool = True) -> tuple[Kernel, Recipe]:
    """The kernel, and what the recipe makes of it: what its steps make, one after the other."""
    kernel, facts = written(text)
    found = gpu_recipe(kernel, facts, strict)
    again, _ = apply_schedule(kernel, facts, found.schedule, strict)
    assert print_kernel(again) == print_kernel(found.kernel)
    return kernel, found


@pytest.mark.parametrize(
    ("text", "shapes", "schedule"),
    [
        (ROWS, {"a": "nm", "b": "nm"}, f"tile i 8 j 32; {GRID}"),
        (MATMUL_BY_ELEMENTS, MATMUL_SHAPES, f"tile i 8 j 32; {GRID}"),  # each thread adds up one element
        (MATMUL, MATMUL_SHAPES, None),
        (COLUMN, COLUMN_SHAPES, f"reorder i j; tile i 8 j 32; {GRID}"),  # neighbours along rows
        (TRIANGLE, {"a": "nn", "b": "nn"}, f"guard j i; tile i 8 j 32; {GRID}"),
        (
            JACOBI,  # time stays on the host
            JACOBI_SHAPES,
            f"tile i 8 j 32; tile i.2 8 j.2 32; {GRID}; "
            "bind i.2.o block.y; bind j.2.o block.x; bind i.2 thread.y; bind j.2 thread.x",
        ),
        (
            GEMM,
            MATMUL_SHAPES,
            f"fission i 2; tile i 8 j 32; reorder i.1 j.2 k; tile i.1 8 j.2 32; {GRID}; "
            "bind i.1.o block.y; bind j.2.o block.x; bind i.1 thread.y; bind j.2 thread.x",
        ),
        (
            SMOOTH,
            {"a": "nml", "b": "nml"},
            "tile j 8 k 32; bind i block.z; bind j.o block.y; bind k.o block.x; bind j thread.y; bind k thread.x",
        ),
        (TRMM, TRMM_SHAPES, None),
        (BATCH, {"a": "nm", "b": "nm"}, None),
        (MEANS, {"a": "nm", "b": "n"}, None),
    ],
)
def test_what_is_done(text: str, shapes: dict[str, str], schedule: str | None) -> None:
    kernel, found = decided(text)
    assert schedule is None or print_schedule(found.schedule) == schedule
    check_same(kernel, found.kernel, shapes)
    runs = {loop.run for loop in loops(found.kernel).values() if isinstance(loop, For)}
    assert {"block.x", "thread.x"} <= runs


@pytest.mark.parametrize("text", [PATHS, PREFIX, TOTAL, COUNT, WHILE])
def test_what_needs_an_order_stays_as_it_is(text: str) -> None:
    kernel, found = decided(text)
    assert found.decisions == () and found.kernel is kernel


def test_overlapping_arguments_keep_their_order() -> None:
    kernel, facts = known(ROWS)
    kernel = replace(kernel, overlap=True)
    assert gpu_recipe(kernel, facts, strict=True).kernel is kernel


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (ROWS, [NEIGHBOURS]),
        (TRIANGLE, ["blocks need bounds that do not depend on 'i'", NEIGHBOURS]),
        (SMOOTH, [NEIGHBOURS.replace("'j'", "'k'")]),
        (CSR, ["iterations of 'i' need no order"]),
    ],
)
def test_the_reasons(text: str, reasons: list[str]) -> None:
    _, found = decided(text)
    assert list(dict.fromkeys(decision.why for decision in found.decisions)) == reasons


def test_rows_of_a_sparse_matrix() -> None:
    """A thread for each row, whatever is in it."""
    kernel, found = decided(CSR)
    assert print_schedule(found.schedule) == "split i 256; bind i.o block.x; bind i thread.x"
    random = np.random.default_rng(0)
    for rows in (0, 1, 5, 300):
        start = np.concatenate([[0], np.cumsum(random.integers(0, 4, rows))])
        count = int(start[-1])
        given: list[Any] = [start, random.integers(0, 7, count), random.integers(-9, 9, count).astype(float)]
        given += [random.integers(-9, 9, 7).astype(float), np.full(rows, 3.0)]
        outcomes = []
        for one in (kernel, found.kernel):
            arrays = [array.copy() for array in given]
            interpret(one, arrays)
            outcomes.append([array.tobytes() for array in arrays])
        assert outcomes[0] == outcomes[1]


def test_a_float_sum_stays_in_one_thread() -> None:
    _, found = decided(MATMUL_BY_ELEMENTS, strict=False)
    assert "for k in 0 .. size(a, 1):" in print_kernel(found.kernel)


def test_no_loop_is_bound_that_is_inside_a_thread() -> None:
    for text in (ROWS, GEMM, TRMM, SMOOTH, BATCH, MEANS, JACOBI, CSR):
        _, found = decided(text)
        assert len({str(step) for step in found.schedule}) == len(found.schedule)
        for loop in loops(found.kernel).values():
            if isinstance(loop, For) and loop.run.startswith("thread"):
                assert not any(isinstance(one, For) and one.run.startswith("block") for one in loop.body)

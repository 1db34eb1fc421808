from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.analysis.effort import FOR_NEST, together
from loopwright.analysis.facts import Facts
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import ArrayParam, For, Kernel, Location, Stmt
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.walk import loops, rewrite_body, statements
from loopwright.recipe import grid_totals
from loopwright.recipe.gpu import gpu_recipe
from loopwright.recipe.recipe import Recipe
from loopwright.steps.bind import Bind
from loopwright.steps.schedule import apply_schedule, print_schedule
from meaning.grids import on_emulated
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

CONVOLUTION = """
kernel convolution(a: float64[2] C, w: float64[2] C, b: float64[2] C):
    var s: float64
    for i in 0 .. size(b, 0) - size(w, 0):
        for j in 0 .. size(b, 1) - size(w, 1):
            s = 0.0
            for u in 0 .. size(w, 0):
                for v in 0 .. size(w, 1):
                    s = s + a[i + u, j + v] * w[u, v]
            b[i, j] = s
"""
CONVOLUTION_SHAPES = {"a": "nm", "w": "ll", "b": "nm"}
SWEEP = """
kernel sweep(a: float64[2] C, b: float64[1] C):
    for j in 0 .. size(a, 1):
        for i in 1 .. size(a, 0):
            a[i, j] = a[i - 1, j] + b[j]
        b[j] = 3.0
"""
FACTORS = """
kernel factors(a: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. i:
            for k in 0 .. j:
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
            a[i, j] = a[i, j] // (abs(a[j, j]) + 1.0)
        for j.2 in i .. size(a, 0):
            for k.2 in 0 .. i:
                a[i, j.2] = a[i, j.2] - a[i, k.2] * a[k.2, j.2]
"""
IN_PLACE = """
kernel in_place(a: float64[2] C, l: int64):
    for t in 0 .. l:
        for i in 1 .. size(a, 0) - 1:
            for j in 1 .. size(a, 1) - 1:
                a[i, j] = min(a[i - 1, j + 1] + a[i, j - 1], a[i, j + 1] + a[i + 1, j])
"""
SOLUTION = """
kernel solution(a: float64[2] C, x: float64[1] C, b: float64[1] C):
    for i in 0 .. size(a, 0):
        x[i] = b[i]
        for j in 0 .. i:
            x[i] = x[i] - a[i, j] * x[j]
        x[i] = x[i] // (abs(a[i, i]) + 1.0)
"""
GREATEST = """
kernel greatest(a: float64[1] C, k: int64) -> tuple(float64, int64):
    var best: float64
    var where: int64
    best = float64('-inf')
    where = k
    for i in 0 .. size(a, 0):
        if a[i] >= best:
            best = a[i]
            where = i
    return best, where
"""
BOTH_WAYS = """
kernel both_ways(a: float64[2] C, p: float64[1] C, q: float64[1] C, r: float64[1] C, s: float64[1] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            s[j] = s[j] + r[i] * a[i, j]
            q[i] = q[i] + a[i, j] * p[j]
"""
BOTH_WAYS_SHAPES = {"a": "nm", "p": "m", "q": "n", "r": "n", "s": "m"}
SCALAR_SUM = """
kernel sums(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            for k in 0 .. size(a, 1):
                s = s + a[i, k] * b[k, j]
            c[i, j] = s
"""
SCALED_SUM = SCALAR_SUM.replace("c[i, j] = s", "c[i, j] = 3.0 * c[i, j] + 2.0 * s")
PRODUCTS = """
kernel products(a: float64[3] C, b: float64[3] C, c: float64[3] C):
    var s: float64
    for p in 0 .. size(c, 0):
        for i in 0 .. size(c, 1):
            for j in 0 .. size(c, 2):
                s = 1.0
                for k in 0 .. size(a, 2):
                    s = s + a[p, i, k] * b[p, k, j]
                c[p, i, j] = s
"""
PRODUCT_SHAPES = {"a": "mln", "b": "mnl", "c": "mll"}
COLUMNS_FIRST = """
kernel columns(a: float64[2] C, b: float64[1] C, c: float64[2] C):
    for j in 0 .. size(c, 1):
        for i in 0 .. size(c, 0):
            c[i, j] = 0.0
            for k in 0 .. 3:
                c[i, j] = c[i, j] + a[i, j] * b[j]
"""
ESCAPES = """
kernel escapes(a: float64[2] C, b: float64[2] C):
    var s: float64
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            s = a[i, j]
            while s < 9.0 named w:
                s = s + 3.0
            b[i, j] = s
"""
COVARIANCE = """
kernel covariance(a: float64[2] C, c: float64[2] C):
    var s: float64
    for i in 0 .. size(a, 1):
        for j in i .. size(a, 1):
            s = 0.0
            for k in 0 .. size(a, 0):
                s = s + a[k, i] * a[k, j]
            c[i, j] = s
            c[j, i] = 2.0 * s
"""
STACK = """
kernel stack(a: float64[3] C, b: float64[3] C):
    for p in 0 .. size(b, 0):
        for i in 0 .. size(b, 1):
            for j in 0 .. size(b, 2):
                b[p, i, j] = 1.0
                for k in 0 .. size(a, 1):
                    b[p, i, j] = b[p, i, j] + a[p, k, j] * a[p, i, j]
"""
OWN_ROWS = """
kernel own_rows(l: int64, a: float64[3] C, c: float64[2] C):
    allocate t: float64[size(c, 0)]
    for r in 0 .. l:
        for q in 0 .. size(a, 1):
            for p in 0 .. size(c, 0):
                t[p] = 0.0
                for s in 0 .. size(c, 0):
                    t[p] = t[p] + a[r, q, s] * c[s, p]
            for p.2 in 0 .. size(c, 0):
                a[r, q, p.2] = t[p.2]
"""
TWO_GRIDS = """
kernel two_grids(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = 2.0 * a[i, j]
        for j.2 in 0 .. size(a, 1):
            c[i, j.2] = a[i, j.2] - b[i, 0]
"""

ROWS_OF_ROWS = """
kernel rows_of_rows(s: float64[3] C):
    for p in 0 .. size(s, 0):
        for i in 0 .. size(s, 1):
            for j in i .. size(s, 2):
                s[p, i, j] = 2.0
"""

AS_MANY_AS_TOLD = """
kernel as_many_as_told(x: int64[1] C, out: float64[1] C):
    var n: int64
    n = x[0]
    for i in 0 .. n:
        out[i] = float64(x[i])
"""

NEIGHBOURS = "iterations are independent, and neighbours of 'j' touch neighbouring elements"


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
    ("text", "shapes", "begins", "binds"),
    [
        (
            ROWS,
            {"a": "nm", "b": "nm"},
            "split i 4; split j 256; reorder j.o i.o j i",
            ("i.o block.y", "j.o block.x", "j thread.x"),
        ),
        (COLUMN, COLUMN_SHAPES, "reorder i j; split i 4", ("i.o block.y", "j.o block.x", "j thread.x")),  # along rows
        (MATMUL_BY_ELEMENTS, MATMUL_SHAPES, "tile i", ("i.o block.y", "j.o block.x")),
        (MATMUL, MATMUL_SHAPES, "", ("i.o block.y", "j.o block.x")),
        (TRIANGLE, {"a": "nn", "b": "nn"}, "guard j i; tile i", ("i.o block.y", "j.o block.x", "j thread.x")),
        (
            JACOBI,
            JACOBI_SHAPES,
            "split i 4; split j 256; align j; ",
            ("i.o block.y", "j.o block.x", "i.2.o block.y", "j.2.o block.x"),
        ),
        (
            GEMM,
            MATMUL_SHAPES,
            "fission i 2; split i 4",
            ("i.o block.y", "j.o block.x", "i.1.o block.y", "j.2.o block.x"),
        ),
        (
            SMOOTH,
            {"a": "nml", "b": "nml"},
            "split i 4; split j 4; split k 32; align k; ",
            ("i.o block.z", "j.o block.y", "k.o block.x", "k thread.x"),
        ),
        (
            TRMM,
            TRMM_SHAPES,
            "reschedule smart inner; split k 32; cut i k.o; fission k 2; ",
            ("i.o block.y", "j.o block.x", "j.1.o block.x", "i.s.o block.y"),
        ),
        (SWEEP, {"a": "nm", "b": "m"}, "split j", ("j.o block.x", "j thread.x")),
        (PATHS, {"p": "nn"}, "cut j k; cut j.1 k+1", ("i.o block.y", "j.o block.x", "j.1.1.o block.x")),
        (FACTORS, {"a": "nn"}, "reschedule smart inner; ", ("i.s block.x", "i.s.1 block.x")),
        (IN_PLACE, {"a": "nm", "l": ""}, "reschedule smart inner; bind", ("t block.x", "i thread.x")),
        (SOLUTION, {"a": "nn", "x": "n", "b": "n"}, "reschedule smart inner; split", ("j.o.1 block.x", "i.s thread.x")),
        (BOTH_WAYS, BOTH_WAYS_SHAPES, "reschedule smart inner; split i", ("i.o block.x", "j.s.o block.x")),
        (CONVOLUTION, CONVOLUTION_SHAPES, "tile i", ("i.o block.y", "j.o block.x", "i thread.y", "j thread.x")),
        (COLUMNS_FIRST, {"a": "nm", "b": "m", "c": "nm"}, "reorder i j; tile i", ("i.o block.y", "j.o block.x")),
        (COVARIANCE, {"a": "nm", "c": "mm"}, "expand s i j; fission j 3; ", ("i.1.o block.y", "j.1.o block.x")),
        (ESCAPES, {"a": "nm", "b": "nm"}, "tile i 8 j 32; bind", ("i.o block.y", "j.o block.x", "j thread.x")),
        (STACK, {"a": "nml", "b": "nml"}, "tile i", ("p block.z", "i.o block.y", "j.o block.x", "j thread.x")),
        (TWO_GRIDS, {"a": "nm", "b": "nm", "c": "nm"}, "fission i 2", ("i.o block.y", "i.1.o block.y")),
        (SCALAR_SUM, MATMUL_SHAPES, "demote s; fission j 2; fission i 2; tile i.1", ("i.1.o block.y", "j.1.o block.x")),
        (SCALED_SUM, MATMUL_SHAPES, "expand s i j; fission j 3; ", ("i.1.1.o block.y", "j.1.1.o block.x")),
        (
            PRODUCTS,
            PRODUCT_SHAPES,
            "specialize c.1 c.2 >= 96 in p; specialize c.1 c.2 >= 16 in p.1; demote s; ",
            ("p.1.2 block.z", "i.1.2.o block.y", "j.1.2.o block.x"),
        ),
        (OWN_ROWS, {"a": "lml", "c": "ll"}, "expand t r q; ", ("r.1.1 block.z", "q.1.1.o block.y", "p.1.o block.x")),
        (ROWS_OF_ROWS, {"s": "lmm"}, "bind", ("p block.y", "i block.x", "j thread.x")),
        (BATCH, {"a": "nm", "b": "nm"}, "", ("i.o block.y", "j.o block.x")),
        (MEANS, {"a": "nm", "b": "n"}, "split i", ("i.o block.x", "j.2.o block.x")),
    ],
)
def test_what_is_done(text: str, shapes: dict[str, str], begins: str, binds: tuple[str, ...], tmp_path: Path) -> None:
    """The steps keep what the kernel computes, in the interpreter where tiles are not whole, on an emulated GPU where
    some are."""
    kernel, found = decided(text)
    schedule = print_schedule(found.schedule)
    assert re.sub(r"specialize \S+ >= (16|64) in \S+; ", "", schedule).startswith(begins)  # a version for short rows
    assert {f"bind {bind}" for bind in binds} <= set(re.sub(r"(thread\S*) \d+", r"\1", schedule).split("; "))
    check_same(kernel, found.kernel, shapes)
    check_on_gpu(kernel, found, shapes, tmp_path)


def check_on_gpu(kernel: Kernel, found: Recipe, shapes: dict[str, str], cache: Path) -> None:
    """The emulated GPU does what the CPU does with the kernel as it was written."""
    entries = compiled(kernel, cache), on_emulated(found.kernel, found.facts, True, cache, seed=1)
    is_cube = any(len(shape) == 3 for shape in shapes.values())
    value = {"n": 5, "m": 9, "l": 134} if is_cube else {"n": 137, "m": 268, "l": 34}
    random = np.random.default_rng(0)
    arrays = {name: random.integers(-4, 4, [value[x] for x in shape]).astype(float) for name, shape in shapes.items()}
    outcomes = []
    for entry in entries:
        own = {name: array.copy() for name, array in arrays.items()}
        entry.run(tuple(own[p.name] if isinstance(p, ArrayParam) else 2 for p in kernel.params))
        outcomes.append([array.tobytes() for array in own.values()])
    assert outcomes[0] == outcomes[1]


def test_counts_by_key_are_updated_by_many_threads_at_once() -> None:
    _, found = decided(COUNT)
    assert print_schedule(found.schedule) == "split i 32768; bind i.o block.x; bind i thread.x 512"


def test_loops_whose_ends_come_from_data_are_blocks(tmp_path: Path) -> None:
    _, found = decided(AS_MANY_AS_TOLD)
    assert print_schedule(found.schedule) == "split i 512; bind i.o block.x; bind i thread.x 256"
    x, out = np.full(1300, 1290), np.zeros(1300)
    on_emulated(found.kernel, found.facts, True, tmp_path, seed=1).run((x, out))
    np.testing.assert_array_equal(out, np.where(np.arange(1300) < 1290, x, 0))


@pytest.mark.parametrize("text", [PREFIX, TOTAL, WHILE])
def test_what_needs_an_order_stays_as_it_is(text: str) -> None:
    kernel, found = decided(text)
    assert found.decisions == () and found.kernel is kernel


def test_where_the_greatest_element_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partial results, and partial results of these, keep the first of equal values, whatever the lanes are."""
    monkeypatch.setattr(grid_totals, "LANES", replace(grid_totals.LANES, default=1024))
    monkeypatch.setattr(grid_totals, "FEWER", 4)
    kernel, found = decided(GREATEST)
    assert print_schedule(found.schedule).count("reduce") == 2
    entry = on_emulated(found.kernel, found.facts, True, tmp_path, seed=1)
    random = np.random.default_rng(0)
    for size in (0, 1, 7, 3001):
        for values in ([-1.0, 0.0, 1.0], [-0.0, 0.0], [np.nan, 3.0], [-np.inf]):
            a = random.choice(values, size)
            assert str(entry.run((a, -7))) == str(interpret(kernel, [a, -7]))


def test_overlapping_arguments_keep_their_order() -> None:
    kernel, facts = known(ROWS)
    kernel = replace(kernel, overlap=True)
    assert gpu_recipe(kernel, facts, strict=True).kernel is kernel


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (TRIANGLE, ["blocks need bounds that do not depend on 'i'", NEIGHBOURS]),
        (CSR, ["iterations of 'i' are independent"]),
    ],
)
def test_the_reasons(text: str, reasons: list[str]) -> None:
    _, found = decided(text)
    assert all(decision.why for decision in found.decisions)
    assert list(dict.fromkeys(decision.why for decision in found.decisions)) == reasons


def test_rows_of_a_sparse_matrix() -> None:
    """A thread for each row, whatever is in it."""
    kernel, found = decided(CSR)
    assert re.fullmatch(r"split i \d+; bind i\.o block\.x; bind i thread\.x( 32)?", print_schedule(found.schedule))
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


TEAMS = "specialize y.0 >= 4096 in i; split i 16; bind i.1 block.x; bind k.1 thread.x 256"
ALL_TEAMS = f"{TEAMS}; bind m.1 thread.x 256; bind i.o block.x; bind i thread.y; bind k thread.x 16; bind m thread.x 16"
TEAMS += "; bind i.o block.x; bind i thread.y; bind k thread.x 16"
ITS_OWN = CSR.replace("x[at[k]]", "x[i]")
AGAIN = "for m in start[i] .. start[i + 1]:\n            s = max(s, v[m])\n"
TWICE = CSR.replace("y[i] = s\n", f"{AGAIN}        y[i] = s\n")
IN_ARRAYS = CSR.replace("s = 0.0\n", "s = 0.0\n        allocate t: float64[4] = 0.0\n")


@pytest.mark.parametrize(
    ("text", "schedule"),
    [(CSR, "balance i k 2048"), (ITS_OWN, TEAMS), (CSR.replace("start[i + 1]", "at[i]"), TEAMS)],
)
def test_rows_are_shared_where_sums_may_be_in_any_order(text: str, schedule: str, tmp_path: Path) -> None:
    kernel, found = decided(text, strict=False)
    assert print_schedule(found.schedule) == schedule
    assert "the length of a row of 'i' depends on data" in found.decisions[-1].why
    entries = compiled(kernel, tmp_path), on_emulated(found.kernel, found.facts, False, tmp_path, seed=1)
    random = np.random.default_rng(0)
    start = np.concatenate([[0], np.cumsum(random.integers(0, 90, 100))])
    given: list[Any] = [start, random.integers(0, 100, int(start[-1])), np.ones(int(start[-1])), np.arange(100.0)]
    outcomes = []
    for entry in entries:
        y = np.full(100, 3.0)
        entry.run((*given, y))
        outcomes.append(y.tobytes())
    assert outcomes[0] == outcomes[1]


def test_all_loops_of_a_row_are_shared_by_its_threads() -> None:
    _, found = decided(TWICE, strict=False)
    assert print_schedule(found.schedule) == ALL_TEAMS


def test_rows_with_arrays_of_their_own_are_left_to_one_thread() -> None:
    _, found = decided(IN_ARRAYS, strict=False)
    assert "thread.y" not in print_schedule(found.schedule) and "bind i thread.x" in print_schedule(found.schedule)


def test_no_loop_is_bound_that_is_inside_a_thread() -> None:
    for text in (ROWS, GEMM, TRMM, SMOOTH, BATCH, MEANS, JACOBI, CSR):
        _, found = decided(text)
        for loop in loops(found.kernel).values():
            if isinstance(loop, For) and loop.run.startswith("thread"):
                assert not any(isinstance(one, For) and one.run.startswith("block") for one in loop.body)


TWO_PRODUCTS = """
kernel twice(a: float64[2] C, b: float64[2] C, c: float64[2] C, d: float64[2] C):
    for k in 0 .. size(a, 1):
        for i in 0 .. size(a, 0):
            for j in 0 .. size(b, 1):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
    for k.1 in 0 .. size(a, 1):
        for i.1 in 0 .. size(a, 0):
            for j.1 in 0 .. size(b, 1):
                d[i.1, j.1] = d[i.1, j.1] + a[i.1, k.1] * b[k.1, j.1]
"""


@pytest.mark.parametrize(("budget", "staged"), [(20_000_000, 4), (FOR_NEST + 75_000, 2), (400_000, 0)])
def test_where_the_budget_ends_every_nest_is_still_shared_out(budget: int, staged: int) -> None:
    kernel = parse_kernel(TWO_PRODUCTS)
    with together(budget):
        found = gpu_recipe(kernel, analyse(kernel), strict=False)
    steps = print_schedule(found.schedule).split("; ")
    assert sum(step.startswith("stage ") for step in steps) == staged
    for nest in found.kernel.body:
        runs = {loop.run for loop in statements((nest,)) if isinstance(loop, For)}
        assert {"block.x", "thread.x"} <= runs, print_kernel(found.kernel)


def potential(out, x, y, q, h):
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            total = 0.0
            for a in range(len(q)):
                dx = i * h - x[a]
                dy = j * h - y[a]
                total += q[a] / np.sqrt(dx * dx + dy * dy + 0.1)
            out[j, i] = total


def test_long_operations_are_not_written_out_for_every_sum_of_a_block() -> None:
    """128 sums of a thread would make 70,000 instructions, and a minute of compiling."""
    with lw.options(device="emulated"):
        found = lw.kernel(potential).specialise(np.zeros((64, 64)), *np.ones((3, 100)), 0.1)
    steps = str(found.analysed.recipe.schedule)
    assert "Promote" not in steps and "Bind" in steps


# ---- nests that cannot go to a grid -----------------------------------------------------------------------------

WAITING = """
kernel waiting(a: float64[1] C, b: float64[1] C, c: float64[2] C, n: int64):
    while a[0] > 0.0 named w:
        for i in 0 .. n:
            b[i] = b[i] + 1.0
        a[0] = a[0] - 1.0
    for j in 0 .. n:
        {inner}
"""
SUMS_AND_ROWS = """
kernel sums(a: float64[2] C, b: float64[1] C):
    var s: float64
    for j in 0 .. size(a, 1):
        s = 0.0
        for i in 0 .. size(a, 0):
            s = s + a[i, j]
        b[j] = s
    for p in 0 .. size(a, 0):
        for q in 0 .. size(a, 1):
            a[p, q] = a[p, q] + 1.0
"""
DEEP = "for k in 0 .. n:\n            c[j, k] = c[j, k] + 2.0"
FLAT = "c[j, 0] = c[j, 0] + 2.0"
DECIDES = "the number of iterations of a loop around others depends on data"


def test_one_nest_that_is_no_grid_leaves_the_others_theirs(tmp_path: Path) -> None:
    kernel = parse_kernel(WAITING.format(inner=DEEP))
    found = gpu_recipe(kernel, analyse(kernel), strict=True)
    assert found.alone == {"i": DECIDES} and not found.not_on_gpu
    assert {step.loop for step in found.schedule if isinstance(step, Bind)} >= {"j.o", "k"}
    own = [np.array([2.0]), np.zeros(20), np.ones((20, 20)), 20]
    wanted = [np.array([2.0]), np.zeros(20), np.ones((20, 20)), 20]
    interpret(kernel, wanted)
    on_emulated(found.kernel, found.facts, True, tmp_path).run(tuple(own))
    for mine, right in zip(own, wanted, strict=True):
        np.testing.assert_array_equal(mine, right)


def test_one_thread_with_as_much_to_do_as_all_grids_is_for_the_cpu() -> None:
    kernel = parse_kernel(WAITING.format(inner=FLAT))
    assert gpu_recipe(kernel, analyse(kernel), strict=True).not_on_gpu == DECIDES


def test_a_nest_that_a_smaller_gpu_refuses_goes_the_next_way(tmp_path: Path) -> None:
    kernel = parse_kernel(SUMS_AND_ROWS)
    usual, small = (
        gpu_recipe(kernel, replace(analyse(kernel), gpu=target), strict=False)
        for target in (CUDA, replace(CUDA, threads=256))
    )
    assert print_schedule(usual.schedule) != print_schedule(small.schedule) and not small.alone
    same = {str(step) for step in usual.schedule} & {str(step) for step in small.schedule}
    assert any(step.startswith("bind q.o block") for step in same)  # the other nest, as before
    a = np.arange(35.0 * 20).reshape(35, 20) % 7
    own, wanted = ([a.copy(), np.zeros(20)] for _ in range(2))
    interpret(kernel, wanted)
    on_emulated(small.kernel, small.facts, False, tmp_path).run(tuple(own))
    for mine, right in zip(own, wanted, strict=True):
        np.testing.assert_array_equal(mine, right)


def test_explain_tells_what_one_thread_does() -> None:
    def waiting(a, b, c):
        while a[0] > 0:
            for i in range(b.shape[0]):
                b[i] += 1
            a[0] -= 1
        for j in range(c.shape[0]):
            for k in range(c.shape[1]):
                c[j, k] += 2

    with lw.options(device="emulated"):
        text = str(lw.kernel(waiting).explain(np.array([2.0]), np.zeros(9), np.zeros((9, 9))))
    assert "'i' in one thread" in text and DECIDES in text

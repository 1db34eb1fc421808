"""Sums of rows, of columns and by key: what the recipe binds, and what comes out, on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

RANDOM = np.random.default_rng(3)
LENGTHS = (
    "specialize a.1 >= 2048 in i; specialize a.1 >= 128 in i.2; specialize a.1 >= 6 in i.2.1; split i.2.1 32; "
    "split i.2.1.1 256; tile i.1 8 j.1.l 32"
)
IN_ROWS = (
    "bind i block.x; bind j thread.x 512; bind i.2 block.x; bind j.2 thread.x 64; bind i.2.1.o block.x; "
    "bind i.2.1 thread.y; bind j.2.1 thread.x 8; bind i.2.1.1.o block.x; bind i.2.1.1 thread.x; bind i.1.o block.y; "
    "bind j.1.l.o block.x; bind i.1 thread.y; bind j.1.l thread.x; bind i.1.1 block.x; bind j.1.m thread.x 512"
)
IN_COLUMNS = (
    "bind j.o block.x; bind j thread.x; bind i thread.y 32; bind j.2.o block.x; bind j.2 thread.x; "
    "bind i.1.l.o block.y; bind j.1.o block.x; bind i.1.l thread.y; bind j.1 thread.x; "
    "bind j.1.1.1 block.x; bind i.1.m thread.x 64; "
    "bind i.1.1.l.o block.y; bind j.1.1.o block.x; bind i.1.1.l thread.y; bind j.1.1 thread.x; "
    "bind i.1.1.l.1.o block.y; bind j.1.1.2.o block.x; bind i.1.1.l.1 thread.y; bind j.1.1.2 thread.x; "
    "bind j.1.1.1.1 block.x; bind i.1.1.m thread.x 512"
)
COLUMNS = "specialize a.1 >= 2048 in j; specialize a.1 >= 256 in j.1"
SOME = "reorder i.1.l j.1; tile i.1.l 8 j.1 32"
FEW = "reorder i.1.1.l j.1.1; specialize a.1 >= 16 in i.1.1.l; tile i.1.1.l 8 j.1.1 32; tile i.1.1.l.1 32 j.1.1.2 8"
LONG = "specialize a.0 >= 128 in j; split j 16; split j.2 256"
"""Versions for many sums, by their length or a few columns to a block, and for some and few: partial sums, and sums of
these."""


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 9, shape).astype(float)


def rows(a, x, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        y[i] = s


def rows_by_elements(a, x, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]


def triangle(a, x, y):
    for i in range(min(a.shape[0], a.shape[1])):
        s = 0.0
        for j in range(i):
            s += a[i, j] * x[j]
        y[i] = s


def solution(a, x, y):
    for i in range(min(a.shape[0], a.shape[1])):
        s = y[i]
        for j in range(i):
            s -= a[i, j] * x[i - j - 1]
        x[i] = min(max(s, -5.0), 5.0)


def best_split(a, x, y):
    for d in range(1, a.shape[0]):
        for i in range(a.shape[0] - d):
            for k in range(i, i + d):
                a[i, i + d] = max(a[i, i + d], a[i, k] - a[k + 1, i + d])


def columns_outside(a, x, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x[j] += a[i, j] * y[i]


def by_columns(a, x, y):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * y[i]
        x[j] = s


def batches(a, x, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = 0.0
            for k in range(x.shape[0]):
                s = max(s, x[k] - a[i, j])
            a[i, j] = s


def short(a, x, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(3):
            s += a[i, j]
        y[i] = s


def counts(a, x, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[abs(int(a[i, j])) % y.shape[0]] += 1.0


@pytest.mark.parametrize("shape", [(37, 70), (5, 3), (1, 1), (300, 3), (3, 300), (300, 2100), (0, 4), (4, 0)])
@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (rows, f"specialize a.0 >= 256 in i; reduce j.1 8192; expand s.1.x i.1; fission i.1 2; {LENGTHS}; {IN_ROWS}"),
        (
            rows_by_elements,
            "specialize a.0 >= 256 in i; reduce j.1 8192; expand y.e.x i.1; fission i.1 2; promote y j; "
            f"{LENGTHS}; promote y j.1.m; {IN_ROWS}",
        ),
        (triangle, "split i 8; bind i.o block.x; bind i thread.y; bind j thread.x 32"),
        (
            by_columns,
            f"{COLUMNS}; reduce i.1 512; expand s.1.x j.1; fission j.1 2; "
            "reduce i.1.1 8192; expand s.1.1.x j.1.1; fission j.1.1 2; "
            f"{LONG}; {SOME}; {FEW}; {IN_COLUMNS}",
        ),
        (
            columns_outside,
            f"reorder j i; {COLUMNS}; reduce i.1 512; expand x.e.x j.1; fission j.1 2; "
            "reduce i.1.1 8192; expand x.e.x j.1.1; fission j.1.1 2; promote x i; "
            f"{LONG}; {SOME}; promote x i.1.m; {FEW}; promote x i.1.1.m; {IN_COLUMNS}",
        ),
        (solution, "bind j thread.x 1024"),
        (counts, "split i 8; bind i.o block.x; bind i thread.y; bind j thread.x 64"),
    ],
)
def test_which_loops_are_bound(kernel: Any, wanted: str, shape: tuple[int, int]) -> None:
    if "reduce" not in wanted:
        shape = shape[0], min(shape[1], 300)  # no length has a version of its own
    found = agree(kernel, whole(*shape), whole(shape[1]), whole(shape[0]), strict=False)
    assert "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions) == wanted


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_elements_beside_others_of_their_array(n: int) -> None:
    found = agree(best_split, whole(n, n), whole(n), whole(n), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert "promote a k" in steps and "bind k thread.y 32" in steps


@pytest.mark.parametrize("kernel", [rows, by_columns])
def test_strict_keeps_the_order_within_a_thread(kernel: Any) -> None:
    found = agree(kernel, whole(9, 30), whole(30), whole(9), strict=True)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps and not any("thread.y" in step for step in steps)


@pytest.mark.parametrize("kernel", [batches, short])
def test_other_sums_stay_in_a_thread(kernel: Any) -> None:
    found = agree(kernel, whole(9, 30), whole(30), whole(9), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert not any(step.startswith(("split i 4", "split j 16")) for step in steps)


def nearest(q, x, out):
    for i in range(q.shape[0]):
        best = 1e300
        where = -1
        for j in range(x.shape[0]):
            d = 0.0
            for k in range(q.shape[1]):
                d += (q[i, k] - x[j, k]) ** 2
            if d < best:
                best = d
                where = j
        out[i] = where


def potential(q, x, out):
    for i in range(q.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            d = 1.0
            for k in range(q.shape[1]):
                d += abs(q[i, k] - x[j, k])
            total += 1.0 / d
        out[i] = total


@pytest.mark.parametrize("function", [nearest, potential])
def test_few_rows_whose_terms_take_loops_are_shared(function: Any) -> None:
    kernel: Any = lw.kernel(function)
    for n, m, d in ((40, 60, 8), (3, 300, 2), (0, 4, 4), (5, 0, 3), (2, 5, 0)):
        draw = np.random.default_rng(m)
        q, x = draw.integers(0, 4, (n, d)).astype(float), draw.integers(0, 4, (m, d)).astype(float)
        got, wanted = np.zeros(n), np.zeros(n)
        function(q, x, wanted)
        with lw.options(device="emulated"):
            kernel(q, x, got)
            schedule = str(kernel.explain(q, x, got).schedule)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert "specialize q.0 >= 65536 in i" in schedule and "specialize x.0 >= 2048 in i" in schedule


def density(x, places, out):
    for g in range(len(places)):
        s = 0.0
        for i in range(len(x)):
            s += (places[g] - x[i]) ** 2
        out[g] = s


@pytest.mark.parametrize(("rows", "length"), [(0, 3), (3, 0), (1, 1), (5, 300), (300, 9)])
def test_rows_that_go_along_the_same_elements_are_shared_where_they_are_few(rows: int, length: int) -> None:
    found = agree(density, np.arange(1.0, length + 1), np.arange(float(rows)), np.zeros(rows), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert "specialize places.0 >= 65536 in g" in steps and "bind i.2 thread.x 512" in steps


def channel_gradient(dy, x, dg):
    for b in range(dy.shape[0]):
        for c in range(dy.shape[1]):
            for i in range(dy.shape[2]):
                for j in range(dy.shape[3]):
                    dg[c] += dy[b, c, i, j] * x[b, c, i, j]


@pytest.mark.parametrize("shape", [(0, 3, 4, 5), (1, 1, 1, 1), (2, 3, 20, 40)])
def test_sums_of_planes_over_images(shape: tuple[int, ...]) -> None:
    dy, x = np.random.default_rng(1).integers(-9, 9, (2, *shape)).astype(float)
    with lw.options(device="emulated"):
        kernel: Any = lw.kernel(channel_gradient)
        got, wanted = np.ones(shape[1]), np.ones(shape[1])
        kernel(dy, x, got)
        schedule = str(kernel.explain(dy, x, got).schedule)
    channel_gradient(dy, x, wanted)
    np.testing.assert_array_equal(got, wanted)
    assert schedule == "reorder c b i j; promote dg b; bind c block.x; bind i thread.y 16; bind j thread.x 32"

"""Rows that add to totals: two nests, with a number for each row in between."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree


def cross_entropy(x, y):
    t = 0.0
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            m = max(m, x[i, j])
        s = 0.0
        for j in range(x.shape[1]):
            s += math.exp(x[i, j] - m)
        t += math.log(s) + m - x[i, y[i]]
    return t


def gradient(x, w, g):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * w[j]
        p = 1.0 / (1.0 + math.exp(-s))
        for j in range(x.shape[1]):
            g[j] += p * x[i, j]


def squares_of_rows(ptr, val, q):
    t = 0.0
    for i in range(len(ptr) - 1):
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            s += val[k]
        q[i] = s
        t += s * s
    return t


def lengths(x):
    t = 0.0
    for i in range(x.shape[0]):
        s = 0.0
        for k in range(3):
            s += x[i, k] * x[i, k]
        t += math.sqrt(s)
    return t


def running(x):
    """What is added up goes on into the next row."""
    t = 1.0
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * t
        t += s
    return t


def steps_of(function: Any, *args: Any, **options: Any) -> list[str]:
    """The schedule's steps, after a call on the emulated GPU that gives what CPython does."""
    kernel, own, right = lw.kernel(function), [one.copy() for one in args], [one.copy() for one in args]
    wanted = function(*right)
    with lw.options(device="emulated", **options):
        found = kernel(*own)
        steps = str(kernel.explain(*args).to_dict()["schedule"])
    if wanted is not None:
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    for mine, theirs in zip(own, right, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    return steps.split("; ")


def numbers(*shape: int) -> Any:
    return np.random.default_rng(4).random(shape)


@pytest.mark.parametrize("rows", [0, 1, 70])
@pytest.mark.parametrize("columns", [1, 5, 40, 300])
def test_rows_and_their_totals(rows: int, columns: int) -> None:
    labels = np.random.default_rng(1).integers(0, columns, rows)
    steps = steps_of(cross_entropy, numbers(rows, columns), labels)
    assert steps[0] == "fission i 5 kept" and any(step.startswith("bind j.1 thread.x") for step in steps)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 1), (90, 7), (3, 300)])
def test_a_row_is_added_to_columns(rows: int, columns: int) -> None:
    steps = steps_of(gradient, numbers(rows, columns), numbers(columns), np.ones(columns))
    assert steps[0] == "fission i 4 kept" and any(step.startswith("reorder j") for step in steps)


def test_rows_of_which_data_tell_the_length_are_balanced() -> None:
    steps = steps_of(squares_of_rows, np.array([0, 3, 3, 50, 51]), numbers(51), np.zeros(4))
    assert steps[0] == "fission i 4 kept" and "balance i k 2048" in steps


@pytest.mark.parametrize("function", [lengths, running])
def test_what_stays_together(function: Any) -> None:
    assert not any(step.startswith("fission") for step in steps_of(function, numbers(9, 3)))


def test_strict_adds_in_order() -> None:
    assert not any(
        step.startswith("fission") for step in steps_of(gradient, numbers(9, 5), numbers(5), np.ones(5), strict=True)
    )


def clouds(a, b, nearest):
    total = 0.0
    for s in range(a.shape[0]):
        for i in range(a.shape[1]):
            best = 1e30
            where = 0
            for j in range(b.shape[1]):
                d = (a[s, i, 0] - b[s, j, 0]) ** 2 + (a[s, i, 1] - b[s, j, 1]) ** 2
                if d < best:
                    best = d
                    where = j
            nearest[s, i] = where
            total += best
    return total


@pytest.mark.parametrize("shape", [(2, 70, 5), (3, 1, 300), (0, 4, 4), (2, 0, 3), (1, 33, 1)])
def test_rows_of_several_loops_that_add_to_a_total(shape: tuple[int, int, int]) -> None:
    batch, n, m = shape
    random = np.random.default_rng(n)
    a, b = random.integers(-9, 9, (batch, n, 2)) * 1.0, random.integers(-9, 9, (batch, m, 2)) * 1.0
    mine, right = np.zeros((batch, n), np.int64), np.zeros((batch, n), np.int64)
    kernel = lw.kernel(clouds)
    with lw.options(device="emulated"):
        assert kernel(a, b, mine) == clouds(a, b, right)
        schedule = str(kernel.explain(a, b, mine).schedule)
    assert np.array_equal(mine, right)
    assert "expand best s" in schedule and "fission s" in schedule


def behind_conditions(x, w, v, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                for k in range(w.shape[1]):
                    s = 0.0
                    for c in range(w.shape[0]):
                        s += x[i, j] * w[c, k]
                    if s > 0:
                        for c in range(v.shape[1]):
                            out[i, j, c] += s * v[k, c]


def test_rows_behind_a_condition_of_a_thread_stay_there() -> None:
    draw = np.random.default_rng(8)
    x, w, v = (draw.integers(-3, 4, shape).astype(float) for shape in ((5, 6), (4, 7), (7, 3)))
    found = agree(behind_conditions, x, w, v, np.zeros((5, 6, 3)), strict=False)
    assert found.analysed.recipe.not_on_gpu == ""
    assert not any(str(one.step).startswith(("fission k", "reduce k")) for one in found.analysed.recipe.decisions)

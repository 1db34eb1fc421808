from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.recipe.loop_partitioning import PARTITIONED, without_conditions
from loopwright.recipe.recipe import recipe
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.tunable import Choices
from recipe.planning import check_same, plan_of, planned, reasons, steps
from steps.kernels import ROWS

BORDER = """
kernel border(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = a[i, max(j - 1, 0)] + a[max(i - 1, 0), j]
"""
SHAPES = {"a": "nm", "b": "nm"}
SIZES = ((0, 0, 0), (1, 1, 1), (1, 4, 1), (5, 3, 1))
WINDOW = """
kernel window(a: float64[1] C, b: float64[1] C):
    for i in 0 .. size(a, 0):
        for d in 0 .. 3:
            if i + d > 0 and i + d <= size(a, 0):
                b[i] = b[i] + a[i + d - 1]
"""
SHORT = """
kernel short(b: float64[2] C):
    for i in 0 .. size(b, 0):
        for j in 0 .. 8:
            if j > 0:
                b[i, j] = 0.0
"""


def test_innermost_loops_have_their_steady_iterations_apart() -> None:
    partial = planned(without_conditions, BORDER)
    assert steps(partial) == "partition j"
    assert reasons(partial) == ["the iterations of 'j' in which the conditions on it hold run without them"]
    check_same(partial.written, partial.kernel, SHAPES, SIZES)


def test_short_loops_inside_do_not_count() -> None:
    partial = planned(without_conditions, WINDOW)
    assert steps(partial) == "partition i"
    check_same(partial.written, partial.kernel, {"a": "n", "b": "n"}, SIZES)


@pytest.mark.parametrize("text", [ROWS, SHORT])
def test_nothing_is_done_without_need(text: str) -> None:
    assert steps(planned(without_conditions, text)) == ""


def test_the_recipe_puts_lanes_into_the_steady_loop_alone() -> None:
    partial = plan_of(BORDER)
    found = recipe(partial.kernel, partial.facts, False, CpuTarget(8, 1, 2**15, 2**20))
    assert [str(step) for step in found.schedule] == ["partition j", "parallelize i", "vectorize j"]


def test_it_is_a_choice() -> None:
    choices = Choices({PARTITIONED.name: 0})
    partial = plan_of(BORDER, choices=choices)
    without_conditions(partial)
    assert steps(partial) == ""


BOARD = """
kernel board(a: int64[3] C, b: int64[1] C):
    var s: int64
    for g in 0 .. size(b, 0):
        for r in 0 .. 6:
            for c in 0 .. 7:
                if c + 3 < 7:
                    s = a[g, r, c] + a[g, r, c + 1] + a[g, r, c + 2] + a[g, r, c + 3]
                    if s == 4 or s == -4:
                        b[g] = b[g] + s
                if r + 3 < 6:
                    s = a[g, r, c] + a[g, r + 1, c] + a[g, r + 2, c] + a[g, r + 3, c]
                    if s == 4 or s == -4:
                        b[g] = b[g] + s
"""


def test_short_loops_too_that_no_compiler_writes_out() -> None:
    assert steps(planned(without_conditions, BOARD)) == "partition c; partition r"


HALVED = """
kernel halved(a: float64[3] C, b: float64[2] C):
    var s: float64
    var c: int64
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            s = 0.0
            c = 0
            for k in 0 .. 8:
                if (k >> 2) < size(a, 0) and (2 * i + (k >> 1 & 1) < size(a, 1) and 2 * j + k % 2 < size(a, 2)):
                    s = s + a[k >> 2, 2 * i + (k >> 1 & 1), 2 * j + k % 2]
                    c = c + 1
            b[i, j] = s / float64(c)
"""


def test_short_loops_stay_where_no_condition_would_go() -> None:
    assert steps(planned(without_conditions, HALVED)) == ""


KNAPSACK = """
kernel knapsack(weight: int64[1] C, best: int64[2] C, room: int64):
    for i in 1 .. size(best, 0):
        for c in 0 .. size(best, 1):
            if ASKED <= c:
                best[i, c] = max(best[i - 1, c], best[i - 1, c - weight[i - 1]] + i)
            else:
                best[i, c] = best[i - 1, c]
"""


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("weight[i - 1]", "promote weight c; partition c"),
        ("weight[c]", ""),  # not the same in all iterations
        ("best[i - 1, 0]", ""),  # which they write
    ],
)
def test_an_element_that_is_asked_for_stands_in_a_scalar(asked: str, found: str) -> None:
    assert steps(planned(without_conditions, KNAPSACK.replace("ASKED", asked))) == found


SET_ALONE = """
kernel alone(at: int64[1] C, out: int64[2] C):
    for i in 0 .. size(out, 0):
        for c in 0 .. size(out, 1):
            if at[i] == c:
                out[i, c] = 1
"""


def test_the_steady_iterations_may_do_nothing() -> None:
    assert steps(planned(without_conditions, SET_ALONE)) == "promote at c; partition c"


def filled(weight: Any, value: Any, room: int) -> Any:
    best = np.zeros((len(weight) + 1, room + 1), np.int64)
    for i in range(1, len(weight) + 1):
        for c in range(room + 1):
            best[i, c] = best[i - 1, c]
            if weight[i - 1] <= c:
                best[i, c] = max(best[i, c], best[i - 1, c - weight[i - 1]] + value[i - 1])
    return best


def test_knapsacks() -> None:
    kernel = lw.kernel(threads=1)(filled)
    value = np.arange(6)
    for weight, room in (([3, 1, 9, 4, 2, 20], 12), ([0, 0, 1, 2, 1, 5], 0), ([2, 2, 2, 2, 2, 2], -1)):
        np.testing.assert_array_equal(kernel(np.array(weight), value, room), filled(np.array(weight), value, room))
    with pytest.raises(IndexError):
        filled(np.array([-1, 2]), value, 4)
    with pytest.raises(IndexError):
        kernel(np.array([-1, 2]), value, 4)
    assert "promote weight" in str(kernel.explain(np.array([1, 2]), value, 4).schedule)

from __future__ import annotations

import pytest

from loopwright.recipe.distribution import isolate
from loopwright.recipe.partial_schedule import NotTaken
from recipe.planning import GEMM, MATMUL_SHAPES, TRMM, TRMM_SHAPES, check_same, plan_of, reasons, steps
from steps.kernels import MATMUL

BETWEEN = """
kernel between(a: float64[2] C, x: float64[1] C):
    for i in 0 .. size(a, 0):
        x[i] = 1.0
        for j in 0 .. size(a, 1):
            a[i, j] = a[i, j] + 2.0
        x[i] = x[i] + 3.0
"""
NEEDED = """
kernel needed(a: float64[2] C, x: float64[1] C):
    for i in 0 .. size(a, 0):
        x[0] = a[i, 0]
        for j in 0 .. size(a, 1):
            a[i, j] = a[i, j] + x[0]
"""


def test_a_perfect_nest_stays() -> None:
    partial = plan_of(MATMUL)
    assert isolate(partial, "j", "k", "why") == ("k", "i", "j")
    assert partial.decisions == [] and partial.kernel is partial.written


def test_what_stands_before_and_after_is_cut_off() -> None:
    partial = plan_of(BETWEEN)
    assert isolate(partial, "j", "i", "why") == ("i.1.1", "j")
    assert (steps(partial), reasons(partial)) == ("fission i 3; fission i 2", ["why"])
    assert partial.around("j")[0].body == (partial.around("j")[1],)
    check_same(partial.written, partial.kernel, {"a": "nm", "x": "n"})


def test_what_stands_before_is_cut_off() -> None:
    partial = plan_of(GEMM)
    assert isolate(partial, "j.2", "i", "why") == ("i.1", "k", "j.2")
    assert steps(partial) == "fission i 2"
    check_same(partial.written, partial.kernel, MATMUL_SHAPES)


def test_what_stands_after_is_cut_off_and_no_further_out_than_asked_for() -> None:
    partial = plan_of(TRMM)
    assert isolate(partial, "k", "j", "why") == ("j", "k")
    assert steps(partial) == "fission j 2"
    check_same(partial.written, partial.kernel, TRMM_SHAPES)


def test_no_cut_between_what_needs_one_another() -> None:
    partial = plan_of(NEEDED)
    with pytest.raises(NotTaken, match=r"^fission i 2$"):
        isolate(partial, "j", "i", "why")

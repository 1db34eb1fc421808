from __future__ import annotations

import pytest

from loopwright.recipe.isolate import isolate
from loopwright.recipe.plan import NotTaken
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
    plan = plan_of(MATMUL)
    assert isolate(plan, "j", "k", "why") == ("k", "i", "j")
    assert plan.decisions == [] and plan.kernel is plan.written


def test_what_stands_before_and_after_is_cut_off() -> None:
    plan = plan_of(BETWEEN)
    assert isolate(plan, "j", "i", "why") == ("i.1.1", "j")
    assert (steps(plan), reasons(plan)) == ("fission i 3; fission i 2", ["why"])
    assert plan.around("j")[0].body == (plan.around("j")[1],)
    check_same(plan.written, plan.kernel, {"a": "nm", "x": "n"})


def test_what_stands_before_is_cut_off() -> None:
    plan = plan_of(GEMM)
    assert isolate(plan, "j.2", "i", "why") == ("i.1", "k", "j.2")
    assert steps(plan) == "fission i 2"
    check_same(plan.written, plan.kernel, MATMUL_SHAPES)


def test_what_stands_after_is_cut_off_and_no_further_out_than_asked_for() -> None:
    plan = plan_of(TRMM)
    assert isolate(plan, "k", "j", "why") == ("j", "k")
    assert steps(plan) == "fission j 2"
    check_same(plan.written, plan.kernel, TRMM_SHAPES)


def test_no_cut_between_what_needs_one_another() -> None:
    plan = plan_of(NEEDED)
    with pytest.raises(NotTaken, match=r"^fission i 2$"):
        isolate(plan, "j", "i", "why")

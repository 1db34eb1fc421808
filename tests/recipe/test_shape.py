"""What is done only where it is chosen: each choice, and that the result stays the same."""

from __future__ import annotations

import pytest

from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.shape import shaped
from loopwright.recipe.tunable import Choices
from recipe.planning import JACOBI, JACOBI_SHAPES, MATMUL_BY_ELEMENTS, MATMUL_SHAPES, check_same, steps
from steps.kernels import known

SHORT = """
kernel short(a: float64[2] C, b: float64[2] C):
    var s: float64
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            s = 0.0
            for k in 0 .. 2:
                for l in 0 .. 3:
                    s = s + a[i, j] * float64(k + l)
            b[i, j] = s
"""
SHORT_SHAPES = {"a": "nm", "b": "nm"}


def shaped_plan(text: str, wanted: dict[str, int]) -> PartialSchedule:
    kernel, facts = known(text)
    partial = PartialSchedule(kernel, facts, False, kernel, choices=Choices(wanted))
    shaped(partial)
    return partial


@pytest.mark.parametrize("text", [MATMUL_BY_ELEMENTS, JACOBI, SHORT])
def test_by_default_nothing_is_done(text: str) -> None:
    assert not shaped_plan(text, {}).decisions
    kernel, facts = known(text)
    partial = PartialSchedule(kernel, facts, False, kernel)
    shaped(partial)
    assert not partial.decisions


CASES = [
    (MATMUL_BY_ELEMENTS, MATMUL_SHAPES, {"innermost loop": 1}, "reorder i k j"),
    (MATMUL_BY_ELEMENTS, MATMUL_SHAPES, {"innermost loop": 2}, "reorder j k i"),
    (
        MATMUL_BY_ELEMENTS,
        MATMUL_SHAPES,
        {"tile of 'j'": 16, "tile of 'k'": 64},
        "split j 16; split k 64; reorder j.o k.o i j k",
    ),
    (MATMUL_BY_ELEMENTS, MATMUL_SHAPES, {"side by side": 4}, "unroll_and_jam j 4"),
    (
        JACOBI,
        JACOBI_SHAPES,
        {"tile of 'j'": 64},
        "split j 64; reorder j.o i j; split j.2 64; reorder j.2.o i.2 j.2",
    ),
    (SHORT, SHORT_SHAPES, {"short inner loops": 1}, "unroll l; unroll k"),
    (SHORT, SHORT_SHAPES, {"short inner loops": 1, "innermost loop": 1}, "reorder j i; unroll l; unroll k"),
]


@pytest.mark.parametrize(("text", "shapes", "wanted", "schedule"), CASES)
def test_choices(text: str, shapes: dict[str, str], wanted: dict[str, int], schedule: str) -> None:
    partial = shaped_plan(text, wanted)
    assert steps(partial) == schedule
    check_same(partial.written, partial.kernel, shapes)


def test_a_loop_that_needs_its_order_is_unrolled() -> None:
    text = "kernel k(a: float64[1] C):\n    for i in 1 .. size(a, 0):\n        a[i] = a[i] + a[i - 1]\n"
    partial = shaped_plan(text, {"unrolled": 4})
    assert steps(partial) == "unroll i 4"
    check_same(partial.written, partial.kernel, {"a": "n"})

"""The steady part of loops whose tiles arrive ahead: what is found of it in a kernel, and what has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.codegen.software_pipeline import is_shorter
from loopwright.ir.nodes import If, Kernel
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import statements

TWO = """
kernel two(a: float64[1] C, b: float64[1] C):
    for i.o in 0 .. size(a, 0) step 8:
        if {condition}:
            for i in i.o .. i.o + {whole}:
                b[i] = {value}
        else:
            for i.1 in i.o .. min(i.o + 8, size(a, 0)):
                b[i.1] = 2.0 * a[i.1]
"""
HOLDS = "i.o + 8 <= size(a, 0)"


def condition_of(condition: str = HOLDS, whole: int = 8, value: str = "2.0 * a[i]") -> If:
    kernel: Kernel = parse_kernel(TWO.format(condition=condition, whole=whole, value=value))
    (found,) = (stmt for stmt in statements(kernel.body) if isinstance(stmt, If))
    return found


def test_a_condition_that_only_lets_loops_go_to_their_ends() -> None:
    assert is_shorter(condition_of())


@pytest.mark.parametrize(
    "other",
    [
        condition_of(condition="i.o + 7 <= size(a, 0)"),
        condition_of(condition="i.o + 8 <= size(b, 0)"),
        condition_of(whole=7),
        condition_of(value="3.0 * a[i]"),
        condition_of(value="2.0 * a[i + 1]"),
    ],
)
def test_other_conditions_do_more(other: If) -> None:
    assert not is_shorter(other)


def test_nothing_under_else_is_not_the_same() -> None:
    assert not is_shorter(replace(condition_of(), otherwise=()))

"""A kernel as text: its look, in golden files, and the parentheses of expressions."""

from __future__ import annotations

import math

import pytest

from conftest import Golden
from ir.sample_texts import EVERYTHING, SMOOTH
from loopwright.ir import types
from loopwright.ir.nodes import Assign, Binary, Const, Expr, If, Kernel, Select, Store, Unary, Var
from loopwright.ir.text import parse_kernel, print_expr, print_kernel, print_stmt
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT64

A, B, C = (Var(name, INT64) for name in "abc")
F = Var("f", BOOL)


def test_golden_kernels(golden: Golden) -> None:
    golden("ir/smooth.txt", print_kernel(parse_kernel(SMOOTH)))
    golden("ir/everything.txt", print_kernel(parse_kernel(EVERYTHING)))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Binary("mul", Binary("add", A, B), C), "(a + b) * c"),
        (Binary("add", A, Binary("mul", B, C)), "a + b * c"),
        (Binary("sub", A, Binary("sub", B, C)), "a - (b - c)"),
        (Binary("sub", Binary("sub", A, B), C), "a - b - c"),
        (Binary("pow", Binary("pow", A, B), C), "(a ** b) ** c"),
        (Binary("pow", A, Binary("pow", B, C)), "a ** b ** c"),
        (Binary("pow", Const(-2, INT64), A), "(-2) ** a"),
        (Unary("neg", Const(2, INT64)), "-(2)"),
        (Unary("neg", Binary("pow", Const(2, INT64), A)), "-(2 ** a)"),
        (Unary("neg", Binary("pow", A, B)), "-a ** b"),
        (Unary("neg", Unary("neg", A)), "--a"),
        (Unary("not", Unary("not", F)), "not not f"),
        (Binary("and", F, Unary("not", F)), "f & (not f)"),
        (Select(F, Select(F, A, B), C), "(a if f else b) if f else c"),
        (Select(F, A, Select(F, A, B)), "a if f else (a if f else b)"),
        (Binary("min", Select(F, A, B), A), "min(a if f else b, a)"),
    ],
)
def test_parentheses_are_where_they_must_be(expr: Expr, text: str) -> None:
    assert print_expr(expr) == text


@pytest.mark.parametrize(
    ("const", "text"),
    [
        (Const(0.1, FLOAT64), "0.1"),
        (Const(-0.0, FLOAT64), "-0.0"),
        (Const(1e300, FLOAT64), "1e+300"),
        (Const(0.1, FLOAT32), "0.1f32"),
        (Const(math.nan, FLOAT32), "float32('nan')"),
        (Const(-math.inf, FLOAT64), "float64('-inf')"),
        (Const(-5, types.INT8), "-5i8"),
        (Const(True, BOOL), "True"),
    ],
)
def test_literals(const: Const, text: str) -> None:
    assert print_expr(const) == text


@pytest.mark.parametrize("name", ["x", "i.o", "x.2", "p.my field", "<lambda>", "for", "in.x", "größe", "℘", "a`b\\\n"])
def test_any_name_round_trips(name: str) -> None:
    kernel = Kernel(name, (), (Assign(name, Const(1, INT64)), Store(name, (), Var(name, INT64))))
    assert parse_kernel(print_kernel(kernel)) == kernel


def test_a_lone_if_in_an_else_is_an_elif_and_no_other() -> None:
    inner = If(F, (Assign("a", A),))
    assert print_stmt(If(F, (), (inner,))) == "if f:\n    pass\nelif f:\n    a = a"
    two = print_stmt(If(F, (), (inner, inner))).split("\n")
    assert two[2] == "else:" and two[3] == two[5] == "    if f:"


def test_a_long_head_is_broken_into_lines() -> None:
    head = print_kernel(parse_kernel(EVERYTHING)).split("\n")
    assert head[0] == "kernel `<lambda>`("
    assert print_kernel(parse_kernel(SMOOTH)).startswith("kernel smooth(a: float64[2] C, b:")

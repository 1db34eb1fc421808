"""Simpler expressions: what becomes what, what must stay, and the same value for every value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir.random_kernels import Maker, Scope, outcome
from loopwright.ir import types
from loopwright.ir.identities import simpler
from loopwright.ir.nodes import ArrayParam, Binary, Const, Expr, Kernel, Return, ReturnedScalar, ScalarParam, Var
from loopwright.ir.text import parse_kernel, print_expr
from loopwright.ir.walk import rewrite_expr

HEAD = "kernel k(x: int64, y: int64, u: uint8, s: int8, f: float64, g: float32, p: bool, q: bool, a: int64[1] C)"


def simplified(text: str) -> str:
    [stmt] = parse_kernel(f"{HEAD}:\n    return {text}\n").body
    assert isinstance(stmt, Return)
    return print_expr(rewrite_expr(stmt.values[0], simpler))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # constants
        ("1 + 2 * 3", "7"),
        ("127i8 + 1i8", "-128i8"),
        ("7 // 0 + -7 % 3", "2"),
        ("2 ** 10", "1024"),
        ("1.0 / 0.0", "float64('inf')"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("0.1f32 * 3.0f32", "0.30000001192092896f32"),
        ("sqrt(2.0)", "1.4142135623730951"),
        ("int64(2.9) + int64(float64('nan'))", "2 + int64(float64('nan'))"),
        ("3 < 4", "True"),
        ("min(3, 2) + abs(-4)", "6"),
        # neutral and absorbing operands
        ("x + 0", "x"),
        ("0 + x", "x"),
        ("x - 0", "x"),
        ("x * 1", "x"),
        ("1 * x", "x"),
        ("x // 1", "x"),
        ("x ** 1", "x"),
        ("x << 0", "x"),
        ("x | 0", "x"),
        ("x & -1", "x"),
        ("u & 255u8", "u"),
        ("x & x", "x"),
        ("x * 0", "0"),
        ("x - x", "0"),
        ("x % 1", "0"),
        ("x ** 0", "1"),
        ("u ^ u", "0u8"),
        ("max(x, x)", "x"),
        ("f * 1.0", "f"),
        ("f / 1.0", "f"),
        ("f - 0.0", "f"),
        ("f + -0.0", "f"),
        ("--f", "f"),
        ("~~x", "x"),
        ("abs(u)", "u"),
        ("abs(abs(x))", "abs(x)"),
        # truth
        ("not not p", "p"),
        ("not (x < y)", "x >= y"),
        ("not (f == 1.0)", "f != 1.0"),
        ("p and True", "p"),
        ("True and p", "p"),
        ("False and a[9] == 0", "False"),
        ("p or True", "True"),
        ("p and p", "p"),
        ("p & True", "p"),
        ("p ^ False", "p"),
        ("x if True else a[9]", "x"),
        ("x if p else x", "x"),
        ("True if p else False", "p"),
        ("False if x < y else True", "x >= y"),
        ("checked(x, 1 < 2, overflow)", "x"),
        # comparisons
        ("x == x", "True"),
        ("x >= x", "True"),
        ("x < x", "False"),
        ("u < 0u8", "False"),
        ("u <= 255u8", "True"),
        ("int64(u) > -1", "True"),
        ("int64(s) == 300", "False"),
        ("size(a, 0) >= 0", "True"),
        # conversions
        ("int64(x)", "x"),
        ("int8(int64(s))", "s"),
        ("uint8(int32(x))", "uint8(x)"),
        ("float64(int64(u))", "float64(u)"),
        ("float32(float64(g))", "g"),
        ("bool(int64(s))", "bool(s)"),
    ],
)
def test_what_becomes_simpler(before: str, after: str) -> None:
    assert simplified(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "f + 0.0",  # -0.0
        "0.0 - f",
        "f * 0.0",
        "f - f",  # NaN
        "not f < 1.0",
        "x // -1",
        "x // x",  # 0
        "0.0 / 0.0",  # the sign of a NaN
        "sin(0.5)",  # the library's last bit
        "2.0 ** 0.5",
        "2 ** -1",  # fails
        "a[x] * 0",  # may fail
        "a[x] - a[x]",
        "a[x] < a[x]",
        "x if a[x] > 0 else x",
        "a[x] > 0 or True",
        "x ** y * 0",
        "checked(x, False, overflow)",
        "checked(x, p, overflow) * 0",
        "int64(int8(x))",
        "int64(float64(x))",
        "float32(float64(x))",  # rounds twice
        "int32(float32(int32(x)))",
        "float64(float32(f))",
        "int64(bool(x))",
        "int16(uint8(s))",
    ],
)
def test_what_must_stay(text: str) -> None:
    assert simplified(text) == text


def test_the_same_object_when_nothing_changes() -> None:
    expr = Binary("add", Var("x", types.INT64), Const(1, types.INT64))
    assert rewrite_expr(expr, simpler) is expr


# ---- the same value for every value ---------------------------------------------------------------------------


@st.composite
def small_expressions(draw: st.DrawFn) -> tuple[Expr, int]:
    """An expression of one or two levels over a variable of each type, and a seed for their values."""
    variables = tuple(Var(f"x.{type}", type) for type in types.ALL)
    scope = Scope(variables, (("a", types.INT64, 1),))
    return Maker(draw).expr(draw(st.sampled_from(types.ALL)), scope, 2), draw(st.integers(0, 2**32))


@settings(max_examples=500, deadline=None)
@given(small_expressions())
def test_the_value_stays(drawn: tuple[Expr, int]) -> None:
    expr, seed = drawn
    params = tuple(ScalarParam(f"x.{type}", type, k) for k, type in enumerate(types.ALL))
    array = ArrayParam("a", types.INT64, len(params), 1)

    def returning(value: Expr) -> Kernel:
        return Kernel("k", (*params, array), (Return((value,)),), returned=(ReturnedScalar(expr.type, False),))

    simple = rewrite_expr(expr, simpler)
    assert simple.type == expr.type
    assert outcome(returning(simple), seed) == outcome(returning(expr), seed)

"""The grammar of the IR: which type an expression has, what equals what, and what a kernel says of its call."""

from __future__ import annotations

import dataclasses
import math

import pytest

from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    Kernel,
    Load,
    Location,
    Logical,
    ReturnedScalar,
    ScalarParam,
    Select,
    Store,
    Unary,
    Var,
)
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT8, INT64, UINT8, Scalar

N, X, P = Var("n", INT64), Var("x", FLOAT32), Var("p", BOOL)
HERE, THERE = Location("a.py", 1, 2, 3), Location("a.py", 4, 5, 6)


@pytest.mark.parametrize(
    ("expr", "type_"),
    [
        (Dim("a", 0), INT64),
        (Unary("neg", X), FLOAT32),
        (Binary("add", X, X), FLOAT32),
        (Compare("lt", X, X), BOOL),
        (Logical("and", P, P), BOOL),
        (Select(P, X, X), FLOAT32),
        (Cast(X, INT8), INT8),
        (Call("isnan", (X,), BOOL), BOOL),
        (Checked(X, P, "overflow"), FLOAT32),
        (Load("a", (N,), UINT8), UINT8),
    ],
)
def test_an_expression_knows_its_type(expr: Expr, type_: Scalar) -> None:
    assert expr.type == type_


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Const(0.0, FLOAT64), Const(-0.0, FLOAT64)),
        (Const(True, BOOL), Const(1, BOOL)),
        (Const(1, INT64), Const(1.0, INT64)),
        (Const(1, INT64), Const(1, INT8)),
        (Const(1, INT64), 1),
    ],
)
def test_literals_that_python_confuses_are_told_apart(one: Const, other: object) -> None:
    assert one != other


def test_a_literal_that_is_no_number_equals_itself() -> None:
    one, other = Const(math.nan, FLOAT64), Const(float("nan"), FLOAT64)
    assert one == other and hash(one) == hash(other)
    assert len({Const(0.0, FLOAT64), Const(-0.0, FLOAT64), one, other}) == 3


def test_where_it_stands_is_no_part_of_what_it_is() -> None:
    assert Load("a", (N,), INT64, at=HERE) == Load("a", (N,), INT64, at=THERE)
    assert hash(Load("a", (N,), INT64, at=HERE)) == hash(Load("a", (N,), INT64))
    assert Assign("x", N, at=HERE) == Assign("x", N)
    assert Checked(N, P, "index", at=HERE) == Checked(N, P, "index", at=THERE)
    assert "a.py" not in repr(Store("a", (N,), N, at=HERE))


def test_a_copy_of_an_access_is_known_to_be_the_same_one() -> None:
    made = (Load("a", (N,), INT64), Store("a", (N,), N), Checked(N, P, "index"))
    for one in made:
        assert dataclasses.replace(one, at=HERE).key is one.key
        assert type(one)(*(getattr(one, field.name) for field in dataclasses.fields(one)[:3])).key is not one.key


def test_nodes_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        N.name = "m"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("value", "kind", "told"),
    [
        (Cast(X, INT8), "not_finite", True),
        (Cast(N, INT8), "overflow", True),
        (Cast(X, INT8), "overflow", False),  # the error is about the number that was truncated
        (Cast(N, INT8), "not_finite", False),
        (Cast(N, FLOAT32), "overflow", False),
        (Cast(N, INT8), "index", False),
        (Cast(X, INT8), "index", False),
        (N, "overflow", False),
    ],
)
def test_the_number_that_does_not_fit(value: Expr, kind: str, told: bool) -> None:
    checked = Checked(value, P, kind)  # type: ignore[arg-type]
    assert checked.converted is (value.operand if told and isinstance(value, Cast) else None)


# ---- kernels ------------------------------------------------------------------------------------------------------

A, B = ArrayParam("a", INT64, 0, 2), ArrayParam("b", INT64, 3, 1)
S = ScalarParam("s", INT8, 1)


@pytest.mark.parametrize(
    ("params", "arguments", "position"),
    [
        ((), 0, 0),  # none
        ((A,), 0, 1),
        ((B, A), 0, 4),  # the last one, wherever it stands
        ((A,), 3, 3),  # two more, which are no parameters
        ((B,), 2, 4),
    ],
)
def test_results_come_behind_all_arguments(
    params: tuple[ScalarParam | ArrayParam, ...], arguments: int, position: int
) -> None:
    assert Kernel("k", params, (), arguments=arguments).results_from == position


def test_arrays_and_scalars_of_a_kernel() -> None:
    kernel = Kernel("k", (A, S, B), ())
    assert kernel.arrays == (A, B) and kernel.scalars == (S,)


def test_kernels_of_the_same_text_are_equal_wherever_they_stand() -> None:
    one = Kernel("k", (S,), (), returned=(ReturnedScalar(INT64, True),), file="a.py", line=1)
    assert one == dataclasses.replace(one, file="b.py", line=9) != dataclasses.replace(one, returns_tuple=True)

"""Expressions in the user's own syntax."""

from __future__ import annotations

import pytest

from loopwright.ir.nodes import Binary, Call, Cast, Checked, Compare, Const, Dim, Expr, Load, Select, Unary, Var
from loopwright.ir.text import user_element, user_text
from loopwright.ir.types import FLOAT64, INT32, INT64

K, J = Var("k", INT64), Var("j.2", INT64)
ONE = Const(1, INT64)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Load("out", (K, Binary("mod", J, Const(4, INT64))), FLOAT64), "out[k, j % 4]"),
        (Dim("a", 0), "a.shape[0]"),
        (Load("x", (Cast(Load("col.3", (J,), INT32), INT64),), FLOAT64), "x[col[j]]"),
        (Checked(Binary("floordiv", K, J), Compare("ne", J, ONE), "zero_division"), "k // j"),
        (Binary("mul", Cast(Binary("add", K, J), FLOAT64), Const(0.5, FLOAT64)), "(k + j) * 0.5"),
        (Select(Compare("lt", K, J), K, Unary("neg", J)), "k if k < j else -j"),
        (Call("sqrt", (Cast(K, FLOAT64),), FLOAT64), "sqrt(k)"),
        (Load("p.x", (K,), FLOAT64), "p.x[k]"),
        (Binary("max", K, Const(-1, INT64)), "max(k, -1)"),
    ],
)
def test_user_text(expr: Expr, text: str) -> None:
    assert user_text(expr) == text


def test_the_target_of_a_store() -> None:
    assert user_element("out.2", (Binary("sub", K, ONE),)) == "out[k - 1]"

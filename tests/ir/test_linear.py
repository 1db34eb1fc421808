from __future__ import annotations

import pytest

from loopwright.ir.linear import apart, coefficient, least, linear, minus, most, number, parted, plus, times, variable
from loopwright.ir.nodes import Binary, Cast, Checked, Const, Expr, Load, Unary, Var
from loopwright.ir.text import print_expr
from loopwright.ir.types import BOOL, FLOAT64, INT32, INT64

ROW, COLUMN = variable("i"), variable("j")
DATA = Load("a", (ROW,), INT64)


def text(expr: Expr) -> tuple[dict[str, int], int]:
    form = linear(expr)
    return {print_expr(term): count for term, count in form.terms}, form.constant


@pytest.mark.parametrize(
    ("expr", "terms", "constant"),
    [
        (number(3), {}, 3),
        (ROW, {"i": 1}, 0),
        (Binary("sub", Binary("add", number(2), ROW), Binary("sub", COLUMN, number(5))), {"i": 1, "j": -1}, 7),
        (Binary("sub", Binary("add", ROW, COLUMN), ROW), {"j": 1}, 0),
        (Binary("mul", Binary("add", ROW, number(1)), number(4)), {"i": 4}, 4),
        (Binary("mul", number(-2), Unary("neg", ROW)), {"i": 2}, 0),
        (Binary("add", DATA, DATA), {"a[i]": 2}, 0),
        (Binary("add", Binary("mul", ROW, COLUMN), ROW), {"i * j": 1, "i": 1}, 0),
        (Binary("floordiv", ROW, number(2)), {"i // 2": 1}, 0),
    ],
)
def test_a_form_counts_terms(expr: Expr, terms: dict[str, int], constant: int) -> None:
    assert text(expr) == (terms, constant)


def test_a_form_is_an_expression_again() -> None:
    expr = Binary("sub", Binary("sub", number(3), Binary("mul", COLUMN, number(2))), Unary("neg", ROW))
    assert print_expr(linear(expr).expr) == "i - j * 2 + 3"
    assert print_expr(linear(Binary("sub", number(3), ROW)).expr) == "3 - i"
    assert linear(minus(ROW, ROW)).expr == number(0)


def test_conversions_and_checks_are_looked_through_only_where_that_is_asked_for() -> None:
    small = Binary("add", Var("k", INT32), Const(1, INT32))
    expr = Checked(Cast(small, INT64), Const(True, BOOL), "overflow")
    assert coefficient(expr, "k") is None and coefficient(expr, "k", converted=True) == 1
    assert coefficient(Cast(Var("x", FLOAT64), INT64), "x", converted=True) is None


def test_how_often_a_variable_is_counted() -> None:
    assert coefficient(Binary("sub", ROW, Binary("mul", COLUMN, number(3))), "j") == -3
    assert coefficient(ROW, "j") == coefficient(Binary("sub", COLUMN, COLUMN), "j") == 0
    assert coefficient(Binary("add", ROW, DATA), "i") is None


def test_how_far_places_are_apart() -> None:
    assert apart(plus(ROW, 8), ROW) == 8 and apart(Binary("add", COLUMN, ROW), Binary("add", ROW, COLUMN)) == 0
    assert apart(ROW, COLUMN) is None
    assert parted(Binary("sub", plus(ROW, 8), number(3))) == (ROW, 5) and parted(number(2)) == (None, 2)


def test_sums_are_short() -> None:
    i = variable("i")
    texts = (plus(i, 0), plus(plus(i, 3), -3), plus(number(2), i), minus(i, i), minus(plus(i, 1), 4), times(i, 1))
    assert [print_expr(e) for e in texts] == ["i", "i", "i + 2", "0", "i - 3", "i"]
    assert least(i, i) is i and most(i, i) is i
    assert print_expr(least(i, number(4))) == "min(i, 4)"


def test_numbers_wrap_as_the_machines_do() -> None:
    top = number(INT64.maximum)
    assert plus(top, 1) == number(INT64.minimum)
    assert minus(number(INT64.minimum), 1) == top
    assert times(top, 2) == number(-2)

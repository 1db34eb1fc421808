"""Going through trees: what is inside what, in which order, and that what does not change stays the same object."""

from __future__ import annotations

from textwrap import indent

import pytest

from ir.sample_texts import EVERYTHING, SMOOTH
from loopwright.ir.nodes import Assign, Body, Const, Expr, For, If, Load, Stmt, Var
from loopwright.ir.text import parse_kernel, print_expr, print_stmt
from loopwright.ir.types import INT64
from loopwright.ir.walk import (
    bodies,
    children,
    expressions,
    loops,
    own_expressions,
    rewrite_body,
    rewrite_expr,
    statements,
    subexpressions,
    with_bodies,
    with_children,
    with_own_expressions,
)

HEAD = "kernel k(n: int64, m: int64, p: bool, f: float64, a: int64[2] C):"
OTHER = Const(7, INT64)


def body_of(text: str) -> Body:
    return parse_kernel(f"{HEAD}\n{indent(text, '  ')}\n").body


def expr_of(text: str) -> Expr:
    [stmt] = body_of(f"x = {text}")
    assert isinstance(stmt, Assign)
    return stmt.value


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("1", []),
        ("n", []),
        ("size(a, 1)", []),
        ("a[n, m]", ["n", "m"]),
        ("-n", ["n"]),
        ("int8(n)", ["n"]),
        ("n + m", ["n", "m"]),
        ("n < m", ["n", "m"]),
        ("p and not p", ["p", "not p"]),
        ("n if p else m", ["p", "n", "m"]),  # as it is evaluated, not as it is written
        ("hypot(f, 2.0)", ["f", "2.0"]),
        ("checked(n, p, overflow)", ["p", "n"]),
    ],
)
def test_operands_in_the_order_in_which_they_are_evaluated(text: str, operands: list[str]) -> None:
    expr = expr_of(text)
    assert [print_expr(one) for one in children(expr)] == operands
    assert with_children(expr, children(expr)) is expr
    for place in range(len(operands)):
        new = [*children(expr)]
        new[place] = expr_of(operands[place])  # the same text, but another object
        changed = with_children(expr, tuple(new))
        assert changed is not expr and changed == expr and children(changed)[place] is new[place]


def test_an_access_that_is_rewritten_keeps_where_it_stands_and_its_key() -> None:
    old = expr_of("a[n, m]")
    new = with_children(old, (OTHER, OTHER))
    assert isinstance(old, Load) and isinstance(new, Load)
    assert new.key is old.key and print_expr(new) == "a[7, 7]"


def test_parts_come_after_what_they_are_parts_of() -> None:
    found = [print_expr(one) for one in subexpressions(expr_of("a[n + 1, m] * 2"))]
    assert found == ["a[n + 1, m] * 2", "a[n + 1, m]", "n + 1", "n", "1", "m", "2"]


def test_operands_are_rewritten_before_what_holds_them() -> None:
    seen: list[str] = []

    def note(expr: Expr) -> Expr:
        seen.append(print_expr(expr))
        return OTHER if expr == Var("n", INT64) else expr

    assert print_expr(rewrite_expr(expr_of("n + m * n"), note)) == "7 + m * 7"
    assert seen == ["n", "m", "n", "m * 7", "7 + m * 7"]


@pytest.mark.parametrize(
    ("text", "own", "inner"),
    [
        ("x = n", ["n"], 0),
        ("a[n, m] = n + 1", ["n", "m", "n + 1"], 0),
        ("allocate t: int8[n, 2]", ["n", "2"], 0),
        ("for i in 0 .. n step 3:\n pass", ["0", "n", "3"], 1),
        ("while p named w:\n pass", ["p"], 1),
        ("if p:\n pass", ["p"], 2),
        ("block b:\n leave b", [], 1),
        ("return n", ["n"], 0),
    ],
)
def test_expressions_and_bodies_of_a_statement(text: str, own: list[str], inner: int) -> None:
    [stmt] = body_of(text)
    assert [print_expr(one) for one in own_expressions(stmt)] == own
    assert len(bodies(stmt)) == inner
    assert with_own_expressions(stmt, own_expressions(stmt)) is stmt
    assert with_bodies(stmt, bodies(stmt)) is stmt
    fresh = tuple(expr_of(one) for one in own)
    assert not own or with_own_expressions(stmt, fresh) is not stmt
    assert all(a is b for a, b in zip(own_expressions(with_own_expressions(stmt, fresh)), fresh, strict=True))
    marks = tuple((Assign(f"x{number}", OTHER),) for number in range(inner))
    assert bodies(with_bodies(stmt, marks)) == marks


def test_jumps_have_nothing_inside() -> None:
    [loop] = body_of("for i in 0 .. n:\n if p:\n  break i\n continue i")
    for jump in (stmt for stmt in statements((loop,)) if not isinstance(stmt, For | If)):
        assert own_expressions(jump) == bodies(jump) == ()
        assert with_own_expressions(jump, ()) is with_bodies(jump, ()) is jump


NESTED = "for i in 0 .. n:\n if p:\n  x = 1\n else:\n  x = 2\n a[i, 0] = -m\nwhile p named w:\n x = 3"


def test_statements_and_expressions_in_the_order_of_the_text() -> None:
    body = body_of(NESTED)
    told = [type(one).__name__ for one in statements(body)]
    assert told == ["For", "If", "Assign", "Assign", "Store", "While", "Assign"]
    assert [print_expr(one) for one in expressions(body)] == [
        "0",
        "n",
        "1",
        "p",
        "1",
        "2",
        "i",
        "0",
        "-m",
        "m",
        "p",
        "3",
    ]
    assert list(statements(())) == list(expressions(())) == []


def test_loops_by_name() -> None:
    kernel = parse_kernel(f"{HEAD}\n{indent(NESTED, '  ')}\n  for j in 0 .. n:\n    for k in 0 .. n:\n      pass\n")
    assert list(loops(kernel)) == ["i", "w", "j", "k"]
    assert all(loop.name == name for name, loop in loops(kernel).items())


# ---- rewriting bodies ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [SMOOTH, EVERYTHING])
def test_nothing_changes_nothing(text: str) -> None:
    body = parse_kernel(text).body
    assert rewrite_body(body) is rewrite_body(body, lambda stmt: (stmt,), lambda expr: expr) is body


def test_what_is_beside_a_change_stays_the_same_object() -> None:
    body = body_of(NESTED)
    new = rewrite_body(body, expr=lambda expr: OTHER if expr == Const(3, INT64) else expr)
    assert new is not body and new[0] is body[0]
    assert print_stmt(new[1]).endswith("x = 7")


def test_statements_become_several_or_none() -> None:
    def change(stmt: Stmt) -> Body:
        match stmt:
            case Assign(value=Const(value=1)):
                return ()
            case Assign(value=Const(value=2)):
                return stmt, stmt
            case _:
                return (stmt,)

    [loop, _] = rewrite_body(body_of(NESTED), change)
    assert isinstance(loop, For) and isinstance(loop.body[0], If)
    assert len(loop.body[0].then) == 0 and len(loop.body[0].otherwise) == 2


def test_a_statement_is_seen_after_its_inside() -> None:
    seen: list[tuple[str, int]] = []

    def note(stmt: Stmt) -> Body:
        seen.append((type(stmt).__name__, sum(map(len, bodies(stmt)))))
        return () if isinstance(stmt, Assign) else (stmt,)

    rewrite_body(body_of(NESTED), note)
    assert seen == [
        ("Assign", 0), ("Assign", 0), ("If", 0), ("Store", 0), ("For", 2), ("Assign", 0), ("While", 0),
    ]  # fmt: skip

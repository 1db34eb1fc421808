"""`while low < high` loops of which each iteration keeps one half: they run at most once for each bit, so nobody has to
ask in them whether to stop (safepoints.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import (
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Leave,
    Logical,
    Return,
    Stmt,
    Var,
    While,
)
from loopwright.ir.queries import contains
from loopwright.ir.walk import statements


def is_bisection(loop: While) -> bool:
    """Whether each iteration leaves at most half of what is between the two sides of the condition."""
    if contains(loop.body, For, While, Block):
        return False
    for low, high in _sides(loop.condition):
        middle = next(
            (stmt.name for stmt in loop.body if isinstance(stmt, Assign) and _is_middle(stmt, low, high)), None
        )
        names = {low.name, high.name, middle}
        others = [one for one in statements(loop.body, Assign) if one.name in names
                  and not _is_middle(one, low, high) and not _halves(one, low, high, middle)]  # fmt: skip
        if middle is not None and not others and _always_halves(loop.body, names - {middle}):
            return True
    return False


def _parts(condition: Expr) -> Iterator[Compare]:
    """The comparisons that hold wherever a condition does."""
    match condition:
        case Logical(op="and", left=left, right=right):
            yield from _parts(left)
            yield from _parts(right)
        case Compare():
            yield condition


def _sides(condition: Expr) -> Iterator[tuple[Var, Var]]:
    for part in _parts(condition):
        if isinstance(part.left, Var) and isinstance(part.right, Var):
            if part.op in ("lt", "le"):
                yield part.left, part.right
            elif part.op in ("gt", "ge"):
                yield part.right, part.left


def _is_middle(stmt: Stmt, low: Var, high: Var) -> bool:
    match stmt:
        case Assign(
            value=Binary(op="shr" | "floordiv" as op, left=Binary(op="add", left=a, right=b), right=Const(value=by))
        ):
            return {a, b} == {low, high} and by == (1 if op == "shr" else 2)
    return False


def _halves(stmt: Stmt, low: Var, high: Var, middle: str | None) -> bool:
    """Whether an assignment moves a side to the middle: the lower one past it, for it has to move."""
    match stmt:
        case Assign(name=name, value=Binary(op="add", left=Var(name=from_), right=Const(value=by))):
            return name == low.name and from_ == middle and by >= 1
        case Assign(name=name, value=Binary(op="sub", left=Var(name=from_), right=Const(value=by))):
            return name == high.name and from_ == middle and by >= 0
        case Assign(name=name, value=Var(name=from_)):
            return name == high.name and from_ == middle
    return False


def _always_halves(body: Body, names: set[str | None]) -> bool:
    """Whether each way through a body sets one of two names, or leaves the loop."""
    return any(
        isinstance(stmt, Break | Return | Leave)
        or (isinstance(stmt, Assign) and stmt.name in names)
        or (isinstance(stmt, If) and _always_halves(stmt.then, names) and _always_halves(stmt.otherwise, names))
        for stmt in body
    ) and not any(statements(body, Continue))

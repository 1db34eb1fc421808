"""`while` loops of which a bound on the iterations is known where they begin: `while k > 0 and a[k - 1] > x:`, which
takes one off k in each iteration, runs at most k times, and `while low < high`, where each iteration keeps one half, at
most once for each bit. Such loops need not count iterations to ask in time whether to stop (safepoints.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.ir.nodes import (
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Compare,
    Const,
    Continue,
    Dim,
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
from loopwright.ir.queries import contains, settled_by, unsettled_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import statements


@dataclass(frozen=True)
class Count:
    """The loop ends at the latest where `counter` has come to `limit`; each iteration takes it there by one or more."""

    counter: Var
    limit: Expr
    is_up: bool


def count_of(loop: While) -> Count | None:
    """What a loop without others in it counts; None where it is not seen to."""
    if contains(loop.body, For, While, Block):
        return None
    for found in _ends(loop.condition):
        if found.counter.type == INT64 and _is_steady(found.limit, loop):
            steps = [_step(stmt, found) for stmt in statements(loop.body, Assign) if stmt.name == found.counter.name]
            fewest = _fewest(loop.body, found.counter.name)
            if steps and all(steps) and fewest is not None and fewest >= 1:
                return found
    return None


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


# ---- counters -----------------------------------------------------------------------------------------------------


def _parts(condition: Expr) -> Iterator[Compare]:
    """The comparisons that hold wherever a condition does."""
    match condition:
        case Logical(op="and", left=left, right=right):
            yield from _parts(left)
            yield from _parts(right)
        case Compare():
            yield condition


def _ends(condition: Expr) -> Iterator[Count]:
    for part in _parts(condition):
        if part.op in ("lt", "le", "gt", "ge"):
            is_less = part.op in ("lt", "le")
            if isinstance(part.left, Var):
                yield Count(part.left, part.right, is_less)
            if isinstance(part.right, Var):
                yield Count(part.right, part.left, not is_less)


def _is_steady(limit: Expr, loop: While) -> bool:
    return isinstance(limit, Const | Var | Dim) and settled_by(limit).isdisjoint(unsettled_in((loop,)))


def _step(stmt: Assign, count: Count) -> bool:
    """Whether an assignment takes the counter one or more towards the limit."""
    match stmt.value:
        case Binary(op="add" | "sub" as op, left=left, right=Const(value=value)) if left == count.counter:
            return (value if op == "add" else -value) * (1 if count.is_up else -1) >= 1
    return False


def _fewest(body: Body, name: str) -> int | None:
    """How often a scalar is set at least on each way to the end of a body; many for a body without such a way, None
    where a way may go past some of it."""
    total = 0
    for stmt in body:
        match stmt:
            case Assign():
                total += stmt.name == name
            case If(then=then, otherwise=otherwise):
                branches = (_fewest(then, name), _fewest(otherwise, name))
                if branches[0] is None or branches[1] is None:
                    return None
                total += min(branches[0], branches[1])
            case Break() | Return() | Leave():
                return 1 << 20
            case Continue():
                return None
    return total


# ---- halves -------------------------------------------------------------------------------------------------------


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

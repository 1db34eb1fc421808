"""Assignments under a condition as choices: `if v < best: best = v` is `best = v if v < best else best`. A scalar that
becomes an element of an array is stored in each iteration then. Vector lanes choose for next to nothing, but a store
under a mask has the next load of the element wait for it.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import Assign, Binary, Body, Cast, Const, Expr, If, Load, Logical, Select, Stmt, Unary, Var
from loopwright.ir.queries import names_in
from loopwright.ir.walk import children, rewrite_body, subexpressions

SIMPLE = 6  # parts of a value that may be computed for nothing
OPERATIONS = {"add", "sub", "mul", "and", "or", "xor"}


def with_choices(body: Body, name: str) -> Body:
    """The body with choices for the conditional assignments to a scalar; the same object where there are none."""

    def change(stmt: Stmt) -> Body:
        return (_choice(stmt, name) or (stmt,)) if isinstance(stmt, If) else (stmt,)

    return rewrite_body(body, change)


def _choice(stmt: If, name: str) -> Body | None:
    """The choice, before or behind what else the branch assigns; None where the value takes long or may fail, or where
    neither place is right."""
    made = [one for one in stmt.then if isinstance(one, Assign)]
    if stmt.otherwise or len(made) != len(stmt.then) or [one.name for one in made].count(name) != 1:
        return None
    mine = next(one for one in made if one.name == name)
    others = tuple(one for one in made if one is not mine)
    names, asked = {one.name for one in others}, names_in(stmt.condition)
    if names & names_in(mine.value) or any(name in names_in(one.value) for one in others):
        return None
    if not _is_simple(mine.value, always_read(stmt.condition)) or (name in asked and names & asked):
        return None
    choice = replace(mine, value=Select(stmt.condition, mine.value, Var(name, mine.value.type)))
    rest = (replace(stmt, then=others),) if others else ()
    return (*rest, choice) if name in asked else (choice, *rest)


def always_read(condition: Expr) -> list[Load]:
    """The elements that a condition reads in any case."""
    while isinstance(condition, Logical):
        condition = condition.left
    return list(subexpressions(condition, Load))


def _is_simple(value: Expr, read: list[Load]) -> bool:
    """Whether it can be computed at any time, in next to no time."""
    waiting, count = [value], 0
    while waiting:
        part = waiting.pop()
        count += 1
        match part:
            case Load() if part in read:
                continue
            case Var() | Const():
                continue
            case Cast() | Unary():
                waiting += children(part)
            case Binary() if part.op in OPERATIONS:
                waiting += children(part)
            case _:
                return False
    return count <= SIMPLE

"""Checks that cannot fail, as an earlier one has asked the same, or the branch that they stand in: they are left out.

    for i in 0 .. (h - s) // checked(d, d != 0):          for i in 0 .. (h - s) // checked(d, d != 0):
        for j in 0 .. (w - s) // checked(d, d != 0):  ->      for j in 0 .. (w - s) // d:
            ...                                                   ...

What may fail cannot be moved, and loops around it are no perfect nest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from loopwright.ir.jumps import always_jumps
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Checked,
    Compare,
    CompareOp,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Select,
    Stmt,
    Unary,
    While,
)
from loopwright.ir.queries import arrays_made, has, settled_by, unsettled_in
from loopwright.ir.walk import children, expressions, own_expressions, unless_same, with_children, with_own_expressions

Known = frozenset[Expr]
"""Conditions that hold."""

OPPOSITE: dict[CompareOp, CompareOp] = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def without_repeated_checks(kernel: Kernel) -> Kernel:
    """The same kernel without them."""
    if next(expressions(kernel.body, Checked), None) is None:
        return kernel
    body, _ = _body(kernel.body, frozenset())
    return kernel if body is kernel.body else replace(kernel, body=body)


def _body(body: Body, known: Known) -> tuple[Body, Known]:
    """The statements anew, and what holds after them, should control come to their end."""
    new = list[Stmt]()
    for stmt in body:
        done, known = _statement(stmt, known)
        new.append(done)
    return unless_same(body, new), known


def _statement(stmt: Stmt, known: Known) -> tuple[Stmt, Known]:
    match stmt:
        case While():
            known = _without(known, unsettled_in(stmt.body))
            condition, inside = _expression(stmt.condition, known)
            body, _ = _body(stmt.body, inside | _told(condition, "and"))
            same = condition is stmt.condition and body is stmt.body
            return stmt if same else replace(stmt, condition=condition, body=body), known
    own, known = _each(own_expressions(stmt), known)
    stmt = with_own_expressions(stmt, own)
    match stmt:
        case Assign():
            return stmt, _without(known, {stmt.name})
        case Allocate():
            return stmt, _without(known, arrays_made((stmt,)))
        case If():
            then, one = _body(stmt.then, known | _told(stmt.condition, "and"))
            otherwise, other = _body(stmt.otherwise, known | _told(stmt.condition, "or"))
            if then is not stmt.then or otherwise is not stmt.otherwise:
                stmt = replace(stmt, then=then, otherwise=otherwise)
            if always_jumps(stmt.then):
                return stmt, other
            return stmt, one if always_jumps(stmt.otherwise) else one & other
        case For():
            known = _without(known, unsettled_in(stmt.body) | {stmt.name})
            body, _ = _body(stmt.body, known)
            return stmt if body is stmt.body else replace(stmt, body=body), known
        case Block():
            body, _ = _body(stmt.body, known)
            after = _without(known, unsettled_in(stmt.body))
            return stmt if body is stmt.body else replace(stmt, body=body), after
    return stmt, known


def _each(exprs: tuple[Expr, ...], known: Known) -> tuple[tuple[Expr, ...], Known]:
    """Expressions of one statement. What one of them asks is no news to the others: what stands twice in a statement,
    as the index in `a[i % n] += 1`, stays the same in both places."""
    new, found = list[Expr](), known
    for expr in exprs:
        done, after = _expression(expr, known)
        new.append(done)
        found |= after
    return tuple(new), found


def _expression(expr: Expr, known: Known) -> tuple[Expr, Known]:
    """The expression anew, and what holds once it is computed."""
    if not has(expr, Checked):
        return expr, known
    match expr:
        case Checked():
            condition, after = _expression(expr.condition, known)
            if _holds(condition, known):
                return _expression(expr.value, known)
            value, last = _expression(expr.value, known)
            rest = children(expr)[2:]  # numbers that are only told
            return with_children(expr, (condition, value, *rest)), after | last | _told(condition, "and")
        case Logical():
            left, after = _expression(expr.left, known)
            right, _ = _expression(expr.right, known | _told(left, expr.op))
            return with_children(expr, (left, right)), after
        case Select():
            condition, after = _expression(expr.condition, known)
            then, _ = _expression(expr.then, known | _told(condition, "and"))
            otherwise, _ = _expression(expr.otherwise, known | _told(condition, "or"))
            return with_children(expr, (condition, then, otherwise)), after
    new, after = _each(children(expr), known)
    return with_children(expr, new), after


def _holds(condition: Expr, known: Known) -> bool:
    if isinstance(condition, Logical):
        either = all if condition.op == "and" else any
        return either(_holds(one, known) for one in (condition.left, condition.right))
    return condition in known


def _told(condition: Expr, op: Literal["and", "or"]) -> Known:
    """What holds where the parts of an `and` all hold, or those of an `or` do not. Of elements nothing is kept: they
    may change."""
    found, waiting = set[Expr](), [(condition, op == "and")]
    while waiting:
        one, holds = waiting.pop()
        match one:
            case Logical() if (one.op == "and") == holds:
                waiting += (one.left, holds), (one.right, holds)
            case Unary(op="not"):
                waiting.append((one.operand, not holds))
            case Compare() if not has(one, Load, Checked):
                if not holds and not one.left.type.is_float:
                    one, holds = replace(one, op=OPPOSITE[one.op]), True
                if holds:
                    found |= {one, *_implied(one)}
            case _:
                pass
    return frozenset(found)


def _implied(one: Compare) -> list[Compare]:
    """That a number is not zero, or not negative, where it is above another one."""
    if not isinstance(one.right, Const) or one.op not in ("gt", "ge"):
        return []
    zero = replace(one.right, value=type(one.right.value)(0))
    least = one.right.value
    is_positive = least >= 0 if one.op == "gt" else least > 0
    found = [Compare("ne", one.left, zero)] if is_positive else []
    return found + ([Compare("ge", one.left, zero)] if least >= 0 else [])


def _without(known: Known, changed: set[str]) -> Known:
    """What still holds after these names and sizes may have changed."""
    if not known or not changed:
        return known
    return frozenset(one for one in known if not settled_by(one) & changed)

"""A condition in front of an extreme stands by itself, so that what is behind it is an extreme like any other, whose
order is free.

    if a[j] < x and d[j] > best:           if a[j] < x:
        best = d[j]                   ->       if d[j] > best:
                                                   best = d[j]

Not where the condition asks for the extreme as well, or reads elements that are narrower: conversions of a mask in
registers take longer than to ask blocks of iterations whether they have a better one (codegen/rare_updates.py).
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import Assign, Body, Compare, Expr, For, If, Kernel, Load, Logical, Stmt, Var
from loopwright.ir.queries import names_in
from loopwright.ir.walk import rewrite_body, subexpressions


def guards_of_extremes_apart(kernel: Kernel) -> Kernel:
    """The same kernel, in loops with such guards around the comparison with the extreme."""

    def in_loop(stmt: Stmt) -> Body:
        if not isinstance(stmt, For):
            return (stmt,)
        body = rewrite_body(stmt.body, _apart)
        return (stmt if body is stmt.body else replace(stmt, body=body),)

    body = rewrite_body(kernel.body, in_loop)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _apart(stmt: Stmt) -> Body:
    match stmt:
        case If(condition=Logical(op="and") as condition, then=(Assign(name=name, value=value),), otherwise=()):
            guard, last = _last_of(condition)
            is_used = name in names_in(guard) | names_in(value)
            narrow = any(one.type.bits < value.type.bits for one in subexpressions(guard, Load))
            if _is_extreme(last, Var(name, value.type), value) and not is_used and not narrow:
                return (replace(stmt, condition=guard, then=(replace(stmt, condition=last),)),)
    return (stmt,)


def _last_of(condition: Logical) -> tuple[Expr, Expr]:
    """What is asked before the last part of `a and b and c`, and that part."""
    right = condition.right
    if not (isinstance(right, Logical) and right.op == "and"):
        return condition.left, right
    before, last = _last_of(right)
    return replace(condition, right=before), last


def _is_extreme(condition: Expr, best: Var, value: Expr) -> bool:
    match condition:
        case Compare(op="lt" | "le" | "gt" | "ge", left=left, right=right):
            return (left, right) in ((value, best), (best, value))
        case _:
            return False

"""A condition in front of an extreme stands by itself, so that what is behind it is an extreme like any other, whose
order is free.

    if a[j] < x and d[j] > best:           if a[j] < x:
        best = d[j]                   ->       if d[j] > best:
                                                   best = d[j]

So it is with an element that an innermost loop keeps going back to, as in `if a[j] < a[i] and d[j] + 1 > d[i]: d[i] =
d[j] + 1`, and with what goes along with an extreme, as the place where it was found.

Not where the condition asks for the extreme as well. On a CPU not where it reads elements that are narrower, and
nothing goes along: conversions of a mask in registers take longer than to ask blocks of iterations whether they have a
better one (codegen/rare_updates.py).
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import Assign, Body, Compare, Expr, For, If, Kernel, Load, Logical, Stmt, Store, Var, While
from loopwright.ir.queries import contains, names_assigned, names_in
from loopwright.ir.walk import rewrite_body, subexpressions


def guards_of_extremes_apart(kernel: Kernel, on_gpu: bool = False) -> Kernel:
    """The same kernel, in loops with such guards around the comparison with the extreme."""

    def in_loop(stmt: Stmt) -> Body:
        if not isinstance(stmt, For):
            return (stmt,)
        moving = None if contains(stmt.body, For, While) else names_assigned(stmt.body) | {stmt.name}
        body = rewrite_body(stmt.body, lambda inside: _apart(inside, moving, on_gpu))
        return (stmt if body is stmt.body else replace(stmt, body=body),)

    body = rewrite_body(kernel.body, in_loop)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _apart(stmt: Stmt, moving: set[str] | None, on_gpu: bool) -> Body:
    """moving: what tells iterations of an innermost loop apart."""
    if isinstance(stmt, If) and len(stmt.then) > 1:
        return (_with_places_apart(stmt),)
    match stmt:
        case If(condition=Logical(op="and") as condition, then=(Assign() | Store() as update,), otherwise=()):
            guard, last = _last_of(condition)
            value, best = update.value, _extreme_of(update, moving)
            asked = [*subexpressions(guard, Load, Var), *subexpressions(value, Load, Var)]
            narrow = not on_gpu and any(one.type.bits < value.type.bits for one in subexpressions(guard, Load))
            if best is not None and _is_extreme(last, best, value) and best not in asked and not narrow:
                return (replace(stmt, condition=guard, then=(replace(stmt, condition=last),)),)
    return (stmt,)


def _with_places_apart(stmt: If) -> If:
    """A condition whose last part compares a scalar with what it is set to, while others are set beside it."""
    condition, names = stmt.condition, [one.name for one in stmt.then if isinstance(one, Assign)]
    if not isinstance(condition, Logical) or condition.op != "and" or stmt.otherwise or len(names) < len(stmt.then):
        return stmt
    guard, last = _last_of(condition)
    is_one = any(
        isinstance(one, Assign) and _is_extreme(last, Var(one.name, one.value.type), one.value) for one in stmt.then
    )
    if not is_one or len(set(names)) < len(names) or names_in(guard) & {*names}:
        return stmt
    return replace(stmt, condition=guard, then=(replace(stmt, condition=last),))


def _extreme_of(update: Assign | Store, moving: set[str] | None) -> Var | Load | None:
    """What an update would keep an extreme in."""
    if isinstance(update, Assign):
        return Var(update.name, update.value.type)
    if moving is None or any(names_in(one) & moving for one in update.index):
        return None
    return Load(update.array, update.index, update.value.type)


def _last_of(condition: Logical) -> tuple[Expr, Expr]:
    """What is asked before the last part of `a and b and c`, and that part."""
    right = condition.right
    if not (isinstance(right, Logical) and right.op == "and"):
        return condition.left, right
    before, last = _last_of(right)
    return replace(condition, right=before), last


def _is_extreme(condition: Expr, best: Var | Load, value: Expr) -> bool:
    match condition:
        case Compare(op="lt" | "le" | "gt" | "ge", left=left, right=right):
            return (left, right) in ((value, best), (best, value))
        case _:
            return False

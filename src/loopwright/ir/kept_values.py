"""The value at the best place so far is kept in a scalar: of `if a[i] > a[k]: k = i` the element at k is the one that
was compared when k was set, so it need not be read again in every iteration, nor checked. What is left is the search
for an extreme and its place, which everything after this knows.

    for i in 1 .. n:                       if 1 < n:
        if a[i] > a[k]:                        k.v = a[k]
            k = i                          for i in 1 .. n:
                              ->               if a[i] > k.v:
                                                   k.v = a[i]
                                                   k = i
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Call,
    Cast,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Stmt,
    Unary,
    Var,
)
from loopwright.ir.queries import arrays_made, arrays_stored, fresh, names_in, names_of
from loopwright.ir.walk import own_expressions, rewrite_body, rewrite_expr, statements, subexpressions

KNOWN = (Binary, Call, Cast, Const, Dim, Load, Unary, Var)


def values_of_places(kernel: Kernel) -> Kernel:
    """The same kernel with such values kept."""
    if kernel.overlap:
        return kernel
    taken = names_of(kernel)

    def kept(stmt: Stmt) -> Body:
        if not isinstance(stmt, For) or stmt.run != "sequential" or stmt.asserted:
            return (stmt,)
        before: list[Stmt] = []
        body: list[Stmt] = []
        for one in stmt.body:
            if (
                len(body)
                == len(before) // 2  # what comes first in an iteration, so that nothing was done when it fails
                and isinstance(one, If)
                and (value := _value_at_the_place(one, stmt)) is not None
            ):
                name = fresh(f"{one.then[0].name}.v" if isinstance(one.then[0], Assign) else "v", taken)
                taken.add(name)
                mine, other = value
                variable = Var(name, mine.type)
                before += [Assign(name, _zero(mine)), Assign(name, other, at=one.at)]
                assert isinstance(one.condition, Compare)
                left = variable if one.condition.left == other else one.condition.left
                right = variable if one.condition.right == other else one.condition.right
                condition = replace(one.condition, left=left, right=right)
                body.append(replace(one, condition=condition, then=(Assign(name, _again(mine), at=one.at), *one.then)))
            else:
                body.append(one)
        if not before:
            return (stmt,)
        runs = Compare("lt", stmt.lower, stmt.upper)
        return (*before[::2], If(runs, tuple(before[1::2]), ()), replace(stmt, body=tuple(body)))

    body = rewrite_body(kernel.body, stmt=kept)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _value_at_the_place(stmt: If, loop: For) -> tuple[Expr, Expr] | None:
    """What is compared in an iteration, and what it is compared with: the same at the place that was kept."""
    if stmt.otherwise or not stmt.then or not isinstance(stmt.condition, Compare):
        return None
    if stmt.condition.op not in ("lt", "le", "gt", "ge") or not _counts_up(loop):
        return None
    places = {one.name: one.value for one in stmt.then if isinstance(one, Assign)}
    if len(places) != len(stmt.then) or any(names_in(value) & places.keys() for value in places.values()):
        return None
    for mine, other in (
        (stmt.condition.left, stmt.condition.right),
        (stmt.condition.right, stmt.condition.left),
    ):
        read = names_in(other) & places.keys()
        if read and _at(other, places) == mine and _is_steady(other, loop, stmt, set(places)):
            return mine, other
    return None


def _counts_up(loop: For) -> bool:
    return isinstance(loop.step, Const) and loop.step.value == 1


def _at(expr: Expr, places: dict[str, Expr]) -> Expr:
    return rewrite_expr(expr, lambda one: places.get(one.name, one) if isinstance(one, Var) else one)


def _is_steady(other: Expr, loop: For, stmt: If, places: set[str]) -> bool:
    """Whether nothing but the test changes what stands at the place, and nothing else asks for the place."""
    if not any(True for _ in subexpressions(other, Load)) or not all(
        isinstance(part, KNOWN) for part in subexpressions(other)
    ):
        return False
    elsewhere = [
        one for one in statements(loop.body) if one is not stmt and not any(one is inner for inner in stmt.then)
    ]
    changed = {one.name for one in elsewhere if isinstance(one, Assign | For)} | {loop.name}
    read = {name for one in elsewhere for expr in own_expressions(one) for name in names_in(expr)}
    if (names_in(other) - places) & (changed | places) or places & (changed | read):
        return False
    arrays = {part.array for part in subexpressions(other, Load)}
    return not arrays & (arrays_stored(loop.body) | arrays_made(loop.body))


def _again(expr: Expr) -> Expr:
    """The same once more: each access stands in one place only."""
    return rewrite_expr(expr, lambda one: replace(one) if isinstance(one, Load) else one)


def _zero(value: Expr) -> Const:
    return Const(0.0 if value.type.is_float else False if value.type.kind == "bool" else 0, value.type)

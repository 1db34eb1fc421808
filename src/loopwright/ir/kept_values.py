"""The value at the best place so far is kept in a scalar: of `if a[i] > a[k]: k = i` the element at k is the one that
was compared when k was set, so it need not be read again in every iteration, nor checked. What is left is the search
for an extreme and its place, which everything after this knows.

    for i in 1 .. n:                       if 1 < n:
        if a[i] > a[k]:                        k.v = a[k]
            k = i                          for i in 1 .. n:
                              ->               if a[i] > k.v:
                                                   k.v = a[i]
                                                   k = i

The comparison may stand behind a guard, where the place is one that the loop begins without, which the comparison is
preceded by a question for (`if not done[i] and (k < 0 or a[i] < a[k]): k = i` after `k = -1`): then there is no
element to begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace

from loopwright.ir.identities import simpler
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
    Logical,
    Stmt,
    Unary,
    Var,
)
from loopwright.ir.queries import arrays_made, arrays_stored, fresh, names_assigned, names_in, names_of
from loopwright.ir.types import BOOL
from loopwright.ir.walk import (
    bodies,
    own_expressions,
    rewrite_expr,
    statements,
    subexpressions,
    unless_same,
    with_bodies,
)

KNOWN = (Binary, Call, Cast, Const, Dim, Load, Unary, Var)


def values_of_places(kernel: Kernel) -> Kernel:
    """The same kernel with such values kept."""
    if kernel.overlap:
        return kernel
    taken = names_of(kernel)

    def kept(stmt: Stmt, known: Mapping[str, Const]) -> Body:
        if not isinstance(stmt, For) or stmt.run != "sequential" or stmt.asserted:
            return (stmt,)
        zeros: list[Stmt] = []
        reads: list[Stmt] = []
        body: list[Stmt] = []
        for one in stmt.body:
            is_first = len(body) == len(zeros)  # in an iteration, so that nothing was done when it fails
            test = _innermost(one)
            value = _value_at_the_place(test, stmt, known) if is_first and test is not None else None
            if value is None or (value.is_there and test is not one):
                body.append(one)
                continue
            assert test is not None and isinstance(test.then[0], Assign)
            name = fresh(f"{test.then[0].name}.v", taken)
            taken.add(name)
            zeros.append(Assign(name, _zero(value.mine)))
            if value.is_there:
                reads.append(Assign(name, value.other, at=one.at))
            body.append(_instead(one, test, _with_value(test, value, name)))
        if not zeros:
            return (stmt,)
        runs = [If(Compare("lt", stmt.lower, stmt.upper), tuple(reads), ())] if reads else []
        return (*zeros, *runs, replace(stmt, body=tuple(body)))

    body = _rewritten(kernel.body, kept)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _rewritten(body: Body, kept: Callable[[Stmt, Mapping[str, Const]], Body]) -> Body:
    """Every statement, after its inside, with the constants that variables were just set to."""
    result: list[Stmt] = []
    known: dict[str, Const] = {}
    for stmt in body:
        inside = tuple([_rewritten(inner, kept) for inner in bodies(stmt)])
        result.extend(kept(with_bodies(stmt, inside) if inside else stmt, known))
        for name in names_assigned((stmt,)):
            known.pop(name, None)
        if isinstance(stmt, Assign) and isinstance(stmt.value, Const):
            known[stmt.name] = stmt.value
    return unless_same(body, result)


def _innermost(stmt: Stmt) -> If | None:
    """The last of tests that hold nothing but each other."""
    if not isinstance(stmt, If) or stmt.otherwise:
        return None
    inner = _innermost(stmt.then[0]) if len(stmt.then) == 1 else None
    return stmt if inner is None else inner


def _instead(stmt: Stmt, test: If, new: If) -> Stmt:
    """The tests around one of them with another in its place."""
    if stmt is test or not isinstance(stmt, If):
        return new
    return replace(stmt, then=(_instead(stmt.then[0], test, new),))


@dataclass(frozen=True, slots=True)
class _Value:
    """What is compared in an iteration, and what it is compared with: the same at the place that was kept. is_there:
    whether there is such a place before the loop."""

    mine: Expr
    other: Expr
    compared: Compare
    is_there: bool


def _with_value(stmt: If, value: _Value, name: str) -> If:
    """The test that asks for the scalar instead of the element, and keeps it."""
    variable, old = Var(name, value.mine.type), value.compared
    left = variable if old.left == value.other else old.left
    right = variable if old.right == value.other else old.right
    new = replace(old, left=left, right=right)
    condition = rewrite_expr(stmt.condition, lambda one: new if one == old else one)
    return replace(stmt, condition=condition, then=(Assign(name, _again(value.mine), at=stmt.at), *stmt.then))


def _value_at_the_place(stmt: If, loop: For, known: Mapping[str, Const]) -> _Value | None:
    if stmt.otherwise or not stmt.then or not _counts_up(loop):
        return None
    places = {one.name: one.value for one in stmt.then if isinstance(one, Assign)}
    if len(places) != len(stmt.then) or any(names_in(value) & places.keys() for value in places.values()):
        return None
    found = _compared(stmt.condition, places.keys(), known)
    if found is None:
        return None
    compared, is_there = found
    for mine, other in ((compared.left, compared.right), (compared.right, compared.left)):
        read = names_in(other) & places.keys()
        if not is_there and not _cannot_fail(mine, loop):
            continue
        if read and _at(other, places) == mine and _is_steady(other, loop, stmt, set(places)):
            return _Value(mine, other, compared, is_there)
    return None


def _compared(condition: Expr, places: Set[str], known: Mapping[str, Const]) -> tuple[Compare, bool] | None:
    """The comparison that a condition ends with, and whether the element at the place is there before the loop. With
    anything before the comparison it must not be: to read it then could fail where the loop would not."""
    if isinstance(condition, Compare):
        return (condition, True) if condition.op in ("lt", "le", "gt", "ge") else None
    while isinstance(condition, Logical) and condition.op == "and":
        condition = condition.right
    match condition:
        case Logical(op="or", left=Compare() as unset, right=Compare(op="lt" | "le" | "gt" | "ge") as compared):
            values = {name: one for name, one in known.items() if name in places}
            if names_in(unset) <= values.keys() and next(subexpressions(unset, Load), None) is None:
                begins = rewrite_expr(_at(unset, values), simpler)
                return (compared, False) if begins == Const(True, BOOL) else None
    return None


def _cannot_fail(mine: Expr, loop: For) -> bool:
    """Whether it is an element that each iteration has: Python does not read it where the place is set first."""
    match mine:
        case Cast(operand=operand):
            return _cannot_fail(operand, loop)
        case Load(index=(Var(name=name),)) if name == loop.name:
            is_first = isinstance(loop.lower, Const) and loop.lower.value >= 0
            return is_first and loop.upper == Dim(mine.array, 0)
    return False


def _counts_up(loop: For) -> bool:
    return isinstance(loop.step, Const) and loop.step.value == 1


def _at(expr: Expr, places: Mapping[str, Expr]) -> Expr:
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

"""Going through the IR: children, iteration, and rewriting that keeps what did not change (compared with `is`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from types import MappingProxyType
from typing import Any, TypeVar, assert_never, overload

from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    Return,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)

E1 = TypeVar("E1", bound=Expr)
E2 = TypeVar("E2", bound=Expr)
S1 = TypeVar("S1", bound=Stmt)
S2 = TypeVar("S2", bound=Stmt)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of an expression, in the order in which they are evaluated."""
    match expr:  # what is most frequent first: each kind before costs a test
        case Var() | Const():
            return ()
        case Binary() | Compare() | Logical():
            return (expr.left, expr.right)
        case Load():
            return expr.index
        case Dim():
            return ()
        case Unary() | Cast():
            return (expr.operand,)
        case Select():
            return (expr.condition, expr.then, expr.otherwise)
        case Call():
            return expr.arguments
        case Checked():
            return (expr.condition, expr.value) if expr.second is None else (expr.condition, expr.value, expr.second)
    assert_never(expr)


def with_children(expr: Expr, new: tuple[Expr, ...]) -> Expr:
    """The same expression over other operands, given in the order of `children`."""
    if _same(children(expr), new):
        return expr
    match expr:
        case Const() | Var() | Dim():
            return expr
        case Load():  # not by `replace`, which takes three times as long
            return Load(expr.array, new, expr.type, at=expr.at, key=expr.key)
        case Binary():
            return Binary(expr.op, new[0], new[1])
        case Unary() | Cast():
            return replace(expr, operand=new[0])
        case Compare():
            return Compare(expr.op, new[0], new[1])
        case Logical():
            return Logical(expr.op, new[0], new[1])
        case Select():
            return Select(new[0], new[1], new[2])
        case Call():
            return replace(expr, arguments=new)
        case Checked():
            return replace(expr, condition=new[0], value=new[1], second=new[2] if len(new) > 2 else None)
    assert_never(expr)


@overload
def subexpressions(expr: Expr, /) -> Iterator[Expr]: ...
@overload
def subexpressions(expr: Expr, kind: type[E1], /) -> Iterator[E1]: ...
@overload
def subexpressions(expr: Expr, kind: type[E1], other: type[E2], /) -> Iterator[E1 | E2]: ...
@overload
def subexpressions(expr: Expr, /, *kinds: type[Expr]) -> Iterator[Expr]: ...
def subexpressions(expr: Expr, /, *kinds: type[Any]) -> Iterator[Any]:
    """The expression itself and everything below it, parents first; where kinds are given, only what is of one."""
    found = (expr, *_below(expr))
    return iter([one for one in found if isinstance(one, kinds)] if kinds else found)


@by_identity
def _below(expr: Expr) -> tuple[Expr, ...]:
    """Kept with the expression, as steps and questions share most of a kernel's nodes; itself would be a cycle."""
    found, waiting = list[Expr](), [*children(expr)[::-1]]
    while waiting:
        one = waiting.pop()
        found.append(one)
        if operands := children(one):
            waiting += operands[::-1]
    return tuple(found)


def rewrite_expr(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Apply `change` to every subexpression, operands first."""
    return change(with_children(expr, tuple(rewrite_expr(child, change) for child in children(expr))))


def own_expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions that stand directly in a statement, in the order of evaluation; not those of inner bodies."""
    match stmt:
        case Assign():
            return (stmt.value,)
        case Store():
            return (*stmt.index, stmt.value)
        case Allocate():
            return stmt.shape
        case For():
            return (stmt.lower, stmt.upper, stmt.step)
        case While() | If():
            return (stmt.condition,)
        case Return():
            return stmt.values
        case Block() | Break() | Continue() | Leave():
            return ()
    assert_never(stmt)


def with_own_expressions(stmt: Stmt, new: tuple[Expr, ...]) -> Stmt:
    """The same statement with other expressions, given in the order of `own_expressions`."""
    if _same(own_expressions(stmt), new):
        return stmt
    match stmt:
        case Assign():
            return Assign(stmt.name, new[0], at=stmt.at)
        case Store():
            return Store(stmt.array, new[:-1], new[-1], at=stmt.at, key=stmt.key)
        case Allocate():
            return replace(stmt, shape=new)
        case For():
            return replace(stmt, lower=new[0], upper=new[1], step=new[2])
        case While() | If():
            return replace(stmt, condition=new[0])
        case Return():
            return replace(stmt, values=new)
        case Block() | Break() | Continue() | Leave():
            return stmt
    assert_never(stmt)


def bodies(stmt: Stmt) -> tuple[Body, ...]:
    """The inner bodies of a statement: none, one, or for If two."""
    match stmt:
        case For():
            return (stmt.body,)
        case Store() | Assign():
            return ()
        case If():
            return (stmt.then, stmt.otherwise)
        case While() | Block():
            return (stmt.body,)
        case Allocate() | Break() | Continue() | Leave() | Return():
            return ()
    assert_never(stmt)


def with_bodies(stmt: Stmt, new: tuple[Body, ...]) -> Stmt:
    """The same statement with other bodies, given in the order of `bodies`."""
    if _same(bodies(stmt), new):
        return stmt
    match stmt:
        case For():  # not by `replace`, as above
            ends = stmt.lower, stmt.upper, stmt.step
            return For(stmt.name, *ends, new[0], stmt.asserted, stmt.run, stmt.threads, at=stmt.at)
        case While() | Block():
            return replace(stmt, body=new[0])
        case If():
            return If(stmt.condition, new[0], new[1], at=stmt.at)
        case _:
            return stmt


@overload
def statements(body: Body, /) -> Iterator[Stmt]: ...
@overload
def statements(body: Body, kind: type[S1], /) -> Iterator[S1]: ...
@overload
def statements(body: Body, kind: type[S1], other: type[S2], /) -> Iterator[S1 | S2]: ...
@overload
def statements(body: Body, /, *kinds: type[Stmt]) -> Iterator[Stmt]: ...
def statements(body: Body, /, *kinds: type[Any]) -> Iterator[Any]:
    """Every statement of a body, outer before inner, in the order of the text; where kinds are given, only those of
    one."""
    found = [one for stmt in body for one in (stmt, *_inside(stmt))]
    return iter([one for one in found if isinstance(one, kinds)] if kinds else found)


@by_identity
def _inside(stmt: Stmt) -> tuple[Stmt, ...]:
    """Kept with the statement, without itself, as `_below` is; made of what is kept with those inside it, most of which
    steps leave as they are."""
    found = list[Stmt]()
    for inner in bodies(stmt):
        for one in inner:
            found.append(one)
            if not isinstance(one, Assign | Store):
                found += _inside(one)
    return tuple(found)


@overload
def expressions(body: Body, /) -> Iterator[Expr]: ...
@overload
def expressions(body: Body, kind: type[E1], /) -> Iterator[E1]: ...
@overload
def expressions(body: Body, kind: type[E1], other: type[E2], /) -> Iterator[E1 | E2]: ...
@overload
def expressions(body: Body, /, *kinds: type[Expr]) -> Iterator[Expr]: ...
def expressions(body: Body, /, *kinds: type[Any]) -> Iterator[Any]:
    """Every expression and subexpression of every statement of a body; where kinds are given, only those of one."""
    found = [one for stmt in body for one in _all_expressions(stmt)]
    return iter([one for one in found if isinstance(one, kinds)] if kinds else found)


@by_identity
def _all_expressions(stmt: Stmt) -> tuple[Expr, ...]:
    found = [one for expr in own_expressions(stmt) for one in (expr, *_below(expr))]
    for inner in bodies(stmt):
        for one in inner:
            found += _all_expressions(one)
    return tuple(found)


def all_bodies(kernel: Kernel) -> Iterator[Body]:
    """The body of a kernel, and those inside it, outer ones before inner ones."""
    yield kernel.body
    yield from (inner for stmt in statements(kernel.body) for inner in bodies(stmt))


def unless_same(body: Body, new: Sequence[Stmt]) -> Body:
    """The new statements, as the body itself where they are its own."""
    return body if _same(body, new) else tuple(new)


def _same(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def rewrite_body(
    body: Body, stmt: Callable[[Stmt], Body] | None = None, expr: Callable[[Expr], Expr] | None = None
) -> Body:
    """Apply `expr` to every expression and `stmt` to every statement (after its inside), which may become several
    or none. Returns the same object where nothing changed."""
    result: list[Stmt] = []
    for old in body:
        new = old
        if expr is not None:
            new = with_own_expressions(new, tuple(rewrite_expr(e, expr) for e in own_expressions(new)))
        if inside := bodies(new):
            new = with_bodies(new, tuple([rewrite_body(inner, stmt, expr) for inner in inside]))
        result.extend((new,) if stmt is None else stmt(new))
    return unless_same(body, result)


@by_identity
def loops(kernel: Kernel) -> Mapping[str, For | While]:
    """Every loop of a kernel by name, outer before inner."""
    return MappingProxyType({stmt.name: stmt for stmt in statements(kernel.body, For, While)})

"""Questions asked of trees: which names a body assigns and reads, which arrays it stores to, loads and makes, and
whether anything of a kind stands in it; which names a kernel has. Whoever needs the nodes themselves goes through them
with `ir/walk.py`."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Dim,
    Expr,
    For,
    Kernel,
    Load,
    Original,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.types import Scalar
from loopwright.ir.walk import expressions, statements, subexpressions


def names_assigned(body: Body) -> set[str]:
    """The scalars that a body may give a value."""
    return {stmt.name for stmt in statements(body, Assign)}


def types_assigned(body: Body) -> dict[str, Scalar]:
    """The scalars that a body may give a value, in the order of the text, with their types."""
    return {stmt.name: stmt.value.type for stmt in statements(body, Assign)}


def names_read(body: Body) -> set[str]:
    """The scalars and loop variables that a body reads."""
    return {part.name for part in expressions(body, Var)}


def names_in(expr: Expr) -> set[str]:
    """The scalars and loop variables that an expression reads."""
    return {part.name for part in subexpressions(expr, Var)}


def arrays_stored(body: Body) -> set[str]:
    """The arrays that a body may write to."""
    return {stmt.array for stmt in statements(body, Store)}


def arrays_loaded(body: Body) -> set[str]:
    """The arrays that a body may read elements of."""
    return {part.array for part in expressions(body, Load)}


def arrays_measured(body: Body) -> set[str]:
    """The arrays that a body asks a size of."""
    return {part.array for part in expressions(body, Dim)}


def arrays_made(body: Body) -> set[str]:
    """The local arrays that a body makes."""
    return {stmt.array for stmt in statements(body, Allocate)}


def originals_of(kernel: Kernel) -> dict[str, Original]:
    """The arrays whose elements local arrays hold meanwhile, by the names of these."""
    return {stmt.array: stmt.original for stmt in statements(kernel.body, Allocate) if stmt.original is not None}


def contains(body: Body, *kinds: type[Stmt]) -> bool:
    """Whether a statement of one of these kinds stands in a body."""
    return next(statements(body, *kinds), None) is not None


def has(expr: Expr, *kinds: type[Expr]) -> bool:
    """Whether an expression is of one of these kinds, or holds such a one."""
    return next(subexpressions(expr, *kinds), None) is not None


def names_of(kernel: Kernel) -> set[str]:
    """Every name that a new loop, array or scalar must not have."""
    names = {param.name for param in kernel.params} | {result.name for result in kernel.results}
    for stmt in statements(kernel.body):
        match stmt:
            case Assign() | For() | While() | Block():
                names.add(stmt.name)
            case Allocate():
                names.add(stmt.array)
            case _:
                pass
    return names


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """The wanted name, or with the first number that makes it new: `i.o`, `i.o.1`, `i.o.2`."""
    taken = set(taken)
    name, count = wanted, 0
    while name in taken:
        count += 1
        name = f"{wanted}.{count}"
    return name

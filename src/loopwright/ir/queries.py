"""Questions asked of trees: which names a body assigns and reads, which arrays it stores to, loads and makes, and
whether anything of a kind stands in it; which names a kernel has. Whoever needs the nodes themselves goes through them
with `ir/walk.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from operator import eq
from typing import NamedTuple

from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import (
    RESERVED,
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    Kernel,
    Leave,
    Load,
    Original,
    Return,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import bodies, expressions, own_expressions, statements, subexpressions

Jump = Break | Continue | Leave | Return


class _Inside(NamedTuple):  # as `_Told` is: most statements have one, and dataclasses take longer to make
    """What stands in a statement and inside it: kinds of statements, and names, see the questions below. owned: those
    that nothing else may have, of scalars, arrays, loops and blocks. size: in nodes."""

    kinds: frozenset[type[Stmt]]
    assigned: frozenset[str]
    read: frozenset[str]
    stored: frozenset[str]
    loaded: frozenset[str]
    measured: frozenset[str]
    made: frozenset[str]
    owned: frozenset[str]
    size: int


class _Told(NamedTuple):
    """The names that stand in an expression, see the questions below, and its size in nodes."""

    read: frozenset[str]
    loaded: frozenset[str]
    measured: frozenset[str]
    size: int


@by_identity
def _told(expr: Expr) -> _Told:
    """Kept with an expression, which many statements have that steps make of one."""
    parts = list(subexpressions(expr))
    return _Told(
        frozenset([part.name for part in parts if isinstance(part, Var)]),
        frozenset([part.array for part in parts if isinstance(part, Load)]),
        frozenset([part.array for part in parts if isinstance(part, Dim)]),
        len(parts),
    )


NOTHING = frozenset[str]()


@by_identity
def _inside(stmt: Stmt) -> _Inside:
    told = [_told(own) for own in own_expressions(stmt)]
    assigned = frozenset((stmt.name,)) if isinstance(stmt, Assign) else NOTHING
    made = frozenset((stmt.array,)) if isinstance(stmt, Allocate) else NOTHING
    owned = frozenset((stmt.name,)) if isinstance(stmt, For | While | Block) else assigned | made
    own = _Inside(
        frozenset((type(stmt),)),
        assigned,
        NOTHING.union(*[one.read for one in told]),
        frozenset((stmt.array,)) if isinstance(stmt, Store) else NOTHING,
        NOTHING.union(*[one.loaded for one in told]),
        NOTHING.union(*[one.measured for one in told]),
        made,
        owned,
        1 + sum([one.size for one in told]),
    )
    inner = [_inside(one) for body in bodies(stmt) for one in body]
    return _with(own, inner) if inner else own


def _with(own: _Inside, inner: Sequence[_Inside]) -> _Inside:
    """What stands in a statement, and in those inside it."""
    return _Inside(
        own.kinds.union(*[one.kinds for one in inner]),
        own.assigned.union(*[one.assigned for one in inner]),
        own.read.union(*[one.read for one in inner]),
        own.stored.union(*[one.stored for one in inner]),
        own.loaded.union(*[one.loaded for one in inner]),
        own.measured.union(*[one.measured for one in inner]),
        own.made.union(*[one.made for one in inner]),
        own.owned.union(*[one.owned for one in inner]),
        own.size + sum([one.size for one in inner]),
    )


def names_assigned(body: Body) -> set[str]:
    """The scalars that a body may give a value."""
    return set[str]().union(*(_inside(stmt).assigned for stmt in body))


def types_assigned(body: Body) -> dict[str, Scalar]:
    """The scalars that a body may give a value, in the order of the text, with their types."""
    return {stmt.name: stmt.value.type for stmt in statements(body, Assign)}


def names_read(body: Body) -> set[str]:
    """The scalars and loop variables that a body reads."""
    return set[str]().union(*(_inside(stmt).read for stmt in body))


def names_in(expr: Expr) -> set[str]:
    """The scalars and loop variables that an expression reads."""
    return {*_told(expr).read}


def settled_by(expr: Expr) -> set[str]:
    """The scalars and loop variables that an expression reads, and the arrays whose sizes it asks for."""
    told = _told(expr)
    return {*told.read, *told.measured}


def unsettled_in(body: Body) -> set[str]:
    """The scalars and the sizes of arrays that a body may change, loop variables aside: whatever does not read elements
    and is settled by none of these keeps its value in it."""
    return names_assigned(body) | arrays_made(body)


def arrays_stored(body: Body) -> set[str]:
    """The arrays that a body may write to."""
    return set[str]().union(*(_inside(stmt).stored for stmt in body))


def arrays_loaded(body: Body) -> set[str]:
    """The arrays that a body may read elements of."""
    return set[str]().union(*(_inside(stmt).loaded for stmt in body))


def arrays_measured(body: Body) -> set[str]:
    """The arrays that a body asks a size of."""
    return set[str]().union(*(_inside(stmt).measured for stmt in body))


def arrays_made(body: Body) -> set[str]:
    """The local arrays that a body makes."""
    return set[str]().union(*(_inside(stmt).made for stmt in body))


@by_identity
def _accesses(stmt: Stmt) -> tuple[tuple[Load, ...], tuple[Store, ...]]:
    return tuple(expressions((stmt,), Load)), tuple(statements((stmt,), Store))


def accesses(body: Body) -> tuple[Load | Store, ...]:
    """Every access of a body: what it loads, then what it stores."""
    found = [_accesses(stmt) for stmt in body]
    return (*(node for loads, _ in found for node in loads), *(node for _, stores in found for node in stores))


def accesses_by_array(body: Body) -> dict[str, list[Load | Store]]:
    """Every access of a body, by array."""
    found: dict[str, list[Load | Store]] = {}
    for node in accesses(body):
        found.setdefault(node.array, []).append(node)
    return found


@by_identity
def allocations(kernel: Kernel) -> dict[str, Allocate]:
    """The statement that makes each local array."""
    return {stmt.array: stmt for stmt in statements(kernel.body, Allocate)}


def originals_of(kernel: Kernel) -> dict[str, Original]:
    """The arrays whose elements local arrays hold meanwhile, by the names of these."""
    return {stmt.array: stmt.original for stmt in statements(kernel.body, Allocate) if stmt.original is not None}


def contains(body: Body, *kinds: type[Stmt]) -> bool:
    """Whether a statement of one of these kinds stands in a body."""
    return not all(_inside(stmt).kinds.isdisjoint(kinds) for stmt in body)


def loops_around(kernel: Kernel, inner: Iterable[Stmt]) -> set[str]:
    """The names of all loops around some statements, found by identity."""
    wanted, found = set(map(id, inner)), set[str]()

    def holds(body: Body) -> bool:
        here = False
        for stmt in body:
            inside = [holds(one) for one in bodies(stmt)]
            if True in inside and isinstance(stmt, For | While):
                found.add(stmt.name)
            here = here or True in inside or id(stmt) in wanted
        return here

    holds(kernel.body)
    return found


def escapes(stmt: Stmt) -> tuple[Jump, ...]:
    """The jumps inside a statement (or the statement itself) that lead out of it."""
    return (stmt,) if isinstance(stmt, Break | Continue | Leave | Return) else _escapes_inside(stmt)


@by_identity
def _escapes_inside(stmt: Stmt) -> tuple[Jump, ...]:
    inner = tuple(jump for body in bodies(stmt) for child in body for jump in escapes(child))
    match stmt:
        case For() | While():
            return tuple(j for j in inner if not (isinstance(j, Break | Continue) and j.loop == stmt.name))
        case Block():
            return tuple(j for j in inner if not (isinstance(j, Leave) and j.block == stmt.name))
        case _:
            return inner


def size_of(body: Body) -> int:
    """How many nodes a body has: statements and expressions."""
    return sum(_inside(stmt).size for stmt in body)


def has(expr: Expr, *kinds: type[Expr]) -> bool:
    """Whether an expression is of one of these kinds, or holds such a one."""
    return next(subexpressions(expr, *kinds), None) is not None


def names_of(kernel: Kernel) -> set[str]:
    """Every name that a new loop, array or scalar must not have."""
    names = {param.name for param in kernel.params} | {result.name for result in kernel.results}
    return names.union(*(_inside(stmt).owned for stmt in kernel.body))


def has_own(stmt: Stmt, names: Iterable[str]) -> bool:
    """Whether one of these names is that of a statement, or of something in it: of a loop, block, array or scalar."""
    return not _inside(stmt).owned.isdisjoint(names)


def room_beside(sizes: Sequence[Expr]) -> Expr:
    """How large an axis may be that has all the room there is, beside axes of these sizes."""
    if all(isinstance(size, Const) for size in sizes):
        return Const(RESERVED // max(1, prod(int(one.value) for one in sizes if isinstance(one, Const))), INT64)
    room: Expr = Const(RESERVED, INT64)
    for size in sizes:
        room = Binary("floordiv", room, Binary("max", size, Const(1, INT64)))
    return room


def is_mostly_unused(stmt: Allocate) -> bool:
    """Whether an array has all the room there is along one of its axes: so many elements, of which few are used."""
    axes = range(len(stmt.shape))
    beside = [[size for k, size in enumerate(stmt.shape) if k != axis] for axis in axes]
    return stmt.fill is None and any(map(eq, stmt.shape, map(room_beside, beside)))


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """The wanted name, or with the first number that makes it new: `i.o`, `i.o.1`, `i.o.2`."""
    taken = set(taken)
    name, count = wanted, 0
    while name in taken:
        count += 1
        name = f"{wanted}.{count}"
    return name

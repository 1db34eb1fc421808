"""Scans: scalars that each iteration of a loop updates and that others of its statements read, as in prefix sums and in
compactions.

Updates are associative, so that what a scalar is worth at the beginning of a stretch of iterations follows from partial
results of the stretches before it. These are computed by the `advance`, the part of the body that updates need. What is
updated by an amount that depends on other such scalars comes after them: it has a later level. Whether the iterations
need an order for any other reason is asked of `analyse.apart_from`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from loopwright.analysis.facts import ReductionOp
from loopwright.analysis.linear_recurrences import LinearValue, linear_value
from loopwright.analysis.reductions import NotAReduction, Update, is_exact, one_op, updates_of
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import parted
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Return,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_measured,
    arrays_stored,
    contains,
    names_assigned,
    names_in,
    names_read,
)
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, expressions, own_expressions, statements, subexpressions, with_bodies

MOST_ADDED = 1 << 20
"""A scalar that grows by no more in an iteration never reaches the end of int64."""


@dataclass(frozen=True, slots=True)
class RunningValue:
    """A scalar that every assignment in a loop updates by `op`. updates: all of them."""

    name: str
    op: ReductionOp
    type: Scalar
    updates: tuple[Update, ...]

    @property
    def exact(self) -> bool:
        """Whether partial results give the same to the last bit."""
        return is_exact(self.op, self.type)


CarriedValue = RunningValue | LinearValue


def carried_value(loop: For, name: str, type_: Scalar) -> CarriedValue:
    """How a loop updates a scalar: by one operation, or by affine maps, as are products of floats, whose partial
    results may overflow where they do not. Raises NotAReduction."""
    try:
        found: CarriedValue = _running_value(loop, name, type_)
        if isinstance(found, RunningValue) and found.op == "mul" and type_.is_float:
            found = linear_value(loop, name, type_)
    except NotAReduction as why:
        try:
            found = linear_value(loop, name, type_)
        except NotAReduction:
            raise why from None
    if any(_is_checked(update.stmt, name) for update in found.updates):
        raise NotAReduction("may not have a value yet where it is updated")
    return found


def _running_value(loop: For, name: str, type_: Scalar) -> RunningValue:
    updates = tuple(updates_of(loop.body, name, type_))
    return RunningValue(name, one_op(updates), type_, updates)


def _is_checked(stmt: Assign | Store, name: str) -> bool:
    return any(name in names_in(part) for part in subexpressions(stmt.value, Checked))


# ---- what updates need ------------------------------------------------------------------------------------------


def levels_of(loop: For, values: Sequence[CarriedValue]) -> tuple[tuple[CarriedValue, ...], ...]:
    """The values by levels: those that are updated by amounts, or under conditions, that depend on none of the others,
    those that depend on these only, and so on. Raises NotAReduction, whose words end the sentence `'value' ...`."""
    names = {value.name for value in values}
    needs = {value.name: _needed(loop.body, {value.name}) & names - {value.name} for value in values}
    for value in values:
        part = _kept(loop.body, _needed(loop.body, {value.name}))
        own = {id(read) for update in value.updates for read in update.reads}
        reads = (p for s in statements(part) for e in own_expressions(s) for p in subexpressions(e, Var))
        if any(read.name == value.name and id(read) not in own for read in reads):
            raise NotAReduction(
                f"is updated by an amount, or under a condition, that depends on '{user_name(value.name)}'"
            )
    levels: list[tuple[CarriedValue, ...]] = []
    before: set[str] = set()
    while len(before) < len(names):
        level = tuple(value for value in values if value.name not in before and needs[value.name] <= before)
        levels.append(level)
        before |= {value.name for value in level}
    return tuple(levels)


def advance_of(loop: For, values: Sequence[CarriedValue]) -> Body:
    """The part of a loop's body that brings its carried values forward: no stores. Raises NotAReduction, whose words
    end the sentence `'value' ...`, where it needs what the loop may have written."""
    needed = _needed(loop.body, {value.name for value in values})
    part = _kept(loop.body, needed)
    made = arrays_made(loop.body) & (arrays_loaded(part) | arrays_measured(part))
    late = made or _written_first(loop.body, needed)
    if late:
        raise NotAReduction(f"is updated by what the loop writes to '{user_name(min(late))}'")
    return part


def _needed(body: Body, names: set[str]) -> set[str]:
    """The scalars that those of these names depend on within a body, these included."""
    assigned = names_assigned(body)
    needed = set(names)
    while True:
        more = names_read(_kept(body, needed)) & assigned
        if more <= needed:
            return needed
        needed |= more


def _kept(body: Body, needed: Collection[str]) -> Body:
    """A body without what no scalar of these names needs."""
    kept: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Assign():
                kept += [stmt] if stmt.name in needed else []
            case Break() | Continue() | Leave() | Return():
                kept.append(stmt)
            case If() | For() | While() | Block() if _counts(stmt, needed):
                kept.append(_with_then(with_bodies(stmt, tuple(_kept(inner, needed) for inner in bodies(stmt)))))
            case _:
                pass
    return tuple(kept)


def _counts(stmt: Stmt, needed: Collection[str]) -> bool:
    """Whether a statement with others inside assigns a needed scalar, or decides where control goes on."""
    return bool(escapes(stmt)) or any(one.name in needed for one in statements((stmt,), Assign))


def _with_then(stmt: Stmt) -> Stmt:
    """The same; an `if` of which only the other branch is left has it as its first."""
    if isinstance(stmt, If) and not stmt.then:
        return replace(stmt, condition=Unary("not", stmt.condition), then=stmt.otherwise, otherwise=())
    return stmt


def _written_first(body: Body, needed: Collection[str]) -> set[str]:
    """The arrays that updates read, and that an iteration may have written before."""
    written: set[str] = set()
    found: set[str] = set()
    for stmt in body:
        written |= arrays_stored((stmt,))
        found |= written & arrays_loaded(_kept((stmt,), needed))
    return found


# ---- compaction -------------------------------------------------------------------------------------------------


def packed_arrays(kernel: Kernel, loop: For, values: Sequence[CarriedValue]) -> set[str]:
    """The arrays that a loop writes in the order of a running value, so that no two iterations write the same element:
    each store stands at its value (plus a constant) along one axis, and goes along with an update that passes the
    element; and the loop reads nothing of the array."""
    counters = [value for value in values if isinstance(value, RunningValue) and _only_grows(kernel, value)]
    arrays = arrays_stored(loop.body) - arrays_loaded(loop.body) - arrays_made(loop.body)
    return {array for array in arrays if any(_is_packed(loop, array, value) for value in counters)}


def _only_grows(kernel: Kernel, value: RunningValue) -> bool:
    """Whether a whole number begins at 0 or above, wherever it is set, and is never made less."""
    return value.op == "add" and _grows(kernel, value.name, frozenset())


def _grows(kernel: Kernel, name: str, known: frozenset[str]) -> bool:
    """The same of a scalar. known: names of which it is being asked: what grows by what it is worth may double."""
    if name in known:
        return False
    found = [stmt for stmt in statements(kernel.body, Assign) if stmt.name == name]
    is_local = all(param.name != name for param in kernel.params)
    return is_local and all(_makes_no_less(kernel, stmt, known | {name}) for stmt in found)


def _makes_no_less(kernel: Kernel, stmt: Assign, known: frozenset[str]) -> bool:
    name, value = stmt.name, stmt.value
    if value.type != INT64:
        return False
    added = _added(stmt, name)
    if added is not None or isinstance(value, Const):
        return 0 <= (_set_to(stmt) if added is None else added) <= MOST_ADDED
    match value:
        case Load():
            return _holds_grown(kernel, value.array, known)
        case Binary(op="add", left=Var() as base, right=Load() as part) if base.name == name:
            return _holds_grown(kernel, part.array, known) and _is_read_once(kernel.body, stmt, part.array)
    return False


def _holds_grown(kernel: Kernel, array: str, known: frozenset[str]) -> bool:
    """Whether a local array holds nothing but what such scalars were worth."""
    made = [stmt for stmt in statements(kernel.body, Allocate) if stmt.array == array]
    stores = [stmt for stmt in statements(kernel.body, Store) if stmt.array == array]
    is_begun = bool(made) and all(stmt.fill is None or 0 <= stmt.fill.value <= MOST_ADDED for stmt in made)
    return is_begun and all(isinstance(one.value, Var) and _grows(kernel, one.value.name, known) for one in stores)


def _is_read_once(body: Body, stmt: Assign, array: str) -> bool:
    """Whether each element that is stored is added once: then the sum of all is what was counted altogether."""
    for at, one in enumerate(body):
        if isinstance(one, For) and any(inner is stmt for inner in one.body):
            loads = [load for other in body for load in expressions((other,), Load) if load.array == array]
            before = [store for other in body[:at] for store in statements((other,), Store) if store.array == array]
            return len(loads) == 1 and bool(before) and array not in arrays_stored(body[at:])
        if any(inner is stmt for inner in statements((one,))):
            return any(_is_read_once(inside, stmt, array) for inside in bodies(one))
    return False


def _added(stmt: Stmt, name: str) -> int | None:
    """The constant that a statement adds to a scalar; None where it is no such statement."""
    if not isinstance(stmt, Assign) or stmt.name != name:
        return None
    match stmt.value:
        case Binary(op="add", left=Const() as known, right=Var() as base) if base.name == name:
            return int(known.value)
    found, amount = parted(stmt.value)
    return amount if isinstance(found, Var) and found.name == name else None


def _set_to(stmt: Assign) -> int:
    """The constant that a scalar is set to; -1 where that is none."""
    return int(stmt.value.value) if isinstance(stmt.value, Const) else -1


def _is_packed(loop: For, array: str, value: RunningValue) -> bool:
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == array]
    axes = range(len(stores[0].index))
    return any(all(_goes_along(loop.body, stmt, stmt.index[axis], value.name) for stmt in stores) for axis in axes)


def _goes_along(body: Body, store: Store, index: Expr, name: str) -> bool:
    """Whether an iteration's update of a scalar passes the index that it stores at."""
    base, offset = parted(index)
    if not isinstance(base, Var) or base.name != name:
        return False
    return any(low <= offset <= high for low, high in _passed(body, store, name))


def _passed(body: Body, store: Store, name: str) -> Iterator[tuple[int, int]]:
    """For each update that runs whenever a store does, the least and greatest distance from the scalar at the store of
    an element that belongs to this iteration: before an update by 2 these are 0 and 1, after it -2 and -1."""
    at = next(k for k, stmt in enumerate(body) if any(one is store for one in statements((stmt,))))
    for stmt in body[:at]:
        if (amount := _added(stmt, name)) is not None:
            yield -amount, -1
    for k, stmt in enumerate(body[at:], at):
        if k > at and (amount := _added(stmt, name)) is not None:
            yield 0, amount - 1
        if contains((stmt,), Break, Continue, Leave, Return) and escapes(stmt):
            break
    for inner in bodies(body[at]):
        if any(one is store for one in statements(inner)):
            yield from _passed(inner, store, name)

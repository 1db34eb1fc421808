"""Copies of an array, or elements for a scalar: one for each iteration of some loops around one another, so that these
need no order for its sake. It owns the axes that are added, and what is left in the array itself after the loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from loopwright.analysis.facts import Facts
from loopwright.analysis.local_arrays import is_apart, leaves_all
from loopwright.ir.linear import minus, most, number, parted, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Original,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_made, names_assigned, names_in
from loopwright.ir.sizes import is_never_negative, room_for, tests_of
from loopwright.ir.types import Scalar
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import fresh, names_of, with_statement
from loopwright.steps.extent import around, extent_of, loops_around
from loopwright.steps.nest import is_inside, left_early, overlapping, step_of
from loopwright.steps.step import Rejection


@dataclass(frozen=True, slots=True)
class Copies:
    """What becomes of an array. made: the statement that makes it, None for an argument; kept: it stays, as others use
    the array too, or as it may fail; is_left: others need what the last iteration leaves in the array, and `again` is
    the store that writes it, None where there is no such store."""

    array: str
    element: Scalar
    shape: tuple[Expr, ...]
    made: Allocate | None
    fill: Const | None
    kept: bool
    is_left: bool
    again: Store | None


def index_of(loops: Sequence[For]) -> tuple[Expr, ...]:
    """Where the element or the copy of an iteration is."""
    return tuple(
        minus(variable(loop.name), 0 if _from_zero(loop, loops[0]) and not extent_of(loop) else loop.lower)
        for loop in loops
    )


def shape_of(loops: Sequence[For]) -> tuple[Expr, ...]:
    """How many there are along each loop."""
    return tuple(_size_of(loop, loops[0]) for loop in loops)


def bytes_of(type_: Scalar, loops: Sequence[For], shape: Sequence[Expr] = ()) -> int | None:
    """What they take together, where all loops are stretches."""
    sizes = [extent_of(loop) or 0 for loop in loops]
    sizes += [int(size.value) if isinstance(size, Const) else 0 for size in shape]
    return prod((type_.size_bytes, *sizes)) or None


def _size_of(loop: For, first: For) -> Expr:
    extent = extent_of(loop)
    length = number(extent) if extent else length_of(loop, first)
    assert length is not None
    return length


def length_of(loop: For, first: For) -> Expr | None:
    """How far a loop runs, from zero where it begins there or a little later, where that is known before the first of
    the loops."""
    from_zero = _from_zero(loop, first)
    if not (from_zero or _is_known_before(loop.lower, first)) or not _is_known_before(loop.upper, first):
        return None
    return most(number(0), loop.upper if from_zero else minus(loop.upper, loop.lower))


def _from_zero(loop: For, first: For) -> bool:
    """Whether a loop begins at zero or a little later, or, as the rows of a triangle do, where an outer one is that is
    such a loop."""
    if isinstance(loop.lower, Const):
        return int(loop.lower.value) >= 0
    base, more = parted(loop.lower)
    outer = {stmt.name: stmt for stmt in (first, *statements(first.body, For)) if isinstance(stmt, For)}
    if not isinstance(base, Var) or more < 0 or base.name not in outer or outer[base.name] is loop:
        return False
    return step_of(outer[base.name]) == 1 and _from_zero(outer[base.name], first)


def _is_known_before(expr: Expr, loop: For) -> bool:
    """Whether an expression is worth the same before a loop as inside it, and reads no array."""
    inside = [loop, *statements(loop.body)]
    changed = {stmt.name for stmt in inside if isinstance(stmt, For | While | Assign)}
    made = {stmt.array for stmt in inside if isinstance(stmt, Allocate)}
    parts = list(subexpressions(expr))
    is_plain = not any(isinstance(part, Load | Checked) for part in parts)
    return is_plain and not names_in(expr) & changed and not made & {p.array for p in parts if isinstance(p, Dim)}


# ---- arrays ----------------------------------------------------------------------------------------------------


def copies_of(kernel: Kernel, array: str, loops: Sequence[For]) -> Copies:
    """What becomes of an array where each iteration of the loops, outermost first, gets a copy."""
    first, last = loops[0], loops[-1]
    made = next((s for s in statements(kernel.body, Allocate) if s.array == array), None)
    ours = {id(stmt) for stmt in statements((first,))}
    is_local = made is not None and id(made) in ours
    is_used = any(_uses(stmt, array) for stmt in statements(kernel.body) if id(stmt) not in ours)
    element, shape, fill = _form(kernel, array, made)
    is_own = any(stmt is made for stmt in last.body)
    fails_first = made is not None and not is_local and not _is_next(kernel, made, first)
    kept = is_used or (fails_first and not all(map(is_never_negative, shape)))
    is_left = not is_local and (made is None or is_used)
    stores = (stmt for stmt in statements(last.body, Store) if stmt.array == array)
    again = next((store for store in stores if _can_repeat(kernel, store, loops)), None) if is_left else None
    if again is not None and made is None:
        shape = _box(first, again, shape)
    if is_local:
        shape = tuple(map(room_for, shape))
    return Copies(array, element, shape, made, fill if is_own else None, kept, is_left, again)


def _box(first: For, store: Store, shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The shape of an array, less what lies behind the elements that a store writes: the others need no room."""
    loops = {loop.name: loop for loop in statements(first.body, For)}
    found = [loops.get(axis.name) if isinstance(axis, Var) else None for axis in store.index]
    lengths = [None if one is None or step_of(one) < 1 else length_of(one, first) for one in found]
    uses = [*expressions(first.body), *statements(first.body)]
    mine = [use for use in uses if isinstance(use, Load | Store) and use.array == store.array]
    for axis, size in enumerate(shape):
        if any(isinstance(use.index[axis], Const) for use in mine):  # it may count from the end
            lengths[axis] = size
    return tuple(size if one is None else one for size, one in zip(shape, lengths, strict=True))


def tied(kernel: Kernel, facts: Facts, copies: Copies, loops: Sequence[For]) -> Rejection | None:
    """Why the iterations cannot have copies."""
    first, last, array = loops[0], loops[-1], copies.array
    if (rejection := overlapping(kernel)) is not None:
        return rejection
    if (rejection := left_early(first)) is not None:
        return rejection
    inside = {id(stmt) for stmt in statements(last.body)}
    ours = {id(stmt) for stmt in statements((first,))}
    is_local = id(copies.made) in ours
    if any(_uses(s, array) for s in statements(kernel.body) if id(s) not in inside and (is_local or id(s) in ours)):
        return Rejection(f"'{array}' is also used outside of '{last.name}'")
    is_own = any(stmt is copies.made for stmt in last.body)
    is_users = copies.made is not None and copies.made.at is not None
    is_seen = copies.made is None or array in {one.name for one in kernel.results}
    names_itself = is_own and is_users  # in errors, by its own axes
    if not names_itself and (rejection := _may_fail(first, array, is_seen, facts)) is not None:
        return rejection
    if is_own and copies.fill is not None and not _are_all_between(kernel, loops):
        return Rejection(f"'{array}' is filled anew by loops between those that have copies")
    if id(copies.made) in inside and not is_own:
        return Rejection(f"'{array}' is made anew inside an iteration of '{last.name}'")
    if is_local and not all(_is_known_before(size, first) for size in copies.shape):
        return Rejection(f"the size of '{array}' is not known before '{first.name}'")
    if not is_own and not is_apart(kernel, last.name, array, facts.known):
        return Rejection(f"an iteration of '{last.name}' may read elements of '{array}' that it has not written itself")
    names = [loop.name for loop in loops]
    if copies.is_left and (copies.again is None or not leaves_all(kernel, names, copies.again, facts.known)):
        return Rejection(f"what the loops leave in '{array}' is not all written by one statement of the last iteration")
    return None


def _are_all_between(kernel: Kernel, loops: Sequence[For]) -> bool:
    """Whether the loops around the last one, from the first on, are these."""
    outer = around(kernel, loops[-1])
    begin = next((at for at, stmt in enumerate(outer) if stmt is loops[0]), len(outer))
    return sum(isinstance(stmt, For | While) for stmt in outer[begin:]) == len(loops) - 1


def _form(kernel: Kernel, array: str, made: Allocate | None) -> tuple[Scalar, tuple[Expr, ...], Const | None]:
    """The type of an array's elements, its shape, and what it is filled with."""
    if made is not None:
        return made.element, made.shape, made.fill
    known = {one.name: (one.element, one.rank) for one in kernel.arrays}
    known |= {one.name: (one.element, one.rank) for one in kernel.results}
    element, rank = known[array]
    return element, tuple(Dim(array, axis) for axis in range(rank)), None


def _is_next(kernel: Kernel, made: Allocate, first: For) -> bool:
    """Whether nothing but other arrays are made between the two."""
    outer = around(kernel, made)
    body = next((one for one in _bodies(kernel, outer) if any(stmt is made for stmt in one)), ())
    rest = body[next((at for at, stmt in enumerate(body) if stmt is made), 0) :]
    stop = next((at for at, stmt in enumerate(rest) if not isinstance(stmt, Allocate)), len(rest))
    return stop < len(rest) and rest[stop] is first


def _bodies(kernel: Kernel, outer: Sequence[Stmt]) -> list[Body]:
    found = [kernel.body]
    for stmt in outer:
        match stmt:
            case If():
                found += [stmt.then, stmt.otherwise]
            case For() | While():
                found.append(stmt.body)
            case _:
                pass
    return found


def _may_fail(loop: For, array: str, is_seen: bool, facts: Facts) -> Rejection | None:
    """Why what is done to the copies could be seen: an error in the middle leaves an array that is the caller's as it
    was before. Errors of the array itself would speak of the copies."""
    parts = (*expressions(loop.body), *statements(loop.body))
    for part in (one for one in parts if isinstance(one, Load | Store | Checked)):
        concerns = is_seen or (not isinstance(part, Checked) and part.array == array)
        if concerns and any(one.kind == "checked" for one in facts.bounds_of(part)):
            return Rejection(f"an error may end '{loop.name}' in the middle, before '{array}' is up to date")
    return None


def _uses(stmt: Stmt, array: str) -> bool:
    if isinstance(stmt, Store) and stmt.array == array:
        return True
    parts = (part for own in own_expressions(stmt) for part in subexpressions(own))
    return any(isinstance(part, Load | Dim) and part.array == array for part in parts)


def _path(last: For, store: Store) -> tuple[For, ...] | None:
    """The loops from the last one, itself left out, to a store, if nothing else is around it."""

    def find(body: Body, path: tuple[For, ...]) -> tuple[For, ...] | None:
        for stmt in body:
            if stmt is store:
                return path
            if isinstance(stmt, For) and (found := find(stmt.body, (*path, stmt))) is not None:
                return found
        return None

    return find(last.body, ())


def _can_repeat(kernel: Kernel, store: Store, loops: Sequence[For]) -> bool:
    """Whether the elements that a store writes in the last iteration can be named after the loops."""
    path = _path(loops[-1], store)
    if path is None:
        return False
    names = {loop.name for loop in loops}
    first = loops[0]
    changed = names_assigned(first.body)
    changed |= {stmt.name for stmt in statements((first,), For, While)}
    made = arrays_made(first.body)
    ends = [end for loop in loops for end in own_expressions(loop)]
    if any(names_in(end) & changed for end in ends):  # then the last iteration of one may not be among those of another
        return False
    changed -= names | {loop.name for loop in path}
    exprs = [*store.index, *ends, *(end for loop in path for end in own_expressions(loop))]
    parts = [part for expr in exprs for part in subexpressions(expr)]
    if any(isinstance(part, Load | Checked) or (isinstance(part, Dim) and part.array in made) for part in parts):
        return False
    outer = [loop for loop in loops_around(kernel, loops[-1]).values() if is_inside(kernel, loop, first)]
    return not any(names_in(expr) & changed for expr in exprs) and {loop.name for loop in outer} <= names


def copied(kernel: Kernel, copies: Copies, loops: Sequence[For], innermost: bool = False) -> Kernel:
    """A draft of the kernel with the copies. innermost: the axes that are added come behind the others."""
    first, array = loops[0], copies.array
    new = fresh(f"{array}.x", names_of(kernel))
    index = index_of(loops)

    def placed(own: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (*own, *index) if innermost else (*index, *own)

    def load(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.array == array:
            return replace(expr, array=new, index=placed(expr.index))
        if isinstance(expr, Dim) and expr.array == array and not copies.kept and copies.made is not None:
            return Dim(new, expr.axis + (0 if innermost else len(index)))
        return expr

    def store(stmt: Stmt) -> Body:
        if isinstance(stmt, Store) and stmt.array == array:
            return (replace(stmt, array=new, index=placed(stmt.index)),)
        return tests if stmt is copies.made and not copies.kept else (stmt,)

    ours = any(stmt is copies.made for stmt in statements((first,)))
    tests = () if copies.made is None or not ours else tests_of(copies.made, fresh(f"{array}.n", names_of(kernel)))
    changed = replace(first, body=rewrite_body(first.body, store, load))
    at = None if copies.made is None else copies.made.at
    shape = (*copies.shape, *shape_of(loops)) if innermost else (*shape_of(loops), *copies.shape)
    made = Allocate(new, copies.element, shape, copies.fill, original=_original(copies, loops, innermost), at=at)
    after = () if copies.again is None else (_put_back(kernel, copies.again, placed, new, loops),)
    draft = with_statement(kernel, first, (made, changed, *after))
    if copies.made is not None and not copies.kept and not ours:
        draft = with_statement(draft, copies.made, ())
    return draft


def _original(copies: Copies, loops: Sequence[For], innermost: bool) -> Original | None:
    """What errors speak of where each iteration makes the array itself. The axes that are added cannot be left."""
    if copies.made is None or copies.kept or all(stmt is not copies.made for stmt in loops[-1].body):
        return None
    own = (
        Original(user_name(copies.array), tuple(range(len(copies.shape)))) if (o := copies.made.original) is None else o
    )
    added = (0,) * len(loops)
    return replace(own, axes=(*own.axes, *added) if innermost else (*added, *own.axes))


def _put_back(
    kernel: Kernel,
    store: Store,
    placed: Callable[[tuple[Expr, ...]], tuple[Expr, ...]],
    new: str,
    loops: Sequence[For],
) -> Stmt:
    """What the last iteration has left, from its copy to the array."""
    path = _path(loops[-1], store)
    assert path is not None
    taken = names_of(kernel)
    there = Load(new, placed(store.index), store.value.type)
    body: Body = (replace(store, value=there),)
    for loop in reversed(path):
        name = fresh(f"{loop.name}.w", taken)
        body = (replace(loop, name=name, body=(Assign(loop.name, variable(name)), *body), asserted=False),)
    condition: Expr | None = None
    for loop in loops:
        runs = Compare("lt", loop.lower, loop.upper)
        condition = runs if condition is None else Logical("and", condition, runs)
    assert condition is not None
    return If(condition, (*(Assign(loop.name, minus(loop.upper, 1)) for loop in loops), *body))

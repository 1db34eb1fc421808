"""Loops whose iterations begin by filling local arrays of which a block of a GPU has two: which copies can be made for
the next iteration while this one runs. It refuses what the next copy could see of this iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from loopwright.analysis.trace import escapes
from loopwright.ir.nodes import Allocate, Body, Checked, Const, Expr, For, If, Load, Stmt, Store, Var
from loopwright.ir.queries import arrays_loaded, arrays_stored, has, names_assigned
from loopwright.ir.walk import own_expressions, statements, subexpressions


@dataclass(frozen=True, slots=True)
class Rounds:
    """A loop taken apart. arrays: the local arrays that are filled ahead, with their Allocates; conditions: what has to
    hold in an iteration for them to be used; copies: what fills them; body: the rest, conditions included."""

    arrays: dict[str, Allocate]
    conditions: tuple[Expr, ...]
    copies: Body
    body: Body

    @property
    def sources(self) -> set[str]:
        """The arrays that are copied from."""
        return arrays_loaded(self.copies)


def rounds_of(loop: For) -> Rounds | str:
    """The loop taken apart, or why it cannot be; `arrays` may be empty."""
    if not isinstance(loop.step, Const) or int(loop.step.value) < 1:
        return f"'{loop.name}' does not count up in constant steps"
    if any(escapes(stmt) for stmt in loop.body):
        return f"'{loop.name}' can be left in the middle"
    conditions: list[Expr] = []
    body, outer = loop.body, []
    while len(body) == 1 and isinstance(stmt := body[0], If):
        conditions.append(stmt.condition)
        outer.append(stmt)
        body = stmt.then
    arrays, copies, rest = _parted(body)
    for stmt in reversed(outer):
        rest = (replace(stmt, then=rest),)
    found = Rounds(arrays, tuple(conditions), copies, rest)
    stored = arrays_stored(rest)
    if found.sources & stored:
        return f"'{loop.name}' writes to '{min(found.sources & stored)}', of which the next tile would come too early"
    changing = names_assigned(loop.body)
    needed = {part.name for part in _parts(found) if isinstance(part, Var)} & changing
    if needed:
        return f"'{min(needed)}' changes in '{loop.name}': the next tile is not known before"
    if any(has(one, Load, Checked) for one in conditions):
        return f"data decides whether '{loop.name}' uses the tile"
    return found


def _parted(body: Body) -> tuple[dict[str, Allocate], Body, Body]:
    """The arrays of which there are two, what fills them, and the rest. Only what stands before the first statement
    that does anything but fill local arrays can come before it."""
    arrays: dict[str, Allocate] = {}
    local: set[str] = set()
    copies: list[Stmt] = []
    rest: list[Stmt] = []
    for number, stmt in enumerate(body):
        written = arrays_stored((stmt,))
        if isinstance(stmt, Allocate) and stmt.fill is None:
            local.add(stmt.array)
            if stmt.double:
                arrays[stmt.array] = stmt
            else:
                rest.append(stmt)
        elif written and written <= local and _only_copies(stmt, local):
            (copies if written <= set(arrays) else rest).append(stmt)
        else:
            rest += body[number:]
            break
    filled = arrays_stored(tuple(copies))
    late = arrays_stored(tuple(rest))
    if set(arrays) - filled or filled & late:
        return {}, (), body
    return arrays, tuple(copies), tuple(rest)


def _only_copies(stmt: Stmt, local: set[str]) -> bool:
    """Whether a statement is loops and conditions around copies from arrays that are no local ones."""
    inside = tuple(statements((stmt,)))
    read = arrays_loaded((stmt,))
    return all(isinstance(inner, For | If | Store) for inner in inside) and not read & local


def _parts(found: Rounds) -> Iterator[Expr]:
    for one in (*found.conditions, *(own for stmt in statements(found.copies) for own in own_expressions(stmt))):
        yield from subexpressions(one)

"""The step `carry`: keep in a scalar what the next iteration reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import apart, coefficient, minus, number
from loopwright.ir.nodes import (
    Assign,
    Body,
    Break,
    Compare,
    CompareOp,
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
    Var,
)
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_in
from loopwright.ir.walk import expressions, loops, own_expressions, rewrite_body, rewrite_expr, statements
from loopwright.steps.draft import finished, fresh, names_of, substituted_in, with_statement
from loopwright.steps.extent import loops_around, marked, surely_runs
from loopwright.steps.nest import left_early, missing, overlapping, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Carry(Step):
    """Keep the element that an iteration writes in a scalar, where the next one reads it from the array and nobody else
    reads it there: what the loop then carries on is a scalar, as in a running sum. Each iteration writes its element
    once, whichever way it takes, and may read it before and after that. Where not every iteration reads the one before,
    there may be none before the first: then the scalar begins with 0. With the word `again` at the end, the scalar is
    read from the array at the end of each iteration, which may write its element more than once, and read any other.
    `carry b i`:

    for i in 1 .. n:
        b[i] = b[i - 1] + a[i]
    ->
    var b.c: float64
    if 1 < n:
        b.c = b[0]
        for i in 1 .. n:
            b.c = b.c + a[i]
            b[i] = b.c
    """

    name: ClassVar[str] = "carry"
    grammar: ClassVar[str] = "ARRAY LOOP [again]"
    array: str
    loop: str
    again: bool = False

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := left_early(loop) or marked((loop,)) or self.unfit(loop)) is not None:
            return rejection
        stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == self.array]
        uses: list[Load | Store] = [*stores, *(one for one in expressions(loop.body, Load) if one.array == self.array)]
        if any(bounds.kind == "checked" or bounds.may_be_negative for one in uses for bounds in facts.bounds_of(one)):
            return Rejection(f"an access of '{self.array}' may fail, or count from the end")
        return None

    def unfit(self, loop: For) -> Rejection | None:
        """Why a loop has nothing to hand on, as far as its text tells."""
        stores = _stores(loop, self.array, once=not self.again)
        if not stores or not (distance := _moves(loop, stores[0])):
            return Rejection(f"iterations of '{self.loop}' do not each write the next element of '{self.array}'")
        store = stores[0]
        loads = [one for one in expressions(loop.body, Load) if one.array == self.array]
        behind = [one for one in loads if _is_behind(store, one, self.loop, distance)]
        own = [one for one in loads if _is_behind(store, one, self.loop, 0)]
        if not behind or (len(behind) + len(own) < len(loads) and not self.again):
            return Rejection(f"'{self.loop}' does not read of '{self.array}' what the iteration before has written")
        if self.again and not _is_written(loop.body, self.array):
            return Rejection(f"not every iteration of '{self.loop}' writes to '{self.array}'")
        if not self.again and _written_after(loop.body, self.array, {id(one) for one in behind}, False) is None:
            return Rejection(f"what the iteration before has written to '{self.array}' is read behind the write")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        store = _stores(loop, self.array, once=not self.again)[0]
        type_ = store.value.type
        scalar = Var(fresh(f"{self.array}.c", names_of(kernel)), type_)
        moves = _moves(loop, store)
        loads = [one for one in expressions(loop.body, Load) if one.array == self.array]
        first = next(one for one in loads if _is_behind(store, one, self.loop, moves))
        at = {loop.name: loop.lower}
        places = (substituted_in(axis, at) if mine == axis else minus(substituted_in(mine, at), moves)
                  for mine, axis in zip(store.index, first.index, strict=True))  # fmt: skip
        before = replace(first, index=tuple(places))

        is_behind = {id(one) for one in loads if _is_behind(store, one, self.loop, moves)}
        changed = replace(loop, body=self._body(loop.body, _Carrying(self.array, scalar, is_behind), store))
        begin: Body = (Assign(scalar.name, before, at=loop.at),)
        if not any(one is first for stmt in loop.body for expr in own_expressions(stmt) for one in _surely(expr)):
            begin = _where_it_is(scalar, before, loop)
        both: Body = (*begin, changed)
        if not surely_runs(loop, loops_around(kernel, loop)):
            compare: CompareOp = "lt" if step_of(loop) > 0 else "gt"
            both = (If(Compare(compare, loop.lower, loop.upper), both),)
        return finished(with_statement(kernel, loop, both), kernel)

    def _body(self, body: Body, carrying: _Carrying, store: Store) -> Body:
        if not self.again:
            return carrying.body(body, False)[0]
        element = Load(store.array, store.index, store.value.type, at=store.at, key=store.key)
        known = rewrite_body(body, expr=partial(carrying.load, written=False))
        return (*known, Assign(carrying.scalar.name, element, at=store.at))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(array, name) for name, loop in loops(kernel).items() for array in sorted(arrays_stored(loop.body)))


def _stores(loop: For, array: str, once: bool) -> tuple[Store, ...]:
    """The statements that write an array, all to the same element, of which each iteration runs one if that is asked;
    () where that is not so."""
    stores = tuple(stmt for stmt in statements(loop.body, Store) if stmt.array == array)
    jumps = [*statements(loop.body, Continue, Break, Leave, Return)]
    if jumps or not stores or any(one.index != stores[0].index for one in stores):
        return ()
    return () if once and _writes(loop.body, array) != 1 else stores


def _is_written(body: Body, array: str) -> bool:
    """Whether every way through a body writes to an array."""
    for stmt in body:
        if isinstance(stmt, Store) and stmt.array == array:
            return True
        if isinstance(stmt, If) and all(_is_written(part, array) for part in (stmt.then, stmt.otherwise)):
            return True
    return False


def _writes(body: Body, array: str) -> int | None:
    """How often an array is written, whichever way is taken; None where that is not known."""
    total = 0
    for stmt in body:
        match stmt:
            case If():
                counts = {_writes(stmt.then, array), _writes(stmt.otherwise, array)}
                count = counts.pop() if len(counts) == 1 else None
            case Store():
                count = int(stmt.array == array)
            case _:
                count = None if array in arrays_stored((stmt,)) else 0
        if count is None:
            return None
        total += count
    return total


def _written_after(body: Body, array: str, behind: Collection[int], written: bool) -> bool | None:
    """Whether the array is written at the end of a body, which every way tells alike; None where one of these loads,
    by their identity, stands behind the write."""
    for stmt in body:
        own = (stmt,) if not isinstance(stmt, If) else (replace(stmt, then=(), otherwise=()),)
        if written and any(id(one) in behind for one in expressions(own, Load)):
            return None
        if isinstance(stmt, If):
            ends = [_written_after(part, array, behind, written) for part in (stmt.then, stmt.otherwise)]
            if None in ends:
                return None
            written = any(ends)
        written = written or (isinstance(stmt, Store) and stmt.array == array)
    return written


@dataclass(frozen=True, slots=True)
class _Carrying:
    """The loop with the scalar. behind: the loads, by their identity, of what the iteration before has written."""

    array: str
    scalar: Var
    behind: Collection[int]

    def body(self, body: Body, written: bool) -> tuple[Body, bool]:
        """A body, and whether the element is written at its end. written: whether it is when it begins: then the scalar
        is worth that element."""
        made: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, If):
                then, ends = self.body(stmt.then, written)
                otherwise, _ = self.body(stmt.otherwise, written)
                condition = self._read(stmt.condition, written)
                made.append(replace(stmt, condition=condition, then=then, otherwise=otherwise))
                written = ends
                continue
            (now,) = rewrite_body((stmt,), expr=partial(self.load, written=written))
            if isinstance(now, Store) and now.array == self.array:
                made += (Assign(self.scalar.name, now.value, at=now.at), replace(now, value=self.scalar))
                written = True
            else:
                made.append(now)
        return tuple(made), written

    def _read(self, expr: Expr, written: bool) -> Expr:
        return rewrite_expr(expr, partial(self.load, written=written))

    def load(self, expr: Expr, written: bool) -> Expr:
        is_it = isinstance(expr, Load) and expr.array == self.array and (written or id(expr) in self.behind)
        return self.scalar if is_it else expr


def _surely(expr: Expr) -> Iterable[Load]:
    """What is read wherever an expression is computed."""
    return () if has(expr, Select, Logical) else expressions((Assign("", expr),), Load)


def _where_it_is(scalar: Var, before: Load, loop: For) -> Body:
    """The scalar begins with an element, or with 0 where there is none."""
    zero = Const(0.0 if scalar.type.is_float else scalar.type.kind != "bool" and 0, scalar.type)
    inside: list[Expr] = []
    for axis, place in enumerate(before.index):
        inside += [Compare("ge", place, number(0)), Compare("lt", place, Dim(before.array, axis))]
    there = reduce(lambda one, other: Logical("and", one, other), inside)
    begin = If(there, (Assign(scalar.name, before, at=loop.at),), ())
    return Assign(scalar.name, zero, at=loop.at), begin


def _moves(loop: For, store: Store) -> int:
    """How far the element that is written moves along one axis in each iteration, one for each step of the loop or one
    back, where it is the same along all others; 0 where that is not so."""
    changing = names_assigned(loop.body) | {stmt.name for stmt in statements(loop.body, For)}
    counts = [coefficient(axis, loop.name) for axis in store.index]
    fixed = all(not names_in(axis) & changing and not has(axis, Load) for axis in store.index)
    match [count for count in counts if count != 0]:
        case [1 | -1 as one] if fixed:
            return one * step_of(loop)
    return 0


def _is_behind(store: Store, load: Load, loop: str, distance: int) -> bool:
    """Whether the element is so far back from the one that is written, along the axis that moves: the one that the
    iteration before has written, or with 0 the iteration's own."""
    return all(
        apart(mine, theirs) == (distance if coefficient(mine, loop) else 0)
        for mine, theirs in zip(store.index, load.index, strict=True)
    )

"""The step `carry`: keep in a scalar what the next iteration reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import apart, coefficient, minus
from loopwright.ir.nodes import (
    Assign,
    Body,
    Compare,
    CompareOp,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_in
from loopwright.ir.walk import expressions, loops, own_expressions, rewrite_body, statements
from loopwright.steps.draft import finished, fresh, names_of, substituted_in, with_statement
from loopwright.steps.extent import loops_around, marked, surely_runs
from loopwright.steps.nest import left_early, missing, overlapping, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Carry(Step):
    """Keep the element that an iteration writes in a scalar, where the next one reads it from the array and nobody else
    reads it there: what the loop then carries on is a scalar, as in a running sum. An iteration may read its own
    element before it writes it. `carry b i`:

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
    grammar: ClassVar[str] = "ARRAY LOOP"
    array: str
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := left_early(loop) or marked((loop,))) is not None:
            return rejection
        store = _store(loop, self.array)
        if store is None or not (distance := _moves(loop, store)):
            return Rejection(f"iterations of '{self.loop}' do not each write the next element of '{self.array}'")
        loads = [one for one in expressions(loop.body, Load) if one.array == self.array]
        behind = [one for one in loads if _is_behind(store, one, self.loop, distance)]
        own = [one for one in loads if _is_behind(store, one, self.loop, 0)]
        if not behind or len(behind) + len(own) < len(loads):
            return Rejection(f"'{self.loop}' does not read of '{self.array}' what the iteration before has written")
        exprs = (expr for stmt in _until(loop, store) for expr in own_expressions(stmt))
        plain = [one for expr in exprs if not has(expr, Select, Logical) for one in _loads(expr)]
        if sum(one.array == self.array for one in plain) < len(loads):
            return Rejection(f"whether '{self.array}' is read is only known in each iteration, or it is read too late")
        uses: tuple[Load | Store, ...] = (store, *loads)
        if any(bounds.kind == "checked" or bounds.may_be_negative for one in uses for bounds in facts.bounds_of(one)):
            return Rejection(f"an access of '{self.array}' may fail, or count from the end")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        store = _store(loop, self.array)
        assert store is not None
        type_ = store.value.type
        scalar = Var(fresh(f"{self.array}.c", names_of(kernel)), type_)
        moves = _moves(loop, store)
        loads = [one for one in expressions(loop.body, Load) if one.array == self.array]
        first = next(one for one in loads if _is_behind(store, one, self.loop, moves))
        at = {loop.name: loop.lower}
        places = (substituted_in(axis, at) if mine == axis else minus(substituted_in(mine, at), moves)
                  for mine, axis in zip(store.index, first.index, strict=True))  # fmt: skip
        before = replace(first, index=tuple(places))

        def load(expr: Expr) -> Expr:
            if isinstance(expr, Load) and expr.array == self.array and _is_behind(store, expr, self.loop, moves):
                return scalar
            return expr

        def write(stmt: Stmt) -> Body:
            if isinstance(stmt, Store) and stmt.array == self.array:
                return Assign(scalar.name, stmt.value, at=stmt.at), replace(stmt, value=scalar)
            return (stmt,)

        changed = replace(loop, body=rewrite_body(loop.body, write, load))
        both: Body = (Assign(scalar.name, before, at=loop.at), changed)
        if not surely_runs(loop, loops_around(kernel, loop)):
            compare: CompareOp = "lt" if step_of(loop) > 0 else "gt"
            both = (If(Compare(compare, loop.lower, loop.upper), both),)
        return finished(with_statement(kernel, loop, both), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(array, name) for name, loop in loops(kernel).items() for array in sorted(arrays_stored(loop.body)))


def _store(loop: For, array: str) -> Store | None:
    """The one statement that writes an array, where that stands in the loop itself."""
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == array]
    return stores[0] if len(stores) == 1 and any(stmt is stores[0] for stmt in loop.body) else None


def _until(loop: For, store: Store) -> Body:
    """The loop's own statements up to that one."""
    return loop.body[: 1 + next(at for at, stmt in enumerate(loop.body) if stmt is store)]


def _loads(expr: Expr) -> Iterable[Load]:
    return expressions((Assign("", expr),), Load)


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

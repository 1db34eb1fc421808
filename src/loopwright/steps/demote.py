"""The step `demote`: keep a scalar in the array element that it ends up in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.local_arrays import never_meet
from loopwright.analysis.trace import escapes
from loopwright.ir.chosen_values import with_choices
from loopwright.ir.nodes import Assign, Body, Checked, Expr, For, Kernel, Load, Stmt, Store, Var, While
from loopwright.ir.queries import has, names_in, types_assigned
from loopwright.ir.walk import bodies, expressions, own_expressions, rewrite_body, statements
from loopwright.steps.draft import finished
from loopwright.steps.extent import around
from loopwright.steps.nest import overlapping
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Demote(Step):
    """Let an array element stand for the scalar that is finally stored in it, as it is or with some last computation,
    so that the loops in between can be taken apart and interchanged. `demote s`:

    var s: float64
    for i in 0 .. n:
        s = 0.0
        for j in 0 .. m:
            s = s + c[i, j]
        a[i] = s
    ->
    for i in 0 .. n:
        a[i] = 0.0
        for j in 0 .. m:
            a[i] = a[i] + c[i, j]
    """

    name: ClassVar[str] = "demote"
    grammar: ClassVar[str] = "SCALAR"
    scalar: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := overlapping(kernel)) is not None:
            return rejection
        found = _stretch(kernel, self.scalar)
        if found is None:
            return Rejection(f"'{self.scalar}' is not set and then stored, in one body")
        stretch, store = found
        inside = [*statements(stretch)]
        if any(escapes(stmt) for stmt in stretch):
            return Rejection(f"what stands between '{self.scalar}' and '{store.array}' may be left in the middle")
        uses = sum(_mentions(stmt, self.scalar) for stmt in statements(kernel.body))
        if uses != sum(_mentions(stmt, self.scalar) for stmt in inside):
            return Rejection(f"'{self.scalar}' is also used elsewhere")
        assigned = {stmt.name for stmt in inside if isinstance(stmt, Assign)}
        if any(names_in(expr) & assigned or _reads(expr) for expr in store.index):
            return Rejection(f"which element of '{store.array}' it is may change in between")
        if any(isinstance(s, Store) and s.array == store.array and s is not store for s in inside):
            return Rejection(f"'{store.array}' is written in between")
        loads = {id(e) for e in expressions(stretch[1:], Load) if e.array == store.array}
        stack = [stmt.name for stmt in around(kernel, store) if isinstance(stmt, For | While)]
        if loads and not never_meet(kernel, {id(store)}, loads, stack, facts.known):
            return Rejection(f"'{store.array}' is used in between, and it may be the same element")
        if _is_there(stretch[0], store) and any(bounds.kind == "checked" for bounds in facts.bounds_of(store)):
            return Rejection(f"whether '{store.array}' has that element is only known when it is read")
        types = {stmt.value.type for stmt in inside if isinstance(stmt, Assign) and stmt.name == self.scalar}
        if types != {store.value.type}:
            return Rejection(f"'{self.scalar}' and '{store.array}' are of different types")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        found = _stretch(kernel, self.scalar)
        assert found is not None
        store = found[1]

        def load(expr: Expr) -> Expr:
            if isinstance(expr, Var) and expr.name == self.scalar:
                return Load(store.array, store.index, expr.type, at=store.at, key=store.key)
            return expr

        def change(stmt: Stmt) -> Body:
            if isinstance(stmt, Assign) and stmt.name == self.scalar:
                return () if _is_there(stmt, store) else (replace(store, value=stmt.value, at=stmt.at),)
            is_last = isinstance(stmt, Store) and isinstance(stmt.value, Load) and stmt.value.key is store.key
            return () if is_last and stmt.key is store.key else (stmt,)  # type: ignore[union-attr]

        body = with_choices(kernel.body, self.scalar)
        return finished(replace(kernel, body=rewrite_body(body, change, load)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return map(cls, types_assigned(kernel.body))


def _stretch(kernel: Kernel, name: str) -> tuple[Body, Store] | None:
    """The statements of one body from the first assignment of the scalar to the store of it, or of what it is made
    of."""
    for body in _bodies(kernel.body):
        starts = [at for at, s in enumerate(body) if isinstance(s, Assign) and s.name == name]
        if not starts:
            continue
        stores = [at for at, s in enumerate(body) if isinstance(s, Store) and name in names_in(s.value)]
        if len(stores) == 1 and starts[0] < stores[0]:
            store = body[stores[0]]
            assert isinstance(store, Store)
            return body[starts[0] : stores[0] + 1], store
    return None


def _bodies(body: Body) -> Iterator[Body]:
    yield body
    for stmt in body:
        for inner in bodies(stmt):
            yield from _bodies(inner)


def ends_plainly(kernel: Kernel, name: str) -> bool:
    """Whether a scalar ends up as it is in an array that is not used while it is made: then there is nothing besides
    the scalar's own loops that an interchange could cost."""
    found = _stretch(kernel, name)
    if found is None or not isinstance(found[1].value, Var):
        return False
    return not any(isinstance(part, Load) and part.array == found[1].array for part in expressions(found[0]))


def _is_there(stmt: Stmt, store: Store) -> bool:
    """Whether the scalar begins as the element that it ends up in."""
    value = stmt.value if isinstance(stmt, Assign) else None
    return isinstance(value, Load) and (value.array, value.index) == (store.array, store.index)


def _mentions(stmt: Stmt, name: str) -> int:
    own = sum(name in names_in(expr) for expr in own_expressions(stmt))
    return own + (isinstance(stmt, Assign) and stmt.name == name)


def _reads(expr: Expr) -> bool:
    return has(expr, Load, Checked)

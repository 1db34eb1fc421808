"""Axes of size one of local arrays are left out, as those that `keepdims=True` leaves; an array that has no others is a
scalar, which loops can add up, and which is in a register.

    allocate t: float64[1, n]
    for i in 0 .. n:                       allocate t: float64[n]
        t[0, i] = 2.0 * a[i]        ->     for i in 0 .. n:
    for i in 0 .. n:                           t[i] = 2.0 * a[i]
        b[i] = t[0, i]                     ...
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from loopwright.ir.nodes import Allocate, Assign, Body, Const, Dim, Expr, Kernel, Load, Stmt, Store, Var
from loopwright.ir.queries import accesses_by_array, arrays_loaded, arrays_measured, arrays_stored, fresh, names_of
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, rewrite_body, statements

ZERO, ONE = Const(0, INT64), Const(1, INT64)


def without_unit_axes(kernel: Kernel) -> Kernel:
    """The same kernel, whose local arrays have no axes that are always of size one."""
    made = Counter(stmt.array for stmt in statements(kernel.body, Allocate))
    if not any(ONE in stmt.shape for stmt in statements(kernel.body, Allocate)):
        return kernel
    touching = accesses_by_array(kernel.body)
    taken = names_of(kernel)
    narrowed: dict[str, tuple[int, ...]] = {}
    scalars: dict[str, str] = {}
    for stmt, following in _allocated(kernel.body):
        if ONE not in stmt.shape or made[stmt.array] != 1 or stmt.double or stmt.original is not None:
            continue
        unit = [axis for axis, size in enumerate(stmt.shape) if size == ONE]
        if any(access.index[axis] != ZERO for access in touching.get(stmt.array, ()) for axis in unit):
            continue
        left = tuple(axis for axis in range(len(stmt.shape)) if axis not in unit)
        if left:
            narrowed[stmt.array] = left
        elif stmt.fill is not None or _is_set_first(stmt.array, following):
            scalars[stmt.array] = fresh(f"{stmt.array}.v", taken)
            taken.add(scalars[stmt.array])
    if not narrowed and not scalars:
        return kernel
    return replace(kernel, body=_Narrowed(narrowed, scalars).body(kernel.body))


def _allocated(body: Body) -> list[tuple[Allocate, Body]]:
    """Every local array, with the statements behind it."""
    found: list[tuple[Allocate, Body]] = []
    for at, stmt in enumerate(body):
        if isinstance(stmt, Allocate):
            found.append((stmt, body[at + 1 :]))
        for inner in bodies(stmt):
            found += _allocated(inner)
    return found


def _is_set_first(array: str, following: Body) -> bool:
    """Whether the first statement that has to do with an array gives it its value."""
    for stmt in following:
        if array in arrays_loaded((stmt,)) | arrays_stored((stmt,)) | arrays_measured((stmt,)):
            return isinstance(stmt, Store) and stmt.array == array and array not in arrays_loaded((stmt,))
    return False


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """arrays: the axes that are left of each. scalars: names of those that have none."""

    arrays: dict[str, tuple[int, ...]]
    scalars: dict[str, str]

    def body(self, body: Body) -> Body:
        return rewrite_body(body, self._statement, self._expression)

    def _statement(self, stmt: Stmt) -> Body:
        match stmt:
            case Allocate(array) if array in self.scalars:
                return () if stmt.fill is None else (Assign(self.scalars[array], stmt.fill, at=stmt.at),)
            case Store(array) if array in self.scalars:
                return (Assign(self.scalars[array], stmt.value, at=stmt.at),)
            case Allocate(array) if array in self.arrays:
                return (replace(stmt, shape=tuple(stmt.shape[axis] for axis in self.arrays[array])),)
            case Store(array) if array in self.arrays:
                return (replace(stmt, index=tuple(stmt.index[axis] for axis in self.arrays[array])),)
        return (stmt,)

    def _expression(self, expr: Expr) -> Expr:
        match expr:
            case Load(array) if array in self.scalars:
                return Var(self.scalars[array], expr.type)
            case Load(array) if array in self.arrays:
                return replace(expr, index=tuple(expr.index[axis] for axis in self.arrays[array]))
            case Dim(array) if array in self.scalars:
                return ONE
            case Dim(array, axis) if array in self.arrays:
                left = self.arrays[array]
                return Dim(array, left.index(axis)) if axis in left else ONE
        return expr

"""A loop that computes what an earlier one has computed is left out (common subexpressions, where each is a loop).
NumPy code asks for the mean of an array, and then for its standard deviation, which begins with the mean.

    s = 0.0                                s = 0.0
    for i in 0 .. n:                       for i in 0 .. n:
        s = s + a[i]                           s = s + a[i]
    t = 0.0                         ->     t = s
    for j in 0 .. n:
        t = t + a[j]

What a loop computes are scalars that are set right before it, and local arrays that nothing else writes to.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from loopwright.ir.nodes import Allocate, Assign, Body, Dim, Expr, For, If, Kernel, Load, Stmt, Store, Var
from loopwright.ir.printing import print_stmt
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_measured,
    arrays_stored,
    names_assigned,
    names_read,
)
from loopwright.ir.walk import (
    bodies,
    expressions,
    own_expressions,
    rewrite_body,
    statements,
    subexpressions,
    with_bodies,
)

PLAIN = Assign | Store | For | If


def without_repeated_loops(kernel: Kernel) -> Kernel:
    """The same kernel, in which no loop computes what an earlier one among the same statements has computed."""
    if kernel.overlap:
        return kernel
    while sum(1 for _ in statements(kernel.body, For)) > 1:
        pass_ = _Pass(
            Counter(part.name for part in expressions(kernel.body, Var)),
            Counter(stmt.array for stmt in statements(kernel.body, Store)),
            Counter(stmt.array for stmt in statements(kernel.body, Allocate)),
        )
        body = pass_.body(kernel.body)
        if body is kernel.body:
            break
        kernel = replace(kernel, body=rewrite_body(body, expr=pass_.expression))
        if not pass_.arrays:
            break  # or loops that read these may be alike now
    return kernel


@dataclass(frozen=True, slots=True)
class _Unit:
    """A loop with what is set before it. first: its first statement, counted in the body. text: the same for two units
    that compute the same. scalars, arrays: what it computes, in the order of the text. reads: names and arrays on which
    this depends."""

    first: int
    text: str
    scalars: tuple[str, ...]
    arrays: tuple[str, ...]
    reads: frozenset[str]


@dataclass
class _Pass:
    """reads: how often the kernel reads a scalar; stores, makes: how many statements of it write to an array, and make
    it. arrays: those that are left out, with those that have the same elements."""

    reads: Counter[str]
    stores: Counter[str]
    makes: Counter[str]
    arrays: dict[str, str] = field(default_factory=dict)

    def body(self, body: Body) -> Body:
        """A body, and all bodies in it, without repetitions."""
        changed = tuple(self._inside(stmt) for stmt in body)
        known: dict[str, _Unit] = {}
        left: list[Stmt] = []
        for at, stmt in enumerate(changed):
            touched = names_assigned((stmt,)) | arrays_stored((stmt,)) | arrays_made((stmt,))
            unit = self._unit(changed, at) if isinstance(stmt, For) else None
            for text, one in list(known.items()):
                if touched & (one.reads | {*one.scalars, *one.arrays}):
                    del known[text]
            if unit is None:
                left.append(stmt)
                continue
            before = known.get(unit.text)
            if before is None or self._is_read_elsewhere(changed[unit.first : at + 1], unit):
                known[unit.text] = unit
                left.append(stmt)
                continue
            del left[len(left) - (at - unit.first) :]
            types = {one.name: one.value.type for one in statements(changed[unit.first : at + 1], Assign)}
            left += (Assign(new, Var(old, types[new])) for new, old in zip(unit.scalars, before.scalars, strict=True))
            self.arrays |= zip(unit.arrays, before.arrays, strict=True)
        if len(left) == len(body) and all(new is old for new, old in zip(left, body, strict=True)):
            return body
        return tuple(left)

    def _inside(self, stmt: Stmt) -> Stmt:
        inner = tuple(self.body(body) for body in bodies(stmt))
        return with_bodies(stmt, inner) if inner else stmt

    def expression(self, expr: Expr) -> Expr:
        """What stands for an expression, where an array has been left out."""
        if isinstance(expr, Load | Dim) and expr.array in self.arrays:
            return replace(expr, array=self.arrays[expr.array])
        return expr

    def _unit(self, body: Body, at: int) -> _Unit | None:
        """The loop at a place, with what is set before it; None where it does more than to compute."""
        loop = body[at]
        if not isinstance(loop, For) or not all(isinstance(stmt, PLAIN) for stmt in statements((loop,))):
            return None
        assigned, stored = names_assigned((loop,)), arrays_stored((loop,))
        first = at
        while first and _is_set(body[first - 1], assigned, stored):
            first -= 1
        unit = body[first : at + 1]
        scalars = tuple(dict.fromkeys(stmt.name for stmt in unit[:-1] if isinstance(stmt, Assign)))
        arrays = tuple(stmt.array for stmt in unit[:-1] if isinstance(stmt, Allocate))
        if not (scalars or arrays) or stored - {*arrays} or len({*arrays}) < len(arrays):
            return None
        if _begins_with_more(unit, assigned):
            return None
        if not all(_is_private(name, loop.body) for name in assigned - {*scalars}):
            return None
        inside = Counter(stmt.array for stmt in statements(unit, Store))
        if any(self.makes[array] != 1 or self.stores[array] != inside[array] for array in arrays):
            return None
        own = assigned | {stmt.name for stmt in statements(unit, For)}
        reads = names_read(unit) - own | (arrays_loaded(unit) | arrays_measured(unit)) - {*arrays}
        return _Unit(first, _text(unit), scalars, arrays, frozenset(reads))

    def _is_read_elsewhere(self, body: Body, unit: _Unit) -> bool:
        """Whether something that a unit leaves in other scalars than its own is needed outside of it."""
        others = names_assigned(body) - {*unit.scalars} | {stmt.name for stmt in statements(body, For)}
        inside = Counter(part.name for part in expressions(body, Var))
        return any(self.reads[name] != inside[name] for name in others)


def _is_set(stmt: Stmt, scalars: set[str], arrays: set[str]) -> bool:
    """Whether a statement sets a scalar, or makes an array, that the loop behind it goes on with."""
    return (isinstance(stmt, Assign) and stmt.name in scalars) or (
        isinstance(stmt, Allocate) and stmt.array in arrays and stmt.original is None and not stmt.double
    )


def _begins_with_more(unit: Body, assigned: set[str]) -> bool:
    """Whether what is set before a loop, or its bounds, depend on what scalars were that the unit itself changes."""
    known: set[str] = set()
    for stmt in unit:
        read = {part.name for expr in own_expressions(stmt) for part in subexpressions(expr, Var)}
        if read & assigned - known:
            return True
        if isinstance(stmt, Assign):
            known.add(stmt.name)
    return False


def _is_private(name: str, body: Body) -> bool:
    """Whether each iteration sets a scalar before it reads it."""
    touching = [stmt for stmt in body if name in names_assigned((stmt,)) | names_read((stmt,))]
    if not touching:
        return True
    first = touching[0]
    if isinstance(first, Assign):
        return first.name == name and name not in names_read((first,))
    own = {part.name for expr in own_expressions(first) for part in subexpressions(expr, Var)}
    return len(touching) == 1 and name not in own and all(_is_private(name, inner) for inner in bodies(first))


def _text(unit: Body) -> str:
    """The text of a unit, where each name that it sets is a number."""
    names: dict[str, str] = {}
    for stmt in statements(unit, Assign, For):
        names.setdefault(stmt.name, f"${len(names)}")
    arrays = {stmt.array: f"${number}[]" for number, stmt in enumerate(statements(unit, Allocate))}

    def written(stmt: Stmt) -> Body:
        if isinstance(stmt, Assign | For):
            return (replace(stmt, name=names[stmt.name]),)
        if isinstance(stmt, Allocate | Store):
            return (replace(stmt, array=arrays[stmt.array]),)
        return (stmt,)

    def read(expr: Expr) -> Expr:
        if isinstance(expr, Var):
            return replace(expr, name=names.get(expr.name, expr.name))
        if isinstance(expr, Load | Dim):
            return replace(expr, array=arrays.get(expr.array, expr.array))
        return expr

    return "\n".join(map(print_stmt, rewrite_body(unit, written, read)))

"""The step `expand`: give a scalar that each iteration sets anew an element for each iteration (scalar expansion)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.nodes import Allocate, Assign, Body, Const, Dim, Expr, For, Kernel, Load, Stmt, Store, Var, While
from loopwright.ir.types import Scalar
from loopwright.ir.walk import loops, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import finished, fresh, minus, most, names_of, number, variable, with_statement
from loopwright.steps.extent import extent_of, marked
from loopwright.steps.nest import changes_inside, is_inside, missing, names_in, step_of, the_loop
from loopwright.steps.pack import CACHE_BYTES
from loopwright.steps.step import Rejection


@dataclass(frozen=True, slots=True)
class Expand:
    """Keep a scalar in a local array with an element for each iteration of one loop, or of several loops around one
    another, so that these can be taken apart and interchanged. Of a loop in stretches the array has a constant length;
    of one that begins at zero, the length of the whole loop. `expand s i`:

    var s: float64
    for i.o in 0 .. n step 8:
        for i in i.o .. min(i.o + 8, n):
            s = 0.0
            for k in 0 .. m:
                s = s + c[i, k]
            a[i] = 2.0 * s
    ->
    for i.o in 0 .. n step 8:
        allocate s.x: float64[8]
        for i in i.o .. min(i.o + 8, n):
            s.x[i - i.o] = 0.0
            for k in 0 .. m:
                s.x[i - i.o] = s.x[i - i.o] + c[i, k]
            a[i] = 2.0 * s.x[i - i.o]
    """

    name: ClassVar[str] = "expand"
    scalar: str
    loops: tuple[str, ...]

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, self.loops)) is not None:
            return rejection
        found = [the_loop(kernel, name) for name in self.loops]
        for outer, inner in pairwise(found):
            if not is_inside(kernel, inner, outer):
                return Rejection(f"'{inner.name}' is not inside '{outer.name}'")
        for loop in found:
            if (rejection := changes_inside(loop)) is not None:
                return rejection
            if step_of(loop) != 1 or not (extent_of(loop) or _length_of(loop, found[0])):
                return Rejection(f"'{loop.name}' has no constant number of iterations: `split` makes stretches of one")
        type_ = _type_of(kernel, self.scalar)
        if type_ is None:
            return Rejection(f"there is no scalar '{self.scalar}' that is assigned to")
        inside = {id(stmt) for stmt in statements(found[-1].body)}
        if any(_mentions(stmt, self.scalar) for stmt in statements(kernel.body) if id(stmt) not in inside):
            return Rejection(f"'{self.scalar}' is also used outside of '{found[-1].name}'")
        kinds = scalars_of(found[-1], live_after(kernel)[found[-1].name])
        if self.scalar not in kinds.private or self.scalar in kinds.last:
            return Rejection(f"not every iteration of '{found[-1].name}' sets '{self.scalar}' before it is read")
        total = prod((type_.size_bytes, *(extent_of(loop) or 1 for loop in found)))
        if total > CACHE_BYTES and all(extent_of(loop) for loop in found):
            return Rejection(f"the array would take {total} bytes; the limit is {CACHE_BYTES}")
        return marked((found[0],))

    def apply(self, kernel: Kernel) -> Kernel:
        found = [the_loop(kernel, name) for name in self.loops]
        type_ = _type_of(kernel, self.scalar)
        assert type_ is not None
        array = fresh(f"{self.scalar}.x", names_of(kernel))
        index = tuple(minus(variable(loop.name), loop.lower if extent_of(loop) else 0) for loop in found)

        def load(expr: Expr) -> Expr:
            return Load(array, index, type_) if isinstance(expr, Var) and expr.name == self.scalar else expr

        def store(stmt: Stmt) -> Body:
            if isinstance(stmt, Assign) and stmt.name == self.scalar:
                return (Store(array, index, stmt.value, at=stmt.at),)
            return (stmt,)

        changed = replace(found[0], body=rewrite_body(found[0].body, store, load))
        shape = tuple(_size_of(loop, found[0]) for loop in found)
        return finished(with_statement(kernel, found[0], (Allocate(array, type_, shape, None), changed)), kernel)

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        names = dict.fromkeys(stmt.name for stmt in statements(kernel.body) if isinstance(stmt, Assign))
        stretches = [name for name, loop in loops(kernel).items() if isinstance(loop, For) and _has_stretch(loop)]
        steps = (cls(scalar, (loop,)) for scalar in names for loop in stretches)
        return tuple(step for step in steps if step.illegal(kernel, facts, strict) is None)

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        if len(words) < 2:
            raise ValueError("expand SCALAR LOOP ..., from outside to inside")
        return cls(words[0], words[1:])

    def __str__(self) -> str:
        return f"expand {self.scalar} {' '.join(self.loops)}"


def _has_stretch(loop: For) -> bool:
    return bool(extent_of(loop))


def _size_of(loop: For, first: For) -> Expr:
    """Elements of the axis for a loop."""
    extent = extent_of(loop)
    length = number(extent) if extent else _length_of(loop, first)
    assert length is not None
    return length


def _length_of(loop: For, first: For) -> Expr | None:
    """How far a loop from zero (or a little more) runs, where that is known before the first of the loops."""
    lower, upper = loop.lower, loop.upper
    if not isinstance(lower, Const) or int(lower.value) < 0:
        return None
    inside = [first, *statements(first.body)]
    changed = {stmt.name for stmt in inside if isinstance(stmt, For | While | Assign)}
    made = {stmt.array for stmt in inside if isinstance(stmt, Allocate)}
    sizes = {part.array for part in subexpressions(upper) if isinstance(part, Dim)}
    return None if names_in(upper) & changed or sizes & made else most(number(0), upper)


def _type_of(kernel: Kernel, scalar: str) -> Scalar | None:
    types = (stmt.value.type for stmt in statements(kernel.body) if isinstance(stmt, Assign) and stmt.name == scalar)
    return next(types, None)


def _mentions(stmt: Stmt, name: str) -> bool:
    if isinstance(stmt, Assign) and stmt.name == name:
        return True
    return any(name in names_in(expr) for expr in own_expressions(stmt))

"""The step `expand`: give a scalar that each iteration sets anew an element for each iteration (scalar expansion), or
an array that each iteration fills anew a copy (array expansion; Feautrier 1988)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.chosen_values import with_choices
from loopwright.ir.nodes import Allocate, Assign, Body, Expr, For, Kernel, Load, Stmt, Store, Var
from loopwright.ir.queries import arrays_made, names_in, types_assigned
from loopwright.ir.types import Scalar
from loopwright.ir.walk import loops, own_expressions, rewrite_body, statements
from loopwright.steps.copies import bytes_of, copied, copies_of, index_of, length_of, shape_of, tied
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import extent_of, marked
from loopwright.steps.nest import changes_inside, is_inside, missing, step_of, the_loop
from loopwright.steps.pack import CACHE_BYTES
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Expand(Step):
    """Keep a scalar in a local array with an element for each iteration of one loop, or of several loops around one
    another, so that these can be taken apart and interchanged. Of a loop in stretches the array has a constant length;
    of another one, the length of the whole loop. An array gets a copy for each iteration in the same way: in a loop i
    from zero on, t[j] becomes t.x[i, j], or with `in`, which puts the new axes innermost, t.x[j, i]. What the last
    iteration leaves in an array that others use too is put there after the loop. `expand s i`:

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
    grammar: ClassVar[str] = "SCALAR_OR_ARRAY [in] LOOP ..., from outside to inside"
    target: str
    innermost: bool = field(default=False, kw_only=True)
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
            if step_of(loop) != 1 or not (extent_of(loop) or length_of(loop, found[0])):
                return Rejection(f"'{loop.name}' has a length that is not known before it: `split` makes pieces of one")
        if self.target in _arrays(kernel):
            copies = copies_of(kernel, self.target, found)
            size_bytes = bytes_of(copies.element, found, copies.shape)
            return _too_many(size_bytes) or marked((found[0],)) or tied(kernel, facts, copies, found)
        type_ = _type_of(kernel, self.target)
        if type_ is None:
            return Rejection(f"there is no scalar '{self.target}' that is assigned to")
        inside = {id(stmt) for stmt in statements(found[-1].body)}
        if any(_mentions(stmt, self.target) for stmt in statements(kernel.body) if id(stmt) not in inside):
            return Rejection(f"'{self.target}' is also used outside of '{found[-1].name}'")
        kinds = scalars_of(found[-1], live_after(kernel)[found[-1].name])
        if self.target not in kinds.private or self.target in kinds.last:
            return Rejection(f"not every iteration of '{found[-1].name}' sets '{self.target}' before it is read")
        return _too_many(bytes_of(type_, found)) or marked((found[0],))

    def apply(self, kernel: Kernel) -> Kernel:
        found = [the_loop(kernel, name) for name in self.loops]
        if self.target in _arrays(kernel):
            copies = copies_of(kernel, self.target, found)
            return finished(copied(kernel, copies, found, self.innermost), kernel)
        type_ = _type_of(kernel, self.target)
        assert type_ is not None
        array = fresh(f"{self.target}.x", names_of(kernel))
        index = index_of(found)

        def load(expr: Expr) -> Expr:
            return Load(array, index, type_) if isinstance(expr, Var) and expr.name == self.target else expr

        def store(stmt: Stmt) -> Body:
            if isinstance(stmt, Assign) and stmt.name == self.target:
                return (Store(array, index, stmt.value, at=stmt.at),)
            return (stmt,)

        changed = replace(found[0], body=rewrite_body(with_choices(found[0].body, self.target), store, load))
        made = Allocate(array, type_, shape_of(found), None)
        return finished(with_statement(kernel, found[0], (made, changed)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        stretches = [name for name, loop in loops(kernel).items() if isinstance(loop, For) and _has_stretch(loop)]
        return (cls(scalar, (loop,)) for scalar in types_assigned(kernel.body) for loop in stretches)


def _has_stretch(loop: For) -> bool:
    return bool(extent_of(loop))


def _arrays(kernel: Kernel) -> set[str]:
    made = arrays_made(kernel.body)
    return made | {one.name for one in kernel.arrays} | {one.name for one in kernel.results}


def _type_of(kernel: Kernel, scalar: str) -> Scalar | None:
    types = (stmt.value.type for stmt in statements(kernel.body, Assign) if stmt.name == scalar)
    return next(types, None)


def _too_many(size_bytes: int | None) -> Rejection | None:
    if size_bytes is not None and size_bytes > CACHE_BYTES:
        return Rejection(f"the array would take {size_bytes} bytes; the limit is {CACHE_BYTES}")
    return None


def _mentions(stmt: Stmt, name: str) -> bool:
    if isinstance(stmt, Assign) and stmt.name == name:
        return True
    return any(name in names_in(expr) for expr in own_expressions(stmt))

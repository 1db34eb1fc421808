"""The step `lift`: an array that inner loops make anew is made once in each iteration of a loop around them (the
opposite of array privatization, for what is around a loop that needs its order)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Allocate, Body, Checked, Const, For, Kernel, Load, Stmt, Store, Var
from loopwright.ir.queries import arrays_made, has, settled_by, unsettled_in
from loopwright.ir.sizes import room_for, tests_of
from loopwright.ir.types import INT64
from loopwright.ir.walk import loops, rewrite_body, statements
from loopwright.steps.draft import finished, fresh, names_of
from loopwright.steps.extent import marked
from loopwright.steps.nest import is_inside, missing, overlapping, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Lift(Step):
    """Make a local array once at the beginning of each iteration of a loop, instead of anew in loops or conditions
    inside it: each iteration can get a place in memory for it then. What it is filled with is written where it was
    made; a size that may be negative is still tested there. `lift t i`:

    for i in 0 .. n:
        for s in 0 .. m:
            allocate t: float64[m] = 0.0
            for k in 0 .. s:
                t[k] = a[i] + float64(k)
            a[i] = t[0]
    ->
    var t.n: int64
    for i in 0 .. n:
        allocate t: float64[max(0, m)]
        for s in 0 .. m:
            t.n = checked(0, m >= 0, negative_size)
            for z in 0 .. m:
                t[z] = 0.0
            for k in 0 .. s:
                t[k] = a[i] + float64(k)
            a[i] = t[0]
    """

    name: ClassVar[str] = "lift"
    grammar: ClassVar[str] = "ARRAY LOOP"
    array: str
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        made = [stmt for stmt in statements(kernel.body, Allocate) if stmt.array == self.array]
        if len(made) != 1 or not is_inside(kernel, made[0], loop) or any(stmt is made[0] for stmt in loop.body):
            return Rejection(f"'{self.array}' is no local array that is made once, further inside '{self.loop}'")
        if made[0].double or made[0].original is not None:
            return Rejection(f"'{self.array}' has a layout of its own already")
        changed = unsettled_in(loop.body) | {stmt.name for stmt in statements(loop.body, For)}
        for size in made[0].shape:
            if has(size, Load, Checked) or settled_by(size) & changed:
                return Rejection(f"the size of '{self.array}' is not known at the beginning of '{self.loop}'")
        return marked((loop,))

    def apply(self, kernel: Kernel) -> Kernel:
        (made,) = (stmt for stmt in statements(kernel.body, Allocate) if stmt.array == self.array)
        taken = names_of(kernel)
        there = tests_of(made, fresh(f"{self.array}.n", taken)) + _filled(made, taken)
        room = replace(made, shape=tuple(map(room_for, made.shape)), fill=None)

        def change(stmt: Stmt) -> Body:
            if stmt is made:
                return there
            if isinstance(stmt, For) and stmt.name == self.loop:
                return (replace(stmt, body=(room, *stmt.body)),)
            return (stmt,)

        return finished(replace(kernel, body=rewrite_body(kernel.body, change)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        names = [name for name, loop in loops(kernel).items() if isinstance(loop, For)]
        return (cls(array, loop) for array in sorted(arrays_made(kernel.body)) for loop in names)


def _filled(made: Allocate, taken: set[str]) -> Body:
    """Loops that write what an array is filled with."""
    if made.fill is None:
        return ()
    names = [fresh("z" if axis == 0 else f"z.{axis}", taken) for axis in range(len(made.shape))]
    index = tuple(Var(name, INT64) for name in names)
    body: Body = (Store(made.array, index, made.fill, at=made.at),)
    for name, size in zip(reversed(names), reversed(made.shape), strict=True):
        body = (For(name, Const(0, INT64), size, Const(1, INT64), body, at=made.at),)
    return body

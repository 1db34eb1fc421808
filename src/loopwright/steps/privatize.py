"""The step `privatize`: a loop each of whose iterations fills an array anew makes one in each iteration (array
privatization; Tu and Padua 1993)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Allocate, Checked, Dim, For, Kernel, Load, Stmt, Store
from loopwright.ir.queries import arrays_made, has, names_assigned, settled_by
from loopwright.ir.walk import loops, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import finished
from loopwright.steps.extent import marked
from loopwright.steps.nest import is_inside, missing, overlapping, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Privatize(Step):
    """Make a local array in each iteration of a loop instead of once before it, where each iteration writes what it
    reads of it: it ties them together no more, and a thread of a GPU has one of its own. `privatize t i`:

    allocate t: float64[4]
    for i in 0 .. n:
        for k in 0 .. 4:
            t[k] = a[i] + float64(k)
        b[i] = t[3] - t[0]
    ->
    for i in 0 .. n:
        allocate t: float64[4]
        for k in 0 .. 4:
            t[k] = a[i] + float64(k)
        b[i] = t[3] - t[0]
    """

    name: ClassVar[str] = "privatize"
    grammar: ClassVar[str] = "ARRAY LOOP"
    array: str
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        made = [stmt for stmt in statements(kernel.body, Allocate) if stmt.array == self.array]
        if len(made) != 1 or is_inside(kernel, made[0], loop):
            return Rejection(f"'{self.array}' is no local array that is made once, outside of '{self.loop}'")
        inside = {id(stmt) for stmt in statements((loop,))}
        rest = (stmt for stmt in statements(kernel.body) if id(stmt) not in inside and stmt is not made[0])
        if any(_uses(stmt, self.array) for stmt in rest):
            return Rejection(f"'{self.array}' is also used outside of '{self.loop}'")
        if any(has(size, Load, Checked) or settled_by(size) & names_assigned(kernel.body) for size in made[0].shape):
            return Rejection(f"the size of '{self.array}' is computed before '{self.loop}'")
        if self.loop not in facts.loops or self.array not in facts.loops[self.loop].private:
            return Rejection(f"iterations of '{self.loop}' may read what earlier ones have left in '{self.array}'")
        return marked((loop,))

    def apply(self, kernel: Kernel) -> Kernel:
        (made,) = (stmt for stmt in statements(kernel.body, Allocate) if stmt.array == self.array)

        def change(stmt: Stmt) -> tuple[Stmt, ...]:
            if stmt is made:
                return ()
            if isinstance(stmt, For) and stmt.name == self.loop:
                return (replace(stmt, body=(replace(made, fill=None), *stmt.body)),)
            return (stmt,)

        return finished(replace(kernel, body=rewrite_body(kernel.body, change)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        names = [name for name, loop in loops(kernel).items() if isinstance(loop, For)]
        return (cls(array, loop) for array in sorted(arrays_made(kernel.body)) for loop in names)


def _uses(stmt: Stmt, array: str) -> bool:
    """Whether the statement itself does, not those in it."""
    if isinstance(stmt, Store) and stmt.array == array:
        return True
    parts = (part for expr in own_expressions(stmt) for part in subexpressions(expr, Load, Dim))
    return any(part.array == array for part in parts)

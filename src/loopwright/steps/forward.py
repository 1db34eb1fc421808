"""The step `forward`: what a scalar is set to stands where the scalar is read (forward substitution)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.local_arrays import never_meet
from loopwright.ir.nodes import Allocate, Assign, Body, Checked, Expr, For, Kernel, Load, Stmt, Store, Var, While
from loopwright.ir.queries import has, names_assigned, names_in, size_of, types_assigned
from loopwright.ir.walk import bodies, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import finished
from loopwright.steps.extent import around
from loopwright.steps.nest import overlapping, too_large
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Forward(Step):
    """Compute what a scalar is set to where it is read, so that it ties no statements together any more. It is computed
    more often then, unless a loop's invariants are computed before it. `forward s`:

    var s: float64
    for i in 0 .. n:
        s = 2.0 * b[i]
        for j in 0 .. m:
            c[i, j] = c[i, j] + s * b[j]
    ->
    for i in 0 .. n:
        for j in 0 .. m:
            c[i, j] = c[i, j] + 2.0 * b[i] * b[j]
    """

    name: ClassVar[str] = "forward"
    grammar: ClassVar[str] = "SCALAR"
    scalar: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := overlapping(kernel)) is not None:
            return rejection
        set_in = [stmt for stmt in statements(kernel.body, Assign) if stmt.name == self.scalar]
        if len(set_in) != 1:
            return Rejection(f"'{self.scalar}' is not set by just one statement")
        (made,) = set_in
        behind = _behind(kernel.body, made)
        assert behind is not None
        uses = sum(_reads(stmt, self.scalar) for stmt in statements(behind))
        if uses != sum(_reads(stmt, self.scalar) for stmt in statements(kernel.body)) or _reads(made, self.scalar):
            return Rejection(f"'{self.scalar}' is also read where it has another iteration's value, or none")
        while behind and not any(_reads(stmt, self.scalar) for stmt in statements(behind[-1:])):
            behind = behind[:-1]
        return (
            self._fails(made, facts)
            or self._changes(kernel, made, behind, facts)
            or too_large(kernel, uses * size_of((made,)))
        )

    def _fails(self, made: Assign, facts: Facts) -> Rejection | None:
        loads = subexpressions(made.value, Load)
        if has(made.value, Checked) or any(one.kind == "checked" for load in loads for one in facts.bounds_of(load)):
            return Rejection(f"to compute '{self.scalar}' may fail, so that it is computed where it is written")
        return None

    def _changes(self, kernel: Kernel, made: Assign, behind: Body, facts: Facts) -> Rejection | None:
        """Why the value would be another one where it is read."""
        if changed := names_in(made.value) & names_assigned(behind):
            return Rejection(f"'{min(changed)}' changes before '{self.scalar}' is read")
        stack = [stmt.name for stmt in around(kernel, made) if isinstance(stmt, For | While)]
        loads = list(subexpressions(made.value, Load))
        for array in sorted({load.array for load in loads}):
            if any(one.array == array for one in statements(behind, Allocate)):
                return Rejection(f"'{array}' is made anew before '{self.scalar}' is read")
            stores = {id(one) for one in statements(behind, Store) if one.array == array}
            ours = {id(one) for one in loads if one.array == array}
            if stores and not never_meet(kernel, stores, ours, stack, facts.known):
                return Rejection(f"'{array}' is written before '{self.scalar}' is read, and it may be the same element")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        (made,) = (stmt for stmt in statements(kernel.body, Assign) if stmt.name == self.scalar)

        def read(expr: Expr) -> Expr:
            return made.value if isinstance(expr, Var) and expr.name == self.scalar else expr

        def change(stmt: Stmt) -> Body:
            return () if isinstance(stmt, Assign) and stmt.name == self.scalar else (stmt,)

        draft = rewrite_body(kernel.body, change, read)
        return finished(replace(kernel, body=draft), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return map(cls, types_assigned(kernel.body))


def _behind(body: Body, stmt: Stmt) -> Body | None:
    """What stands behind a statement in the body that it stands in."""
    for at, one in enumerate(body):
        if one is stmt:
            return body[at + 1 :]
        for inner in bodies(one):
            if (found := _behind(inner, stmt)) is not None:
                return found
    return None


def _reads(stmt: Stmt, name: str) -> int:
    return sum(isinstance(part, Var) and part.name == name for own in own_expressions(stmt)
               for part in subexpressions(own))  # fmt: skip

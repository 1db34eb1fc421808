"""The step `contract`: a scalar instead of a local array whose elements live for one iteration each (array contraction;
Sarkar and Gao 1991)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Allocate, Assign, Body, Expr, Kernel, Load, Stmt, Store, Var
from loopwright.ir.queries import (
    accesses,
    arrays_loaded,
    arrays_made,
    arrays_measured,
    arrays_stored,
    has,
    names_assigned,
    names_in,
    names_of,
)
from loopwright.ir.sizes import tests_of
from loopwright.ir.walk import bodies, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import finished, fresh
from loopwright.steps.nest import overlapping
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Contract(Step):
    """Keep in a scalar what a local array passes from one statement of an iteration to the next, where each iteration
    writes the element that it reads; the array is gone then, and so is all that went to memory and back. Loops that
    were fused leave such arrays. A size that may be negative is still tested. `contract t`:

    allocate t: float64[size(a, 0)]
    for i in 0 .. size(a, 0):
        t[i] = 2.0 * a[i]
        b[i] = t[i] + a[i]
    ->
    var t.c: float64
    for i in 0 .. size(a, 0):
        t.c = 2.0 * a[i]
        b[i] = t.c + a[i]
    """

    name: ClassVar[str] = "contract"
    grammar: ClassVar[str] = "ARRAY"
    array: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := overlapping(kernel)) is not None:
            return rejection
        made = [stmt for stmt in statements(kernel.body, Allocate) if stmt.array == self.array]
        if len(made) != 1 or made[0].double or made[0].original is not None:
            return Rejection(f"'{self.array}' is no local array that is made once")
        if self.array in arrays_measured(kernel.body):
            return Rejection(f"the size of '{self.array}' is asked for")
        if any(one.kind != "proven" for part in self._accesses(kernel.body) for one in facts.bounds_of(part)):
            return Rejection(f"an index of '{self.array}' may be outside of it, which is an error")
        return self._is_kept(self._body(kernel.body))

    def _is_kept(self, body: Body) -> Rejection | None:
        """Why what a run of the body reads of the array may be something else than what it has written before."""
        found = {part.index for part in self._accesses(body)}
        if len(found) != 1:
            return Rejection(f"'{self.array}' has not just one element in each iteration")
        places = next(iter(found))
        if any(has(place, Load) or names_in(place) & names_assigned(body) for place in places):
            return Rejection(f"the index of '{self.array}' may change between its uses")
        first = next(stmt for stmt in body if self._is_used(stmt))
        loaded = {part.array for expr in own_expressions(first) for part in subexpressions(expr, Load)}
        if not isinstance(first, Store) or first.array != self.array or self.array in loaded:
            return Rejection(f"'{self.array}' may be read before it is written")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        (made,) = (stmt for stmt in statements(kernel.body, Allocate) if stmt.array == self.array)
        taken = names_of(kernel)
        kept = Var(fresh(f"{self.array}.c", taken), made.element)
        sizes = tests_of(made, fresh(f"{self.array}.n", taken))

        def statement(stmt: Stmt) -> Body:
            if stmt is made:
                return sizes
            if isinstance(stmt, Store) and stmt.array == self.array:
                return (Assign(kept.name, stmt.value, at=stmt.at),)
            return (stmt,)

        def expression(expr: Expr) -> Expr:
            return kept if isinstance(expr, Load) and expr.array == self.array else expr

        return finished(replace(kernel, body=rewrite_body(kernel.body, statement, expression)), kernel)

    def _accesses(self, body: Body) -> list[Load | Store]:
        return [part for part in accesses(body) if part.array == self.array]

    def _is_used(self, stmt: Stmt) -> bool:
        return self.array in arrays_stored((stmt,)) | arrays_loaded((stmt,))

    def _body(self, body: Body) -> Body:
        """The innermost body that all accesses stand in."""
        for stmt in body:
            for inner in bodies(stmt):
                if self._accesses(inner) and len(self._accesses(inner)) == len(self._accesses(body)):
                    return self._body(inner)
        return body

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(array) for array in sorted(arrays_made(kernel.body)))

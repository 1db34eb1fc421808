"""The step `propagate`: a size that the guard asks every call to have is that number (constant propagation)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import number
from loopwright.ir.nodes import ArrayParam, Dim, Expr, Kernel
from loopwright.ir.simplify import simplify
from loopwright.ir.walk import expressions, rewrite_body
from loopwright.steps.draft import finished
from loopwright.steps.grammar import From0, From1
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Propagate(Step):
    """Put a number in the place of the size of an array's axis, where the kernel raises an error for all others, as
    `x, y = p[i]` does for rows that are no pairs. Loops along the axis have a constant length then, and local arrays a
    constant size. `propagate p 1 2`:

    var s: float64
    s = checked(0.0, size(p, 1) == 2, unpack)
    for k in 0 .. size(p, 1):
        s = s + p[0, k]
    a[0] = s
    ->
    var s: float64
    s = 0.0
    for k in 0 .. 2:
        s = s + p[0, k]
    a[0] = s
    """

    name: ClassVar[str] = "propagate"
    grammar: ClassVar[str] = "ARRAY AXIS SIZE, which every call has"
    array: str
    axis: From0
    size: From1

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        param = next((one for one in kernel.arrays if one.name == self.array), None)
        if param is None:
            return Rejection(f"'{self.array}' is no array that is given")
        if (param.argument, self.axis, self.size) not in facts.guard.fixed:
            return Rejection(f"axis {self.axis} of '{self.array}' may have another size than {self.size}")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        argument = next(one.argument for one in kernel.arrays if one.name == self.array)
        same = {one.name for one in kernel.arrays if one.argument == argument and self.axis < own_axes(one)}

        def change(expr: Expr) -> Expr:
            is_it = isinstance(expr, Dim) and expr.axis == self.axis and expr.array in same
            return number(self.size) if is_it else expr

        changed = replace(kernel, body=rewrite_body(kernel.body, expr=change))
        return finished(simplify(changed), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        asked = dict.fromkeys((one.array, one.axis) for one in expressions(kernel.body, Dim))
        given = {one.name for one in kernel.arrays}
        return (cls(array, axis, size) for array, axis in asked if array in given for size in range(1, 5))


def own_axes(param: ArrayParam) -> int:
    """The axes of the argument: those of a record's field come behind them."""
    return param.rank - len(param.tail)

"""Sizes that a kernel raises an error for unless they are one number, as `x, y = p[i]` does for rows that are no pairs:
they are that number, so that loops along such an axis are short, and local arrays as long fit into registers."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, Dim, For
from loopwright.ir.walk import own_expressions, statements, subexpressions
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.propagate import Propagate


def with_constant_sizes(partial: PartialSchedule) -> None:
    """Tell the kernel those that loops or local arrays are as long as."""
    before = partial.kernel
    for argument, axis, size in partial.facts.guard.fixed:
        told = [expr for stmt in statements(partial.kernel.body, For, Allocate) for expr in own_expressions(stmt)]
        asked = {part.array for expr in told for part in subexpressions(expr, Dim) if part.axis == axis}
        names = [one.name for one in partial.kernel.arrays if one.argument == argument and one.name in asked]
        if names and partial.allows(step := Propagate(names[0], axis, size)):
            partial.take(step, f"for other sizes of '{names[0]}' there is an error")
    if partial.kernel is not before:
        partial.begin_again()

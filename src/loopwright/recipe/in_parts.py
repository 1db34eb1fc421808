"""A kernel that does some iterations of its outermost loop only, so that a call can be made in parts."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Assign, Binary, Checked, Const, For, Kernel, Load, ReturnedScalar, ScalarParam, Var
from loopwright.ir.types import INT64
from loopwright.ir.walk import own_expressions, subexpressions

FIRST, LAST = "parts.first", "parts.last"


def outermost(kernel: Kernel, facts: Facts) -> For | None:
    """The loop that is all of a kernel, but for scalars that are set before it, and whose iterations need no order."""
    *before, loop = kernel.body or (None,)
    if kernel.overlap or not isinstance(loop, For):
        return None
    found = facts.loops[loop.name]
    if found.verdict != "parallel" or found.alike:  # parts have elements of their own
        return None
    if any(isinstance(value, ReturnedScalar) for value in kernel.returned or ()):
        return None
    if loop.step != Const(1, INT64) or not all(isinstance(stmt, Assign) for stmt in before):
        return None
    parts = (part for stmt in (*before, loop) if stmt for own in own_expressions(stmt) for part in subexpressions(own))
    return None if any(isinstance(part, Load | Checked) for part in parts) else loop


def in_parts(kernel: Kernel, loop: For) -> Kernel:
    """The kernel with two more numbers behind its arguments: `loop`, its outermost one, does no iteration before the
    first, and none from the second on."""
    position = kernel.results_from
    first, last = Var(FIRST, INT64), Var(LAST, INT64)
    bounded = replace(loop, lower=Binary("max", loop.lower, first), upper=Binary("min", loop.upper, last))
    numbers = (ScalarParam(FIRST, INT64, position), ScalarParam(LAST, INT64, position + 1))
    return replace(kernel, params=(*kernel.params, *numbers), body=(*kernel.body[:-1], bounded))

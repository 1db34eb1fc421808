"""What steps ask about the bounds of loops: whether the iterations of one are known at all before it runs, and whether
two loops run equally often."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.analysis.affine import Affine, combine
from loopwright.analysis.instances import is_regular
from loopwright.analysis.trace import escapes, glance, traced
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.queries import loops_around


def irregular(kernel: Kernel, loops: Sequence[For]) -> str | None:
    """Why the iterations of one of the loops are not known before it runs, in the user's words; else None."""
    notes = glance(kernel, loops_around(kernel, loops))
    for loop in loops:
        if is_regular(loop, notes.loops[loop.name]):
            continue
        jumps = [jump for stmt in loop.body for jump in escapes(stmt)]
        if jumps:
            return f"'{loop.name}' holds a {type(jumps[0]).__name__.lower()}"
        return f"the bounds of '{loop.name}' are not known before the loops around it run"
    return None


def distance(kernel: Kernel, first: For, second: For) -> Affine | None:
    """How far the second loop's lower bound is above the first one's, where the two surely run equally often."""
    notes = traced(kernel)
    one, other = notes.loops[first.name], notes.loops[second.name]
    if one.step != other.step or combine(one.upper, one.lower, -1) != combine(other.upper, other.lower, -1):
        return None
    return combine(other.lower, one.lower, -1)


def offsets(kernel: Kernel, first: For, second: For) -> tuple[int, int] | None:
    """How far the second loop's lower and upper bounds are above the first one's, where both are constant."""
    notes = traced(kernel)
    one, other = notes.loops[first.name], notes.loops[second.name]
    lower, upper = combine(other.lower, one.lower, -1), combine(other.upper, one.upper, -1)
    return (lower.constant, upper.constant) if lower.is_constant and upper.is_constant else None

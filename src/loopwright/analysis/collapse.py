"""Two loops whose iterations threads may share as those of one (`collapse` of OpenMP). What stands before the inner
loop is done by each thread that has some of its iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import (
    Assign,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    For,
    If,
    Leave,
    Load,
    Return,
    While,
)
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.walk import own_expressions, statements

SMALL = 64  # iterations of all loops inside


@dataclass(frozen=True, slots=True)
class Collapsed:
    """inner: the loop inside. before: what stands before it in each iteration of the outer one."""

    inner: For
    before: Body


def collapsed_with(loop: For, facts: Facts) -> Collapsed | None:
    """The last loop in a parallel one, if nothing follows it, its iterations need no order either, are as many each
    time, and hold loops themselves: what is done once for each part of it is little then. Few iterations of the outer
    loop are no limit to the number of threads then."""
    found = _last(loop.body)
    if loop.run != "parallel" or found is None or found.inner.run == "parallel":
        return None
    inner = found.inner
    if not contains(inner.body, For, While) or not all(isinstance(one.step, Const) for one in (loop, inner)):
        return None
    outside, inside = facts.loops[loop.name], facts.loops[inner.name]
    if _is_small(inner):
        return None
    if inside.verdict != "parallel" or any(one.reductions or one.last for one in (outside, inside)):
        return None
    changing = names_assigned(loop.body) | {loop.name}
    bounds = own_expressions(inner)
    if any(names_in(bound) & changing or has(bound, Load, Checked) for bound in bounds):
        return None
    return found if _may_repeat(found) else None


def _is_small(loop: For) -> bool:
    """Whether it is a few operations in a constant number of iterations, which the C compiler writes out: then there is
    little to share where the loop around it is short, and stretches that begin anywhere have no constant number."""
    if contains(loop.body, While):
        return False
    times = 1
    for one in statements((loop,), For):
        if not (isinstance(one.lower, Const) and isinstance(one.upper, Const) and isinstance(one.step, Const)):
            return False
        times *= len(range(int(one.lower.value), int(one.upper.value), int(one.step.value)))
    return times <= SMALL


def _last(body: Body) -> Collapsed | None:
    """The loop that a body ends with, maybe under a condition."""
    *before, last = body or (None,)
    if isinstance(last, For):
        return Collapsed(last, tuple(before))
    if isinstance(last, If) and not last.otherwise and (found := _last(last.then)) is not None and not before:
        return Collapsed(found.inner, (Assign("", last.condition), *found.before))
    return None


def _may_repeat(found: Collapsed) -> bool:
    """Whether what stands before the inner loop does the same in several threads, also when some of that loop is
    done."""
    before, inside = found.before, (found.inner,)
    if contains(before, While, Block, Break, Continue, Leave, Return):
        return False
    ours, stored = arrays_stored(before), arrays_stored(inside)
    is_own = ours <= arrays_made(before) and not names_assigned(before) & names_assigned(inside)
    return is_own and not stored & (arrays_loaded(before) | ours)

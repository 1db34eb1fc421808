"""Boundaries: where conditions on a loop's variable tell the first and last iterations from all others (`if j > 0`,
`max(j - 1, 0)`, `(j + 1) % n`), the others run in a loop without conditions, which vector lanes take."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.ir.nodes import Body, For, If, Logical, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.extent import trip_of
from loopwright.steps.nest import size_of
from loopwright.steps.partition import Partition
from loopwright.steps.steady import SHORT

PARTITIONED = Tunable(
    "conditions on loops",
    1,
    (0, 1),
    "the iterations in which they hold have a loop without them",
    words=("in the loop", "before and after it"),
)
MOST_NODES = 600
"""Of a loop's body: there are up to four of it afterwards, and the C compiler's time is the user's."""
MOST_WRITTEN_OUT = 400
"""Nodes of a short loop in all its iterations that the C compiler writes out, so that no condition is left."""


def without_conditions(partial: PartialSchedule) -> None:
    """Give the steady iterations of loops that hold no long loops one of their own; where nothing else has been done to
    a kernel, also those of short loops, innermost ones first."""
    is_as_written = not partial.decisions
    _partitioned(
        partial, [name for name, loop in loops(partial.kernel).items() if _is_last(loop) and not _is_short(loop)]
    )
    if is_as_written:
        inner = [name for name, loop in loops(partial.kernel).items() if _is_last(loop) and _is_short(loop)]
        _partitioned(partial, inner[::-1], for_jumps=True)


def _partitioned(partial: PartialSchedule, names: Iterable[str], for_jumps: bool = False) -> None:
    """for_jumps: only where the steady iterations then have fewer of them."""
    for name in names:
        loop = loops(partial.kernel).get(name)
        step = Partition(name)
        if loop is None or size_of(loop.body) > MOST_NODES:
            continue
        if step.illegal(partial.kernel, partial.facts, partial.strict) is None and partial.number(PARTITIONED):
            with partial.together():
                partial.take(
                    step, f"the iterations of '{user_name(name)}' in which the conditions on it hold run without them"
                )
                if for_jumps and _jumps_in(loops(partial.kernel)[name].body) >= _jumps_in(loop.body):
                    raise NotTaken


def _jumps_in(body: Body) -> int:
    """Conditions on statements, with each that is part of one."""
    return sum(1 for _ in statements(body, If)) + sum(1 for _ in expressions(body, Logical))


def _is_last(loop: For | While) -> bool:
    """Whether it holds only short loops, and is none itself that the C compiler writes out."""
    if not isinstance(loop, For):
        return False
    inside = [trip_of(stmt) if isinstance(stmt, For) else None for stmt in statements(loop.body, For, While)]
    if not all(trip is not None and trip <= SHORT for trip in inside):
        return False
    return not _is_short(loop) or (trip_of(loop) or 0) * size_of(loop.body) > MOST_WRITTEN_OUT


def _is_short(loop: For | While) -> bool:
    return isinstance(loop, For) and (trip_of(loop) or SHORT + 1) <= SHORT

"""Boundaries: where conditions on a loop's variable tell the first and last iterations from all others (`if j > 0`,
`max(j - 1, 0)`, `(j + 1) % n`), the others run in a loop without conditions, which vector lanes take."""

from __future__ import annotations

from loopwright.ir.nodes import For, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.partial_schedule import PartialSchedule
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


def without_conditions(partial: PartialSchedule) -> None:
    """Give the steady iterations of loops that hold no long loops one of their own."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or not _is_last(loop) or size_of(loop.body) > MOST_NODES:
            continue
        step = Partition(name)
        if step.illegal(partial.kernel, partial.facts, partial.strict) is None and partial.number(PARTITIONED):
            with partial.together():
                partial.take(
                    step, f"the iterations of '{user_name(name)}' in which the conditions on it hold run without them"
                )


def _is_last(loop: For) -> bool:
    """Whether it holds only short loops, and is none itself."""
    inside = [trip_of(stmt) if isinstance(stmt, For) else None for stmt in statements(loop.body, For, While)]
    return all(trip is not None and trip <= SHORT for trip in inside) and (trip_of(loop) or SHORT + 1) > SHORT

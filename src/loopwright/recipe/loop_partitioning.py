"""Boundaries: where conditions on a loop's variable tell the first and last iterations from all others (`if j > 0`,
`max(j - 1, 0)`, `(j + 1) % n`), the others run in a loop without conditions, which vector lanes take."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.ir.nodes import Body, Compare, For, If, Load, Logical, While
from loopwright.ir.queries import arrays_stored, contains, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements, subexpressions
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.extent import trip_of
from loopwright.steps.nest import size_of
from loopwright.steps.partition import Partition
from loopwright.steps.promote import Promote
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
        if not isinstance(loop, For) or size_of(loop.body) > MOST_NODES:
            continue
        is_legal = Partition(name).illegal(partial.kernel, partial.facts, partial.strict) is None
        kept = () if is_legal else _looked_up(loop)
        if (is_legal or kept) and partial.number(PARTITIONED):
            with partial.together():
                for array in kept:
                    why = f"a condition on '{user_name(name)}' asks for the same element in all iterations"
                    partial.take(Promote(array, name), why, anew=True)
                partial.take(
                    Partition(name),
                    f"the iterations of '{user_name(name)}' in which the conditions on it hold run without them",
                )
                steady = loops(partial.kernel).get(name)  # none where they then do nothing
                if (for_jumps or kept) and steady is not None and _jumps_in(steady.body) >= _jumps_in(loop.body):
                    raise NotTaken


def _looked_up(loop: For) -> tuple[str, ...]:
    """The arrays of elements with which conditions compare the variable of an innermost loop, and which stay as they
    are: `if weight[i] <= c`."""
    if contains(loop.body, For, While):
        return ()
    moving, written = names_assigned(loop.body) | {loop.name}, arrays_stored(loop.body)
    found = dict[str, None]()
    for condition in (stmt.condition for stmt in statements(loop.body, If)):
        for test in subexpressions(condition, Compare):
            loads = list(subexpressions(test, Load))
            are_fixed = all(load.array not in written and not names_in(load) & moving for load in loads)
            if are_fixed and test.left.type == INT64 and loop.name in names_in(test):
                found |= dict.fromkeys(load.array for load in loads)
    return tuple(found)


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

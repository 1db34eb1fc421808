"""Loops around several things that take many threads each, for the default recipe of a GPU: the images of a batch, say,
each of which is blurred, compared and scaled. Where there are few of them, and each of these things has threads enough
for a whole GPU, the host goes through them, one after the other; else each would be one block's."""

from __future__ import annotations

from loopwright.ir.nodes import For
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_rows import is_told, length_of, number_of, size_text, version
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, whole
from loopwright.steps.extent import trip_of
from loopwright.steps.specialize import LARGE, Specialize

FEW = 64
"""Iterations of an outermost loop that are too few to be all the threads there are."""
ENOUGH = 128
"""Iterations from which on a block for each is enough for a large GPU."""
SIDE = 512
"""Rows, and elements of each, from which on a plane has threads enough for a whole GPU."""


def in_turns(partial: PartialSchedule) -> None:
    """Leave such loops to the host."""
    for name, loop in loops(partial.kernel).items():
        if not isinstance(loop, For) or not is_outermost(partial, loop) or not is_free_now(partial, loop):
            continue
        trip = trip_of(loop)
        inside = [one for one in statements(loop.body, For) if trip_of(one) is None]
        if trip is not None:
            if 1 < trip < FEW and len(loop.body) > 1 and any(is_free_now(partial, one) for one in inside):
                partial.turns.add(name)
        elif (sizes := _plane_sizes(partial, run := _perfect_run(partial, loop))) is not None:
            with partial.together():
                _where_few(partial, [one.name for one in run], number_of(partial, run), sizes)


def _where_few(partial: PartialSchedule, run: list[str], number: str | None, sizes: tuple[str, ...]) -> None:
    """Leave them to the host in calls with few iterations and large planes. Raises NotTaken."""
    names = version(partial, run[0], number, ENOUGH)
    if names is None:
        raise NotTaken
    few = [names[name] for name in run]
    why = f"each '{user_name(few[-1])}' has planes with elements enough for all threads there are"
    if not whole(partial, Specialize(sizes, LARGE, SIDE, few[0]), why):
        raise NotTaken
    partial.begin_again()
    partial.turns.update(few)


def _perfect_run(partial: PartialSchedule, loop: For) -> list[For]:
    """The loops from this one on that need no order, as long as each holds nothing but the next."""
    run = [loop]
    while len(run[-1].body) == 1 and isinstance(inner := run[-1].body[0], For) and is_free_now(partial, inner):
        run.append(inner)
    return run


def _plane_sizes(partial: PartialSchedule, run: list[For]) -> tuple[str, ...] | None:
    """What a call tells of the planes that each iteration goes through, several times; None where there are none."""
    nests = [stmt for stmt in run[-1].body if isinstance(stmt, For)]
    if len(nests) < 2 or any(contains((stmt,), For) for stmt in run[-1].body if stmt not in nests):
        return None
    names = {loop.name for loop in run}
    planes = [(row, column) for row in nests if isinstance(column := row.body[0], For)]
    deeper = [one for _, column in planes for one in statements(column.body, For) if trip_of(one) is None]
    if any(is_free_now(partial, one) for one in deeper):
        return None  # more than a plane
    for row, column in planes:
        lengths = (length_of([row]), length_of([column]))
        told = [size_text(one) for one in lengths if one is not None and is_told(partial, one)]
        if len(told) == 2 and not names & set(told) and is_free_now(partial, row) and is_free_now(partial, column):
            return tuple(dict.fromkeys(told))
    return None

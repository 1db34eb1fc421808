"""Rows of which some loops need their order and others can be shared by threads, for the default recipe of a GPU, as

    for row: (a maximum, a sum, a search by bisection); run = 0; for v: run += p[row, v]; if run > limit[row]: break

Together they leave a thread for each row. Apart, threads share what they can, and what needs its order is a nest of
rows with an order of its own, such as a running sum. Scalars of a row that both need are in memory in between."""

from __future__ import annotations

from itertools import pairwise

from loopwright.ir.nodes import For, Stmt
from loopwright.ir.queries import arrays_made, arrays_stored
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_rows import (
    LONG_COLUMN,
    SharedRow,
    length_of,
    loops_along,
    rows_and_columns,
    takes_long,
    version,
)
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.fission import Fission


def ordered_apart(partial: PartialSchedule) -> None:
    """Take such loops apart, in a version for rows that are long enough to be shared."""
    for loop in list(loops(partial.kernel).values()):
        if isinstance(loop, For) and is_outermost(partial, loop) and is_free_now(partial, loop):
            places = _places(partial, loop)
            own = arrays_made(partial.kernel.body) & arrays_stored(loop.body)  # which may be one thread's
            if places and not own:
                with partial.together():
                    _apart(partial, loop, places)


def _places(partial: PartialSchedule, row: For) -> list[int]:
    """The statements of a row, counted from 1, before which loops of the one kind have ended and those of the other are
    to come: what stands in between is probably for these."""
    kinds = [(at, _can_be_shared(partial, stmt)) for at, stmt in enumerate(row.body) if takes_long(partial, stmt)]
    return [before + 2 for (before, first), (_, second) in pairwise(kinds) if first != second]


def _can_be_shared(partial: PartialSchedule, stmt: Stmt) -> bool:
    try:
        return bool(loops_along(partial, (stmt,)))
    except NotTaken:
        return False


def _apart(partial: PartialSchedule, row: For, places: list[int]) -> None:
    """Raises NotTaken where the rows that threads could share do not lie side by side."""
    shared = [stmt for stmt in row.body if takes_long(partial, stmt) and _can_be_shared(partial, stmt)]
    along = loops_along(partial, tuple(shared))
    if all(partial.verdict(loop) == "parallel" for loop in along):
        raise NotTaken
    rows, columns = rows_and_columns(partial, SharedRow((row.name,), tuple(loop.name for loop in along)))
    if rows <= columns or version(partial, row.name, length_of(along), LONG_COLUMN) is None:
        raise NotTaken
    why = f"loops that need their order are apart from those of each '{user_name(row.name)}' that threads share"
    for place in reversed(places):
        partial.take(Fission(row.name, place, kept=True), why, anew=True)
    partial.begin_again()

"""Rows of which each adds to elements that data selects, for the default recipe of a GPU, as a histogram of each row
does, or sums over the classes of a picture: where rows are long, blocks share the iterations of one."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.reductions import is_told_by_data
from loopwright.ir.nodes import For, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements
from loopwright.recipe.coalescing import accesses_inside
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_keys import KEYS, KEYS_EACH
from loopwright.recipe.grid_products import perfect_run
from loopwright.recipe.grid_row_nests import rows
from loopwright.recipe.grid_rows import length_of, version
from loopwright.recipe.grid_sums import bound_inside
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, PartialSchedule, made
from loopwright.steps.bind import Bind
from loopwright.steps.extent import trip_of
from loopwright.steps.split import Split

LONG = 4096
"""Iterations of a row that is added by key from which on it is shared by a block or several."""

AROUND_LOOPS = 8
"""Iterations of a thread that hold loops: few, but enough that a block has copies of what it adds to."""


def rows_of_keys(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows of which each adds to elements that only data tells, as a histogram of each row does: where rows are long,
    blocks share the iterations of one, with copies of what it adds to."""
    outer = perfect_run(chain, free)
    rest = chain[len(outer) :]
    if not 1 <= len(outer) <= 2 or chain[0] is not outer[0] or not rest or any(len(loop.body) > 1 for loop in outer):
        return []
    loop, trip = rest[0], trip_of(rest[0])
    if partial.verdict(loop) != "reduction" or not _lies_along(partial, loop) or (trip is not None and trip < LONG):
        return []
    reductions = partial.present_facts().loops[loop.name].reductions
    by_data = [is_told_by_data(loop, one, but_for_unmoved=True) for one in reductions]
    if any(one.kind != "scatter" for one in reductions) or not (any if contains(loop.body, For) else all)(by_data):
        return []
    row, targets = user_name(outer[-1].name), " and ".join(f"'{user_name(one.target)}'" for one in reductions)
    short = version(partial, outer[0].name, length_of([loop]), LONG) if trip is None else {}
    if short is None:
        return []
    why = f"each '{row}' adds to elements of {targets} that only data tells: where it is long, blocks share it"
    threads = partial.threads(KEYS)
    each = replace(KEYS_EACH, default=AROUND_LOOPS) if contains(loop.body, For) else KEYS_EACH
    (block,) = made(partial, Split(loop.name, threads * partial.number(each)), why)
    around = [
        Bind(outer[-1].name, "block.x"),
        Bind(block, "block.y"),
        *(Bind(one.name, "block.z") for one in outer[:-1]),
    ]
    bound = bound_inside(partial, around, Bind(loop.name, "thread.x", threads), why)
    if not short:
        return bound
    if contains(loop.body, For):
        mine = partial.around(short[chain[-1].name])
        # Of versions of loops that steps have made nothing is known before the schedule is complete.
        free = [one for one in mine if is_free_now(partial, one)]
        if free and (others := rows(partial, mine, free)):
            return [*bound, *others]
    return [*bound, *_a_thread_each(partial, [short[one.name] for one in outer])]


def _lies_along(partial: PartialSchedule, loop: For) -> bool:
    """Whether neighbours of a loop touch neighbouring elements more often than those of the loops inside it."""
    if contains(loop.body, While):
        return False
    inner = [one.name for one in statements(loop.body, For)]
    walks = accesses_inside(partial, loop) if inner else []
    along, inside = (sum(any(walk.strides.get(name) in (1, -1) for name in names) for walk in walks)
                     for names in ((loop.name,), inner))  # fmt: skip
    return along >= inside


def _a_thread_each(partial: PartialSchedule, outer: list[str]) -> list[Bound]:
    why = f"each '{user_name(outer[-1])}' is too short to be shared"
    (block,) = made(partial, Split(outer[-1], SHORT_EACH), why)
    around = [Bind(outer[0], "block.y")] if len(outer) > 1 else []
    steps = [*around, Bind(block, "block.x"), Bind(outer[-1], "thread.x", SHORT_EACH)]
    return [(step, why) for step in steps]


SHORT_EACH = 32
"""Short rows of a block, with a thread for each."""

"""Compactions of nests, and those that end where no place is left, as in

    for y: for x: if image[y, x] > level and n < len(found): found[n] = y, x; n += 1

for the default recipe of a GPU: loops around one another that need their order only for what they count become one, of
which chunks are equal parts (grid_scans.py), and a counter does not depend on its bound."""

from __future__ import annotations

from loopwright.ir.nodes import For, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.grid_scans import CHUNKS
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.steps.collapse import Collapse
from loopwright.steps.extent import trip_of
from loopwright.steps.scan import Scan
from loopwright.steps.uncap import Uncap, bounded_counters


def compactions(partial: PartialSchedule) -> None:
    """Make loops that chunks can be made of."""
    for name, loop in list(loops(partial.kernel).items()):
        if isinstance(loop, For) and name in loops(partial.kernel) and partial.verdict(loop) == "sequential":
            if is_outermost(partial, loop) and (counters := bounded_counters(partial.kernel, loop)):
                with partial.together():
                    _counted_on(partial, loop, counters)
                loop = next((one for one in loops(partial.kernel).values() if one.name == name), loop)
            nest = _nest(partial, loop) if isinstance(loop, For) and is_outermost(partial, loop) else ()
            if len(nest) > 1:
                with partial.together():
                    _in_one_loop(partial, nest)


def _counted_on(partial: PartialSchedule, loop: For, counters: list[str]) -> None:
    """Raises NotTaken."""
    for counter in counters:
        why = f"how far '{user_name(counter)}' is depends only on what is counted then, as in other compactions"
        partial.take(Uncap(counter, loop.name), why, anew=True)
    partial.begin_again()
    if not partial.allows(Scan(loop.name, CHUNKS.default)):
        raise NotTaken


def _in_one_loop(partial: PartialSchedule, nest: Chain) -> None:
    """Raises NotTaken."""
    words = " and ".join(f"'{user_name(loop.name)}'" for loop in nest)
    why = f"{words} need their order only for what they carry on: as one loop they have iterations enough for chunks"
    (whole,) = made(partial, Collapse(tuple(loop.name for loop in nest)), why, anew=True)
    partial.begin_again()
    if not partial.allows(Scan(whole, CHUNKS.default)):
        raise NotTaken


def _nest(partial: PartialSchedule, loop: For) -> Chain:
    """The loops around one another from an outermost one on that need their order and hold nothing else: all of them
    where the innermost holds loops, beside which divisions are little; else it stays one, in whose iterations nothing
    is divided."""
    nest = [loop]
    while len(body := nest[-1].body) == 1 and isinstance(inner := body[0], For):
        if partial.verdict(inner) != "sequential":
            return ()
        nest.append(inner)
    if not contains(nest[-1].body, For, While):
        nest.pop()
    return () if all(trip_of(one) is not None for one in nest) else tuple(nest)

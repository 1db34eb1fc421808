"""Few iterations that hold several loops, for the default recipe of a GPU, as members of a batch, or robots that each
try many ways: a thread for each would leave most of a GPU without work while loops inside need no order. In a version
for few of them each of these loops has a nest of its own (loop distribution), of which blocks and threads share all
loops; what they hand on to one another is kept in memory."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, For, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_blocks import in_blocks
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_rows import length_of, version
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission

BUSY = 1 << 14
"""Threads that keep each lane of a large GPU busy."""


def few_apart(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A thread for each iteration of many, and for few of them their loops apart."""
    each = free[0]
    holding = [stmt for stmt in each.body if contains((stmt,), For, While)]
    held = [stmt for stmt in holding if isinstance(stmt, For)]
    if (
        len(partial.around(each.name)) > 1
        or trip_of(each) is not None
        or any(isinstance(s, Allocate) for s in each.body)
    ):
        return []
    if (
        len(held) < 2
        or not all(isinstance(one, For) for one in held)
        or not any(_is_shared(partial, one) for one in held)
    ):
        return []
    names = version(partial, each.name, length_of([each]), BUSY)
    if names is None:
        return []
    why = f"few '{user_name(each.name)}' would keep few threads busy: each loop inside has a nest of its own"
    name = names[each.name]
    while (place := _first_end(loops(partial.kernel)[name])) is not None:
        before = set(loops(partial.kernel))
        partial.take(Fission(name, place, kept=True), why, anew=True)
        name = next(one for one in loops(partial.kernel) if one not in before)
    partial.begin_again()
    return in_blocks(partial, [each.name], f"with {BUSY} '{user_name(each.name)}' and more each has a thread")


def _is_shared(partial: PartialSchedule, loop: For) -> bool:
    """Whether it is, or holds, a loop that needs no order and may be long."""
    return any(trip_of(one) is None and is_free_now(partial, one) for one in statements((loop,), For))


def _first_end(loop: object) -> int | None:
    """Before which statement the first nest inside a loop ends, counted from 1."""
    assert isinstance(loop, For)
    first = next((at for at, stmt in enumerate(loop.body) if contains((stmt,), For)), None)
    return None if first is None or not any(contains((s,), For) for s in loop.body[first + 1 :]) else first + 2

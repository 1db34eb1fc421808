"""Few iterations that hold several loops, for the default recipe of a GPU, as members of a batch, or robots that each
try many ways: a thread for each would leave most of a GPU without work while loops inside need no order. In a version
for few of them each of these loops has a nest of its own (loop distribution), of which blocks and threads share all
loops; what they hand on to one another is kept in memory."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, Body, For, Stmt, While
from loopwright.ir.queries import contains, names_assigned
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_blocks import in_blocks
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_keys import BUSY
from loopwright.recipe.grid_rows import length_of, version
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.grid_totals import adds_to_scalars
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.sums_apart import cut
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission


def few_with_sums(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The same where loops that need their order begin each iteration with a sum, as those over lags of a series do."""
    loops_held = [stmt for stmt in free[0].body if isinstance(stmt, For)]
    return few_apart(partial, chain, free) if any(_sum_of(partial, one) is not None for one in loops_held) else []


def few_apart(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A thread for each iteration of many, and for few of them their loops apart."""
    each = free[0]
    if len(partial.around(each.name)) > 1 or trip_of(each) is not None:
        return []
    held = _held(each)
    has_arrays = any(isinstance(stmt, Allocate) for stmt in each.body)
    if has_arrays or len(held) < 2 or not any(_is_shared(partial, one) for one in held):
        return []
    names = version(partial, each.name, length_of([each]), BUSY)
    if names is None:
        return []
    why = f"few '{user_name(each.name)}' would keep few threads busy: each loop inside has a nest of its own"
    name = names[each.name]
    for loop in [one for one in loops(partial.kernel)[name].body if isinstance(one, For)]:
        with partial.together():
            _sums_first(partial, name, loop, why)
    for scalar in sorted(_set_twice(partial, loops(partial.kernel)[name].body)):
        partial.take(Expand(scalar, (name,)), why, anew=True)
    parts = [name]
    while (place := _first_end(partial, loops(partial.kernel)[parts[-1]])) is not None:
        before = set(loops(partial.kernel))
        partial.take(Fission(parts[-1], place, kept=True), why, anew=True)
        parts.append(next(one for one in loops(partial.kernel) if one not in before))
    partial.begin_again()
    bound = in_blocks(partial, [each.name], f"with {BUSY} '{user_name(each.name)}' and more each has a thread")
    for part in parts:
        inner = _held(loops(partial.kernel)[part])
        if not inner or not isinstance(inner[0], For) or not _is_shared(partial, inner[0]):
            bound += in_blocks(partial, [part], f"each '{user_name(part)}' has a thread for what needs its order")
    return bound


def _set_twice(partial: PartialSchedule, body: Body) -> set[str]:
    """Scalars that are set before a loop that can be shared out, and again in it or behind it."""
    places = [at for at, one in enumerate(body) if at and isinstance(one, For) and _is_shared(partial, one)]
    return set[str]().union(*(names_assigned(body[:at]) & names_assigned(body[at:]) for at in places))


def _held(loop: For | While) -> list[Stmt]:
    """The statements in a loop that are, or hold, others."""
    return [stmt for stmt in loop.body if contains((stmt,), For, While)]


def _is_shared(partial: PartialSchedule, stmt: Stmt) -> bool:
    """Whether it is, or holds, a loop that may be long and needs no order, or adds up."""
    found = [one for one in statements((stmt,), For) if trip_of(one) is None]
    return any(partial.verdict(one) in ("parallel", "reduction") for one in found)


def _sum_of(partial: PartialSchedule, loop: For) -> int | None:
    """Where the loop stands that finds a sum for each iteration of one that needs its order, if there is more to do."""
    at = next((at for at, stmt in enumerate(loop.body) if isinstance(stmt, For)), len(loop.body))
    if at + 1 >= len(loop.body) or trip_of(loop) is not None or is_free_now(partial, loop):
        return None
    entry = loop.body[at]
    is_sum = isinstance(entry, For) and trip_of(entry) is None and adds_to_scalars(partial, entry)
    return at if is_sum else None


def _sums_first(partial: PartialSchedule, each: str, loop: For, why: str) -> None:
    """Find such sums before what iterations hand on to one another. Raises NotTaken."""
    if (at := _sum_of(partial, loop)) is None:
        raise NotTaken
    cut(partial, each, loop.name, at + 2, why)
    partial.begin_again()
    first = loops(partial.kernel)[loop.name]
    if not isinstance(first, For) or not is_free_now(partial, first):
        raise NotTaken


def _first_end(partial: PartialSchedule, loop: For | While) -> int | None:
    """Before which statement the first part of a loop ends, counted from 1: one with a nest that can be shared out has
    nothing else."""
    held = [at for at, stmt in enumerate(loop.body) if contains((stmt,), For, While)]
    if not held or len(loop.body) == 1:
        return None
    if held[0] and isinstance(loop.body[held[0]], For) and _is_shared(partial, loop.body[held[0]]):
        return held[0] + 1
    return held[0] + 2 if len(held) > 1 else None

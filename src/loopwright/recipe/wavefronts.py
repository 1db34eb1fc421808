"""A new order of all loops for a GPU, where the one that the user wrote leaves it to few threads: host loops that need
their order (a factorisation, a triangular solution, a stencil in place) are to have grids inside."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.analysis.analyse import analyse_restructured
from loopwright.analysis.facts import Facts, LoopFacts
from loopwright.analysis.isl_schedule import Wanted
from loopwright.ir.nodes import Assign, Body, For, Kernel, Store
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_stored,
    names_assigned,
    names_read,
    types_assigned,
)
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, statements
from loopwright.recipe.index_set_splitting import apart_at_points
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.demote import Demote
from loopwright.steps.extent import extent_of
from loopwright.steps.reschedule import Reschedule

ENOUGH = 2
"""Loops of a nest that need no order: a grid needs no more."""

MOST_STATEMENTS = 12
"""Statements of a kernel whose new order is looked for: the search takes more than linear time."""


def in_fronts(partial: PartialSchedule) -> None:
    """Give all loops a new order, or take them apart at points where they meet themselves, if more of them are free
    then."""
    kernel = partial.kernel
    before = _lack(kernel, partial.facts)
    if not before or any(loop.asserted == "independent" for loop in statements(kernel.body, For)):
        return  # or what is left in order is for calls that hardly ever come
    why = "in the order as written few threads could work at once: in this order whole loops are parallel"
    if sum(1 for _ in statements(kernel.body, Store, Assign)) <= MOST_STATEMENTS:
        _anew(partial, before, why)
    if partial.kernel is kernel:
        apart_at_points(partial)
    if partial.kernel is not kernel:
        partial.begin_again()


def _anew(partial: PartialSchedule, before: int, why: str) -> None:
    """A new order of all loops, if it lacks less than so many; with scalars in the array elements that they end up in,
    if it lacks still less then."""
    kernel, facts, taken = partial.kernel, partial.facts, len(partial.decisions)
    step = Reschedule(Wanted("smart", inner=True))
    with partial.together():
        lack = _lack_after(partial, step)
        if lack >= before:
            raise NotTaken
        partial.take(step, why)
        before = lack
    scalars = [name for name in _scalars(kernel) if Demote(name).illegal(kernel, facts, partial.strict) is None]
    if not before or not scalars:
        return
    found = partial.kernel, partial.decisions[taken:]
    partial.kernel = kernel
    del partial.decisions[taken:]
    with partial.together():
        for name in scalars:
            partial.take(Demote(name), f"what '{user_name(name)}' adds up in its element can be added in another order")
        if _lack_after(partial, step) >= before:
            raise NotTaken
        partial.take(step, why, anew=True)
        return
    partial.kernel = found[0]
    partial.decisions += found[1]


def _lack_after(partial: PartialSchedule, step: Reschedule) -> int:
    """What the kernel would lack in a new order: asked before whether that is legal, which takes longer to tell. Raises
    NotTaken where there is no such order."""

    def lack() -> int | None:
        if step.unfit(partial.kernel) is not None:
            return None
        after = step.apply(partial.kernel)
        return _lack(after, analyse_restructured(after, partial.facts))

    found = partial.remembered(f"lack after {step}", lack)
    if found is None:
        raise NotTaken(str(step))
    return found


def _scalars(kernel: Kernel) -> list[str]:
    return list(types_assigned(kernel.body))


def is_free(loop: For, found: LoopFacts) -> bool:
    """Whether blocks or threads may share a loop: its iterations need no order, no array that each would need for
    itself, and nothing of the last one."""
    if found.verdict != "parallel" or found.last:
        return False
    outside = set(found.private) - arrays_made(loop.body) - names_assigned(loop.body)
    return not outside & (names_read(loop.body) | arrays_loaded(loop.body) | arrays_stored(loop.body))


def _lack(kernel: Kernel, facts: Facts) -> int:
    """How many loops more would have to be free, all statements taken together. A loop around sums for each of its
    iterations is enough by itself; more loops than that should be two that are free, and the rest."""
    total = 0
    for loops in _nests(kernel.body, ()):
        free = sum(is_free(loop, facts.loops[loop.name]) for loop in loops)
        total += max(0, min(ENOUGH, len(loops) - 1) - free)
    return total


def _nests(body: Body, around: tuple[For, ...]) -> Iterator[tuple[For, ...]]:
    """For each statement that stores or assigns, the loops around it that are not short."""
    for stmt in body:
        if isinstance(stmt, Store | Assign):
            yield around
        inside = (*around, stmt) if isinstance(stmt, For) and not extent_of(stmt) else around
        for inner in bodies(stmt):
            yield from _nests(inner, inside)

"""Loops in which one statement makes each iteration wait for the one before, such as

    for g: (a search, a sum over a window) -> out[g]; if g > 0: area += out[g] + out[g - 1]

while the loops inside, which are most of the work, wait for nothing. Taken apart (loop distribution), these are shared
by threads; what is left is a sum, a scan, or little work. So is a statement in several loops around one another, as

    for slice: for lane: (a sum) -> s; out[order[slice * 32 + lane]] = s

whose iterations are then counted in one loop."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, For, While
from loopwright.ir.queries import contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made
from loopwright.steps.collapse import Collapse
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission

MOST_PLACES = 3
"""At which a loop is tried to be taken apart."""


def recurrences_apart(partial: PartialSchedule) -> None:
    """Take such outermost loops apart where their inner loops need no order then."""
    for loop in list(loops(partial.kernel).values()):
        if not isinstance(loop, For) or not is_outermost(partial, loop) or trip_of(loop) is not None:
            continue
        if len(loop.body) < 2 or not contains(loop.body, For, While) or contains(loop.body, Allocate):
            continue
        if loop.asserted or partial.verdict(loop) not in ("sequential", "undecided"):
            continue
        before = partial.kernel
        for place, all_free in [(place, all_free) for all_free in (True, False) for place in _places(loop)]:
            with partial.together():
                _apart(partial, loop, place, all_free)
            if partial.kernel is not before:
                break
        else:
            with partial.together():
                _apart_from_within(partial, loop)


def _places(loop: For) -> list[int]:
    """Before which statements, counted from 1, a loop may be cut: behind its last inner loop, and before the first."""
    inner = [at for at, stmt in enumerate(loop.body) if contains((stmt,), For, While)]
    behind = [at + 1 for at in range(inner[-1] + 1, len(loop.body))]
    return [*behind[:MOST_PLACES], *([inner[0] + 1] if inner[0] else [])]


def _apart(partial: PartialSchedule, loop: For, place: int, all_free: bool) -> None:
    """Raises NotTaken where the part with the inner loops needs its order still, or, if both are asked for, any."""
    why = f"iterations of '{user_name(loop.name)}' wait only for what stands beside its inner loops"
    (second,) = made(partial, Fission(loop.name, place, kept=True), why, anew=True)
    partial.begin_again()
    parts = [partial.around(name)[-1] for name in (loop.name, second)]
    asked = parts if all_free else [part for part in parts if contains(part.body, For, While)]
    if any(partial.verdict(part) not in ("parallel", "reduction") for part in asked):
        raise NotTaken


def _apart_from_within(partial: PartialSchedule, loop: For) -> None:
    """Take what comes last in several loops around one another apart from all of them. Raises NotTaken where what is
    left needs its order still."""
    path = [loop]
    while isinstance(last := path[-1].body[-1], For):
        path.append(last)
    inner, names = path[-1], tuple(one.name for one in path)
    place = 1 + max((at for at, stmt in enumerate(inner.body) if contains((stmt,), For, While)), default=-1)
    last_ones = inner.body[place:]
    if len(path) < 2 or not place or not last_ones:
        raise NotTaken
    why = f"iterations of '{user_name(loop.name)}' wait only for what comes last in '{user_name(inner.name)}'"
    for name in sorted((names_assigned(loop.body) & names_read(last_ones)) - {*names}):
        depth = max(at for at, one in enumerate(path, 1) if name in names_assigned(one.body))
        partial.take(Expand(name, names[:depth]), why, anew=True)
    (new,) = made(partial, Fission(inner.name, place + 1), why, anew=True)
    others = [new]
    for outer in reversed(names[:-1]):
        (new,) = made(partial, Fission(outer, len(partial.around(outer)[-1].body)), why, anew=True)
        others.insert(0, new)
    partial.take(Collapse(tuple(others)), why, anew=True)
    partial.begin_again()
    if partial.verdict(partial.around(loop.name)[-1]) not in ("parallel", "reduction"):
        raise NotTaken

"""Recurrences side by side: where each iteration of a parallel loop runs through a recurrence (a tridiagonal solution,
a recursive filter), the steps of one recurrence wait for one another, but those of neighbouring ones do not. A stretch
of them goes through its steps together."""

from __future__ import annotations

from loopwright.ir.nodes import For
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.distribution import isolate
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.scalar_expansion import temporaries
from loopwright.recipe.tunable import Tunable
from loopwright.steps.expand import Expand
from loopwright.steps.reorder import Reorder
from loopwright.steps.split import Split

ABREAST = Tunable(
    "recurrences side by side",
    16,
    (4, 8, 16, 32, 64),
    "recurrences that go together: some vector registers, and a cache line for each still fits into the first cache",
)

MOST_SCALARS = 2
"""Scalars of a recurrence: with more, the C compiler takes longer (deriche: half a second) than most calls gain."""


def side_by_side(partial: PartialSchedule) -> None:
    """Interchange a stretch of a parallel loop with the recurrences inside it."""
    for name, loop in list(loops(partial.kernel).items()):
        if isinstance(loop, For) and partial.verdict(loop) == "parallel" and (inner := _recurrences(partial, loop)):
            with partial.together(), partial.in_nest((loop, partial.around(inner[0])[-1])):
                _interleave(partial, name, inner)


def _recurrences(partial: PartialSchedule, loop: For) -> list[str]:
    """The loops that are all in one's body that loops again, if each is innermost and needs its order."""
    inside = list(statements(loop.body, For))
    if any(stmt not in loop.body or partial.verdict(stmt) != "sequential" for stmt in inside):
        return []
    return [stmt.name for stmt in inside]


def _interleave(partial: PartialSchedule, outer: str, recurrences: list[str]) -> None:
    names = " and ".join(f"'{user_name(name)}'" for name in dict.fromkeys(recurrences))
    abreast = partial.number(ABREAST)
    why = (
        f"each step of {names} waits for the one before: {abreast} iterations of '{user_name(outer)}' go through them "
        "side by side"
    )
    partial.take(Split(outer, abreast), why)
    scalars = temporaries(partial.around(outer)[-1])
    if len(scalars) > MOST_SCALARS:
        raise NotTaken
    for scalar in scalars:
        partial.take(Expand(scalar, (outer,)), why)
    for name in recurrences:
        stretch = partial.around(name)[-2].name
        band = isolate(partial, name, stretch, why)
        partial.take(Reorder((band[1], band[0])), why)

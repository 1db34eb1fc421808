"""Iterations in the order of what data makes them do (`redirect`), as one more way for a GPU's recipe: whether it pays
is a question of data and sizes, so that only measurements take it."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Body, For
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.redirect import Redirect

ORDER = Tunable(
    "order of iterations",
    0,
    (0, 1),
    "threads wait for neighbours whose iterations go other ways or take longer; to sort iterations takes time too",
    leads=True,
    words=("as they stand", "by what data makes them do"),
)


def in_order_of_keys(partial: PartialSchedule) -> None:
    """Redirect each outermost loop that is free and irregular, where that is wanted."""
    if partial.choices is None:
        return  # the default is not to, and to find out whether it could be done takes time
    steps = [Redirect(loop.name) for loop in _outermost_free(partial, partial.kernel.body)]
    wanted: list[Redirect] = []
    for step in (step for step in steps if partial.allows(step)):
        with partial.in_nest(_nest_of(partial, step.loop)):
            wanted += [step] if partial.number(ORDER) else []
    for step in wanted:
        why = f"only data tells what an iteration of '{user_name(step.loop)}' does: those that do alike stand together"
        partial.take(step, why)
    if wanted:
        partial.begin_again()


def _outermost_free(partial: PartialSchedule, body: Body) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For) and (found := partial.proven(stmt)) is not None and is_free(stmt, found):
            yield stmt
            continue
        for inner in bodies(stmt):
            yield from _outermost_free(partial, inner)


def _nest_of(partial: PartialSchedule, name: str) -> Chain:
    """The loops of the deepest nest that a loop is in."""
    chains = [chain for chain in partial.chains() if any(loop.name == name for loop in chain)]
    return max(chains, key=len, default=partial.around(name))

"""Loops that look for something, and are left where it is found: on a GPU they are searched in chunks, since one thread
would be slower than a CPU."""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import Body, For
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.extent import extent_of
from loopwright.steps.find import Find

CHUNK = Tunable(
    "iterations of a chunk that is searched",
    1 << 22,
    (1 << 18, 1 << 20, 1 << 22, 1 << 24),
    "many keep a GPU busy between two looks, few are little in vain where the first one is found early",
)
HEAVY = 1 << 16
"""The same where iterations hold loops: each may take long, and the first one may be all that is needed."""
LEAST = 4096
"""Iterations of a loop of known length that are worth a search in any order."""


def searched(partial: PartialSchedule) -> None:
    """Find loops in chunks, outermost ones first, where no loop around them needs no order; then loops in what is
    left of them, the one iteration that leaves."""
    done: set[str] = set()
    while loop := next((one for one in _in_order(partial, partial.kernel.body) if one.name not in done), None):
        done.add(loop.name)
        extent = extent_of(loop)
        if extent is not None and extent < LEAST:
            continue
        why = (
            f"'{user_name(loop.name)}' is left where something is found: iterations of a chunk are tested in any order"
        )
        chunk = replace(CHUNK, default=HEAVY) if contains(loop.body, For) else CHUNK
        with partial.together():
            partial.take(Find(loop.name, partial.number(chunk)), why, anew=True)
            if partial.present_facts().loops[loop.name].verdict != "reduction":
                raise NotTaken
            partial.begin_again()


def _in_order(partial: PartialSchedule, body: Body) -> list[For]:
    """The loops that run in order, but for those inside of loops that need none."""
    found: list[For] = []
    for stmt in body:
        if isinstance(stmt, For):
            known = partial.facts.loops.get(stmt.name)
            if known is None or is_free(stmt, known) or known.verdict == "reduction":  # inside a thread
                continue
            found.append(stmt)
        found += [loop for part in bodies(stmt) for loop in _in_order(partial, part)]
    return found

"""A perfect nest out of an imperfect one: everything else is cut off into loops of its own."""

from __future__ import annotations

from loopwright.ir.nodes import For
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.fission import Fission


def isolate(partial: PartialSchedule, inner: str, outer: str, why: str) -> tuple[str, ...]:
    """Cut loops so that from `outer` to `inner` each loop holds nothing but the next; their names as they are then,
    outermost first. Raises NotTaken."""
    chain = partial.around(inner)
    level = len(chain) - 2
    while level >= 0:
        loop, child = chain[level], chain[level + 1]
        _alone(partial, loop, child, why)
        if loop.name == outer:
            break
        chain = partial.around(inner)
        level -= 1
    depth = len(chain) - level
    return tuple(loop.name for loop in partial.around(inner)[-depth:])


def _alone(partial: PartialSchedule, loop: For, child: For, why: str) -> None:
    """Cut what stands before and after the child off the loop."""
    position = 1 + next(at for at, stmt in enumerate(loop.body) if stmt is child)
    if position < len(loop.body):
        partial.take(Fission(loop.name, position + 1), why)
    if position > 1:
        partial.take(Fission(loop.name, position), why)

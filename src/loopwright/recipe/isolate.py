"""A perfect nest out of an imperfect one: everything else is cut off into loops of its own."""

from __future__ import annotations

from loopwright.ir.nodes import For
from loopwright.recipe.plan import Plan
from loopwright.steps.fission import Fission


def isolate(plan: Plan, inner: str, outer: str, why: str) -> tuple[str, ...]:
    """Cut loops so that from `outer` to `inner` each loop holds nothing but the next; their names as they are then,
    outermost first. Raises NotTaken."""
    chain = plan.around(inner)
    level = len(chain) - 2
    while level >= 0:
        loop, child = chain[level], chain[level + 1]
        _alone(plan, loop, child, why)
        if loop.name == outer:
            break
        chain = plan.around(inner)
        level -= 1
    depth = len(chain) - level
    return tuple(loop.name for loop in plan.around(inner)[-depth:])


def _alone(plan: Plan, loop: For, child: For, why: str) -> None:
    """Cut what stands before and after the child off the loop."""
    position = 1 + next(at for at, stmt in enumerate(loop.body) if stmt is child)
    if position < len(loop.body):
        plan.take(Fission(loop.name, position + 1), why)
    if position > 1:
        plan.take(Fission(loop.name, position), why)

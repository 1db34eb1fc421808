"""Rectangles around triangles: loops whose bounds depend on one another made ones that do not, with a test inside."""

from __future__ import annotations

from loopwright.ir.nodes import Binary, For
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import own_expressions, subexpressions
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.guard import Guard

SCALES = ("mul", "floordiv", "mod")


def unbound(partial: PartialSchedule, taken: list[For]) -> None:
    """Let the bounds of no loop depend on another one's variable."""
    for position, loop in enumerate(taken):
        for other in taken[:position]:
            if depends(loop, other.name):
                if any(isinstance(part, Binary) and part.op in SCALES for own in own_expressions(loop)
                       for part in subexpressions(own)):  # fmt: skip
                    raise NotTaken  # no rectangle: it would be mostly empty, and hard to judge
                why = f"blocks need bounds that do not depend on '{user_name(other.name)}'"
                partial.take(Guard(loop.name, other.name), why)

"""Which loops a whole grid could have, for the default recipe of a GPU."""

from __future__ import annotations

from loopwright.ir.nodes import For
from loopwright.ir.walk import loops
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.extent import around


def is_outermost(partial: PartialSchedule, loop: For) -> bool:
    """Whether a loop stands in no other one that needs no order, not behind a condition either: there it is a part of
    an iteration that is one thread's, or a block's."""
    here = loops(partial.kernel).get(loop.name)
    if here is None or len(partial.around(loop.name)) > 1:
        return False
    outer = [one for one in around(partial.kernel, here) if isinstance(one, For)]
    return not any(partial.verdict(one) == "parallel" or one.asserted for one in outer)

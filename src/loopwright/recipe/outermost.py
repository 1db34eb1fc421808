"""Which loops a whole grid could have, for the default recipe of a GPU."""

from __future__ import annotations

from loopwright.ir.nodes import Expr, For, If, Load
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.walk import loops
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.extent import around


def is_outermost(partial: PartialSchedule, loop: For) -> bool:
    """Whether a loop stands in no other one that needs no order, not behind a condition on what that one finds either:
    there it is a part of an iteration that is one thread's, or a block's."""
    here = loops(partial.kernel).get(loop.name)
    if here is None or len(partial.around(loop.name)) > 1:
        return False
    outer = around(partial.kernel, here)
    changing = names_assigned(partial.kernel.body) | {one.name for one in outer if isinstance(one, For)}
    found = [isinstance(one, If) and _is_found(one.condition, changing) for one in outer]
    last = max((at for at, one in enumerate(found) if one), default=0)
    return not any(
        isinstance(one, For) and (partial.verdict(one) == "parallel" or one.asserted) for one in outer[:last]
    )


def _is_found(condition: Expr, changing: set[str]) -> bool:
    return has(condition, Load) or bool(names_in(condition) & changing)

"""Tables of a kernel's own on a grid, for the default recipe: a table of which neighbouring threads have a row each is
kept turned, so that they read neighbouring elements."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.analysis.strides import FAR, AccessStrides
from loopwright.ir.nodes import Allocate
from loopwright.ir.user_text import user_name
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.bind import Bind
from loopwright.steps.relayout import Relayout
from loopwright.steps.step import Step

TURNED = ("order", "1", "0")


def tables_turned(partial: PartialSchedule, bound: Iterable[Step]) -> None:
    """Turn those that are worth it, once it is known what will be bound."""
    along = {step.loop for step in bound if isinstance(step, Bind) and step.axis == "thread.x"}
    tables = [stmt.array for stmt in partial.kernel.body if isinstance(stmt, Allocate) and len(stmt.shape) == 2]
    for table in tables:
        reads = [walk for walk in partial.walks() if walk.array == table and not walk.is_write]
        loops = {name for walk in reads for name in walk.strides if name in along}
        if len(loops) == 1 and all(_go_apart(walk, loops) for walk in reads):
            (loop,) = loops
            why = f"threads along '{user_name(loop)}' have a row of '{user_name(table)}' each"
            if partial.allows(step := Relayout(table, TURNED)):
                partial.take(step, why, anew=True)


def _go_apart(walk: AccessStrides, threads: set[str]) -> bool:
    """Whether threads are a row apart, and each goes along its row."""
    inner = [stride for name, stride in walk.strides.items() if name not in threads]
    return any(walk.strides.get(name) == FAR for name in threads) and 1 in inner

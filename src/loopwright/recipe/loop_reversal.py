"""Innermost loops that count down and need no order count up: vectors then lie in memory as they are computed, where a
descending loop turns each of them round, on its way in and on its way out."""

from __future__ import annotations

from loopwright.ir.nodes import Const, For
from loopwright.ir.user_text import user_name
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.reverse import Reverse


def upwards(partial: PartialSchedule) -> None:
    """Reverse what counts down, where that is legal."""
    for chain in partial.chains():
        loop = chain[-1]
        if _counts_down(loop) and partial.verdict(loop) in ("parallel", "reduction"):
            with partial.together():
                why = f"'{user_name(loop.name)}' has independent iterations, and vectors go upwards"
                partial.take(Reverse(loop.name), why)


def _counts_down(loop: For) -> bool:
    return isinstance(loop.step, Const) and loop.step.value < 0

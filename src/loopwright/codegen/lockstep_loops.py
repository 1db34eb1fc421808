"""Which loops that are marked `lockstep` go on in lanes: those in which only rounds may fail, and which can begin again
where one does."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.lockstep_rounds import LockstepRounds, lockstep_rounds
from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.ir.nodes import For
from loopwright.ir.walk import statements


def go_in_lockstep(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Lanes for loops with that mark. A failure in a lane is found again by the loop that runs one by one."""
    marked = (loop for loop in statements(given.kernel.body, For) if loop.run == "lockstep")
    return replace(lowering, lockstep={loop.name: max(1, loop.threads) for loop in marked if _is_possible(loop, given)})


def rounds_in(loop: For, given: CodegenInput) -> LockstepRounds | str:
    """What an iteration of a loop consists of, where code is made for it."""
    return lockstep_rounds(loop, given.is_checked)


def _is_possible(loop: For, given: CodegenInput) -> bool:
    parts = rounds_in(loop, given)
    if not isinstance(parts, LockstepRounds) or given.may_fail((*parts.before, *parts.skipped, *parts.after)):
        return False
    return parts.repeatable or not given.may_fail((parts.rounds,))

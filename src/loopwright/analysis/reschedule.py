"""A kernel's statements under new loops: isl's schedule, and back. It owns limits on the work that may take."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis import isl
from loopwright.analysis.effort import LOCK, Effort, TooHard
from loopwright.analysis.isl_schedule import TOO_HARD, TOO_MANY, NoSchedule, Wanted, schedule_of
from loopwright.analysis.isl_tree import NotInOurWords, body_of
from loopwright.analysis.order import scene_of
from loopwright.ir.nodes import Kernel

LIMIT = 1_500_000
"""How many of isl's operations a new order may take: a second or two. Where there are quotients, over which each
operation takes longer, a tenth."""
_LAST: list[tuple[Kernel, Wanted, Kernel | str]] = []
"""The last answer: whether a step is legal is asked before it is applied, and the answer is the same."""


def rescheduled(kernel: Kernel, wanted: Wanted, taken: set[str]) -> Kernel | str:
    """A draft of the kernel in a new order that keeps the order of sums, or the reason why there is none, in the
    user's words. taken: names that no new loop may have."""
    with LOCK:
        for known, asked, found in _LAST:
            if known is kernel and (asked == wanted or found == TOO_MANY):
                return found
        found = _found(kernel, wanted, taken)
        _LAST[:] = [(kernel, wanted, found)]
        return found


def _found(kernel: Kernel, wanted: Wanted, taken: set[str]) -> Kernel | str:
    try:
        with Effort(LIMIT, patient=True).bounded():
            scene = scene_of(kernel, strict=True)
            is_long = any(symbol.laborious for symbol in scene.notes.state.table.symbols)
            with Effort(LIMIT // 10 if is_long else LIMIT, patient=True).bounded():
                schedule = schedule_of(scene, wanted)
                tree = isl.AstBuild.from_context(isl.Set("{ : }")).node_from_schedule(schedule)
            return replace(kernel, body=body_of(tree, scene, taken))
    except NoSchedule as error:
        return str(error)
    except NotInOurWords:
        return "the bounds of the new loops would be no sums of sizes and whole arguments"
    except (isl.Error, TooHard):
        return TOO_HARD

"""Loops whose iterations go by remainders of their variable: `out[x] = a[x // 2]`, `if i % 2 == 0`, `g[c % 4]`. Written
out for each remainder, their indices count one by one and their conditions are decided: nothing is gathered from where
the C compiler cannot see, and lanes take what is left."""

from __future__ import annotations

from math import lcm

from loopwright.ir.nodes import Const, For, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.extent import trip_of
from loopwright.steps.modulo_unroll import MOST_PERIOD, ModuloUnroll, periods
from loopwright.steps.nest import size_of

WRITTEN = Tunable(
    "remainders of loops", 1, (0, 1), "what depends on them is decided", words=("as they are", "written out")
)
MOST_NODES = 400
"""Of the body, written out."""
FEWEST = 16
"""Iterations, where one knows: the C compiler writes fewer of them out by itself."""


def by_remainders(partial: PartialSchedule) -> None:
    """Write out innermost loops whose iterations need no order."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or not _goes_by_remainders(loop):
            continue
        verdict = partial.verdict(loop)
        if verdict not in ("parallel", "reduction") or not partial.number(WRITTEN):
            continue
        period = lcm(*periods(loop))
        step = ModuloUnroll(name, period)
        if not partial.allows(step):
            continue
        with partial.together():
            before = set(loops(partial.kernel))
            partial.take(step, f"'{user_name(name)}' modulo {period} is known in each of {period} iterations")
            group = next(one for one in loops(partial.kernel) if one not in before)
            if partial.present_facts().loops[group].verdict != verdict:
                raise NotTaken


def _goes_by_remainders(loop: For) -> bool:
    if contains(loop.body, For, While) or not isinstance(loop.lower, Const) or loop.run != "sequential":
        return False
    found = periods(loop)
    period = lcm(*found)
    trip = trip_of(loop)
    is_small = period * size_of(loop.body) <= MOST_NODES
    return bool(found) and period <= MOST_PERIOD and is_small and (trip is None or trip > FEWEST)

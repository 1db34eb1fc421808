"""Short loops with branches in them, such as those over the neighbours of a pixel, written out: what their variables
decide is then decided, and the loop around them, whose iterations need no order and go along rows, fills the lanes of
vector registers with what is left. Likewise larger windows without branches, which the C compiler takes for loops to
put into lanes (5 x 5 weights on an EPYC of Zen 4: five times as fast, 7 x 7 4.6 times)."""

from __future__ import annotations

from math import prod

from loopwright.ir.nodes import Allocate, Block, Break, Continue, For, If, Leave, Return, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.recipe.shape import short_loops
from loopwright.recipe.tunable import Tunable
from loopwright.steps.extent import trip_of
from loopwright.steps.unroll import Unroll

WRITTEN_OUT = Tunable(
    "loops with branches written out",
    1,
    (0, 1),
    "what their variables decide is decided, and the loop around them runs in vector lanes",
    words=("as they are", "written out"),
)
FEWEST = 16
"""Iterations of the loop around, where one knows."""


WRITTEN = 12
"""Iterations of short loops without branches that the C compiler writes out by itself before it looks for lanes."""


def in_full(partial: PartialSchedule) -> None:
    """Write out the short loops of every nest that gains from it."""
    written = set(loops(partial.kernel if not partial.decisions else partial.written))
    done: set[str] = set()
    while (chain := next((c for c in partial.chains() if c[-1].name not in done), None)) is not None:
        done.add(chain[-1].name)
        short = short_loops(chain)
        if not short or not {loop.name for loop in chain} <= written or not _gains(partial, chain, len(short)):
            continue
        around = chain[-1 - len(short)]
        with partial.together(), partial.in_nest(chain):
            if partial.number(WRITTEN_OUT):
                for name in short:
                    partial.take(
                        Unroll(name), f"'{user_name(around.name)}' can then fill vector lanes, branches and all"
                    )
        done.add(around.name)


def _gains(partial: PartialSchedule, chain: Chain, count: int) -> bool:
    """Whether the loop around so many short ones could run in lanes but for them, and their branches, or how many
    iterations they have, are why the C compiler would not write them out in time."""
    if count == len(chain):
        return False
    around, outermost = chain[-1 - count], chain[-count]
    trip = trip_of(around)
    if (trip is not None and trip < FEWEST) or sum(isinstance(stmt, For) for stmt in around.body) != 1:
        return False
    is_large = prod(trip_of(loop) or 1 for loop in chain[-count:]) > WRITTEN
    if not (contains(outermost.body, If) or is_large) or partial.verdict(around) != "parallel":
        return False
    if contains(around.body, While, Block, Allocate, Break, Continue, Leave, Return):
        return False
    inside = {id(stmt) for stmt in statements(around.body)}
    strides = [walk.strides.get(around.name) for walk in partial.walks() if id(walk.stmt) in inside]
    return 1 in strides and all(stride in (0, 1) for stride in strides)

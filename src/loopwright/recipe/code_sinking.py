"""Loops around one another that both need no order, with scalars in between: on a grid these would leave threads to the
outer loop only, each far from its neighbours in memory. The scalars are computed again in each iteration of the inner
loop, where that costs little; where not, or where they may fail, each gets an element for each iteration of the outer
one, and a loop of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from loopwright.analysis.trips import irregular
from loopwright.ir.nodes import Binary, Body, Call, Const, Expr, For
from loopwright.ir.queries import contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_rows import length_of, version
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.sink import Sink, parent_of, set_before

NARROW = 5
"""Fewer iterations than that make no row of threads: one thread does them all, and what they have in common once."""
FEW = 16
"""Below which length rows have a thread each where calls tell it: of a row of threads most would have nothing to do
(4 million rows of 8 on an H200: 0.36 ms, and 0.67 in rows of threads; of 3: 0.08 and 0.67; 400,000 of 40: 0.38 and
0.08)."""
CHEAP = 48
"""So many operations, in units of an addition, are hidden behind an element that an iteration writes to memory: a GPU
does some 100 of them in float64 in the time that takes."""
PRICES = {"truediv": 10, "floordiv": 20, "mod": 20, "pow": 40}
CALL = 25


def sunk(partial: PartialSchedule) -> None:
    """Move what stands before loops that need no order into them, from the outermost ones on."""
    for parent, loop in _nested(partial):
        scalars = set_before(parent, loop)
        if not scalars or irregular(partial.kernel, (parent, loop)) is not None:
            continue
        if price_of(scalars) <= CHEAP and _is_alone(parent, loop):
            step = Sink(loop.name)
            with partial.together():
                if not partial.allows(step):
                    raise NotTaken
                if not _is_one_of_many(partial, parent, loop):
                    unless_narrow(partial, parent.name, loop)
                partial.take(step, f"'{user_name(parent.name)}' and '{user_name(loop.name)}' are one grid")


def unless_narrow(partial: PartialSchedule, outer: str, inner: For) -> None:
    """A version of a nest for calls in which the inner loop is too short to be shared out, where calls tell."""
    if trip_of(inner) is None and inner.name not in partial.narrow:
        names = version(partial, outer, length_of([inner]), FEW)
        if names is not None:
            partial.narrow |= {inner.name: False, names[inner.name]: True}


def _is_one_of_many(partial: PartialSchedule, parent: For, loop: For) -> bool:
    """Whether there are threads enough for the iterations of a loop, however short it is: where there are loops around
    it, or another one inside, all of which become one grid, whose iterations hold loops of their own."""
    inner = loop
    while len(held := [stmt for stmt in inner.body if contains((stmt,), For)]) == 1:
        below = held[0]
        if not isinstance(below, For) or not is_free_now(partial, below) or inner.body[-1] is not below:
            break
        inner = below
    run = partial.around(parent.name)
    around = [one for one, below in pairwise(run) if one.body == (below,) and is_free_now(partial, one)]
    return contains(inner.body, For) and (inner is not loop or bool(around and around[-1].body == (parent,)))


def _nested(partial: PartialSchedule) -> Iterator[tuple[For, For]]:
    """Each loop that needs no order, and the loop like that in whose body it stands, as they are by then."""
    for name in list(loops(partial.kernel)):
        loop = loops(partial.kernel)[name]
        if not isinstance(loop, For) or is_narrow(partial, loop) or (parent := parent_of(partial.kernel, loop)) is None:
            continue
        if is_free_now(partial, parent) and is_free_now(partial, loop):
            yield parent, loop


def _is_alone(parent: For, loop: For) -> bool:
    """Whether it is the only loop there."""
    return not any(contains((stmt,), For) for stmt in parent.body if stmt is not loop)


def is_narrow(partial: PartialSchedule, loop: For) -> bool:
    """Whether a loop is too short to be shared out."""
    trip = trip_of(loop)
    return partial.narrow.get(loop.name, trip is not None and trip < NARROW)


def price_of(body: Body) -> int:
    """What statements cost, in additions."""
    return sum(map(_price, expressions(body)))


def _price(expr: Expr) -> int:
    match expr:
        case Binary(right=Const()) if expr.op in ("floordiv", "mod"):
            return 4
        case Binary():
            return PRICES.get(expr.op, 1)
        case Call():
            return CALL
    return 0


def expanded(partial: PartialSchedule, chain: Chain, first: For) -> None:
    """Give each scalar that stands between these loops, and is needed inside, an element for each iteration around it,
    so that the loops can be taken apart. Raises NotTaken where other loops stand there."""
    start = chain.index(first)
    for at, (loop, child) in enumerate(pairwise(chain[start:])):
        if any(stmt is not child and contains((stmt,), For) for stmt in loop.body):
            raise NotTaken
        before = loop.body[: next(at for at, stmt in enumerate(loop.body) if stmt is child)]
        around = tuple(one.name for one in chain[start : start + at + 1])
        for name in sorted(names_assigned(before) & names_read((child,))):
            why = f"there is an element of '{user_name(name)}' for each iteration: the loops can be taken apart"
            partial.take(Expand(name, around), why, anew=True)

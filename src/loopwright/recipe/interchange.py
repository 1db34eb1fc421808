"""Loop order: the innermost loop is to walk along rows, where neighbouring iterations use one cache line and fit into
one vector register, and not down a column, where each iteration needs a line of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopwright.analysis.isl_schedule import Wanted
from loopwright.analysis.strides import FAR, AccessStrides
from loopwright.ir.nodes import Binary, For, If, Store
from loopwright.ir.queries import contains, names_in
from loopwright.ir.user_text import user_element, user_name
from loopwright.ir.walk import own_expressions, statements, subexpressions
from loopwright.recipe.distribution import isolate
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, whole
from loopwright.recipe.scalar_expansion import STRETCH, expand, temporaries, tying
from loopwright.recipe.shape import short_loops
from loopwright.recipe.time_tiling import shared_tiles, tiles
from loopwright.recipe.tunable import Tunable
from loopwright.steps.demote import Demote, ends_plainly
from loopwright.steps.extent import around, trip_of
from loopwright.steps.nest import the_loop
from loopwright.steps.reorder import Reorder
from loopwright.steps.reschedule import Reschedule
from loopwright.steps.specialize import LARGE, Specialize
from loopwright.steps.split import Split

LINE = 8.0
"""The cost of another cache line, in accesses of the same one."""

WORTH = 1.5
"""How many times cheaper another order must be."""

FEW = 8
"""Iterations of the innermost loop with which another order begins to pay: those of a vector register."""

WIDE = 16
"""Elements along a row with which to go along it begins to pay more than a sum for each of them at a time."""

MOST_STATEMENTS = 4
"""Statements of a kernel whose new order is looked for: the search takes more than linear time."""

MOST_TEMPORARIES = 4
"""Scalars that are given an element for each iteration: with more, reading them all costs what the order gains."""


def in_order(partial: PartialSchedule) -> bool:
    """Interchange; or, where that leaves a small nest going down columns, as in a triangular solution, an order of all
    statements in which none does. True for such a new order."""
    kernel, count = partial.kernel, len(partial.decisions)
    along_rows(partial)
    columns = _columns(partial) if _is_small(partial) else []
    if not columns:
        return False
    rows, taken = partial.kernel, partial.decisions[count:]
    partial.kernel, partial.decisions[count:] = kernel, []
    if _in_a_new_order(partial, columns[0]):
        return True
    partial.kernel, partial.decisions[count:] = rows, taken
    return False


SUMS = Tunable(
    "sums in scalars",
    0,
    (0, 1),
    "a scalar needs no memory; with an element for each of a stretch of iterations, another loop can be innermost",
    leads=True,
    words=("elements where that promises a gain", "elements"),
)


def along_rows(partial: PartialSchedule) -> None:
    """Interchange where that makes the innermost loops' accesses cheaper."""
    done: set[str] = set()
    while (chain := next((c for c in partial.chains() if c[-1].name not in done), None)) is not None:
        done.add(chain[-1].name)
        if any(loop.name in partial.few for loop in chain):
            continue  # that version stays as it is
        with partial.together(), partial.in_nest(chain):
            done.add(_interchange(partial, chain))


def _in_a_new_order(partial: PartialSchedule, column: AccessStrides) -> bool:
    why = f"no interchange keeps {_text(column)} from touching another cache line each time; in this order none does"
    kernel = partial.kernel
    in_tiles = Wanted("smart", tiles(partial, 3), wavefront=True)
    for wanted, more in ((in_tiles, ", and tiles on a diagonal run at once"), (Wanted("smart"), "")):
        with partial.together():
            partial.take(Reschedule(wanted), why + more)
            if _columns(partial) or (wanted is in_tiles and not shared_tiles(partial)):
                raise NotTaken
        if partial.kernel is not kernel:
            return True
    return False


def _is_small(partial: PartialSchedule) -> bool:
    inside = list(statements(partial.written.body))
    return (
        len(partial.written.body) == 1
        and all(isinstance(stmt, For | Store) for stmt in inside)
        and sum(isinstance(stmt, Store) for stmt in inside) <= MOST_STATEMENTS
    )


def _columns(partial: PartialSchedule) -> list[AccessStrides]:
    """The accesses that are another cache line in every iteration of the innermost of three loops."""
    found: list[AccessStrides] = []
    for chain in partial.chains():
        inside = {id(stmt) for stmt in statements(chain[-1].body)}
        if len(chain) >= 3:
            mine = (walk for walk in partial.walks() if id(walk.stmt) in inside)
            found += [walk for walk in mine if _weight(walk.strides.get(chain[-1].name)) >= LINE]
    return found


def _interchange(partial: PartialSchedule, chain: Chain) -> str:
    """The name of the loop that is innermost then: it was chosen, and is not to be looked at again."""
    inner = chain[-1]
    inside = {id(stmt) for stmt in statements(inner.body)}
    accesses = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    if any(walk.is_write and walk.strides.get(inner.name) is None for walk in accesses):
        return inner.name  # where it writes depends on data, and costs the same in any order
    ties = tying(partial, inner)
    sums = 2.0 * len(ties)  # of a scalar that gets elements, one is loaded and stored in each iteration
    costs = {loop.name: _cost(accesses, loop) + (0.0 if loop is inner else sums) for loop in chain}
    stays = [loop for loop in chain if _is_tied(partial, loop) or _counts_stretches(accesses, chain, loop)]
    movable = [loop for loop in chain if loop is inner or loop not in stays]
    cheapest = sorted(movable, key=lambda loop: (costs[loop.name], -chain.index(loop)))
    best = next(one for one in cheapest if one is inner or _may_be_innermost(partial, accesses, chain, one, costs))
    if (along := _beside_a_sum(partial, accesses, chain, best, movable, costs)) is not None:
        return _through_a_stretch(partial, inner, best, along)
    needs_order = _needs_order(partial, best)
    if inner.name in short_loops(chain) and (ties or needs_order):
        return inner.name  # written out by the C compiler, it is no loop any more, and its elements are in registers
    if best is not inner and costs[best.name] * WORTH <= costs[inner.name]:
        worst = max(accesses, key=lambda walk: _weight(walk.strides.get(inner.name)))
        why = (
            f"'{user_name(best.name)}' innermost walks along rows: with '{user_name(inner.name)}' innermost each "
            f"{_text(worst)} is another cache line"
        )
    else:
        others = [loop for loop in movable if loop is not inner]
        if not (ties and others and partial.number(SUMS)):
            return inner.name
        best = min(reversed(others), key=lambda loop: costs[loop.name])
        why = f"sums of neighbouring iterations of '{user_name(best.name)}' are accumulated side by side"
    for name in temporaries(inner):
        with partial.together():  # where it cannot be, it may not stand in the way either
            if not ends_plainly(partial.kernel, name):
                raise NotTaken
            partial.take(Demote(name), why)
    together = partial.kernel
    if best is chain[-2] and 0 < len(tying(partial, partial.around(inner.name)[-1])) <= MOST_TEMPORARIES:
        with partial.together():  # a sum over all of the nest needs no more than another order
            _for_few(partial, partial.around(inner.name))
            expand(partial, inner.name, best.name, why)
    in_stretches = partial.kernel is not together
    band = isolate(partial, inner.name, best.name, why)
    order = (*band[1:], band[0])
    partial.take(Reorder(order), why)
    vectors = all(len(walk.node.index) == 1 for walk in accesses if walk.is_write)
    if not in_stretches and not (vectors and not partial.strict) and _splits_well(partial, chain, best):
        _in_stretches(partial, order)
    return order[-1]


def _beside_a_sum(
    partial: PartialSchedule,
    accesses: list[AccessStrides],
    chain: Chain,
    outer: For,
    movable: Sequence[For],
    costs: Mapping[str, float],
) -> For | None:
    """Where all iterations of a loop around add to the same elements, the loop along which these lie side by side."""
    inner = chain[-1]
    if outer is inner or partial.verdict(outer) != "reduction" or tying(partial, inner):
        return None
    if any(walk.is_write and walk.strides.get(outer.name) != 0 for walk in accesses):
        return None
    found = [one for one in movable if partial.verdict(one) == "parallel" and costs[one.name] <= len(accesses)]
    along = min(reversed(found), key=lambda one: costs[one.name], default=None)
    if along is None or partial.narrow.get(along.name):
        return None
    trip = trip_of(along)
    return along if (trip or 0) >= WIDE or (trip is None and partial.allows(_wide(outer, along))) else None


def _wide(outer: For, along: For) -> Specialize:
    return Specialize((along.name,), LARGE, WIDE, outer.name)


def _through_a_stretch(partial: PartialSchedule, inner: For, outer: For, along: For) -> str:
    """All iterations of the outer loop for a stretch of elements, then for the next one: a sum for each of them at a
    time would wait for its own addends, and begin and end with few of them. Not in short rows."""
    length = partial.number(STRETCH)
    why = (
        f"{length} elements along '{user_name(along.name)}' stay in the cache through all of '{user_name(outer.name)}'"
    )
    if trip_of(along) is None:
        names = whole(partial, _wide(outer, along), why)
        if along.name not in names:
            raise NotTaken
        partial.narrow |= {along.name: False, names[along.name]: True}
    first, *others = isolate(partial, inner.name, outer.name, why)
    last = along.name
    if last not in others:
        raise NotTaken
    order = (*(name for name in others if name != last), first, last)
    if order != (first, *others):
        partial.take(Reorder(order), why)
    partial.take(Split(last, length), why)
    partial.take(Reorder((partial.around(last)[-2].name, first)), why)
    return last


def _needs_order(partial: PartialSchedule, loop: For) -> bool:
    return partial.verdict(loop) not in ("parallel", "reduction")


def _may_be_innermost(
    partial: PartialSchedule, accesses: list[AccessStrides], chain: Chain, loop: For, costs: Mapping[str, float]
) -> bool:
    """Whether a loop around the innermost one may take its place, as far as its order matters."""
    if not _needs_order(partial, loop):
        return True
    if not _moves_on(accesses, chain[-1], loop, costs) or _stores_under_conditions(chain[-1]):
        return False  # under a mask, the next step would load what a store is still busy with
    band = chain[chain.index(loop) :]
    if not all(len(one.body) == 1 for one in band[:-1]):
        return True  # whether what stands between them can be taken apart shows later
    return partial.allows(Reorder((*(one.name for one in band[1:]), loop.name)))


def _moves_on(accesses: list[AccessStrides], inner: For, best: For, costs: Mapping[str, float]) -> bool:
    """Whether a loop is cheaper innermost, though it needs its order, where what each of its iterations uses again is
    not counted: that is in the caches. Side by side, short chains of steps overlap; a long one waits for each step."""
    once = [walk for walk in accesses if walk.strides.get(best.name) != 0]
    return costs[best.name] * WORTH <= _cost(once, inner)


def _stores_under_conditions(loop: For) -> bool:
    return any(contains((branch,), Store) for branch in statements(loop.body, If))


def _for_few(partial: PartialSchedule, chain: Chain) -> None:
    """A version as it is for few iterations of the loop around the innermost one, where that is to be innermost, and
    stands in a loop that needs its order. What data decide has no such version: side by side it is chosen, one by one
    each choice is a jump."""
    *_, loop, inner = chain
    outer = around(partial.kernel, the_loop(partial.kernel, loop.name))
    again = len(chain) > 2 and _is_tied(partial, chain[-3]) if outer and outer[-1] in chain else bool(outer)
    if not again or trip_of(loop) is not None or contains(inner.body, If):
        return
    few = f"to accumulate side by side takes longer where '{user_name(loop.name)}' has few iterations"
    with partial.together():
        rest = whole(partial, Specialize((loop.name,), LARGE, FEW, loop.name), few)
        if not rest:
            raise NotTaken
        partial.few |= set(rest.values())


def _is_tied(partial: PartialSchedule, loop: For) -> bool:
    """Whether a loop needs its order and holds several loops, as one over time does: it cannot be taken apart."""
    return partial.verdict(loop) == "sequential" and sum(isinstance(stmt, For) for stmt in loop.body) > 1


def _counts_stretches(accesses: list[AccessStrides], chain: Chain, loop: For) -> bool:
    """Whether a loop only says where others begin or end: what they go through is the same data in any order."""
    return any(depends(one, loop.name) for one in chain) and all(w.strides.get(loop.name) == 0 for w in accesses)


def _splits_well(partial: PartialSchedule, chain: Chain, best: For) -> bool:
    """Whether of the loops of a nest only the one that is now innermost can be shared among threads."""
    verdicts = {loop.name: partial.verdict(loop) for loop in chain}
    return verdicts[best.name] == "parallel" and all(v != "parallel" for n, v in verdicts.items() if n != best.name)


def _in_stretches(partial: PartialSchedule, order: tuple[str, ...]) -> None:
    """Give each thread a stretch of the innermost loop, and all of the loops around it."""
    inner = order[-1]
    length = partial.number(STRETCH)
    why = f"only '{user_name(inner)}' can be split: threads take pieces of it, {length} elements each"
    with partial.together():
        partial.take(Split(inner, length), why)
        outer = partial.around(inner)[-2].name
        partial.take(Reorder((outer, *order)), why)


def _cost(accesses: list[AccessStrides], loop: For) -> float:
    return sum(_weight(walk.strides.get(loop.name)) for walk in accesses)


def _weight(stride: int | None) -> float:
    if stride is None or abs(stride) >= FAR // 2:
        return LINE
    return min(float(abs(stride)), LINE)


def _text(walk: AccessStrides) -> str:
    return user_element(walk.array, walk.node.index)


def starts_far_apart(loop: For, name: str) -> bool:
    """Whether a loop begins at a multiple of another one's variable, as one over the iterations of a chunk does."""
    products = (part for part in subexpressions(loop.lower, Binary) if part.op == "mul")
    return any(name in names_in(part) for part in products)


def depends(loop: For, other: str) -> bool:
    """Whether the bounds of a loop depend on another loop's variable."""
    return any(other in names_in(expr) for expr in own_expressions(loop))

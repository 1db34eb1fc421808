"""Loops that need no order and hold others under a condition, for the default recipe on a grid: each iteration is a
thread's, as the loops inside, as nests of their own, would be a launch in each iteration."""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import For, If, While
from loopwright.ir.queries import contains, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_blocks import in_blocks, in_boxes
from loopwright.recipe.grid_keys import by_key, may_meet_by_key
from loopwright.recipe.grid_rows import rows_of_loops
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.grid_totals import adds_to_scalars, has_totals, totals_of_rows, totals_of_threads
from loopwright.recipe.partial_schedule import Chain, PartialSchedule, made
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.bind import Bind
from loopwright.steps.extent import around as around_of
from loopwright.steps.extent import trip_of
from loopwright.steps.split import Split

WARPS = 8
"""Of a block where each has iterations of its own."""


def is_free_now(partial: PartialSchedule, loop: For) -> bool:
    """Whether a loop needs no order, as the kernel is now."""
    found = None if loop.name in partial.turns else partial.proven(loop)
    if found is not None and found.verdict == "undecided" and loop.asserted and not partial.strict:
        found = replace(found, verdict="parallel")
    return found is not None and is_free(loop, found)


def with_conditions(partial: PartialSchedule) -> list[Chain]:
    """Loops around one another that need no order, the last of which holds loops under a condition and no others
    inside these: as nests of their own these would be a launch in each of its iterations. Loops that need their order
    may stand in between, as those over a window do; a `while` around all loops inside is such a condition, too. Also
    such loops whose iterations meet in elements only that data selects, or in totals."""
    found: list[Chain] = []
    for loop in loops(partial.kernel).values():
        if not isinstance(loop, For) or not (any(isinstance(s, If) for s in loop.body) or _holds_a_while(loop)):
            continue
        inner = list(statements(loop.body, For, While))
        direct = [stmt for stmt in loop.body if isinstance(stmt, For | While)]
        if len(inner) == len(direct):
            continue
        is_deep = any(contains(one.body, For, While) for one in inner) and not has_totals(partial, loop)
        is_shared = any(_may_be_shared(partial, one) for one in inner) and not _holds_a_while(loop)
        if is_deep and (not is_free_now(partial, loop) or is_shared):
            around = _with_short_ones_inside(partial, partial.around(loop.name))
        else:
            around = _with_all_inside(partial, partial.around(loop.name))
        if not around:
            continue
        start = len(around) - 1
        if is_free_now(partial, around[-1]) or may_meet_by_key(partial, around[-1]):
            may_share = is_free_now if is_free_now(partial, around[-1]) else may_meet_by_key
            while start and len(around[start - 1].body) == 1 and may_share(partial, around[start - 1]):
                start -= 1
            chain = around[start:][-4:]
        else:  # parts of the outermost total: whatever stands between, a thread does
            start = next(place for place, one in enumerate(around) if has_totals(partial, one))
            chain = around[start:]
            is_row = any(one.name in names_read((chain[0],)) for one in around[:start])  # one of many, not a round
            is_there = any(chain[0] is one[0] for one in found)  # with another of its conditions
            is_row |= any(is_free_now(partial, one) for one in _loops_around(partial, chain[0]))
            if is_row or is_there or not partial.rare.isdisjoint(one.name for one in around):
                continue
        if not any(is_free_now(partial, other) for other in around[:start]) and chain not in found:
            found.append(chain)
    return found


def is_in_a_thread(partial: PartialSchedule, chain: Chain) -> bool:
    """Whether a nest stands in a `while` of an iteration of a loop that needs no order: then it is that iteration's."""
    outer = around_of(partial.kernel, chain[0])
    last = max((at for at, stmt in enumerate(outer) if isinstance(stmt, While)), default=0)
    return any(isinstance(stmt, For) and is_free_now(partial, stmt) for stmt in outer[:last])


def _holds_a_while(loop: For) -> bool:
    """Whether all loops inside stand in a `while`: how often each comes only an iteration itself finds out."""
    inner = [stmt for stmt in loop.body if contains((stmt,), For, While)]
    return bool(inner) and all(isinstance(one, While) for one in inner) and contains(loop.body, For)


def _may_be_shared(partial: PartialSchedule, loop: For | While) -> bool:
    """Whether threads may share a loop that has iterations enough."""
    if not isinstance(loop, For) or trip_of(loop) is not None:
        return False
    return is_free_now(partial, loop) or adds_to_scalars(partial, loop)


def _loops_around(partial: PartialSchedule, loop: For) -> list[For]:
    """All loops around a loop, those between which conditions stand, too."""
    return [stmt for stmt in around_of(partial.kernel, loops(partial.kernel)[loop.name]) if isinstance(stmt, For)]


def _with_all_inside(partial: PartialSchedule, around: Chain) -> Chain:
    """As many of the loops as that the last one is for threads, each of which does all that is inside; () for none."""
    if is_free_now(partial, around[-1]) or may_meet_by_key(partial, around[-1]):
        return around
    free = [place for place, loop in enumerate(around) if is_free_now(partial, loop)]
    if not free and has_totals(partial, around[-1]):
        return around
    if not free:
        adding = next((place for place, loop in enumerate(around) if may_meet_by_key(partial, loop)), None)
        return () if adding is None else around[: adding + 1]
    last = around[free[-1]]
    inside = [one for one in statements(last.body, For) if is_free_now(partial, one)]
    if any(last in partial.around(one.name) for one in inside):  # no condition stands between: they are one nest
        return ()
    return around[: free[-1] + 1]


def _with_short_ones_inside(partial: PartialSchedule, around: Chain) -> Chain:
    """The same where all that threads could share inside is too short for a warp, as in blocks of 3 x 3 along a
    chain."""
    free = [place for place, loop in enumerate(around[:-1]) if is_free_now(partial, loop)]
    inside = [one for stmt in statements(around[-1].body, If) for one in statements((stmt,), For)]
    if not free or not any(is_free_now(partial, one) for one in inside):
        return ()  # no nest of its own would be a launch in each iteration
    if any(_is_worth_sharing(partial, one) for one in statements(around[free[-1]].body, For, While)):
        return ()
    return around[: free[-1] + 1]


def _is_worth_sharing(partial: PartialSchedule, loop: For | While) -> bool:
    """Whether threads may share a loop that is not known to be too short for a warp."""
    if not isinstance(loop, For) or not (is_free_now(partial, loop) or adds_to_scalars(partial, loop)):
        return False
    most = partial.most_trips(loop)
    return most is None or most >= partial.facts.gpu.warp


def _rows_with_conditions(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    return rows_of_loops(partial, free[-3:], at_once=True) if all(is_free_now(partial, loop) for loop in chain) else []


def _by_key(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    return by_key(partial, chain, [])


def each_in_a_thread(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """All that stands in an iteration of loops that need no order is one thread's."""
    if not all(is_free_now(partial, loop) for loop in chain):
        return []
    names = [loop.name for loop in free]
    shared_out = in_boxes if len(names) > 3 else in_blocks
    return shared_out(partial, names, f"iterations of '{user_name(names[-1])}' are independent, and hold conditions")


def _ranges_in_warps(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """How many iterations the inner loop has, only data tells: a warp goes through those of each outer one."""
    if len(chain) != 2 or not all(is_free_now(partial, loop) for loop in chain):
        return []
    outer, inner = chain
    why = f"the threads of a warp share '{user_name(inner.name)}', as only data tells how often it runs"
    (block,) = made(partial, Split(outer.name, WARPS), why)
    warp = partial.facts.gpu.warp
    return [
        (Bind(block, "block.x"), why),
        (Bind(outer.name, "thread.y", WARPS), why),
        (Bind(inner.name, "thread.x", warp), why),
    ]


CONDITIONAL = (
    _rows_with_conditions, each_in_a_thread, _ranges_in_warps, _by_key, totals_of_rows, totals_of_threads,
)  # fmt: skip
"""Ways to share out such loops, the first that can be taken."""

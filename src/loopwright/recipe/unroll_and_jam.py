"""Iterations of the loop around an innermost one side by side in it (unroll and jam), where they share what it goes
through by ones: rows of a matrix that are added to one vector, or multiplied by one. That is loaded, and stored, once
for all of them; several sums grow at a time; and several rows come from memory at a time, which arrive faster than one.
"""

from __future__ import annotations

from loopwright.ir.nodes import Assign, Call, Const, For, Store, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, statements
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.scalar_expansion import tying
from loopwright.recipe.tunable import Tunable
from loopwright.steps.extent import extent_of, trip_of
from loopwright.steps.promote import Promote
from loopwright.steps.unroll_and_jam import UnrollAndJam

ROWS = Tunable(
    "rows side by side",
    4,
    (1, 2, 4, 8),
    "each has a stream of its own from memory and a sum in registers; what they share is loaded once for all of them",
)
FEWEST = 16
"""Iterations of the inner loop, where one knows: with fewer, the rest of a group is most of it."""
MOST_STATEMENTS = 4


def rows_side_by_side(partial: PartialSchedule) -> None:
    """Join iterations around every innermost loop that gains from it."""
    done: set[str] = set()
    while (chain := next((c for c in partial.chains() if c[-1].name not in done), None)) is not None:
        done.add(chain[-1].name)
        if len(chain) > 1 and (sums := _shared(partial, chain)) is not None:
            with partial.together(), partial.in_nest(chain):
                _join(partial, chain, sums)
                done |= {loop.name for c in partial.chains() for loop in c if loop.at == chain[-1].at}


def _join(partial: PartialSchedule, chain: Chain, sums: list[str]) -> None:
    outer, inner = chain[-2].name, chain[-1].name
    rows = partial.number(ROWS)
    if rows == 1:
        raise NotTaken("one at a time")
    why = f"{rows} iterations of '{user_name(outer)}' go along '{user_name(inner)}' together: they share loads"
    for array in sums:
        partial.take(Promote(array, inner), why)
    partial.take(UnrollAndJam(outer, rows), why)


def _shared(partial: PartialSchedule, chain: Chain) -> list[str] | None:
    """The arrays of which each iteration of the outer loop sums into an element; None where iterations share nothing
    that the inner loop goes along, or hold more than sums."""
    outer, inner = chain[-2], chain[-1]
    if any(not _is_long(loop) for loop in (outer, inner)) or not _is_plain(outer, inner):
        return None
    inside = {id(stmt) for stmt in statements(inner.body)}
    accesses = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    if any(walk.strides.get(inner.name) not in (0, 1) for walk in accesses):
        return None
    along = [walk for walk in accesses if walk.strides[inner.name] == 1]
    written = {walk.array for walk in accesses if walk.is_write}
    rows = {walk.array for walk in along if walk.strides.get(outer.name) not in (0, None)}
    if not rows - written:
        return None
    kept = [walk for walk in accesses if walk.is_write and walk.strides[inner.name] == 0]
    added = [walk for walk in along if walk.is_write]
    shared = {walk.array for walk in along if walk.strides.get(outer.name) == 0}
    if any(walk.strides.get(outer.name) != 0 for walk in added) or any(
        not walk.strides.get(outer.name) for walk in kept
    ):
        return None
    is_sum = bool(kept) or bool(tying(partial, inner))
    return [walk.array for walk in kept] if added or (is_sum and shared - written) else None


def _is_long(loop: For) -> bool:
    trip = trip_of(loop)
    step = isinstance(loop.step, Const) and loop.step.value == 1
    return step and not extent_of(loop) and (trip is None or trip >= FEWEST)


def _is_plain(outer: For, inner: For) -> bool:
    """Whether there is nothing but a few assignments, without functions."""
    rest = tuple(stmt for stmt in outer.body if stmt is not inner)
    inside = list(statements(inner.body))
    plain = all(isinstance(stmt, Assign | Store) for stmt in (*inside, *rest)) and not contains(rest, For, While)
    return plain and len(inside) <= MOST_STATEMENTS and next(expressions(inner.body, Call), None) is None

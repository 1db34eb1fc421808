"""Sums of rows and columns on a grid, for the default recipe: the threads of a block share them, so that neighbours
touch neighbouring elements, and so that few long sums keep a GPU busy too."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.reductions import is_told_by_data
from loopwright.ir.gpu_target import GpuTarget
from loopwright.ir.nodes import Allocate, For, Run, Store, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements
from loopwright.recipe.bounding_boxes import unbound
from loopwright.recipe.distribution import isolate
from loopwright.recipe.grid_rows import (
    SHARING,
    SharedRow,
    are_alike,
    blocks_of_planes,
    columns_of_planes,
    in_columns,
    in_rows,
    rows_alike,
)
from loopwright.recipe.grid_tiles import Bound, threads_fit
from loopwright.recipe.interchange import starts_far_apart
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.recipe.tunable import Constraint, Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.extent import trip_of
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.split import Split

ROWS = Tunable("sums of a block", 4, (2, 4, 8, 16), SHARING)
LANES = Tunable(
    "threads that share a sum",
    0,
    (0, 8, 16, 32, 64, 128, 256),
    SHARING,
    words=("by its length", "8", "16", "32", "64", "128", "256"),
)
"""Rows of a block, each of which so many threads share."""
ELEMENTS = 4
"""Of an array that a loop adds to, as to those of a vector: a thread has scalars for as many."""
SHORT = 64
"""Iterations of a sum of known length that one thread does."""


def shared_sums(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A nest with a sum (or product, or least or greatest value) innermost: as many threads as its length is worth for
    each row whose elements lie side by side, several threads for each column where those of a column lie far
    apart."""
    if (outer := _around_planes(partial, chain, free)) and (bound := _planes_turned(partial, *outer)):
        return bound
    if len(chain) > 1 and free == [chain[-1]]:
        chain = turned(partial, chain[-2:])
        free = [chain[-2]]
    if len(chain) < 2 or not free or free[-1] is not chain[-2]:
        return []
    each, entry = chain[-2], chain[-1]
    if sum(1 for _ in statements(each.body, For)) != 1 or _is_short(entry):
        return []
    sum_in_scalars(partial, entry)
    rows, columns = _rows_and_columns(partial, each.name, entry.name)
    if rows and not columns:
        return _rows(partial, [loop.name for loop in free], entry.name)
    along = partial.around(entry.name)[-1]
    if columns and len(free) == 1:
        return in_columns(partial, SharedRow((each.name,), (entry.name,)), [along])
    if columns and len(free) <= 3 and entry.name in partial.merges:
        return columns_of_planes(partial, SharedRow(tuple(loop.name for loop in free), (entry.name,)), along)
    alike = SharedRow((each.name,), (entry.name,))
    if len(free) == 1 and are_alike(partial, alike):
        return rows_alike(partial, alike, free[0])
    raise NotTaken


def _around_planes(partial: PartialSchedule, chain: Chain, free: list[For]) -> tuple[list[str], list[str]] | None:
    """Of sums of planes over something around them, too, as those of each channel of several images: the loops that
    need no order, and those that add up. None for other nests."""
    first = next((at for at, loop in enumerate(chain) if partial.verdict(loop) == "reduction"), len(chain))
    inside = [loop for loop in chain[first:] if loop in free]
    sums = [loop for loop in chain[first:] if loop not in inside]
    if not inside or len(inside) > 3 or len(sums) < 3 or set(chain[-2:]) & set(inside):
        return None
    if any(len(loop.body) > 1 for loop in chain[first:-1]) or any(
        partial.verdict(loop) != "reduction" for loop in sums
    ):
        return None
    return [loop.name for loop in inside], [loop.name for loop in sums]


def _planes_turned(partial: PartialSchedule, outer: list[str], sums: list[str]) -> list[Bound]:
    """The planes of each sum, one after the other, which the threads of a block share. Raises NotTaken."""
    why = f"each '{user_name(outer[-1])}' has a sum of its own"
    partial.take(Reorder((*outer, *sums)), why, anew=True)
    sum_in_scalars(partial, partial.around(sums[0])[-1])
    return blocks_of_planes(partial, outer, [sums])


def few_rows(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows with a sum, or an extreme, whose terms take loops of their own, as the nearest of some points does: where
    there are few rows, threads share each of them, and each term is one thread's."""
    if len(free) != 1 or len(chain) < 3 or chain[-3] is not free[0] or trip_of(free[0]) is not None:
        return []
    row, entry = chain[-3], chain[-2]
    if terms_of_loops(partial, row) is not entry:
        return []
    sum_in_scalars(partial, entry)
    return rows_alike(partial, SharedRow((row.name,), (entry.name,)), row)


def terms_of_loops(partial: PartialSchedule, row: For) -> For | None:
    """The loop that adds up such a row; None for others."""
    direct = [stmt for stmt in row.body if contains((stmt,), For, While)]
    if len(direct) != 1 or not isinstance(entry := direct[0], For) or trip_of(entry) is not None:
        return None
    found = partial.proven(entry)
    if found is None or found.verdict != "reduction" or any(one.kind == "scatter" for one in found.reductions):
        return None
    is_sum = contains(entry.body, For) and not contains(entry.body, While, Allocate)
    return entry if is_sum else None


def turned(partial: PartialSchedule, chain: Chain) -> Chain:
    """A nest with the loop that adds up inside those that need no order; of a triangle of sums, all of the square.
    Raises NotTaken."""
    if partial.verdict(chain[0]) != "reduction":
        raise NotTaken
    why = f"each '{user_name(chain[-1].name)}' has sums of its own"
    outer_name, *names = isolate(partial, chain[-1].name, chain[0].name, why)
    unbound(partial, list(partial.around(names[-1])[-len(names) :]))
    partial.take(Reorder((*names, outer_name)), why)
    return partial.around(outer_name)


def _is_short(loop: For) -> bool:
    trip = trip_of(loop)
    return trip is not None and trip < SHORT


def sum_in_scalars(partial: PartialSchedule, entry: For, most: int = ELEMENTS) -> None:
    """Keep elements that a loop adds to in scalars, so many of an array at most. Raises NotTaken."""
    found = partial.present_facts().loops[entry.name]
    if found.verdict != "reduction" or any(
        one.kind != "scalar" and is_told_by_data(entry, one) for one in found.reductions
    ):
        raise NotTaken
    for reduction in found.reductions:
        if reduction.kind == "scalar":
            continue
        why = f"each thread has its own part of the sums of '{user_name(reduction.target)}'"
        indices = {stmt.index for stmt in statements(entry.body, Store) if stmt.array == reduction.target}
        if len(indices) > most:
            raise NotTaken
        for _ in indices:
            partial.take(Promote(reduction.target, entry.name), why)


def own_sums_in_scalars(partial: PartialSchedule, each: str) -> None:
    """Keep the element that a loop in the body of another one adds to, and which is each iteration's own, in a scalar:
    a thread would go through memory for each term else."""
    for loop in [stmt for stmt in partial.around(each)[-1].body if isinstance(stmt, For)]:
        with partial.together():
            if contains(loop.body, For):  # what is added up in one loop alone the writer keeps
                sum_in_scalars(partial, loop, most=1)


def rare_sums_in_scalars(partial: PartialSchedule, each: str) -> None:
    """The same of elements that a loop may never come to, as a condition stands before the sums."""
    for loop in [stmt for stmt in partial.around(each)[-1].body if isinstance(stmt, For)]:
        found = partial.present_facts().loops[loop.name]
        targets = [one.target for one in found.reductions if one.kind == "element"]
        if found.verdict == "reduction" and len(targets) == len(found.reductions) == 1:
            step = Promote(targets[0], loop.name)
            why = f"each thread has its own part of the sums of '{user_name(targets[0])}', where there are any"
            if not partial.allows(step) and partial.allows(rare := replace(step, seldom=True)):
                partial.take(rare, why)


def _rows_and_columns(partial: PartialSchedule, each: str, entry: str) -> tuple[int, int]:
    """How many accesses go by ones along the inner loop and far along the outer one, and how many the other way."""
    (loop,) = (one for one in partial.around(entry) if one.name == entry)
    inside = {id(stmt) for stmt in statements(loop.body)}
    strides = [(walk.strides.get(each), walk.strides.get(entry)) for walk in partial.walks() if id(walk.stmt) in inside]
    near = () if starts_far_apart(loop, each) else (0, 1, -1)
    rows = sum(inner in (1, -1) and outer not in near for outer, inner in strides)
    columns = sum(outer in (1, -1) and inner not in (0, 1, -1) for outer, inner in strides)
    return rows, columns


def _rows(partial: PartialSchedule, free: list[str], entry: str) -> list[Bound]:
    each = free[-1]
    rows, lanes = partial.number(ROWS), partial.number(LANES)
    partial.require(_rows_fit(partial.facts.gpu))
    band = [loop.name for loop in partial.around(each)][-len(free) :]
    outer = free[:-1] if band == free else []
    if not lanes:
        (loop,) = (one for one in partial.around(entry) if one.name == entry)
        return in_rows(partial, SharedRow((*outer, each), (entry,)), [loop])
    why = (
        f"elements along '{user_name(entry)}' lie side by side: {lanes} threads share the sum of each "
        f"'{user_name(each)}'"
    )
    (block,) = made(partial, Split(each, rows), why)
    runs: tuple[Run, ...] = ("block.y", "block.z")
    bound = [Bind(name, run) for name, run in zip(reversed(outer), runs, strict=False)]
    return bound_inside(
        partial, [*reversed(bound), Bind(block, "block.x"), Bind(each, "thread.y")], Bind(entry, "thread.x", lanes), why
    )


def _rows_fit(gpu: GpuTarget) -> Constraint:
    fits = threads_fit(gpu, ROWS.name, LANES.name)
    return Constraint(fits.text, lambda numbers: not numbers[LANES.name] or fits.holds(numbers))


def bound_inside(partial: PartialSchedule, around: list[Bind], inner: Bind, why: str) -> list[Bound]:
    """The loops to bind, where the inner one can be. Raises NotTaken."""
    if inner.illegal(partial.kernel, partial.present_facts(), partial.strict) is not None:
        raise NotTaken
    return [(step, why) for step in (*around, inner)]

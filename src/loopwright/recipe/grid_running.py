"""Running sums (or products, or least or greatest values) on a grid, for the default recipe, where blocks have a row or
a chunk each: its threads go through it round by round, a few neighbouring elements each, and find what comes before
them from one another.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.running_totals import running_totals
from loopwright.ir.nodes import For, Run, Store, While
from loopwright.ir.queries import contains, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements
from loopwright.recipe.bounding_boxes import unbound
from loopwright.recipe.coalescing import accesses_inside
from loopwright.recipe.grid_blocks import in_blocks
from loopwright.recipe.grid_rows import length_of, version
from loopwright.recipe.grid_scans import is_worth_it, level_of
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.interchange import starts_far_apart
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.extent import trip_of
from loopwright.steps.promote import Promote
from loopwright.steps.scan import Scan, is_plain
from loopwright.steps.split import Split

THREADS = Tunable("threads of a running sum", 256, (64, 128, 256, 512), "more of them meet less often for each element")
EACH = Tunable(
    "neighbours of a thread in a running sum",
    2,
    (1, 2, 4, 8),
    "threads meet once for so many elements each, but neighbours then read elements that are so far apart",
)
BYTES = 8
"""What a thread reads side by side."""
ROW = 256
"""From which length on a block has a row."""
CHUNKS = 1024
"""Chunks of a running sum that is alone: a block for each, and a thread for each to put together what they add."""
SUMMING = 256
"""Threads of a block that finds what a chunk adds."""


def in_chunks_of_blocks(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """An outermost loop that needs its order only for scalars that each iteration updates, and holds no loops: blocks
    find what chunks add, one block puts that together, and blocks do the work."""
    return _chunks_for_blocks(partial, chain[0]) if is_worth_it(partial, chain[0]) else []


def in_chunks_each_round(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The same for such a loop in loops that need their order, as those over time, which the host runs."""
    is_last = not free and is_worth_it(partial, chain[-1], in_rounds=True)
    return _chunks_for_blocks(partial, chain[-1]) if is_last else []


def _chunks_for_blocks(partial: PartialSchedule, loop: For) -> list[Bound]:
    threads = min(CHUNKS, partial.facts.gpu.threads)
    if contains(loop.body, For, While) or not partial.allows(Scan(loop.name, threads)):
        return []
    if not is_plain(partial.kernel, loop):
        return []
    why = (
        f"'{user_name(loop.name)}' must run in order only for what it adds up: {threads} chunks, a block for each, do "
        "the work once it is known where these begin"
    )
    level = level_of(partial, loop.name, threads, why)
    (phase,) = level.phases
    steps = [Bind(phase.ahead, "block.x"), Bind(phase.along, "thread.x", SUMMING), Bind(phase.merge, "thread.x")]
    steps += [Bind(level.chunk, "block.x"), *_in_rounds(partial, loop.name, why)]
    return [(step, why) for step in steps]


def running_rows(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows of running sums: a block for each, where they are long, and a thread for short ones. Of few rows, which
    threads would not fill a GPU, wherever their elements lie."""
    *outer, entry = chain
    if not outer or len(outer) > 3 or list(free) != outer or partial.verdict(entry) != "sequential":
        return []
    if any(len(loop.body) != 1 for loop in outer[:-1]) or sum(1 for _ in statements(outer[-1].body, For, While)) != 1:
        return []
    names = [loop.name for loop in outer]
    trip = trip_of(entry)
    bound = [] if trip is None else _put_together(partial, names, entry)
    if bound:
        return bound
    if (trip is not None and trip < ROW) or not (entry.name in partial.apart or goes_along(partial, outer[-1], entry)):
        return []
    if not partial.allows(Scan(entry.name, THREADS.default)) or not is_plain(partial.kernel, entry):
        return []
    unbound(partial, outer)
    why = "there are few of them" if entry.name in partial.apart else "whose elements lie side by side"
    why = f"a block has each '{user_name(names[-1])}', {why}"
    shorter = None if trip is not None else version(partial, names[0], length_of([entry]), ROW)
    bound += [(step, why) for step in (*_blocks(names), *_in_rounds(partial, entry.name, why))]
    if shorter:
        short = f"each '{user_name(names[-1])}' is too short for a block"
        bound += in_blocks(partial, [shorter[name] for name in names], short)
    return bound


def _put_together(partial: PartialSchedule, names: list[str], entry: For) -> list[Bound]:
    """A loop that puts totals together: a thread for each of its iterations, in a block. Nothing for other loops."""
    found: list[Bound] = []
    why = f"each thread puts together what comes before its own '{user_name(entry.name)}'"
    with partial.together():
        stays = [store.array for store in statements(entry.body, Store) if not _moves(store, entry)]
        for array in stays:
            partial.take(Promote(array, entry.name), why, anew=True)
        (loop,) = (one for one in partial.around(entry.name) if one.name == entry.name)
        if not running_totals(loop):
            raise NotTaken
        found += [(step, why) for step in (*_blocks(names), Bind(entry.name, "thread.x"))]
    return found


def _moves(store: Store, loop: For) -> bool:
    """Whether each iteration stores to another element."""
    return any(loop.name in names_in(axis) for axis in store.index)


def _blocks(names: list[str]) -> list[Bind]:
    runs: tuple[Run, ...] = ("block.x", "block.y", "block.z")
    return [Bind(name, run) for name, run in reversed(list(zip(reversed(names), runs, strict=False)))]


def _in_rounds(partial: PartialSchedule, name: str, why: str) -> list[Bind]:
    """The loops of a running sum that the threads of a block share, round by round."""
    threads, each = partial.number(THREADS), partial.number(replace(EACH, default=_neighbours(partial, name)))
    partial.take(Split(name, threads * each), why, anew=True)
    level = level_of(partial, name, threads, why)
    (phase,) = level.phases
    return [Bind(one, "thread.x") for one in (phase.ahead, phase.merge, level.chunk)]


def _neighbours(partial: PartialSchedule, name: str) -> int:
    """How many elements side by side a thread takes: 8 bytes of the largest that move with the loop, or two. (An H200,
    20 million elements: of bytes 8 take 0.8 of the time of 2; of float32 4 take 1.2 of it.)"""
    (loop,) = (one for one in partial.around(name) if one.name == name)
    sizes = [walk.size_bytes for walk in accesses_inside(partial, loop) if walk.strides.get(name)]
    return min(EACH.among[-1], max(EACH.default, BYTES // max(sizes, default=BYTES)))


def goes_along(partial: PartialSchedule, row: For, entry: For) -> bool:
    """Whether elements of a row lie side by side, and those of neighbouring rows far apart."""
    inside = {id(stmt) for stmt in statements(entry.body)}
    strides = [walk.strides for walk in partial.walks() if id(walk.stmt) in inside]
    near = () if starts_far_apart(entry, row.name) else (0, 1, -1)
    along = sum(one.get(entry.name) in (1, -1) and one.get(row.name) not in near for one in strides)
    across = sum(one.get(row.name) in (1, -1) and one.get(entry.name) not in (0, 1, -1) for one in strides)
    return along > across

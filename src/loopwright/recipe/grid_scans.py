"""Prefix sums and compactions on a grid, for the default recipe: chunks of the loop, a thread for each, and chunks of
the chunks, until so few are left that one thread puts them together."""

from __future__ import annotations

from loopwright.ir.nodes import For, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.extent import around, trip_of
from loopwright.steps.scan import Scan
from loopwright.steps.split import Split

CHUNKS = Tunable(
    "chunks of a scan",
    1 << 16,
    (1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18),
    "threads that go through a chunk each; what chunks add up to has to be put together",
)
THREADS = Tunable(
    "threads of a block of chunks", 128, (32, 64, 128, 256), "few threads share the cache of a multiprocessor longer"
)
TOGETHER = 32
"""Chunks whose sums one thread puts together."""
ALONE = 64
"""So many sums are put together by one thread in the end."""
WORTH_IT = 4096
"""Iterations below which one thread has done them before all these grids have started."""


def in_chunks(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """An outermost loop that needs its order only for scalars that each iteration updates, where no loop inside has
    enough iterations for a grid."""
    loop = chain[0]
    if partial.verdict(loop) != "sequential" or any(trip_of(one) is None for one in free):
        return []
    trips = trip_of(loop)
    if trips is not None and trips < WORTH_IT:
        return []
    if any(isinstance(stmt, For | While) for stmt in around(partial.kernel, loop)):
        return []
    if not partial.allows(Scan(loop.name, CHUNKS.default)):
        return []
    chunks, threads = partial.number(CHUNKS), partial.threads(THREADS)
    why = (
        f"'{user_name(loop.name)}' needs its order only for what it adds up: {chunks} chunks, a thread for each, find "
        "their sums, and do the work once they know where these begin"
    )
    bound, merge = _level(partial, loop.name, chunks, threads, why)
    while chunks > ALONE:
        chunks //= TOGETHER
        more, merge = _level(partial, merge, chunks, TOGETHER, f"{chunks} threads put together the sums of chunks")
        bound += more
    return bound


def _level(partial: PartialSchedule, name: str, chunks: int, threads: int, why: str) -> tuple[list[Bound], str]:
    """Scan a loop in chunks; what to bind, and the loop that puts the sums of these chunks together."""
    before = set(loops(partial.kernel))
    partial.take(Scan(name, chunks), why, anew=True)
    made = [one for one in loops(partial.kernel) if one not in before]
    ahead, merge, chunk = made[0], made[-2], made[-1]
    bound: list[Bound] = []
    for one in (ahead, chunk):
        known = set(loops(partial.kernel))
        partial.take(Split(one, min(threads, chunks)), why)
        (block,) = set(loops(partial.kernel)) - known
        bound += [(Bind(block, "block.x"), why), (Bind(one, "thread.x"), why)]
    return bound, merge

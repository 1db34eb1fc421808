"""Totals of a whole nest on a grid, for the default recipe: partial results, and partial results of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopwright.ir.nodes import For, Load, While
from loopwright.ir.queries import has, names_assigned
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, own_expressions, statements
from loopwright.recipe.grid_blocks import LINE
from loopwright.recipe.grid_rows import SharedRow, length_of, loops_along, version, with_places
from loopwright.recipe.grid_sums import sum_in_scalars
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.extent import extent_of, most_trips_of, trip_of
from loopwright.steps.reduce import Reduce
from loopwright.steps.split import Split

LANES = Tunable(
    "partial sums",
    1 << 18,
    (1 << 14, 1 << 16, 1 << 18, 1 << 20),
    "as many as keep a large GPU busy; all of them have to be added up again",
)
FEWER = 512
"""Blocks that add up the partial results of all lanes, and threads that add up what these find."""

ROWS = Tunable(
    "partial sums of rows",
    1024,
    (256, 512, 1024, 2048, 4096),
    "a block for each: as many as a large GPU runs at once, and few enough to be put together by one",
)
PIECE = 1 << 16
"""Iterations of a part of a loop, the same number each time, that are worth a grid of their own."""
LONG = 64
"""Iterations of an innermost loop that the threads of a block share: they then touch neighbouring elements."""


def totals(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A nest that only sums (or takes the least of) something: partial results, and partial results of these. Where it
    has rows, a block goes along each of them where they are long, and a thread where they are short."""
    sums = (loop for loop in chain if partial.verdict(loop) == "reduction" and loop.name not in partial.turns)
    if (loop := next(sums, None)) is None:
        return []
    kinds = {one.kind for one in partial.present_facts().loops[loop.name].reductions}
    if kinds == {"scalar", "scatter"}:  # each part adds by key, and has totals
        return _in_threads(partial, loop.name)
    if loop is chain[-1]:
        sum_in_scalars(partial, loop)
    elif "element" in kinds and kinds <= {"scalar", "element"}:  # one that all iterations add to
        chain, loop = _in_scalars(partial, chain, loop)
    is_piece = (extent_of(loop) or 0) >= PIECE
    if not is_piece and any(depends(loop, outer.name) for outer in chain[: chain.index(loop)]):
        if any(has(bound, Load) for bound in own_expressions(loop)):
            raise NotTaken  # a row of a sparse matrix, say, which is short beside the launches that it would take
        most = partial.facts.gpu.threads
        why = f"'{user_name(loop.name)}' adds up part of a triangle each time: one block of {most} threads does"
        return [(Bind(loop.name, "thread.x", most), why)]
    band = chain[chain.index(loop) :]
    if len(band) == 1 or not all(adds_to_scalars(partial, one) for one in band):
        return _in_threads(partial, loop.name)
    own = _of_the_total(partial, band)
    return _in_planes(partial, own if len(own) > 1 else band)  # where each term has loops of its own, as a window does


def _in_scalars(partial: PartialSchedule, chain: Chain, loop: For) -> tuple[Chain, For]:
    """A nest whose sums are in scalars, and its loop that adds up, where that can be."""
    with partial.together():
        sum_in_scalars(partial, loop)
    there = {one.name: one for one in partial.around(chain[-1].name)}
    return tuple(there[one.name] for one in chain if one.name in there), there[loop.name]


def _of_the_total(partial: PartialSchedule, band: Chain) -> Chain:
    """The loops, from the outermost on, whose iterations add to what those of the outermost add to."""
    facts = partial.present_facts()
    targets = [{one.target for one in facts.loops[loop.name].reductions} for loop in band]
    return band[: next((at for at, own in enumerate(targets) if not own & targets[0]), len(band))]


def _in_planes(partial: PartialSchedule, band: Chain) -> list[Bound]:
    """Totals of all iterations of some loops around one another: a block for some iterations of the outermost, whose
    threads share the innermost where it is long, and else the one around it, if that is not the outermost."""
    trip = trip_of(band[-1])
    if trip is not None and trip >= LONG:
        return _in_blocks(partial, band[:-1], band[-1:])
    if trip is not None:
        return _in_planes(partial, band[:-1]) if len(band) > 2 else _in_threads(partial, band[0].name)
    names = version(partial, band[0].name, length_of([band[-1]]), LONG)
    bound = _in_blocks(partial, band[:-1], band[-1:])
    if names is None:
        return bound
    return [*bound, *_in_copies(partial, band[:-1], names)]


def _in_copies(partial: PartialSchedule, band: Chain, names: Mapping[str, str]) -> list[Bound]:
    """The same for the copies of loops in a version for short rows."""
    there = loops(partial.kernel)
    copies = tuple(one for loop in band if isinstance(one := there[names[loop.name]], For))
    return _in_planes(partial, copies) if len(copies) > 1 else _in_threads(partial, copies[0].name)


def totals_of_rows(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Totals of loops whose last one holds others, under a condition: a block goes along these where they are long, and
    a thread where they are short."""
    is_close = all(len(loop.body) == 1 for loop in chain[:-1])
    if not is_close or not all(adds_to_scalars(partial, loop) for loop in chain):
        return []
    inside = list(statements(chain[-1].body, For, While))
    if len(chain) > 1 and all(isinstance(one, For) and (most_trips_of(one) or LONG) < LONG for one in inside):
        return _in_planes(partial, chain)
    rows = loops_along(partial, chain[-1].body)
    trips = [trip for row in rows if (trip := trip_of(row)) is not None]
    if not rows or (len(trips) == len(rows) and max(trips) < LONG):
        return []
    names = version(partial, chain[0].name, length_of(rows), LONG) if len(trips) < len(rows) else None
    bound = _in_blocks(partial, chain, rows)
    return bound if names is None else [*bound, *_in_copies(partial, chain, names)]


def totals_of_threads(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The same with whatever else stands under the condition: a thread does all of an iteration."""
    return _in_threads(partial, chain[0].name) if has_totals(partial, chain[0]) else []


def has_totals(partial: PartialSchedule, loop: For) -> bool:
    """Whether iterations of a loop meet in sums and the like of scalars, and only in such and in elements of arrays."""
    if not names_assigned(loop.body) or loop.name in partial.turns:
        return False  # without a proof, which may take all the time there is
    found = partial.proven(loop)
    kinds = {one.kind for one in found.reductions} if found is not None and found.verdict == "reduction" else set[str]()
    return "scalar" in kinds and kinds <= {"scalar", "scatter"}


def adds_to_scalars(partial: PartialSchedule, loop: For) -> bool:
    """Whether iterations of a loop meet only in sums and the like of scalars."""
    if not names_assigned(loop.body):
        return False  # without a proof, which may take all the time there is
    found = partial.proven(loop)
    return found is not None and found.verdict == "reduction" and all(one.kind == "scalar" for one in found.reductions)


def _in_blocks(partial: PartialSchedule, band: Chain, rows: Sequence[For]) -> list[Bound]:
    """A block for some of the iterations of the outermost loop, whose threads share the rows inside the innermost."""
    many, threads = partial.number(ROWS), partial.threads(LINE)
    fewer = min(FEWER, partial.facts.gpu.threads)
    outer = band[0]
    words = " and ".join(dict.fromkeys(f"'{user_name(row.name)}'" for row in rows))
    why = (
        f"'{user_name(outer.name)}' adds up: {many} blocks have a part each, whose threads share {words}, then one "
        "block adds up these"
    )
    lane, merge = _reduced(partial, outer.name, many, why)
    row = SharedRow((lane,), tuple(one.name for one in rows))
    shared = with_places(partial, row, threads).shared
    warp, is_placed = partial.facts.gpu.warp, shared != row.shared
    is_close = len(band) > 1 and len(rows) == 1 and band[-1].body == (rows[0],)
    down = [Bind(band[-1].name, "thread.y", threads // warp)] if is_close and not is_placed else []
    across = [Bind(name, "thread.x", warp if down else threads) for name in shared]
    steps = [Bind(lane, "block.x"), *down, *across, Bind(merge, "thread.x", min(fewer, many))]
    return [(step, why) for step in steps]


def _in_threads(partial: PartialSchedule, name: str) -> list[Bound]:
    """Some of the iterations of a loop for each of many threads."""
    many, threads, fewer = partial.number(LANES), partial.threads(LINE), min(FEWER, partial.facts.gpu.threads)
    why = f"'{user_name(name)}' adds up: {many} threads have a part each, {fewer} blocks add up these, then one does"
    lane, merge = _reduced(partial, name, many, why)
    before = set(loops(partial.kernel))
    partial.take(Split(lane, threads), why)
    (block,) = set(loops(partial.kernel)) - before
    few, last = _reduced(partial, merge, fewer, why)
    bound = [Bind(block, "block.x"), Bind(lane, "thread.x"), Bind(few, "block.x")]
    bound += [Bind(merge, "thread.x", min(fewer, many // fewer)), Bind(last, "thread.x", fewer)]
    return [(step, why) for step in bound]


def _reduced(partial: PartialSchedule, name: str, lanes: int, why: str) -> tuple[str, str]:
    """Reduce a loop in lanes; the loops over these, first of those that find partial results, then of those that put
    them together."""
    before = set(loops(partial.kernel))
    partial.take(Reduce(name, lanes), why, anew=True)
    lane, merge = (made for made in loops(partial.kernel) if made not in before)
    return lane, merge

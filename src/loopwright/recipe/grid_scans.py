"""Prefix sums and compactions on a grid, for the default recipe: chunks of the loop, a thread for each, and chunks of
the chunks, until so few are left that one thread puts them together.

What a chunk adds is found by a warp, whose threads read neighbouring elements; where the work is done, each thread
goes through its chunk in order, and finds most of what it reads in the cache, from when it read the element before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from loopwright.ir.nodes import Checked, For, Load, Store, Var, While
from loopwright.ir.queries import arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements
from loopwright.recipe.grid_rows import is_told, length_of, size_text, version
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made, whole
from loopwright.recipe.tunable import Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.carry import Carry
from loopwright.steps.extent import around, trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.grids import unrunnable
from loopwright.steps.promote import Promote
from loopwright.steps.reduce import Reduce
from loopwright.steps.reorder import Reorder
from loopwright.steps.scan import Scan, is_plain
from loopwright.steps.specialize import LARGE as AT_LEAST
from loopwright.steps.specialize import Specialize
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
LONG = 1 << 22
"""Iterations from which on several threads share a chunk where the work is done: what threads write that are a chunk
apart reaches memory in pieces. (An H200, six recurrences of 20 million elements: 1.3 to 1.8 times as fast; of one
million: 0.6 to 0.9 times.)"""
IN_TURN = Tunable("threads that share a chunk of a scan", 32, (32, 64, 128), "they meet, and wait for the slowest")
EACH = Tunable("neighbours of a thread in a chunk", 8, (8, 16, 32), "threads meet once for so many elements each")
LANES = 32
"""Threads that share what a chunk adds up to, so that neighbours read neighbouring elements."""
TOGETHER = 32
"""Chunks whose sums one thread puts together."""
ALONE = 64
"""So many sums are put together by one thread in the end."""
SEEING = 64
"""Blocks that see whether what many chunks add is to be trusted."""
WORTH_IT = 4096
"""Iterations below which one thread has done them before all these grids have started."""


def carried(partial: PartialSchedule) -> None:
    """Make running sums in scalars of loops that keep them in arrays: `o[i] = o[i - 1] + a[i]`."""
    for name, loop in list(loops(partial.kernel).items()):
        if isinstance(loop, For) and partial.verdict(loop) in ("sequential", "undecided"):
            _carried_in_columns(partial, loop)
            if loops(partial.kernel).get(name) is not loop:
                continue
            arrays = sorted(arrays_stored(loop.body))
            for array in arrays:
                _carried(partial, (array,), loop, ())
                inner = loop.body[0]
                if isinstance(inner, For) and len(loop.body) == 1 and partial.verdict(inner) == "parallel":
                    _carried(partial, (array,), loop, (inner.name, name))  # as in each of several columns
            if len(arrays) > 1 and loops(partial.kernel).get(name) is loop:
                _carried(partial, arrays, loop, ())


def _carried(partial: PartialSchedule, arrays: Sequence[str], loop: For, order: tuple[str, ...]) -> None:
    """Keep what iterations of a loop hand on in arrays in scalars, if they can run in chunks then. order: of the loop
    and one inside it, where they change places first."""
    name = user_name(loop.name)
    why = f"what each '{name}' hands on is in a scalar then, as in other running sums"
    with partial.together():
        if order:
            partial.take(Reorder(order), f"what each '{name}' hands on to the next is one element then", anew=True)
        for step in [Carry(array, loop.name) for array in arrays]:
            if len(arrays) == 1 or partial.allows(step):
                partial.take(step, why, anew=len(arrays) > 1)
        partial.begin_again()
        if not partial.allows(Scan(loop.name, CHUNKS.default)):
            raise NotTaken


def _carried_in_columns(partial: PartialSchedule, loop: For) -> None:
    """Keep what iterations of a loop hand on in the elements of an array, one for each iteration of a loop inside, in
    scalars: `for t: for k: s[k] += x[t, k]; o[t, k] = s[k]`."""
    *before, inner = loop.body
    if not isinstance(inner, For) or contains(tuple(before), For, While) or contains(inner.body, For, While):
        return
    if partial.verdict(inner) != "parallel" or contains(tuple(before), Store):
        return
    kept = [array for array in sorted(arrays_stored(inner.body)) if _is_of_a_column(array, loop, inner)]
    if not kept:
        return
    before_it = partial.kernel
    for in_version in (False, True):
        if partial.kernel is before_it:
            with partial.together():
                _in_scalars(partial, loop, inner, kept, in_version)


def _in_scalars(partial: PartialSchedule, loop: For, column: For, arrays: Sequence[str], in_version: bool) -> None:
    """Keep an element of each column in a scalar. in_version: for calls in which columns are not empty, as else the
    elements may not be there. Raises NotTaken."""
    why = f"what each '{user_name(loop.name)}' hands on is a scalar of each '{user_name(column.name)}' then"
    if len(loop.body) > 1:
        partial.take(Fission(loop.name, len(loop.body), kept=True), why, anew=True)
    inner = partial.around(column.name)[-2].name
    partial.take(Reorder((column.name, inner)), why, anew=True)
    if in_version:
        (length,) = (length_of([one]) for one in partial.around(inner)[-1:])
        if length is None or not is_told(partial, length):
            raise NotTaken
        empty = whole(partial, Specialize((size_text(length),), AT_LEAST, 1, column.name), why)
        partial.rare |= set(empty.values())
        partial.begin_again()
    for array in arrays:
        partial.take(Promote(array, inner), why, anew=True)
    partial.begin_again()
    if partial.around(inner)[-2:-1] != partial.around(column.name)[-1:] or not partial.allows(
        Scan(inner, CHUNKS.default)
    ):
        raise NotTaken


def _is_of_a_column(array: str, loop: For, inner: For) -> bool:
    """Whether a loop uses of an array the same element in each of its iterations, another one in each column."""
    uses: list[Load | Store] = [stmt for stmt in statements(loop.body, Store) if stmt.array == array]
    uses += [part for part in expressions(loop.body, Load) if part.array == array]
    indices = {use.index for use in uses}
    moving = (names_assigned(loop.body) | {loop.name}) - {inner.name}
    return (
        len(indices) == 1
        and not any(has(index, Load, Checked) or names_in(index) & moving for one in indices for index in one)
        and any(Var(inner.name, INT64) == index for one in indices for index in one)
    )


def in_chunks(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """An outermost loop that needs its order only for scalars that each iteration updates, where no loop inside has
    enough iterations for a grid. A warp finds what a chunk adds, a thread does the work."""
    return _in_chunks(partial, chain[0], shared=True)


def in_chunks_of_threads(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The same, where a thread finds what a chunk adds, too."""
    return _in_chunks(partial, chain[0], shared=False)


def _in_chunks(partial: PartialSchedule, loop: For, shared: bool) -> list[Bound]:
    inside = [one for one in statements(loop.body, For) if (partial.most_trips(one) or LANES) >= LANES]
    if not is_worth_it(partial, loop) or any(partial.verdict(one) != "sequential" for one in inside):
        return []
    if not partial.allows(Scan(loop.name, CHUNKS.default)) or (shared and not is_plain(partial.kernel, loop)):
        return []
    bound: list[Bound] = []
    if not contains(loop.body, For, While) and not is_plain(partial.kernel, loop):
        with partial.together():
            if (names := version(partial, loop.name, length_of([loop]), LONG)) is None:
                raise NotTaken
            long = _a_thread_each(partial, loop.name, shared, in_turn=True)
            bound = [*long, *_a_thread_each(partial, names[loop.name], shared, in_turn=False)]
    return bound or _a_thread_each(partial, loop.name, shared, in_turn=False)


def _a_thread_each(partial: PartialSchedule, name: str, shared: bool, in_turn: bool) -> list[Bound]:
    """Chunks of a loop, with a thread for each; in_turn: several where the work is done. Raises NotTaken."""
    chunks, threads = partial.number(CHUNKS), partial.threads(THREADS)
    why = (
        f"'{user_name(name)}' must run in order only for what it carries on: {chunks} chunks, a thread for each, "
        "do the work once it is known where these begin"
    )
    level = level_of(partial, name, chunks, why)
    bound: list[Bound] = []
    for phase in level.phases:
        bound += _shared(partial, phase, threads, why) if shared else _alone(partial, phase.ahead, threads, why)
        bound += _seen(partial, phase, chunks)
    work = _in_turns(partial, name, level.chunk) if in_turn else _alone(partial, level.chunk, threads, why)
    if not work:
        raise NotTaken  # before all that it takes to put chunks together
    bound += work
    for phase in level.phases:
        bound += _together(partial, phase.merge, chunks)
    return bound


def _in_turns(partial: PartialSchedule, name: str, chunk: str) -> list[Bound]:
    """The work, where threads share each chunk: they take a few neighbouring elements each, find what these make of
    what comes before, and begin where those before them end. So neighbours read and write the same lines of memory.
    Nothing where it cannot be done."""
    threads, each = min(partial.number(IN_TURN), partial.facts.gpu.threads), partial.number(EACH)
    why = f"{threads} threads share each chunk, so that neighbours read and write neighbouring elements"
    found: list[Bind] = []
    with partial.together():
        partial.take(Split(name, threads * each), why, anew=True)
        level = level_of(partial, name, threads, why)
        shared = [part for phase in level.phases for part in (phase.ahead, phase.seen) if part]
        steps = [Bind(chunk, "block.x"), *(Bind(part, "thread.x") for part in (*shared, level.chunk))]
        kernel, facts = partial.kernel, partial.present_facts()
        for step in steps:
            if step.illegal(kernel, facts, partial.strict) is not None:
                raise NotTaken
            kernel = step.apply(kernel)
        if unrunnable(kernel, facts, [step.loop for step in steps]) is not None:
            raise NotTaken
        partial.rare.update(phase.again for phase in level.phases if phase.again)
        found += steps
    return [(step, why) for step in found]


def _together(partial: PartialSchedule, merge: str, chunks: int) -> list[Bound]:
    """Put together what chunks add: chunks of these, until so few are left that one thread does the rest."""
    if chunks <= ALONE:
        return []
    chunks //= TOGETHER
    why = f"{chunks} threads combine the sums of chunks"
    level = level_of(partial, merge, chunks, why)
    bound: list[Bound] = []
    for name in (*(phase.ahead for phase in level.phases), level.chunk):
        bound += _alone(partial, name, min(TOGETHER, chunks), why)
    for phase in level.phases:
        bound += [*_seen(partial, phase, chunks), *_together(partial, phase.merge, chunks)]
    return bound


def _seen(partial: PartialSchedule, phase: Phase, chunks: int) -> list[Bound]:
    """Have threads see whether what was put together is to be trusted. What one thread does where it is not is rare."""
    if not phase.seen:
        return []
    partial.rare.add(phase.again)
    most = partial.facts.gpu.threads
    why = f"threads see for each of {chunks} chunks whether what was found of it is exact enough"
    if chunks <= most:
        return [(Bind(phase.seen, "thread.x", chunks), why)]
    lane, merge = made(partial, Reduce(phase.seen, SEEING), why, anew=True)
    lanes = min(most, chunks // SEEING)
    steps = (Bind(lane, "block.x"), Bind(phase.seen, "thread.x", lanes), Bind(merge, "thread.x", SEEING))
    return [(step, why) for step in steps]


def is_worth_it(partial: PartialSchedule, loop: For, in_rounds: bool = False) -> bool:
    """Whether a loop is outermost, must run in order, and may be long. in_rounds: also inside loops that need their
    order, as those over time, which the host runs."""
    trips = trip_of(loop)
    is_long = trips is None or trips >= WORTH_IT
    outside = [stmt for stmt in around(partial.kernel, loop) if isinstance(stmt, For | While)]
    rounds = [stmt for stmt in outside if isinstance(stmt, While) or partial.verdict(stmt) == "sequential"]
    is_outermost = not outside or (in_rounds and rounds == outside)
    return partial.verdict(loop) == "sequential" and is_long and is_outermost


@dataclass(frozen=True, slots=True)
class Phase:
    """The loops by which a scan finds what some scalars are worth where chunks begin: over the chunks that find what
    they add, over the iterations of one of these, and over what all add; over the chunks to see whether that is to be
    trusted, and over all in order where it is not ('' where it always is)."""

    ahead: str
    along: str
    merge: str
    seen: str = ""
    again: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """The loops that a scan has made: its phases, and the loop over the chunks that do the work."""

    phases: tuple[Phase, ...]
    chunk: str


def level_of(partial: PartialSchedule, name: str, chunks: int, why: str) -> Level:
    """Take `scan`; the loops it makes."""
    new = made(partial, Scan(name, chunks), why, anew=True)
    phases: list[Phase] = []
    for one, following in pairwise(new):
        match one[len(name) + 1 :][:1] if one.startswith(f"{name}.") else "":
            case "a":
                phases.append(Phase(one, following, ""))
            case "m":
                phases[-1] = replace(phases[-1], merge=one)
            case "v":
                phases[-1] = replace(phases[-1], seen=one, again=following)
    return Level(tuple(phases), new[-1])


def _alone(partial: PartialSchedule, name: str, threads: int, why: str) -> list[Bound]:
    """A thread for each chunk."""
    (block,) = made(partial, Split(name, threads), why)
    return [(Bind(block, "block.x"), why), (Bind(name, "thread.x"), why)]


def _shared(partial: PartialSchedule, phase: Phase, threads: int, why: str) -> list[Bound]:
    """Threads that share each chunk. Raises NotTaken."""
    along = loops(partial.kernel)[phase.along]
    lanes = Bind(phase.along, "thread.x", LANES)
    if contains(along.body, For, While) or not partial.allows(lanes):
        raise NotTaken
    (block,) = made(partial, Split(phase.ahead, max(2, threads // LANES)), why)
    return [(Bind(block, "block.x"), why), (Bind(phase.ahead, "thread.y"), why), (lanes, why)]

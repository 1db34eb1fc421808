"""Rows of several loops on a grid, for the default recipe: a row (or column) whose loops each go along it, one after
the other, as in a softmax or a mean and variance. The threads of a block share every one of these loops, so that
neighbours touch neighbouring elements, and sums, least and greatest values are put together between them.

How many threads share a row follows from how long it is, which calls tell: some eight elements for each thread are
best. So the nest has versions for lengths: a large block for a row, a small one, some lanes of a warp, a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from loopwright.analysis.strides import AccessStrides
from loopwright.ir.linear import linear, parted
from loopwright.ir.nodes import Allocate, Binary, Body, Compare, Const, Dim, Expr, For, If, Run, Stmt, Var, While
from loopwright.ir.queries import contains
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, statements
from loopwright.recipe.grid_blocks import in_blocks
from loopwright.recipe.grid_tiles import Bound, threads_fit
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made, whole
from loopwright.recipe.tunable import Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.extent import around, most_trips_of, trip_of
from loopwright.steps.limits import terms
from loopwright.steps.reduce import Reduce
from loopwright.steps.specialize import LARGE, TIMES, Specialize
from loopwright.steps.split import Split

SHARERS = ((2048, 512), (128, 64), (6, 8))
"""From which length on so many threads share a row: the longest first; shorter rows have a thread each. Each version
takes time to compile. The best number for each length was up to 1.6 times as fast (a softmax of 2^26 elements on an
H100, in rows of 3 to 2^18)."""
SHARING = "many threads for a sum have little to do each, few wait for memory longer"
ACROSS = Tunable("columns of a block", 16, (8, 16, 32, 64), "neighbouring columns share lines of memory")
DOWN = Tunable("threads that share a column", 32, (4, 8, 16, 32), SHARING)
"""Columns of a block, and the threads that share each."""
THREADS = 256
"""Of a block in which several rows are."""
SMALL_PLANE = 16
"""Elements for each thread of a warp, up to which it has a plane for itself."""
DOWN_A_PLANE = 16
"""Rows of threads that share what is not a row but several."""
LONG_COLUMN = 128
"""From which length on several threads share a column: with fewer elements each has less to do than it takes to put
their results together (columns of 16, a sum of each: a thread each is ten times as fast)."""
MANY = 1 << 16
"""Rows from which on a thread for each keeps a large GPU busy, and what rows have in common is read once for many."""
ENOUGH = 1 << 12
"""Rows that keep a large GPU busy with the threads of a warp for each."""
FEW_COLUMNS, LONG_STATE = 1 << 13, 16
"""Columns, with a thread each, that leave a large GPU waiting for memory in each round of a recurrence; and elements of
a column from which on threads that share it have something to do."""
SHORT = 6
"""Iterations of a loop that nobody shares."""


@dataclass(frozen=True, slots=True)
class SharedRow:
    """A nest of rows. outer: loops around one another that need no order, the last of them over rows; shared: the
    loops along a row, each of which threads can share."""

    outer: tuple[str, ...]
    shared: tuple[str, ...]

    @property
    def each(self) -> str:
        """The loop over rows."""
        return self.outer[-1]


def rows_of_loops(partial: PartialSchedule, run: list[For], at_once: bool = False, anyhow: bool = False) -> list[Bound]:
    """Rows of loops that threads share. run: loops around one another that need no order, each with nothing else in it
    than the next. at_once: also where no loop adds anything up, as its loops cannot be apart; anyhow: also where what
    lies side by side goes along loops further inside. Raises NotTaken."""
    along = loops_along(partial, run[-1].body)
    if len(run) > 3:
        raise NotTaken
    in_body = [stmt for stmt in run[-1].body if contains((stmt,), For, While)]
    has_arrays = in_body == along and any(isinstance(stmt, Allocate) for stmt in run[-1].body)
    may_be_apart = not at_once and not has_arrays
    if may_be_apart and all(partial.verdict(loop) == "parallel" for loop in along):
        raise NotTaken  # each of them may have a grid of its own
    row = SharedRow(tuple(loop.name for loop in run), tuple(loop.name for loop in along))
    rows, columns = rows_and_columns(partial, row)
    if columns > rows:
        is_direct = all(loop in run[-1].body for loop in along)
        return in_columns(partial, row, along) if is_direct else _in_rounds(partial, row, run, along)
    if are_alike(partial, row):
        return rows_alike(partial, row, run[-1])
    if not anyhow and (rows == columns or _go_deeper(partial, row, along) > rows):
        raise NotTaken
    if has_arrays and None in map(trip_of, along):  # which only a block has room for
        return _a_block_each(partial, row, SHARERS[1][1])
    return in_rows(partial, row, along)


def _go_deeper(partial: PartialSchedule, row: SharedRow, along: list[For]) -> int:
    """How many accesses go by ones along the innermost loop of a nest, and not along the loop that would be shared."""
    inner = {loop.name: nest_of(partial, loop)[-1].name for loop in along}
    strides = [(name, walk.strides) for name, walk in _accesses(partial, row) if inner[name] != name]
    return sum(one.get(inner[name]) in (1, -1) and one.get(name) not in (0, 1, -1) for name, one in strides)


def planes_of_loops(partial: PartialSchedule, run: list[For]) -> list[Bound]:
    """The same of nests of loops along each, as for a channel of several images: threads share the innermost two, where
    they are long enough. Raises NotTaken where what lies side by side does not go along the innermost one."""
    nests = [nest_of(partial, loop) for loop in loops_along(partial, run[-1].body)]
    each = run[-1].name
    if len(run) > 3 or not nests or any(len(nest) < 2 for nest in nests):
        raise NotTaken
    if any(_is_short_around_long_ones(partial, nest[-1]) for nest in nests):
        raise NotTaken
    inner = {nest[-1].name for nest in nests}
    walks = [walk for name in inner for _, walk in _accesses(partial, SharedRow((each,), (name,)))]
    # Windows that move by a number of rows or columns which is not known; of a flat array it may be a plane's size.
    walks = [one for one in walks if one.strides.get(each) is not None or len(one.node.index) == 1
             or _in_chunks(one, each, [loop for nest in nests for loop in nest])]  # fmt: skip
    strides = [walk.strides for walk in walks]
    far = [one for one in strides if one.get(each) not in (1, -1)]  # parts of a plane (0) may lie in each other
    far = [one for one in far if any(one.get(loop.name) not in (0, 1, -1) for loop in run)]
    if not any(one.get(name) in (1, -1) for one in far for name in inner):
        raise NotTaken
    if _slide(run, nests, [walk.strides for walk in walks]):
        raise NotTaken
    trips = [most_trips_of(nest[-1]) for nest in nests]
    if max((trip or SHARERS[-1][0] for trip in trips), default=0) < SHARERS[-1][0]:
        raise NotTaken
    inner_loops = [[loop.name for loop in nest] for nest in nests]
    outer, bound = [loop.name for loop in run], list[Bound]()
    count = number_of(partial, run)
    if None in trips:
        # Of many small planes each thread has one of its own; of few of them threads share even small ones.
        least = partial.facts.gpu.warp if count is not None else SHARERS[-1][0]
        names = version(partial, outer[0], length_of([nest[-1] for nest in nests]), least)
        many = version(partial, names[outer[0]], count, MANY) if names is not None and count is not None else None
        if names is not None:
            bound += blocks_of_planes(partial, outer, inner_loops)
            outer = [names[name] for name in outer]
            inner_loops = [[names[name] for name in nest] for nest in inner_loops]
            bound += _a_thread_each(partial, SharedRow(tuple(outer), ()))
            if many is None:
                return bound
            outer = [many[name] for name in outer]
            inner_loops = [[many[name] for name in nest] for nest in inner_loops]
    return [*bound, *blocks_of_planes(partial, outer, inner_loops)]


def _is_short_around_long_ones(partial: PartialSchedule, loop: For) -> bool:
    """Whether few threads would share a loop, each with much to do, as with the taps of a window that are summed up."""
    trip = most_trips_of(loop)
    return trip is not None and trip < SHARERS[-1][0] and any(takes_long(partial, stmt) for stmt in loop.body)


def _slide(run: list[For], nests: list[list[For]], strides: list[Mapping[str, int | None]]) -> bool:
    """Whether the planes are windows of a known size that move by ones along the innermost of many rows: neighbours
    that have a window each read side by side, and all of them the same weights."""
    sizes = [trip for nest in nests for trip in map(most_trips_of, nest)]
    outputs = prod(trip_of(loop) or MANY for loop in run)
    each = run[-1].name
    slides = any(one.get(each) in (1, -1) and one.get(nest[-1].name) in (1, -1) for one in strides for nest in nests)
    return None not in sizes and outputs >= MANY and slides and all(one.get(each) in (0, 1, -1) for one in strides)


def _in_chunks(walk: AccessStrides, each: str, inside: list[For]) -> bool:
    """Whether an index goes along chunks, one for each iteration of a loop: `g * size + c` where c stays below size."""
    lengths = [loop.upper for loop in inside if loop.lower == Const(0, loop.lower.type)]
    terms = [term for index in walk.node.index for term, _ in linear(index).terms]
    own = Var(each, INT64)
    return any(term in (Binary("mul", own, length), Binary("mul", length, own)) for term in terms for length in lengths)


def blocks_of_planes(partial: PartialSchedule, outer: list[str], nests: list[list[str]]) -> list[Bound]:
    """A block for each iteration of the last of the outer loops, whose threads share the innermost two of each nest."""
    across, down = _sides_of_planes(partial, nests)
    *around, each = outer
    why = f"{down} x {across} threads, a block, share each '{user_name(each)}', whose rows lie side by side"
    threads: list[Bind] = []
    for *_, outer_row, row in nests:
        threads += [Bind(outer_row, "thread.y", down), Bind(row, "thread.x", across)]
    runs: tuple[Run, ...] = ("block.y", "block.z")
    places = [Bind(name, run) for name, run in zip(reversed(around), runs, strict=False)]
    return _bindable(partial, [*reversed(places), Bind(each, "block.x"), *threads], why)


def _sides_of_planes(partial: PartialSchedule, nests: list[list[str]]) -> tuple[int, int]:
    """Threads along rows of planes, and rows of threads. Of planes that are known to be small a warp has a whole one,
    whose threads put sums together without waiting for others."""
    warp = partial.facts.gpu.warp
    there = {loop.name: loop for loop in statements(partial.kernel.body, For)}
    sides = [[most_trips_of(there[name]) for name in nest[-2:]] for nest in nests]
    known = [(rows, row) for rows, row in sides if rows is not None and row is not None]
    if len(known) < len(sides) or max(rows * row for rows, row in known) > SMALL_PLANE * warp:
        return warp, min(DOWN_A_PLANE, partial.facts.gpu.threads // warp)
    across = min(warp, 1 << (max(row for _, row in known) - 1).bit_length())
    return across, warp // across


def nest_of(partial: PartialSchedule, loop: For) -> list[For]:
    """A loop and those inside it, each with nothing else in it than the next, that threads may share."""
    found = [loop]
    while len(found[-1].body) == 1 and isinstance(inner := found[-1].body[0], For) and can_share(partial, inner):
        found.append(inner)
    return found


def loops_along(partial: PartialSchedule, body: Body) -> list[For]:
    """The loops that threads may share, not inside one another, and the outermost ones that can be: what else there is
    stands in these or around them, or is short. Raises NotTaken where it does not."""
    found: list[For] = []
    for stmt in body:
        if isinstance(stmt, For) and _is_short(partial, stmt):
            found += (
                loops_along(partial, stmt.body)
                if any(_is_long(partial, one) for one in statements(stmt.body, For))
                else []
            )
            continue
        if isinstance(stmt, For) and can_share(partial, stmt):
            found.append(stmt)
        elif contains((stmt,), For, While) and takes_long(partial, stmt):
            parts = [] if isinstance(stmt, While) else bodies(stmt)
            inside = [one for part in parts for one in loops_along(partial, part)]
            if not inside:
                raise NotTaken  # as long as the others, and one thread would do it
            found += inside
    return found


def can_share(partial: PartialSchedule, loop: For) -> bool:
    """Whether iterations need no order, or add to scalars: elements that several threads add to would be updated by
    each in turn."""
    found = partial.proven(loop)
    if found is None:
        return False
    return found.verdict == "parallel" or (
        found.verdict == "reduction" and all(one.kind == "scalar" for one in found.reductions)
    )


def takes_long(partial: PartialSchedule, stmt: Stmt) -> bool:
    """Whether it is, or holds, a loop of which only a call tells how often it runs."""
    return any(isinstance(one, While) or _is_long(partial, one) for one in statements((stmt,), For, While))


def _is_long(partial: PartialSchedule, loop: For) -> bool:
    most = partial.most_trips(loop)
    return trip_of(loop) is None and (most is None or most >= partial.facts.gpu.warp)


def _is_short(partial: PartialSchedule, loop: For) -> bool:
    most = partial.most_trips(loop)
    return most is not None and most < SHORT


def rows_and_columns(partial: PartialSchedule, row: SharedRow) -> tuple[int, int]:
    """How many accesses in the shared loops go by ones along them and far along the loop over rows, and how many the
    other way."""
    rows = columns = 0
    for loop, walk in _accesses(partial, row):
        outer, inner = walk.strides.get(row.each), walk.strides.get(loop)
        rows += inner in (1, -1) and outer not in (0, 1, -1)
        columns += outer in (1, -1) and inner not in (0, 1, -1)
    return rows, columns


def are_alike(partial: PartialSchedule, row: SharedRow) -> bool:
    """Whether no access in the shared loops goes along these and along the rows too, nor the loops themselves."""
    if not row.shared or any(depends(partial.around(name)[-1], row.each) for name in row.shared):
        return False
    return all(0 in (walk.strides.get(row.each), walk.strides.get(loop)) for loop, walk in _accesses(partial, row))


def _accesses(partial: PartialSchedule, row: SharedRow) -> Iterator[tuple[str, AccessStrides]]:
    (each,) = (loop for loop in partial.around(row.each) if loop.name == row.each)
    for loop in statements(each.body, For):
        if loop.name in row.shared:
            inside = {id(stmt) for stmt in statements(loop.body)}
            yield from ((loop.name, walk) for walk in partial.walks() if id(walk.stmt) in inside)


def length_of(along: list[For]) -> Var | Dim | None:
    """The size that tells how long the loops are: an argument, or the size of an axis."""
    for loop in along:
        is_down = isinstance(loop.step, Const) and int(loop.step.value) < 0
        size, _ = parted(loop.lower if is_down else loop.upper)
        if isinstance(size, Var | Dim):
            return size
    return None


# ---- how many threads share a row


def in_rows(partial: PartialSchedule, row: SharedRow, along: list[For], length: Var | Dim | None = None) -> list[Bound]:
    """Rows whose elements lie side by side: as many threads for each as its length is worth. along: the loops that the
    threads share; length: what tells how long these are, where their own ends do not. Raises NotTaken."""
    trips = [trip for trip in map(_longest, along) if trip is not None]
    if len(trips) == len(along):
        threads = next((threads for number, threads in SHARERS if max(trips) >= number), 1)
        return _shared_by(partial, row, threads)
    length, bound = length_of(along) or length, list[Bound]()
    for number, threads in SHARERS:
        if length is not None and _version_is_long(partial, row.outer[0], length, number):
            return [*bound, *_shared_by(partial, row, threads)]
        names = version(partial, row.outer[0], length, number)
        if names is None:
            return [*bound, *_of_any_length(partial, row)]
        bound += _shared_by(partial, row, threads)
        row = SharedRow(tuple(names[name] for name in row.outer), tuple(names[name] for name in row.shared))
    return [*bound, *_shared_by(partial, row, 1)]


def _of_any_length(partial: PartialSchedule, row: SharedRow) -> list[Bound]:
    """Rows of which only data tells how long they are: a warp for each where there are many, and a block where there
    are few, which one that is long would keep waiting. Threads of a block wait for one another in each round of a loop
    around what they share: there a warp is enough."""
    run, warp = [partial.around(name)[-1] for name in row.outer], partial.facts.gpu.warp
    if {one.name for one in run[-1].body if isinstance(one, For)}.isdisjoint(row.shared):
        return _shared_by(partial, row, warp)
    trips = [trip_of(loop) for loop in run]
    if None not in trips:
        return _shared_by(partial, row, warp if prod(trip or 1 for trip in trips) >= ENOUGH else THREADS)
    count = number_of(partial, run)
    names = None if count is None else version(partial, row.outer[0], count, ENOUGH)
    many = _shared_by(partial, row, warp)
    if names is None:
        return many
    few = SharedRow(tuple(names[name] for name in row.outer), tuple(names[name] for name in row.shared))
    return [*many, *_shared_by(partial, few, THREADS)]


def rows_alike(partial: PartialSchedule, row: SharedRow, each: For) -> list[Bound]:
    """Rows that go along the same elements, as the distances of each point from all others do: a thread for each where
    there are many; where there are few, threads share each. Raises NotTaken where calls do not tell."""
    if len(row.outer) > 1:
        raise NotTaken
    trip, found = trip_of(each), list[Bound]()
    if trip is None:
        names = version(partial, row.each, length_of([each]), MANY)
        if names is None:
            raise NotTaken
        found += in_blocks(partial, [row.each], f"with {MANY} '{user_name(row.each)}' and more each has a thread")
        row = SharedRow((names[row.each],), tuple(names[name] for name in row.shared))
    elif trip >= MANY:
        raise NotTaken
    return [*found, *in_rows(partial, row, [partial.around(name)[-1] for name in row.shared])]


def _longest(loop: For) -> int | None:
    """How many iterations a loop from 0 on has, or has at most; not of a stretch of a longer one."""
    return most_trips_of(loop) if loop.lower == Const(0, loop.lower.type) else trip_of(loop)


def _shared_by(partial: PartialSchedule, row: SharedRow, threads: int) -> list[Bound]:
    if threads == 1:
        return _a_thread_each(partial, row)
    if threads >= 2 * partial.facts.gpu.warp:
        return _a_block_each(partial, row, min(threads, partial.facts.gpu.threads))
    return _several_each(partial, row, threads)


def number_of(partial: PartialSchedule, run: list[For]) -> str | None:
    """The product of the lengths of loops, as a step names it; None where calls do not tell one of them."""
    lengths = [trip_of(loop) or length_of([loop]) for loop in run]
    if any(one is None or not (isinstance(one, int) or is_told(partial, one)) for one in lengths):
        return None
    return TIMES.join(str(one) if isinstance(one, int) else size_text(one) for one in lengths if one is not None)


def version(
    partial: PartialSchedule, loop: str, length: Var | Dim | For | str | None, number: int
) -> dict[str, str] | None:
    """A copy of a nest for shorter rows: the names of its loops, by those of the longer ones; None for no copy. length:
    a size, a loop whose iterations are to be counted, or the text of a product of sizes. Raises NotTaken where nothing
    is left of the shorter ones: `range(64, n)` has no iterations then."""
    if length is None or not (isinstance(length, For | str) or is_told(partial, length)):
        return None
    text = length if isinstance(length, str) else length.name if isinstance(length, For) else size_text(length)
    step = Specialize((text,), LARGE, number, loop)
    if not partial.allows(step):
        return None
    if not (copies := whole(partial, step, f"rows of {number} and more are shared by more threads")):
        raise NotTaken
    return copies


def is_told_long(partial: PartialSchedule, loop: For, number: int) -> bool | None:
    """Whether the version that a loop stands in is for calls in which it has so many iterations, or for those in which
    it has not; None where it is for both."""
    return _version_is_long(partial, loop.name, length_of([loop]), number)


def _version_is_long(partial: PartialSchedule, loop: str, length: Expr | None, number: int) -> bool | None:
    """The same of another length."""
    inner = loops(partial.kernel)[loop]
    for stmt in [one for one in around(partial.kernel, inner) if isinstance(one, If)]:
        is_long = any(one is inner for one in statements(stmt.then, For))
        for term in terms(stmt.condition):
            match term:
                case Compare(op="ge", left=left, right=Const(value=least)) if left == length:
                    if least >= number if is_long else least <= number:
                        return is_long
    return None


def is_told(partial: PartialSchedule, size: Var | Dim) -> bool:
    """Whether a call tells a size: not the variable of a loop, along which rows of a triangle become longer."""
    return not isinstance(size, Var) or size.name not in loops(partial.kernel)


def size_text(size: Var | Dim) -> str:
    """How a step names a size."""
    return size.name if isinstance(size, Var) else f"{size.array}.{size.axis}"


def _a_block_each(partial: PartialSchedule, row: SharedRow, threads: int) -> list[Bound]:
    why = f"{threads} threads, a block, share each '{user_name(row.each)}', whose elements lie side by side"
    return _shared(partial, [Bind(row.each, "block.x")], row, "thread.x", threads, why)


def _several_each(partial: PartialSchedule, row: SharedRow, lanes: int) -> list[Bound]:
    rows = min(THREADS, partial.facts.gpu.threads) // lanes
    why = f"{lanes} threads share each '{user_name(row.each)}', whose elements lie side by side"
    (block,) = made(partial, Split(row.each, rows), why)
    return _shared(partial, [Bind(block, "block.x"), Bind(row.each, "thread.y")], row, "thread.x", lanes, why)


def _a_thread_each(partial: PartialSchedule, row: SharedRow) -> list[Bound]:
    threads = min(THREADS, partial.facts.gpu.threads)
    why = f"each '{user_name(row.each)}' is too short to be shared"
    (block,) = made(partial, Split(row.each, threads), why)
    alone = SharedRow(row.outer, ())
    return _shared(partial, [Bind(block, "block.x"), Bind(row.each, "thread.x")], alone, "thread.x", 0, why)


def in_columns(partial: PartialSchedule, row: SharedRow, along: list[For]) -> list[Bound]:
    """Columns, of which neighbouring ones lie side by side: a block has some, and several threads share each, where it
    is long enough. along: the loops that the threads share. Raises NotTaken."""
    trips = [trip for trip in map(_longest, along) if trip is not None]
    if len(trips) == len(along):
        return _a_thread_each(partial, row) if max(trips) < LONG_COLUMN else _several_down(partial, row)
    names = version(partial, row.outer[0], length_of(along), LONG_COLUMN)
    bound = _several_down(partial, row)
    if names is None:
        return bound
    shorter = SharedRow(tuple(names[name] for name in row.outer), tuple(names[name] for name in row.shared))
    return [*bound, *_a_thread_each(partial, shorter)]


def _in_rounds(partial: PartialSchedule, row: SharedRow, run: list[For], along: list[For]) -> list[Bound]:
    """Columns that are gone through again and again, as the state of a recurrence is: a thread for each where there are
    many, and the threads of a warp where there are few. Raises NotTaken where calls do not tell."""
    if all((_longest(loop) or LONG_COLUMN) < LONG_STATE for loop in along):
        return in_columns(partial, row, along)
    count = number_of(partial, run)
    names = None if count is None else version(partial, row.outer[0], count, FEW_COLUMNS)
    if names is None:
        raise NotTaken
    each = user_name(row.each)
    few = SharedRow(tuple(names[name] for name in row.outer), tuple(names[name] for name in row.shared))
    many = in_blocks(partial, list(row.outer), f"with {FEW_COLUMNS} '{each}' and more each has a thread")
    return [*many, *_several_each(partial, few, partial.facts.gpu.warp)]


def columns_of_planes(partial: PartialSchedule, row: SharedRow, along: For) -> list[Bound]:
    """The same of columns that lie side by side in several rows, which may be short. Raises NotTaken."""
    names = version(partial, row.outer[0], length_of([along]) or along, LONG_COLUMN)
    if names is None:
        raise NotTaken
    why = f"each '{user_name(row.each)}' is too short to be shared"
    return [*_several_down(partial, row), *in_blocks(partial, [names[name] for name in row.outer], why)]


def _several_down(partial: PartialSchedule, row: SharedRow) -> list[Bound]:
    across, down = partial.number(ACROSS), partial.number(DOWN)
    partial.require(threads_fit(partial.facts.gpu, ACROSS.name, DOWN.name))
    why = (
        f"elements along '{user_name(row.each)}' lie side by side, those of one '{user_name(row.each)}' far apart: "
        f"{down} threads share each"
    )
    (block,) = made(partial, Split(row.each, across), why)
    return _shared(partial, [Bind(block, "block.x"), Bind(row.each, "thread.x")], row, "thread.y", down, why)


def _shared(
    partial: PartialSchedule, around: list[Bind], row: SharedRow, axis: Run, threads: int, why: str
) -> list[Bound]:
    """The loops to bind. Raises NotTaken where one of them cannot be."""
    row = with_places(partial, row, threads)
    runs: tuple[Run, ...] = ("block.y", "block.z")
    outer = [Bind(name, run) for name, run in zip(reversed(row.outer[:-1]), runs, strict=False)]
    return _bindable(partial, [*reversed(outer), *around, *(Bind(name, axis, threads) for name in row.shared)], why)


def _bindable(partial: PartialSchedule, steps: list[Bind], why: str) -> list[Bound]:
    """The steps, if all of them can be taken. Raises NotTaken."""
    kernel, facts = partial.kernel, partial.present_facts()
    for step in steps:
        if step.illegal(kernel, facts, partial.strict) is not None:
            raise NotTaken
        kernel = step.apply(kernel)
    return [(step, why) for step in steps]


def with_places(partial: PartialSchedule, row: SharedRow, threads: int) -> SharedRow:
    """Where threads look for an extreme with what goes along, each keeps the iteration that its own came from. Raises
    NotTaken."""
    shared: list[str] = []
    for name in row.shared:
        found = partial.present_facts().loops[name].reductions
        best = next((one.by for one in found if one.by and not one.position), None)
        if best is None:
            shared.append(name)
        else:
            why = f"{threads} threads each look for '{user_name(best)}' and where it is"
            shared += made(partial, Reduce(name, threads), why, anew=True)
    return SharedRow(row.outer, tuple(shared))

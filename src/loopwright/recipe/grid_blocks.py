"""Blocks of a plain nest, for the default recipe: loops cut into blocks of threads, and how many elements each thread
does, one after the other or side by side in the loop inside.

Threads that do several elements are as many elements apart as the block has threads: neighbours still touch
neighbouring elements. Side by side, what the loop inside loads for one element serves the others; stretches that are
not whole then have loops of their own, without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.ir.nodes import For, Run, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.coalescing import accesses_inside
from loopwright.recipe.grid_tiles import Bound, threads_fit
from loopwright.recipe.partial_schedule import PartialSchedule, made, whole
from loopwright.recipe.shape import SHORT, UNROLLED, short_loops
from loopwright.recipe.tunable import Constraint, Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.extent import trip_of
from loopwright.steps.reorder import Reorder
from loopwright.steps.skew import Skew
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split
from loopwright.steps.tile import Tile
from loopwright.steps.unroll import Unroll
from loopwright.steps.unroll_and_jam import UnrollAndJam

LINE = Tunable(
    "threads of a block",
    256,
    (32, 64, 128, 256, 512, 1024),
    "few threads reach more multiprocessors where there are few iterations; many hide each other's waiting",
)
FEW = 32
"""Threads of a block where there is one loop and iterations hold loops: a few thousand of them still reach every
multiprocessor."""

ROWS = Tunable("rows of threads", 8, (1, 2, 4, 8, 16), LINE.why)
COLUMNS = Tunable("columns of threads", 32, (8, 16, 32, 64, 128, 256), "neighbours share lines of memory; see rows")

LINE_EACH = Tunable(
    "elements of a thread", 2, (1, 2, 4, 8), "fewer threads, each with more to do while it waits for memory"
)
ROWS_EACH = Tunable("rows of a thread", 1, (1, 2, 4), LINE_EACH.why)
COLUMNS_EACH = Tunable("columns of a thread", 1, (1, 2, 4), LINE_EACH.why)
TOGETHER = Tunable(
    "elements of a thread side by side",
    0,
    (0, 1),
    "what is loaded for one element serves the others, at the price of registers",
    words=("no", "yes"),
)
NARROW, NARROW_ROWS, NARROW_COLUMNS = 16, 32, 8
"""Below so many iterations a loop along columns is narrow; rows and columns of threads then."""
MOST_ROWS = 64
"""Rows of threads where columns are few."""
DOWN = Tunable("loop along y", 0, (0, 1, 2), "neighbouring rows of threads share what does not depend on it")

JAMMED = Tunable(
    "elements of a thread along a loop that shares loads",
    4,
    (1, 2, 4, 8, 16),
    "what is loaded for one element serves the others, at the price of registers",
)

SHORT_INSIDE = replace(SHORT, leads=False)
WHY = "asked for: not something that the recipe does by itself"

_AROUND: tuple[Run, ...] = ("block.z", "block.y")
MOST_EACH = 8
"""Elements of a thread."""
SHARING_EACH = 2
"""Rows, and columns, of a thread whose elements share what they load: a fourth of the loads of one element each, and
still as many threads as a large GPU runs at once for a plane of a thousand elements each way."""


def in_blocks(partial: PartialSchedule, names: list[str], why: str) -> list[Bound]:
    """Cut loops around one another into blocks."""
    x = names[-1]
    holds_loops = any(takes_long(stmt) for stmt in statements(partial.around(x)[-1].body, For, While))
    if len(names) == 1:
        return _in_a_line(partial, x, holds_loops, why)
    return _in_rectangles(partial, names, why)


def takes_long(loop: For | While) -> bool:
    """Whether a loop inside an iteration has more than a few iterations."""
    return isinstance(loop, While) or (trip_of(loop) or LINE.default) > MOST_EACH


def _in_a_line(partial: PartialSchedule, x: str, holds_loops: bool, why: str) -> list[Bound]:
    threads = partial.threads(replace(LINE, default=FEW) if holds_loops else LINE)
    each = partial.number(replace(LINE_EACH, default=1 if holds_loops else _each_of(partial, x)))
    together = partial.number(TOGETHER)
    partial.require(_several_elements(LINE_EACH.name))
    return _cut(partial, x, threads, each, together, why)


def _each_of(partial: PartialSchedule, x: str) -> int:
    """Elements of a thread along one loop: as many bytes whatever their type is, so that as much is on its way."""
    (loop,) = (one for one in partial.around(x) if one.name == x)
    sizes = [walk.size_bytes for walk in accesses_inside(partial, loop) if walk.strides.get(x) != 0]
    return max(LINE_EACH.default, min(MOST_EACH, MOST_EACH // max(sizes, default=MOST_EACH)))


def _cut(partial: PartialSchedule, x: str, threads: int, each: int, together: int, why: str) -> list[Bound]:
    """Cut one loop into blocks of threads that do so many elements each."""
    (block,) = made(partial, Split(x, threads * each), why)
    bound: list[Bound] = [(Bind(block, "block.x"), why)]
    if not together:
        inner_loops(partial, x)
        return [*bound, (Bind(x, "thread.x", threads), why)]
    edges = whole(partial, Specialize((x,)), "whole blocks without tests")
    thread, element = _apart(partial, x, threads, why)
    partial.take(Reorder((thread, element)), why)
    _side_by_side(partial, element, each, why)
    inner_loops(partial, thread)  # last: only one loop inside can be joined
    bound += [(Bind(edges[x], "thread.x", threads), why)] if edges else []
    return [*bound, (Bind(thread, "thread.x"), why)]


def _in_rectangles(partial: PartialSchedule, names: list[str], why: str) -> list[Bound]:
    if not _share_loads(partial, names):
        return _with_each(partial, names, why, 1)
    bound: list[Bound] = []
    with partial.together():
        bound = _with_each(
            partial, names, f"{why}; what is loaded for one element serves those beside it", SHARING_EACH
        )
    return bound or _with_each(partial, names, why, 1)


def _share_loads(partial: PartialSchedule, names: list[str]) -> bool:
    """Whether a loop inside loads nothing that depends on the row and on the column at once, as where each point of a
    plane looks at all of a list: then several elements of a thread need hardly more loads than one."""
    row, x = names[-2:]
    body = partial.around(x)[-1].body
    inside = list(statements(body))
    if sum(isinstance(stmt, For) for stmt in inside) != 1 or any(isinstance(stmt, While) for stmt in inside):
        return False
    loop = next(stmt for stmt in inside if isinstance(stmt, For))
    within = {id(stmt) for stmt in statements(loop.body)}
    walks = [walk for walk in partial.walks() if id(walk.stmt) in within]
    written = {walk.array for walk in walks if walk.is_write}
    read = [walk.strides for walk in walks if walk.array not in written]
    moving = [strides for strides in read if strides.get(loop.name) != 0]
    return bool(moving) and len(body) == 1 and all(0 in (one.get(row), one.get(x)) for one in read)


def _with_each(partial: PartialSchedule, names: list[str], why: str, usual: int) -> list[Bound]:
    """Rectangles of threads, each of which does `usual` rows and columns by default: side by side where several."""
    row, x = names[-2:]
    rows, columns = (partial.number(one) for one in _sides(partial, row, x))
    rows_each = partial.number(replace(ROWS_EACH, default=usual))
    columns_each = partial.number(replace(COLUMNS_EACH, default=usual))
    together = partial.number(replace(TOGETHER, default=int(usual > 1)))
    partial.require(
        threads_fit(partial.facts.gpu, ROWS.name, COLUMNS.name), _several_elements(ROWS_EACH.name, COLUMNS_EACH.name)
    )
    if rows * rows_each == 1:
        around = [(Bind(name, run), why) for name, run in zip(names[:-1], _AROUND[3 - len(names) :], strict=True)]
        return [*around, *_cut(partial, x, columns, columns_each, together, why)]
    row_block, column_block = made(partial, Tile(((row, rows * rows_each), (x, columns * columns_each))), why)
    bound: list[Bound] = [(Bind(names[0], "block.z"), why)] if len(names) == 3 else []
    bound += [(Bind(row_block, "block.y"), why), (Bind(column_block, "block.x"), why)]
    if not together:
        inner_loops(partial, x)
        bound += [(Bind(row, "thread.y", rows if rows_each > 1 else 0), why)]
        return [*bound, (Bind(x, "thread.x", columns if columns_each > 1 else 0), why)]
    edges = whole(partial, Specialize((row, x)), "whole blocks without tests")
    threads: list[tuple[str, Run]] = []
    elements: list[tuple[str, int]] = []
    sides: tuple[tuple[str, int, int, Run], ...] = (
        (row, rows, rows_each, "thread.y"),
        (x, columns, columns_each, "thread.x"),
    )
    for name, count, each, run in sides:
        thread, element = _apart(partial, name, count, why) if each > 1 < count else (name, name)
        threads += [(thread, run)] if count > 1 else []
        elements += [(element, each)] if each > 1 else []
        bound += [(Bind(edges[name], run, count), why)] if edges and count > 1 else []
    partial.take(Reorder(tuple(name for name, _ in (*threads, *elements))), why)
    for element, each in elements:
        _side_by_side(partial, element, each, why)
    inner_loops(partial, threads[-1][0])
    return [*bound, *((Bind(name, run), why) for name, run in threads)]


def _sides(partial: PartialSchedule, row: str, x: str) -> tuple[Tunable, Tunable]:
    """Rows and columns of threads: where it is known that a loop is shorter than its side, the other one gets the
    threads."""
    there = loops(partial.kernel)
    trips = {name: trip_of(loop) for name in (row, x) if isinstance(loop := there[name], For)}
    if partial.narrow.get(x):
        return replace(ROWS, default=NARROW_ROWS), replace(COLUMNS, default=NARROW_COLUMNS)
    rows, columns = _at_most(ROWS, trips[row]), _at_most(COLUMNS, trips[x])
    all_threads = ROWS.default * COLUMNS.default
    if columns < COLUMNS.default:
        rows = _at_most(replace(ROWS, default=min(all_threads // columns, MOST_ROWS)), trips[row])
    elif rows < ROWS.default:
        columns = _at_most(replace(COLUMNS, default=all_threads // rows), trips[x])
    return replace(ROWS, default=rows), replace(COLUMNS, default=columns)


def _at_most(side: Tunable, trip: int | None) -> int:
    """A side that is no longer than a loop, as a power of two."""
    return side.default if trip is None else min(side.default, 1 << max(0, trip - 1).bit_length())


def in_boxes(partial: PartialSchedule, names: list[str], why: str) -> list[Bound]:
    """Four loops or more that may run in any order, `x` the last of them: `x` is cut into blocks of threads, and rows
    of threads share another one. Where a thread has long loops of its own, that one is cut, too, and all others are
    blocks; where not, two of the others are, and a thread goes on from row to row: to find out which element is a
    block's would take as long as what it does for it."""
    *others, x = names
    row = others[-1 - partial.number(DOWN)]
    around = [name for name in others if name != row]
    inside = statements(partial.around(x)[-1].body, For, While)
    is_long = any(takes_long(stmt) for stmt in inside if stmt.name not in names)
    sides = _sides(partial, row, x) if is_long else (ROWS, COLUMNS)
    around, rest = (around, []) if is_long else (around[:2], around[2:])
    threads = partial.number(replace(LINE, default=sides[1].default, name=COLUMNS.name, among=COLUMNS.among))
    rows, each = partial.number(sides[0]), partial.number(replace(LINE_EACH, default=1))
    together = partial.number(TOGETHER)
    partial.require(threads_fit(partial.facts.gpu, ROWS.name, COLUMNS.name), _several_elements(LINE_EACH.name))
    shared = None if together else _sharing_loads(partial, around, x)
    within = [row, x] if is_long else [x, row, *rest]
    if [*around, *within] != [name for name in loops(partial.kernel) if name in names]:
        partial.take(Reorder((*around, *within)), why)
    cut = Tile(((row, rows), (x, threads * each))) if is_long else Split(x, threads * each)
    parts = made(partial, cut, why)
    blocks = {name: name for name in around}
    if shared is not None and (count := partial.number(JAMMED)) > 1:
        blocks[shared] = _jammed(partial, shared, count, [*around, *parts, *within])
    outer = tuple(blocks.values())
    deep, high = (outer, parts[:-1]) if is_long else (outer[:1], outer[1:])
    places = [*(Bind(name, "block.z") for name in deep), *(Bind(name, "block.y") for name in high)]
    bound: list[Bound] = [(place, why) for place in (*places, Bind(parts[-1], "block.x"))]
    runs: dict[str, Bind] = {row: Bind(row, "thread.y", rows), x: Bind(x, "thread.x", threads)}
    if not together:
        inner_loops(partial, within[1])
        return [*bound, *((runs[name], why) for name in within[:2])]
    edges = whole(partial, Specialize((x,)), "whole blocks without tests")
    thread, element = _apart(partial, x, threads, why)
    order = [thread if name == x else name for name in within]
    partial.take(Reorder((*order, element)), why)
    _side_by_side(partial, element, each, why)
    inner_loops(partial, order[1])
    runs[thread] = Bind(thread, "thread.x")
    bound += [(runs[name], why) for name in order[:2]]
    return [*bound, *((replace(runs[name], loop=edges[name]), why) for name in within[:2] if edges)]


def _sharing_loads(partial: PartialSchedule, names: list[str], x: str) -> str | None:
    """The one of these loops whose iterations load most of the same elements inside of loops in a thread, of those that
    differ from thread to thread; None where no elements are the same."""
    inside = {
        id(stmt)
        for loop in statements(partial.around(x)[-1].body, For)
        if not contains(loop.body, For)
        for stmt in statements(loop.body)
    }
    loads = [walk.strides for walk in partial.walks() if id(walk.stmt) in inside and not walk.is_write]
    saved = {name: sum(one.get(name) == 0 != one.get(x) for one in loads) for name in names}
    best = max(names, key=lambda name: saved[name])
    return best if saved[best] else None


def _jammed(partial: PartialSchedule, loop: str, count: int, order: list[str]) -> str:
    """Cut a loop into stretches that a thread does side by side; the loop over stretches. order: of all loops."""
    why = f"what is loaded for one '{user_name(loop)}' serves {count} of them"
    (stretch,) = made(partial, Split(loop, count), why)
    partial.take(Reorder((*(stretch if name == loop else name for name in order), loop)), why)
    partial.take(UnrollAndJam(loop, count), why, anew=True)
    return stretch


def inner_loops(partial: PartialSchedule, around: str) -> None:
    """Unroll the innermost loop inside a thread, as chosen: in part, or altogether where it is short."""
    if partial.choices is None:
        return
    chain = next((c for c in partial.chains() if any(loop.name == around for loop in c)), None)
    if chain is None or chain[-1].name == around:
        return
    inner = chain[-1].name
    inside = chain[[loop.name for loop in chain].index(around) :]
    short = short_loops(inside)
    if short:
        if partial.number(SHORT_INSIDE):
            for name in short:
                partial.take(Unroll(name), WHY)
    elif partial.allows(Unroll(inner, 2)) and (times := partial.number(UNROLLED)) > 1:
        partial.take(Unroll(inner, times), WHY)


def _several_elements(*names: str) -> Constraint:
    """Elements side by side need several, and not too many of them."""

    def holds(numbers: Mapping[str, int]) -> bool:
        each = 1
        for name in names:
            each *= numbers[name]
        return each <= MOST_EACH and (each > 1 or not numbers[TOGETHER.name])

    text = " x ".join(f"'{name}'" for name in names)
    return Constraint(f"{text} is at most {MOST_EACH}, and more than 1 where elements are side by side", holds)


def _apart(partial: PartialSchedule, loop: str, threads: int, why: str) -> tuple[str, str]:
    """Cut a loop over a whole block into its threads, and the elements of each: the names of both."""
    (element,) = made(partial, Split(loop, threads), why)
    (thread,) = made(partial, Skew(element, loop, -1), why)
    return thread, element


def _side_by_side(partial: PartialSchedule, element: str, each: int, why: str) -> None:
    (loop,) = partial.around(element)[-1:]
    if contains(loop.body, For):
        partial.take(UnrollAndJam(element, each), why, anew=True)
    else:
        partial.take(Unroll(element), why)

"""Nests of parallel loops with nothing but assignments inside, for the default recipe of a GPU: stencils, and what only
moves memory. Each thread does several rows, or a row in several planes: what it has loaded for one serves the next.

Where such a loop starts at 1, as stencils do, blocks of 32 columns from there on would each begin in the middle of a
sector of memory: what two blocks write to one sector reaches memory twice, or late. So blocks begin at multiples of
their width instead, counted where results are written, and the first one is shorter. The loop inside a thread has a
copy for whole stretches, without tests; whether there is a column or a row for it, each thread finds out once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from loopwright.ir.linear import parted
from loopwright.ir.nodes import For, Load, Run, Store, Var
from loopwright.ir.queries import accesses
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements
from loopwright.recipe.grid_rows import is_told_long, length_of, version
from loopwright.recipe.grid_tiles import Bound, bound_to, spread, threads_fit
from loopwright.recipe.partial_schedule import PartialSchedule, made, whole
from loopwright.recipe.tunable import Tunable
from loopwright.steps.align import Align
from loopwright.steps.extent import extent_of, trip_of
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split
from loopwright.steps.tile import Tile

ROWS = Tunable(
    "rows of a thread of a stencil",
    4,
    (1, 2, 4, 8),
    "what a thread has loaded for one row is used for the next; rows take registers",
)
ROWS_OF_THREADS = Tunable("rows of threads of a stencil", 1, (1, 2, 4, 8), "rows that meet in the first cache")
COLUMNS = Tunable(
    "threads of a row of a stencil",
    256,
    (32, 64, 128, 256, 512),
    "long rows use whole lines of memory; small blocks start and end sooner",
)
COLUMNS_EACH = Tunable(
    "columns of a thread of a stencil", 1, (1, 2, 4), "fewer threads, each with more to do while it waits"
)

PLANES = (
    Tunable("planes of a thread", 4, (2, 4, 8), "what a thread loads for one plane serves the next"),
    Tunable("rows of threads of a box", 4, (2, 4, 8, 16), "rows that meet in the first cache"),
    Tunable("columns of threads of a box", 32, (32, 64, 128), "long rows use whole lines of memory"),
)
"""Of a block, where there are three loops."""

ROW_BYTES = 256
"""What a row of threads of a box writes: two lines of memory, whatever the elements."""

SHORT_ROWS = ((64, 0, 0), (12, 16, 16), (1, 32, 8))
"""From which length of rows on a block has so many rows and columns of threads (0: as above); each thread does `ROWS`
rows. Rows that another row names (`a[p[i], j]`, an H200, ms for rows of 1, 3, 8, 15, 32 and 48 elements): in 32 x 8
threads 0.13, 0.19, 0.23, 0.81, 0.51, 0.79; 16 x 16: 0.22, 0.27, 0.31, 0.39, 0.38, 0.55; in rows of 256: 0.72, 0.77,
0.79, 0.85, 0.46, 0.63."""

ROWS_OF_A_PLANE = 8
"""Of a block for short rows of three loops: planes may have few of them."""

_X: Run = "thread.x"
_Y: Run = "thread.y"


def in_rows_or_short_ones(partial: PartialSchedule, band: tuple[str, ...], why: str) -> list[Bound]:
    """Two or three loops around one another, the last of them along rows: versions for short rows where calls tell how
    long they are. Of a long row of threads most would have nothing to do. The rows of stencils are no short ones."""
    *_, column = band
    loop = partial.around(column)[-1]
    if _has_neighbours(loop):
        return _long_rows(partial, band, why)
    trip, bound = trip_of(loop), list[Bound]()
    for least, rows, columns in SHORT_ROWS:
        if trip is not None and trip < least:
            continue
        may_be_less = trip is None and least > 1 and not is_told_long(partial, partial.around(band[-1])[-1], least)
        names = version(partial, band[0], length_of([loop]), least) if may_be_less else None
        bound += _short_rows(partial, band, rows, columns, why) if rows else _long_rows(partial, band, why)
        if names is None:
            break
        band = tuple(names[name] for name in band)
    return bound


def _has_neighbours(loop: For) -> bool:
    """Whether iterations use several elements of one array."""
    used = {(part.array, part.index) for part in accesses(loop.body)}
    return len({array for array, _ in used}) < len(used)


def _long_rows(partial: PartialSchedule, band: tuple[str, ...], why: str) -> list[Bound]:
    if len(band) == 3:
        return in_planes(partial, (band[0], band[1], band[2]), why)
    return in_rows(partial, band[0], band[1], why)


def _short_rows(partial: PartialSchedule, band: tuple[str, ...], down: int, across: int, why: str) -> list[Bound]:
    """Blocks of many rows of few threads, each of which does several rows; of three loops, in several planes."""
    *around, row, column = band
    each = partial.number(ROWS)
    short = f"{why}; with few '{user_name(column)}' a block has {down} rows of threads"
    if not around:
        row_block, column_block = made(partial, Tile(((row, down * each), (column, across))), why)
        bound: list[tuple[str, Run, int]] = [(row_block, "block.x", 0), (column_block, "block.y", 0)]
        return bound_to([*bound, (row, _Y, down), (column, _X, _if_unknown(partial, column, across))], short)
    (plane,) = around
    deep = down // ROWS_OF_A_PLANE
    sides = ((plane, deep * each), (row, ROWS_OF_A_PLANE), (column, across))
    plane_block, row_block, column_block = made(partial, Tile(sides), why)
    bound = [(plane_block, "block.z", 0), (row_block, "block.x", 0), (column_block, "block.y", 0)]
    rows, columns = _if_unknown(partial, row, ROWS_OF_A_PLANE), _if_unknown(partial, column, across)
    return bound_to([*bound, (plane, "thread.z", deep), (row, _Y, rows), (column, _X, columns)], short)


def _if_unknown(partial: PartialSchedule, name: str, threads: int) -> int:
    """The threads of a loop, where it is not plain how many iterations it has at most: where it goes backwards."""
    return 0 if extent_of(partial.around(name)[-1]) else threads


def in_rows(partial: PartialSchedule, row: str, column: str, why: str) -> list[Bound]:
    """Blocks of rows of threads (one row by default), each of which does several rows of elements."""
    rows, down = partial.number(ROWS), partial.number(ROWS_OF_THREADS)
    across, each = partial.threads(COLUMNS), partial.number(COLUMNS_EACH)
    partial.require(threads_fit(partial.facts.gpu, ROWS_OF_THREADS.name, COLUMNS.name))
    if rows * down == 1:
        column_block = _in_columns(partial, column, across * each, why)
        return bound_to([(row, "block.y", 0), (column_block, "block.x", 0), (column, "thread.x", across)], why)
    (row_block,) = made(partial, Split(row, rows * down), why)
    column_block = _in_columns(partial, column, across * each, why)
    inner = f"a thread does {rows} rows: what it has loaded for one is used for the next"
    partial.take(Reorder((column_block, row_block, column, row)), inner)
    more = _loaded_first(partial, row, column) if down == 1 else ()
    together = (column, row, *more) if more else (row,)
    edges = whole(partial, Specialize(together), "whole stretches without tests")
    bound: list[tuple[str, Run, int]] = [(row_block, "block.y", 0), (column_block, "block.x", 0)]
    if down > 1:
        row_thread, row_names = (row, ()) if rows == 1 else spread(partial, row, rows * down, down, rows, why)
        partial.take(Reorder((row_thread, column, *row_names)), inner)
        bound += [(row_thread, "thread.y", 0), *([(edges[row], _Y, down)] if edges else [])]
    bound += [(column, _X, across)]
    bound += [(edges[column], _X, across)] if edges else []
    return bound_to(bound, why)


def _loaded_first(partial: PartialSchedule, row: str, column: str) -> tuple[str, ...]:
    """Let a thread load what it changes in all its rows before it writes any, where it reads other elements of the same
    array too: a compiler cannot tell that what it has just written is none of these. The loops that this adds to those
    of a thread, none where it is no use."""
    body = partial.around(column)[-1].body
    stores = list(statements(body, Store))
    used = {(part.array, part.index) for part in expressions(body, Load)}
    used |= {(stmt.array, stmt.index) for stmt in stores}
    arrays = [one for one in dict.fromkeys(stmt.array for stmt in stores) if sum(one == name for name, _ in used) > 1]
    if not arrays:
        return ()
    words = " and ".join(f"'{user_name(array)}'" for array in arrays)
    why = f"a thread loads what it changes of {words} in all its rows before it writes any of it"
    before = set(loops(partial.kernel))
    with partial.together():
        for array in arrays:
            partial.take(Promote(array, row, whole=True), why, anew=True)
        partial.remember_accesses()  # of whole blocks alone, it would be proven for calls that have such blocks
        return tuple(name for name in loops(partial.kernel) if name not in before)
    return ()


def in_planes(partial: PartialSchedule, band: tuple[str, str, str], why: str) -> list[Bound]:
    """Three loops around one another: each thread does one element in several planes."""
    plane, row, column = band
    usual = max(PLANES[2].default, ROW_BYTES // _element_bytes(partial, column))
    planes, rows = (partial.number(one) for one in PLANES[:2])
    columns = partial.number(replace(PLANES[2], default=usual))
    partial.require(threads_fit(partial.facts.gpu, PLANES[1].name, PLANES[2].name))
    (plane_block,) = made(partial, Split(plane, planes), why)
    (row_block,) = made(partial, Split(row, rows), why)
    column_block = _in_columns(partial, column, columns, why)
    inner = f"a thread does {planes} planes: what it loads for one serves the next"
    partial.take(Reorder((column_block, row_block, plane_block, row, column, plane)), inner)
    edges = whole(partial, Specialize((plane,)), "whole stretches without tests")
    bound: list[tuple[str, Run, int]] = [
        (plane_block, "block.z", 0), (row_block, "block.y", 0), (column_block, "block.x", 0)
    ]  # fmt: skip
    for one, run, threads in ((row, _Y, rows), (column, _X, columns)):
        bound += [(one, run, threads), *([(edges[one], run, threads)] if edges else [])]
    return bound_to(bound, why)


def _in_columns(partial: PartialSchedule, column: str, width: int, why: str) -> str:
    """Cut a loop into blocks that begin at multiples of their width, where that can be: the loop over these."""
    (block,) = made(partial, Split(column, width), why)
    more = _written_after(partial, column)
    align = None if more is None else Align(column, more % width)
    if align is not None and align.illegal(partial.kernel, partial.facts, partial.strict) is None:
        partial.take(align, "blocks write whole sectors of memory")
    return block


def _element_bytes(partial: PartialSchedule, column: str) -> int:
    """The size of what the iterations write; of the largest, where they differ."""
    stored = (stmt for stmt in statements(partial.around(column)[-1].body, Store))
    return max((stmt.value.type.size_bytes for stmt in stored), default=ROW_BYTES)


def _written_after(partial: PartialSchedule, column: str) -> int | None:
    """How many elements behind the one of its own number each iteration writes; None where that is no constant."""
    inside = {id(stmt) for stmt in statements(partial.around(column)[-1].body)}
    found: Counter[int] = Counter()
    for walk in partial.walks():
        if id(walk.stmt) in inside and walk.is_write and walk.strides.get(column) == 1:
            found.update(more for base, more in map(parted, walk.node.index) if base == Var(column, INT64))
    return found.most_common(1)[0][0] if found else None

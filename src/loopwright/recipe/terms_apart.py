"""Sums of terms each of which is a sum over two rows, as those of a kernel matrix that nobody keeps are:

    for i: for j: d = 0; for k: d += (x[i, k] - x[j, k]) ** 2
                  s += exp(-d)

Each thread would read both rows for each term. For some thousand rows at a time all terms are a nest of their own,
which is like a product of matrices: tiles read each row once for many terms. What is then done with the terms goes
along rows of what the tiles have left in memory."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, For, If, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_products import is_dear
from loopwright.recipe.grid_rows import is_told, length_of, size_text
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made, whole
from loopwright.recipe.products_in_rows import nest_apart
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.specialize import LARGE, TIMES, Specialize
from loopwright.steps.split import Split

ROWS = 4096
"""Rows whose terms are in memory at once: enough tiles for a large GPU, where each row has a few hundred terms."""
LEAST = 256
"""Rows, and terms of each, from which on tiles are mostly full."""
DEEP = 8
"""Elements of a row from which on it costs more to read them for each term than to keep terms in memory."""
MOST = 1 << 17
"""Terms of a row whose number keeps what is in memory below two gigabytes of float32."""


def terms_apart(partial: PartialSchedule) -> None:
    """Give loops over rows that add up such terms a version for many of them."""
    for name, loop in list(loops(partial.kernel).items()):
        if isinstance(loop, For) and len(partial.around(name)) == 1 and is_free_now(partial, loop):
            for column in [one for one in loop.body if isinstance(one, For)]:
                if (depth := _depth(partial, loop, column)) is not None:
                    with partial.together():
                        _apart(partial, loop, column, depth)
                    break


def _depth(partial: PartialSchedule, row: For, column: For) -> For | None:
    """The loop that adds up each term, if that is so."""
    sums = [stmt for stmt in column.body if contains((stmt,), For, While)]
    if len(sums) != 1 or not isinstance(depth := sums[0], For) or contains(depth.body, For, While, If):
        return None
    if is_dear(depth) or partial.verdict(depth) != "reduction" or partial.verdict(column) == "parallel":
        return None
    if any((trip_of(one) or least) < least for one, least in ((row, LEAST), (column, LEAST), (depth, DEEP))):
        return None
    inside = {id(stmt) for stmt in statements(depth.body)}
    names = (row.name, column.name, depth.name)
    moves = [
        {name for name in names if walk.strides.get(name) != 0} for walk in partial.walks() if id(walk.stmt) in inside
    ]
    is_pair = {row.name, depth.name} in moves and {column.name, depth.name} in moves
    return depth if is_pair and all(depth.name in one for one in moves) else None


def _apart(partial: PartialSchedule, row: For, column: For, depth: For) -> None:
    """Raises NotTaken."""
    why = f"all terms of some '{user_name(row.name)}' are like a product of matrices, in a nest of its own"
    sizes = [
        size for one, least in ((row, LEAST), (column, LEAST), (depth, DEEP)) for size in _size(partial, one, least)
    ]
    if sizes and not whole(partial, Specialize(tuple(dict.fromkeys(sizes)), LARGE, LEAST, row.name), why):
        raise NotTaken
    name = row.name
    if (most := _size(partial, column, LEAST)) and (
        copies := whole(partial, Specialize(tuple(most), LARGE, MOST, name), why)
    ):
        name, column_name, depth_name = copies[name], copies[column.name], copies[depth.name]
    else:
        column_name, depth_name = column.name, depth.name
    (turn,) = made(partial, Split(name, ROWS), why, anew=True)
    partial.turns.add(turn)
    body = partial.around(column_name)[-1].body
    place = next(at for at, stmt in enumerate(body) if isinstance(stmt, For) and stmt.name == depth_name)
    partial.take(Fission(column_name, place + 2, kept=True), why, anew=True)
    for array in [stmt.array for stmt in partial.around(name)[-1].body if isinstance(stmt, Allocate)]:
        partial.take(Expand(array, (name,)), why, anew=True)
    nest_apart(partial, name, column_name, why)
    partial.begin_again()


def _size(partial: PartialSchedule, loop: For, least: int) -> list[str]:
    """What a call tells of the length of a loop, so that it is worth as much as the others'; [] for a constant. Raises
    NotTaken where it tells nothing."""
    if trip_of(loop) is not None:
        return []
    length = length_of([loop])
    if length is None or not is_told(partial, length):
        raise NotTaken
    return [size_text(length) if least == LEAST else f"{LEAST // least}{TIMES}{size_text(length)}"]

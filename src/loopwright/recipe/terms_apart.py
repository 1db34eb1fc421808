"""Sums of terms each of which is a sum over two rows, as those of a kernel matrix that nobody keeps are:

    for i: for j: d = 0; for k: d += (x[i, k] - x[j, k]) ** 2
                  s += exp(-d)

Each thread would read both rows for each term. For some thousand rows at a time all terms are a nest of their own,
which is like a product of matrices: tiles read each row once for many terms. What is then done with the terms goes
along rows of what the tiles have left in memory."""

from __future__ import annotations

from typing import NamedTuple

from loopwright.ir.nodes import Allocate, For, If, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_products import is_dear
from loopwright.recipe.grid_rows import is_told, length_of, size_text
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made, whole
from loopwright.recipe.products_in_rows import nest_apart
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.specialize import LARGE, TIMES, Specialize
from loopwright.steps.split import Split


class LeastShape(NamedTuple):
    """Of a version: rows, terms of each and elements of a row from which on it is worth it, and rows whose terms are in
    memory at once: enough tiles for a large GPU."""

    rows: int
    terms: int
    elements: int
    together: int


MANY = LeastShape(256, 256, 8, 4096)
"""Tiles are mostly full. With fewer elements it costs more to keep terms in memory than to read rows for each."""
FEW = LeastShape(1 << 16, 32, 8, 1 << 16)
"""Few terms for each of many rows, as where the nearest of some centres is looked for: half a tile is full."""
MOST = 1 << 17
"""Terms of a row whose number keeps what is in memory below two gigabytes of float32."""


def terms_apart(partial: PartialSchedule) -> None:
    """Give loops over rows that add up such terms a version for many of them."""
    for loop in list(loops(partial.kernel).values()):
        if isinstance(loop, For) and is_outermost(partial, loop) and is_free_now(partial, loop):
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
    fewest = ((row, MANY.rows), (column, FEW.terms), (depth, FEW.elements))
    if any((trip_of(one) or least) < least for one, least in fewest):
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
    nest = (row.name, column.name, depth.name)
    rest: dict[str, str] = {}
    has_many = (trip_of(column) or MANY.terms) >= MANY.terms
    if has_many:
        rest = _version(partial, nest, MANY, why)
    if not has_many or (rest and _size(partial, row, 1, 1) != _size(partial, column, 1, 1)):
        with partial.together():
            _version(partial, tuple(rest.get(name, name) for name in nest), FEW, why)
    partial.begin_again()


def _version(partial: PartialSchedule, nest: tuple[str, ...], shape: LeastShape, why: str) -> dict[str, str]:
    """A version for calls of this shape: the names of its loops in the other copy. Raises NotTaken."""
    name, column_name, depth_name = nest
    row, column, depth = (_loop(partial, one) for one in nest)
    number = max(shape.rows, shape.terms)
    wanted = ((row, shape.rows), (column, shape.terms), (depth, shape.elements))
    sizes = [size for one, least in wanted for size in _size(partial, one, least, number)]
    others = whole(partial, Specialize(tuple(dict.fromkeys(sizes)), LARGE, number, name), why) if sizes else {}
    if sizes and not others:
        raise NotTaken
    most = _size(partial, column, 1, 1) if shape.terms == MANY.terms else []
    if most and (copies := whole(partial, Specialize(tuple(most), LARGE, MOST, name), why)):
        name, column_name, depth_name = (copies[one] for one in nest)
    (turn,) = made(partial, Split(name, shape.together), why, anew=True)
    partial.turns.add(turn)
    body = partial.around(column_name)[-1].body
    place = next(at for at, stmt in enumerate(body) if isinstance(stmt, For) and stmt.name == depth_name)
    partial.take(Fission(column_name, place + 2, kept=True), why, anew=True)
    for array in [stmt.array for stmt in partial.around(name)[-1].body if isinstance(stmt, Allocate)]:
        partial.take(Expand(array, (name,)), why, anew=True)
    nest_apart(partial, name, column_name, why)
    return others


def _loop(partial: PartialSchedule, name: str) -> For:
    loop = loops(partial.kernel)[name]
    assert isinstance(loop, For)
    return loop


def _size(partial: PartialSchedule, loop: For, least: int, number: int) -> list[str]:
    """What a call tells of the length of a loop, so many times that it is `number` where it is long enough; [] for a
    constant. Raises NotTaken where it tells nothing."""
    if (trip := trip_of(loop)) is not None:
        if trip < least:
            raise NotTaken
        return []
    length = length_of([loop])
    if length is None or not is_told(partial, length):
        raise NotTaken
    return [size_text(length) if least == number else f"{number // least}{TIMES}{size_text(length)}"]

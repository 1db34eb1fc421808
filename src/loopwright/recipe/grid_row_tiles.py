"""Rows that threads go through element by element, as a filter of many series or a column of a model does: each element
depends on the one before. A thread for each row reads elements that are a row apart from its neighbours'. Tiles of the
rows go through shared memory instead, which the threads of a warp fill and empty together, neighbours along a row; each
keeps to its own row in between."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Allocate, Body, For, Load, While
from loopwright.ir.queries import arrays_made, arrays_stored, contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.distribution import isolate
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_rows import number_of, version
from loopwright.recipe.grid_running import goes_along
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made, whole
from loopwright.steps.bind import Bind
from loopwright.steps.carry import Carry
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.promote import Promote
from loopwright.steps.scan import Scan, is_plain
from loopwright.steps.specialize import Specialize
from loopwright.steps.stage import Stage
from loopwright.steps.tile import Tile

MANY = 1024
"""Rows from which on a thread for each is enough."""
LONG = 64
"""From which length on rows are worth tiles."""
COLUMNS = 31
"""Of a tile: rows of an odd length begin in other banks of shared memory than their neighbours."""
CHUNKS = 512


def tiles_of_rows(partial: PartialSchedule) -> Iterator[list[Bound]]:
    """What to bind of nests that were given such tiles."""
    for name in list(loops(partial.kernel)):
        if name in loops(partial.kernel) and _are_rows(partial, name):
            bound: list[Bound] = []
            with partial.together():
                bound = _in_tiles(partial, name)
            if bound:
                yield bound


def _are_rows(partial: PartialSchedule, name: str) -> bool:
    """Whether a loop needs its order, and goes along the rows of the one around it, which does not."""
    entry = loops(partial.kernel)[name]
    if not isinstance(entry, For) or contains(entry.body, For, While, Allocate):
        return False
    chain = partial.around(name)
    if len(chain) != 2 or (trip_of(chain[0]) or MANY) < MANY or (trip_of(entry) or LONG) < LONG:
        return False
    if depends(entry, chain[0].name) or partial.verdict(entry) != "sequential" or not is_free_now(partial, chain[0]):
        return False
    is_sum = partial.allows(Scan(name, CHUNKS)) and is_plain(partial.kernel, entry)  # blocks find these together
    return goes_along(partial, chain[0], entry) and not is_sum


def _in_tiles(partial: PartialSchedule, name: str) -> list[Bound]:
    """Raises NotTaken."""
    each, entry = partial.around(name)
    why = f"a thread goes through each '{user_name(each.name)}': tiles of rows, which a warp reads and writes together"
    if trip_of(each) is None and version(partial, each.name, number_of(partial, [each]), MANY) is None:
        raise NotTaken
    if trip_of(entry) is None and version(partial, each.name, number_of(partial, [entry]), LONG) is None:
        raise NotTaken
    places = _with_places(partial, each.name, name, why)
    row, column = isolate(partial, name, each.name, why)
    warp = partial.facts.gpu.warp
    row_block, _ = made(partial, Tile(((row, warp), (column, COLUMNS))), why, anew=True)
    edges = whole(partial, Specialize((row, column)), "whole tiles without tests")
    for array in places:
        partial.take(Promote(array, column), why, anew=True)
    bound = [Bind(row_block, "block.x"), Bind(row, "thread.x")]
    bound += [Bind(edges[row], "thread.x")] if edges else []
    tiles = list(_tiles(partial, row, column, warp, why))
    if not tiles:
        raise NotTaken
    bound += [Bind(copy, "thread.x", warp) for copies in tiles for copy in copies]
    partial.begin_again()
    return [(step, why) for step in bound]


def _with_places(partial: PartialSchedule, each: str, entry: str, why: str) -> list[str]:
    """Give scalars that go into the loop along a row, or out of it, an element for each row; the arrays of these."""
    body, inner = partial.around(each)[-1].body, partial.around(entry)[-1]
    others = tuple(stmt for stmt in body if stmt is not inner)
    carried = names_assigned(inner.body) & names_read(inner.body)
    crossing = (names_assigned(others) & (names_read((inner,)) | carried)) | (
        names_assigned((inner,)) & names_read(others)
    )
    found: list[str] = []
    for scalar in sorted(crossing - set(loops(partial.kernel))):
        before = arrays_made(partial.kernel.body)
        partial.take(Expand(scalar, (each,)), why, anew=True)
        found += arrays_made(partial.kernel.body) - before
    return found


def _tiles(partial: PartialSchedule, row: str, column: str, warp: int, why: str) -> Iterator[list[str]]:
    """Bring what is read to shared memory, and what is written from there; the loops of copies that threads share."""
    body: Body = partial.around(column)[-1].body
    written = arrays_stored(body)
    sizes = {
        walk.array: warp * COLUMNS * (walk.node if isinstance(walk.node, Load) else walk.node.value).type.size_bytes
        for walk in partial.walks()
        if walk.strides.get(column) in (1, -1) and _is_in(body, walk.stmt)
    }
    room = partial.facts.gpu.shared_bytes  # of more arrays than have room, some stay where they are
    for array in sorted(written):
        if partial.allows(carry := Carry(array, column)):
            partial.take(carry, why, anew=True)
    for array in sorted(sizes, key=lambda one: one not in written):
        if sizes[array] > room:
            continue
        step = Promote(array, row, whole=True) if array in written else Stage(array, row, warp)
        if partial.allows(step):
            loops_made = list(made(partial, step, why, anew=True))
            room -= sizes[array]
            yield loops_made[1::2] if array in written else []


def _is_in(body: Body, stmt: object) -> bool:
    return any(one is stmt for one in statements(body))

"""Tiles of wavefronts for the default recipe of a GPU: two loops around one another that both need their order, as in
an edit distance, an integral image or a stencil in place. The tiles of a diagonal are a grid, and in a tile the threads
of a block go from diagonal to diagonal by themselves: one start for each diagonal of tiles, not for each of
elements."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.isl_schedule import Wanted
from loopwright.ir.nodes import Allocate, Const, For, Load, While
from loopwright.ir.queries import arrays_made, arrays_stored, contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made
from loopwright.recipe.tunable import Tunable
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.bind import Bind
from loopwright.steps.extent import trip_of
from loopwright.steps.grids import unrunnable
from loopwright.steps.hold import Hold
from loopwright.steps.reorder import Reorder
from loopwright.steps.reschedule import Reschedule
from loopwright.steps.skew import Skew

SIDE = Tunable(
    "side of a tile of fronts",
    32,
    (16, 32, 64),
    "rows and columns of a tile, each row a thread's: larger ones are fewer starts, smaller ones more blocks",
)
HELD = Tunable(
    "tiles of fronts in shared memory",
    0,
    (0, 1),
    "it is nearer, but one warp copies a tile, which takes longer than what it spares (1.4 times in all on an H200)",
    words=("no", "yes"),
)
MOST_NESTS = 2
"""Nests of a kernel whose tiles are looked for, each of which may take a second."""

FEW = 32
"""Iterations of a loop that one thread may as well run."""


def tiles_of_fronts(partial: PartialSchedule) -> list[list[Bound]]:
    """Restructure such nests; what to bind of each."""
    nests = [stmt for stmt in partial.kernel.body if isinstance(stmt, For) and _is_front(partial, stmt)]
    found: list[list[Bound]] = []
    for outer in nests[:MOST_NESTS]:
        with partial.together():
            bound = _in_tiles(partial, outer)
            partial.begin_again()
            found.append(bound)
    return found


def _is_front(partial: PartialSchedule, outer: For) -> bool:
    """Whether a loop holds nothing but another one, of statements without loops, and both need their order."""
    if len(outer.body) != 1 or not isinstance(inner := outer.body[0], For):
        return False
    if contains(inner.body, For, While, Allocate) or any((trip_of(loop) or FEW + 1) <= FEW for loop in (outer, inner)):
        return False
    return not any(partial.verdict(loop) in ("parallel", "reduction") for loop in (outer, inner))


def _in_tiles(partial: PartialSchedule, outer: For) -> list[Bound]:
    """Raises NotTaken."""
    side = partial.number(SIDE)
    why = "both loops need their order, but the tiles of a diagonal do not, nor the elements of one in a tile"
    before = set(loops(partial.kernel)) - {outer.name, *(one.name for one in statements(outer.body, For))}
    nest = "" if len(partial.kernel.body) == 1 else outer.name
    partial.take(Reschedule(Wanted("smart", (side,), wavefront=True), nest=nest), why)
    new = [name for name in loops(partial.kernel) if name not in before]
    if len(new) != 4:
        raise NotTaken
    _, tile, row, column = new
    copies = held(partial, row, 1, side, True, why) if partial.number(HELD) else []
    (skewed,) = made(partial, Skew(row, column, 1), why, anew=True)
    partial.take(Reorder((skewed, row)), why, anew=True)
    facts = partial.present_facts()
    for name in (tile, row):
        loop = loops(partial.kernel)[name]
        if not isinstance(loop, For) or not is_free(loop, facts.loops[name]):
            raise NotTaken
    bound: list[Bound] = [(Bind(tile, "block.x"), why), (Bind(row, "thread.x"), why), *copies]
    can_run(partial, bound)
    return bound


def can_run(partial: PartialSchedule, bound: list[Bound]) -> None:
    """Raises NotTaken where loops cannot be bound like that, or are no grid that can run then."""
    kernel, facts = partial.kernel, partial.present_facts()
    for step, _ in bound:
        if step.illegal(kernel, facts, partial.strict) is not None:
            raise NotTaken(str(step))
        kernel = step.apply(kernel)
    if unrunnable(kernel, facts, [step.loop for step, _ in bound]) is not None:
        raise NotTaken


def held(partial: PartialSchedule, loop: str, rows: int, columns: int, slanted: bool, why: str) -> list[Bound]:
    """Keep in shared memory meanwhile what a loop of a block touches of arrays of several axes, and what it writes,
    where that can be; the copies to bind, to rows and columns of threads. slanted: neighbouring threads are on a
    diagonal, else in a column."""
    found: list[Bound] = []
    inner = loops(partial.kernel)[loop]
    assert isinstance(inner, For)
    planes = {one.array for one in expressions(inner.body, Load) if len(one.index) > 1}
    for array in sorted(arrays_stored(inner.body) | planes):
        with partial.together():
            free = _free_around(partial, loop)
            reason = f"the elements of '{user_name(array)}' are in shared memory meanwhile"
            new = _with_pad(partial, Hold(array, loop), slanted, reason)
            if _free_around(partial, loop) != free:
                raise NotTaken
            for name in new:
                is_row = contains(partial.around(name)[-1].body, For)
                if not is_row or rows > 1:
                    found.append((Bind(name, *(("thread.y", rows) if is_row else ("thread.x", columns))), why))
    return found


def _with_pad(partial: PartialSchedule, step: Hold, slanted: bool, why: str) -> tuple[str, ...]:
    """Take the step so that neighbouring threads find their elements in different banks: the loops it makes."""
    before = partial.kernel
    new = made(partial, step, why, anew=True)
    there = arrays_made(before.body)
    local = next(one for one in statements(partial.kernel.body, Allocate) if one.array not in there)
    assert isinstance(local.shape[-1], Const)
    if len(local.shape) < 2 or (int(local.shape[-1].value) - slanted) % 2:
        return new
    partial.kernel = before
    del partial.decisions[-1]
    return made(partial, replace(step, pad=1), why, anew=True)


def _free_around(partial: PartialSchedule, loop: str) -> list[str]:
    facts = partial.present_facts()
    return [one.name for one in partial.around(loop)[:-1] if is_free(one, facts.loops[one.name])]

"""Temporaries that hold loops together: a sum that is kept in a scalar while it grows, and then used, ties the loop
that adds to the one around it. With an element for each of a stretch of iterations, the two can be interchanged."""

from __future__ import annotations

from itertools import groupby

from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.nodes import Body, For
from loopwright.ir.queries import names_assigned, names_read, types_assigned
from loopwright.ir.user_text import user_name
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.expand import Expand
from loopwright.steps.reorder import Reorder
from loopwright.steps.split import Split
from loopwright.steps.tile import Tile

BLOCK_ROWS = Tunable(
    "rows of a block of sums",
    48,
    (24, 48, 96, 192),
    "a block of sums is to stay in the second cache, to be cut into blocks for registers, and to leave threads several",
)
BLOCK_COLUMNS = Tunable("columns of a block of sums", 256, (64, 128, 256, 512), BLOCK_ROWS.why)
STRETCH = Tunable(
    "stretch of sums",
    128,
    (32, 64, 128, 256, 512, 1024),
    "sums of neighbouring iterations that grow side by side: some cache lines, and more stretches than threads",
)


def temporaries(loop: For) -> list[str]:
    """The scalars that a loop sets."""
    return list(types_assigned(loop.body))


def tying(partial: PartialSchedule, loop: For) -> list[str]:
    """Those of them that its iterations hand on, to one another or to what comes after the loop."""
    kinds = scalars_of(loop, live_after(partial.kernel)[loop.name])
    free = set(kinds.private) - set(kinds.last)
    return [name for name in temporaries(loop) if name not in free]


def handed_on(partial: PartialSchedule, loop: For) -> list[str]:
    """The scalars that iterations of loops in a loop hand on to one another, or to what stands before or after these.
    What each iteration sets anew for itself stays a scalar."""
    pieces: list[Body] = []
    for is_recurrence, group in groupby(loop.body, lambda stmt: isinstance(stmt, For)):
        some = tuple(group)
        pieces += [(stmt,) for stmt in some] if is_recurrence else [some]
    used = [names_assigned(piece) | names_read(piece) for piece in pieces]
    ties = {name for stmt in loop.body if isinstance(stmt, For) for name in tying(partial, stmt)}
    return [name for name in temporaries(loop) if name in ties or sum(name in names for names in used) > 1]


def expand(partial: PartialSchedule, inner: str, outer: str, why: str) -> None:
    """Give every scalar that ties the loop `inner` an element for each iteration of `outer`, a loop around it, in
    stretches; and for each of the loop around that one too, where both may run in any order. Raises NotTaken."""
    chain = partial.around(inner)
    names = [loop.name for loop in chain]
    above = chain[names.index(outer) - 1] if names[0] != outer else None
    scalars = tying(partial, chain[-1])
    every = " and ".join(f"'{user_name(name)}'" for name in scalars)
    reason = f"{why}; until then there is an element of {every} for each iteration"
    if above is not None and _is_free(partial, above) and _is_free(partial, chain[names.index(outer)]):
        partial.take(Tile(((above.name, partial.number(BLOCK_ROWS)), (outer, partial.number(BLOCK_COLUMNS)))), reason)
        loops: tuple[str, ...] = (above.name, outer)
    else:
        partial.take(Split(outer, partial.number(STRETCH)), reason)
        loops = (outer,)
    for scalar in scalars:
        partial.take(Expand(scalar, loops), reason)
    if len(loops) == 1:
        _outermost(partial, outer, why)


def _is_free(partial: PartialSchedule, loop: For) -> bool:
    return partial.verdict(loop) == "parallel"


def _outermost(partial: PartialSchedule, loop: str, why: str) -> None:
    """Run stretch after stretch, where that is legal: what one needs then stays in the cache."""
    *around, stretches, _ = [one.name for one in partial.around(loop)]
    if around:
        with partial.together():
            partial.take(Reorder((stretches, *around)), why)

"""Two loops as rectangles of threads, for the default recipe, where the inner one may be narrow."""

from __future__ import annotations

from loopwright.ir.nodes import Const, For, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements
from loopwright.recipe.grid_blocks import NARROW, in_blocks, takes_long
from loopwright.recipe.grid_rows import is_told_long, length_of, version
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.extent import trip_of


def in_blocks_or_narrow_ones(partial: PartialSchedule, names: list[str], why: str) -> list[Bound]:
    """`in_blocks` of loops around one another. Two or three get a version for calls in which the inner one is narrow,
    where calls tell and iterations hold loops: of a wide row of threads most would have nothing to do then."""
    x = partial.around(names[-1])[-1]
    is_for_few = len(names) == 3 and x.name in partial.few  # such a version is for narrow ones already
    if len(names) not in (2, 3) or is_for_few or not _may_be_narrow(partial, x):
        return in_blocks(partial, names, why)
    narrow = version(partial, names[0], length_of([x]), NARROW)
    bound = in_blocks(partial, names, why)
    if narrow is None:
        return bound
    partial.narrow[narrow[x.name]] = True
    short = f"{why}; with few '{user_name(x.name)}' a block has more rows"
    return [*bound, *in_blocks(partial, [narrow[name] for name in names], short)]


def _may_be_narrow(partial: PartialSchedule, x: For) -> bool:
    """Whether a loop may have few iterations, of which each takes long."""
    begins = isinstance(x.lower, Const) and 0 <= int(x.lower.value) < NARROW // 2
    takes = trip_of(x) is None and any(map(takes_long, statements(x.body, For, While)))
    return begins and takes and not is_told_long(partial, x, NARROW)

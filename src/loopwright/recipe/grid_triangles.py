"""Rows of different lengths, as those of a triangle, for the default recipe of a GPU: a block for each."""

from __future__ import annotations

from loopwright.ir.nodes import For
from loopwright.ir.user_text import user_name
from loopwright.recipe.coalescing import accesses_inside
from loopwright.recipe.distribution import isolate
from loopwright.recipe.grid_blocks import LINE
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.bind import Bind


def triangle(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows of different lengths, with nothing but assignments inside, along which all accesses go."""
    if not all(walk.strides.get(chain[-1].name) in (0, 1, -1) for walk in accesses_inside(partial, chain[-1])):
        return []
    return rows_of_blocks(partial, chain, free)


def rows_of_blocks(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A block for each row, however long."""
    if len(chain) < 2 or list(chain[-2:]) != free[-2:] or not depends(chain[-1], chain[-2].name):
        return []
    threads = partial.threads(LINE)
    why = f"the length of a row depends on '{user_name(chain[-2].name)}': a block of {threads} threads has one row"
    several = len(chain) > 2 and chain[-3] in free and not depends(chain[-2], chain[-3].name)
    *around, row, column = isolate(partial, chain[-1].name, chain[-3 if several else -2].name, why)
    bound: list[Bound] = [(Bind(one, "block.y"), why) for one in around]
    return [*bound, (Bind(row, "block.x"), why), (Bind(column, "thread.x", threads), why)]

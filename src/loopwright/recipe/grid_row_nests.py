"""Nests of rows and planes that threads may share, for the default recipe of a GPU: which of a kernel's nests are such,
and the loops over their rows (grid_rows.py shares them out)."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, For
from loopwright.recipe.grid_products import perfect_run
from loopwright.recipe.grid_rows import planes_of_loops, rows_of_loops
from loopwright.recipe.grid_sums import own_sums_in_scalars, rare_sums_in_scalars
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.extent import trip_of

SMALL = 32
"""Below which length a side of a matrix is one of a block of threads."""


def rows(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows, or columns, with several loops along each, or one that is gone through again and again."""
    run = perfect_run(chain, free)
    together = [other for other in partial.chains() if run[-1] in other]
    again = chain[chain.index(run[-1]) + 1 : -1]
    if len(together) < 2 and all(partial.verdict(one) in ("parallel", "reduction") for one in again):
        return []
    return rows_of_loops(partial, run)


def rows_anyhow(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """What has several loops inside that need no order, and arrays of its own between them: better than a thread."""
    run = perfect_run(chain, free)
    if len(run) > 1 or not any(isinstance(stmt, Allocate) for stmt in run[-1].body) or chain[-1] in run:
        return []
    return rows_of_loops(partial, run, anyhow=True)


def planes(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Few things, each of many rows."""
    run = perfect_run(chain, free)
    while len(run) > 3 and is_shorter(run[-1], SMALL):
        run.pop()  # a block does those
    if chain[-1] in run:
        return []
    before = partial.kernel
    if len(run) == 1:
        own_sums_in_scalars(partial, run[-1].name)
    rare_sums_in_scalars(partial, run[-1].name)
    if partial.kernel is not before:
        partial.begin_again()
    return planes_of_loops(partial, list(partial.around(run[-1].name)[-len(run) :]))


def is_shorter(loop: For, least: int) -> bool:
    """Whether a loop is known to have fewer iterations than that."""
    trip = trip_of(loop)
    return trip is not None and trip < least

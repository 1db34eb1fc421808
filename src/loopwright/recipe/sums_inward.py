"""Sums over several loops that stand around those that need no order, as in
`for k: for m: for i: for j: y[i, j] += a[i, k, m] * x[k, m, j]`: a contraction of tensors, a product of Kronecker, a
convolution whose window is outside. The loops that add up go inside, in the order as written, so that each element has
all its terms one after the other. Else the host would go through all of them but the last."""

from __future__ import annotations

from loopwright.analysis.reductions import is_told_by_data
from loopwright.ir.nodes import For, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.extent import trip_of
from loopwright.steps.reorder import Reorder

FEWEST = 1024
"""Elements that are worth a thread each."""


def sums_inward(partial: PartialSchedule) -> None:
    """Reorder such nests. One loop that adds up, and sums along one loop, have ways of their own."""
    for chain in partial.chains():
        if (order := _order(partial, chain)) is not None:
            with partial.together():
                why = f"each '{user_name(order[0].name)}' has sums of its own over '{user_name(order[-1].name)}'"
                partial.take(Reorder(tuple(loop.name for loop in order)), why, anew=True)
                partial.begin_again()


def _order(partial: PartialSchedule, chain: Chain) -> Chain | None:
    """The loops of a nest from the first that adds up on, in their new order; None for other nests."""
    first = next((at for at, loop in enumerate(chain) if partial.verdict(loop) == "reduction"), len(chain))
    band = chain[first:]
    if len(band) < 4 or contains(band[-1].body, For, While) or any(len(loop.body) != 1 for loop in band[:-1]):
        return None
    free = [loop for loop in band if is_free_now(partial, loop)]
    sums = [loop for loop in band if loop not in free]
    if len(free) < 2 or len(sums) < 2 or band[-1] is not free[-1] or not all(_adds(partial, loop) for loop in sums):
        return None
    most = 1
    for loop in free:
        most *= trip_of(loop) or FEWEST
    are_apart = not any(depends(loop, one.name) or depends(one, loop.name) for loop in band for one in sums)
    return (*free, *sums) if most >= FEWEST and are_apart else None


def _adds(partial: PartialSchedule, loop: For) -> bool:
    """Whether a loop does nothing that needs order but add to elements, and the same ones whatever data say."""
    if partial.verdict(loop) != "reduction":
        return False
    found = partial.present_facts().loops[loop.name].reductions
    return all(one.kind != "scalar" and not is_told_by_data(loop, one) for one in found)

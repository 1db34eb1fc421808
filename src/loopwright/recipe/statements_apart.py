"""Sums into several arrays in one nest, for the default recipe of a GPU, each along loops of its own, as gradients of a
layer are: `for b: for o: for i: dw[o, i] += ...; dx[b, i] += ...`. Of the loops that each sum leaves free, the nest has
only those that all have in common. Every statement gets loops of its own (loop distribution)."""

from __future__ import annotations

from loopwright.ir.nodes import Expr, Store
from loopwright.ir.queries import names_in
from loopwright.ir.user_text import user_name
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.distribute import Distribute

FREE = 2
"""Loops that need no order and keep a GPU busy together."""


def statements_apart(partial: PartialSchedule) -> None:
    """Take nests apart where that leaves more loops free."""
    for chain in partial.chains():
        nest = _perfect(chain)
        if len(nest) > FREE and _pays(nest):
            why = f"each sum over '{user_name(nest[-1].name)}' has loops of its own: more of them need no order"
            with partial.together():
                partial.take(Distribute(nest[0].name), why, anew=True)
                partial.begin_again()


def _perfect(chain: Chain) -> Chain:
    """The innermost loops of a nest with nothing between them."""
    first = len(chain) - 1
    while first and chain[first - 1].body == (chain[first],):
        first -= 1
    return chain[first:]


def _pays(nest: Chain) -> bool:
    """Whether all that a nest does is to add to several arrays, whose elements few of the loops tell apart together."""
    stores = [stmt for stmt in nest[-1].body if isinstance(stmt, Store)]
    if len(stores) < len(nest[-1].body) or len({stmt.array for stmt in stores}) < 2:
        return False
    names = {loop.name for loop in nest}
    free = [set[str]().union(*(_alone(part, names) for part in stmt.index)) for stmt in stores]
    together = set.intersection(*free)
    return len(together) < FREE <= min(map(len, free))


def _alone(index: Expr, names: set[str]) -> set[str]:
    """The loop that an index goes along, if that is one."""
    found = names_in(index) & names
    return found if len(found) == 1 else set()

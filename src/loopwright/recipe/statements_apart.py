"""Sums into several arrays in one nest, for the default recipe of a GPU, each along loops of its own, as gradients of a
layer are: `for b: for o: for i: dw[o, i] += ...; dx[b, i] += ...`, or such beside a nest of others, as the gradient of
a bias is: `for o: for b: db[o] += ...; for i: for k: dw[o, i, k] += ...`. Of the loops that each sum leaves free, the
nest has only those that all have in common. Every statement gets loops of its own (loop distribution)."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Assign, Body, Expr, For, If, Load, Store
from loopwright.ir.queries import names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements, subexpressions
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.distribute import Distribute
from loopwright.steps.extent import trip_of

SHORT = 8
"""Iterations of loops that are not worth mentioning."""
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
    for loop in [stmt for stmt in partial.kernel.body if isinstance(stmt, For)]:
        inside = (partial.verdict(one) for one in statements((loop,), For))
        if not partial.strict and all(one in ("parallel", "reduction") for one in inside) and _is_beside_others(loop):
            why = (
                f"sums beside the loops inside '{user_name(loop.name)}' leave more of these free in loops of their own"
            )
            with partial.together():
                partial.take(Distribute(loop.name), why, anew=True)
                partial.begin_again()


def _is_beside_others(outer: For) -> bool:
    """Whether all that a nest does is to add to several arrays, one of them in loops inside those of another one, and
    these loops tell many more of its elements apart than those that both have in common."""
    sums = list(_sums(outer.body, (outer,)))
    if None in sums:
        return False
    found = [one for one in sums if one is not None]
    if len({stmt.array for stmt, _ in found}) < 2:
        return False
    free = [_free(stmt, around) for stmt, around in found]
    together = set.intersection(*free)
    depth = min(len(around) for _, around in found)
    deeper = [own for own, (_, around) in zip(free, found, strict=True) if len(around) >= depth + FREE]
    return len(together) < FREE and any(len(own) >= len(together) + FREE for own in deeper)


def _sums(body: Body, around: Chain) -> Iterator[tuple[Store, Chain] | None]:
    """The sums of a nest, and the loops around each; None for anything else that it does."""
    for stmt in body:
        match stmt:
            case For():
                yield from _sums(stmt.body, (*around, stmt))
            case If(otherwise=()):
                yield from _sums(stmt.then, around)
            case Store() if any(
                one.array == stmt.array and one.index == stmt.index for one in subexpressions(stmt.value, Load)
            ):
                yield stmt, around
            case Assign():
                continue
            case _:
                yield None


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
    free = [_free(stmt, nest) for stmt in stores]
    together = set.intersection(*free)
    return len(together) < FREE <= min(map(len, free))


def _free(stmt: Store, around: Chain) -> set[str]:
    """The loops that tell apart the elements which a statement adds to."""
    names = {loop.name for loop in around if (trip_of(loop) or SHORT) >= SHORT}
    return set[str]().union(*(_alone(part, names) for part in stmt.index))


def _alone(index: Expr, names: set[str]) -> set[str]:
    """The loop that an index goes along, if that is one."""
    found = names_in(index) & names
    return found if len(found) == 1 else set()

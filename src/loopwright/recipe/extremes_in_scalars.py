"""Extremes that are kept in elements of arrays, with what goes along, as in

    for leaf: for f: for b: if score > gain[leaf]: gain[leaf] = score; feature[leaf] = f; cut[leaf] = b

In scalars, which are put into the elements after the loop, they are extremes like others: iterations need no order but
for them."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import For, If, Load, Store
from loopwright.ir.queries import names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements, subexpressions
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.promote import Promote


def extremes_in_scalars(partial: PartialSchedule) -> None:
    """Keep such elements in scalars around the outermost loops that are reductions then."""
    for name in list(loops(partial.kernel)):
        loop = loops(partial.kernel).get(name)
        if not isinstance(loop, For) or partial.verdict(loop) not in ("sequential", "undecided"):
            continue
        if arrays := next(_extremes(loop), None):
            with partial.together():
                _in_scalars(partial, loop, arrays)


def _in_scalars(partial: PartialSchedule, loop: For, arrays: list[str]) -> None:
    """Raises NotTaken."""
    words = " and ".join(f"'{user_name(array)}'" for array in arrays)
    why = f"with {words} in scalars, '{user_name(loop.name)}' looks for an extreme"
    for array in arrays:
        partial.take(Promote(array, loop.name, seldom=True), why, anew=True)
    partial.begin_again()
    if partial.facts.loops[loop.name].verdict != "reduction":
        raise NotTaken


def _extremes(loop: For) -> Iterator[list[str]]:
    """The arrays of each extreme in a loop whose elements its iterations have in common."""
    inside = {stmt.name for stmt in statements((loop,), For)}
    inside |= names_assigned(loop.body)
    for stmt in statements(loop.body, If):
        if stmt.otherwise or len(stmt.then) < 2:
            continue
        stores = [one for one in stmt.then if isinstance(one, Store)]
        if len(stores) == len(stmt.then) and all(_stays(one, inside) for one in stores) and _compares(stmt, stores):
            yield [one.array for one in stores]


def _stays(store: Store, inside: set[str]) -> bool:
    return not any(names_in(index) & inside or any(subexpressions(index, Load)) for index in store.index)


def _compares(stmt: If, stores: list[Store]) -> bool:
    """Whether a condition reads the element that keeps the extreme."""
    read = {(load.array, load.index) for load in subexpressions(stmt.condition, Load)}
    return any((store.array, store.index) in read for store in stores)

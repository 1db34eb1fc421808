"""Arrays to which all iterations of a loop write one and the same value: marks of what was seen, of who is reached
next, of whether something happened. Which iteration writes an element first, and which ones write it again, makes no
difference, so that such writes need no order.

An element may be asked for before it is set, as in

    if level[u] < 0:
        level[u] = depth

where the test decides about nothing but that element, and elements of other arrays at the same index: whichever
iteration comes first finds the element as it was before the loop, and whoever comes later finds the value itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Assign, Body, Checked, Const, Expr, For, If, Load, Store
from loopwright.ir.queries import names_assigned, names_in
from loopwright.ir.walk import bodies, expressions, statements, subexpressions


def set_alike(loop: For, array: str) -> bool:
    """Whether iterations only ever set elements of the array to one value, the same for all of them, and what they
    read of it decides about no more than that."""
    changing = names_assigned(loop.body) | {loop.name} | {inner.name for inner in statements(loop.body, For)}
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == array]
    if len({store.value for store in stores}) != 1 or not _is_constant(stores[0].value, changing):
        return False
    asked = {id(load) for load in _asked_before(loop.body, array, changing)}
    return all(id(load) in asked for load in expressions(loop.body, Load) if load.array == array)


def _is_constant(expr: Expr, changing: set[str]) -> bool:
    """Whether an expression has one value throughout a loop, without reading arrays."""
    return names_in(expr).isdisjoint(changing) and not any(subexpressions(expr, Load, Checked))


def _asked_before(body: Body, array: str, changing: set[str]) -> Iterator[Load]:
    """Reads of elements in conditions under which these elements are set, and nothing else is done that another
    iteration would have to know of."""
    for stmt in body:
        if isinstance(stmt, If) and not stmt.otherwise:
            places = [one.index for one in stmt.then if isinstance(one, Store) and one.array == array]
            if places and all(_is_harmless(one, places[0], changing) for one in stmt.then):
                yield from (
                    load
                    for load in subexpressions(stmt.condition, Load)
                    if load.array == array and load.index == places[0]
                )
        for inner in bodies(stmt):
            yield from _asked_before(inner, array, changing)


def _is_harmless(stmt: object, place: tuple[Expr, ...], changing: set[str]) -> bool:
    """Whether it makes no difference how often a statement runs, and in which of the iterations that are about the
    same element."""
    if isinstance(stmt, Assign):
        return isinstance(stmt.value, Const) and not any(stmt.name in names_in(index) for index in place)
    if isinstance(stmt, Store):
        same = stmt.index == place or all(_is_constant(index, changing) for index in stmt.index)
        return same and _is_constant(stmt.value, changing)
    return False

"""Arrays to which all iterations of a loop write one and the same value: marks of what was seen, of who is reached
next, of whether something happened. Which iteration writes an element first, and which ones write it again, makes no
difference, so that such writes need no order.

An element may be asked for before it is set, as in

    if level[u] < 0:
        level[u] = depth

where the test decides about nothing but that element, elements of other arrays at the same index, and flags:
whichever iteration comes first finds the element as it was before the loop, and whoever comes later finds the value
itself. What else is done under the test is done once or several times, but wherever the element is set; so this must be
the only place where that array is set, as whoever finds it set already does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Assign, Body, Checked, Const, Expr, For, If, Load, Stmt, Store
from loopwright.ir.queries import names_read, settled_by, unsettled_in
from loopwright.ir.walk import bodies, expressions, statements, subexpressions


def set_alike(loop: For, array: str) -> bool:
    """Whether iterations only ever set elements of the array to one value, the same for all of them, and what they
    read of it decides about no more than that."""
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == array]
    loads = [load for load in expressions(loop.body, Load) if load.array == array]
    scene = _Scene(loop)
    if len({store.value for store in stores}) != 1 or not scene.is_constant(stores[0].value):
        return False
    asked = {id(load) for load in _asked_before(loop.body, array, scene, len(stores) == 1)}
    return all(id(load) in asked for load in loads)


class _Scene:
    """A loop, and the names whose values change in it."""

    def __init__(self, loop: For) -> None:
        self._body = loop.body
        self._changing = unsettled_in(loop.body) | {loop.name, *(one.name for one in statements(loop.body, For))}

    def is_constant(self, expr: Expr) -> bool:
        """Whether an expression has one value throughout the loop, without reading arrays."""
        return settled_by(expr).isdisjoint(self._changing) and not any(subexpressions(expr, Load, Checked))

    def is_flag(self, stmt: Assign) -> bool:
        """Whether a scalar is given one and the same constant wherever the loop assigns it, and the loop never reads
        it."""
        values = {other.value for other in statements(self._body, Assign) if other.name == stmt.name}
        return len(values) == 1 and isinstance(stmt.value, Const) and stmt.name not in names_read(self._body)

    def is_harmless(self, stmt: Stmt, place: tuple[Expr, ...]) -> bool:
        """Whether it makes no difference how often a statement runs, and in which of the iterations that are about
        the same element."""
        if isinstance(stmt, Assign):
            return self.is_flag(stmt)
        if isinstance(stmt, Store):
            same = stmt.index == place or all(map(self.is_constant, stmt.index))
            return same and self.is_constant(stmt.value)
        return False


def _asked_before(body: Body, array: str, scene: _Scene, alone: bool) -> Iterator[Load]:
    """Reads of elements in conditions under which these elements are set, and nothing else is done that another
    iteration would have to know of. alone: the array is set in one place."""
    for stmt in body:
        if isinstance(stmt, If) and not stmt.otherwise:
            sets = [one for one in stmt.then if isinstance(one, Store) and one.array == array]
            if sets and (len(sets) == len(stmt.then) or alone):
                place = sets[0].index
                if all(scene.is_harmless(one, place) for one in stmt.then):
                    own = subexpressions(stmt.condition, Load)
                    yield from (load for load in own if load.array == array and load.index == place)
        for inner in bodies(stmt):
            yield from _asked_before(inner, array, scene, alone)

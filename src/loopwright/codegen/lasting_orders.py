"""Which orders of iterations last: nothing but arguments decides about them, so that what one call has found, or one
iteration of a loop around, serves the next one as well, as long as these arguments stay as they are. An order that is
out of date is a slower one, and still right: each iteration is in it once.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.ir.nodes import Assign, Body, For, Kernel, Stmt
from loopwright.ir.queries import arrays_loaded, arrays_stored, names_assigned, names_in, names_read
from loopwright.ir.walk import bodies, statements
from loopwright.steps.redirect import SortedKeys, sorted_keys


@dataclass(frozen=True, slots=True)
class LastingOrder:
    """An order that holds as long as these arguments stay as they are, arrays and scalars, and as there are as many
    iterations. keys, begins, order: names of arrays."""

    keys: str
    begins: str
    order: str
    arguments: frozenset[str]


def lasting_orders(kernel: Kernel) -> tuple[LastingOrder, ...]:
    """The orders of a kernel that nothing but its arguments decides, as it writes none of the arrays that do, and no
    loop around changes anything about them."""
    return tuple(found for about in sorts_of(kernel) if (found := _lasting(kernel, about)) is not None)


def sorts_of(kernel: Kernel) -> tuple[SortedKeys, ...]:
    """What the sorted loops of a kernel are about."""
    outer = (loop for loop in statements(kernel.body, For) if loop.run == "sorted" and isinstance(loop.body[0], For))
    return tuple(map(sorted_keys, outer))


def _lasting(kernel: Kernel, about: SortedKeys) -> LastingOrder | None:
    inspector = _finds_keys(kernel.body, about.keys)
    if inspector is None:
        return None
    own = {stmt.name for stmt in statements((inspector,), For)} | names_assigned((inspector,))
    names = names_read((inspector,)) | names_in(about.length)
    outside = [stmt for stmt in statements(kernel.body, Assign) if stmt.name not in own]
    while more := {name for stmt in outside if stmt.name in names for name in names_in(stmt.value)} - names:
        names |= more
    arrays = arrays_loaded((inspector, *(stmt for stmt in outside if stmt.name in names)))
    arguments = arrays | (names - own - names_assigned(kernel.body))
    if arrays & arrays_stored(kernel.body) or not arguments <= {param.name for param in kernel.params}:
        return None  # a loop around, or what the kernel computes, decides too
    return LastingOrder(about.keys, about.begins, about.order, frozenset(arguments))


def _finds_keys(body: Body, keys: str) -> Stmt | None:
    """The statement, beside the sorted loop, that writes the keys and nothing else."""
    for stmt in body:
        if isinstance(stmt, For) and stmt.run == "sorted":
            continue
        if arrays_stored((stmt,)) == {keys}:
            return stmt
        for inner in bodies(stmt):
            if (found := _finds_keys(inner, keys)) is not None:
                return found
    return None

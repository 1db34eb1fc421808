"""Scalars whose value goes into that of the next iteration, by itself or by way of others: in a filter of two states,
`y = b*x + u`, `u = v - a*y`, it is u that y needs, and the other way round. An iteration takes as long as they do.
"""

from __future__ import annotations

from collections.abc import Callable

from loopwright.ir.nodes import Assign, Body
from loopwright.ir.queries import names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import statements


def returning(body: Body, is_ours: Callable[[Scalar], bool]) -> set[str]:
    """Those that the body of a loop computes from themselves, over scalars of certain types."""
    given: dict[str, set[str]] = {}
    for stmt in statements(body, Assign):
        if is_ours(stmt.value.type):
            given.setdefault(stmt.name, set()).update(names_in(stmt.value))
    return {name for name in given if name in _reached(name, given)}


def _reached(name: str, given: dict[str, set[str]]) -> set[str]:
    """All that a scalar is computed from."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = given.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found

"""Which accesses each iteration of a loop makes, whatever conditions say."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Body, Expr, If, Load, Logical, Select, Stmt, Store
from loopwright.ir.walk import children, own_expressions


def certain_parts(stmt: Stmt) -> Iterator[Expr]:
    """What a statement evaluates in any case."""
    waiting = list(own_expressions(stmt))
    while waiting:
        part = waiting.pop()
        yield part
        waiting += children(part)[:1] if isinstance(part, Logical | Select) else children(part)


def certain_accesses(body: Body) -> Iterator[Load | Store]:
    """The accesses that a body makes in any case."""
    for stmt in body:
        if isinstance(stmt, Store):
            yield stmt
        yield from (part for part in certain_parts(stmt) if isinstance(part, Load))
        if isinstance(stmt, If):
            one_way, other_way = (list(certain_accesses(side)) for side in (stmt.then, stmt.otherwise))
            elements = {(one.array, one.index) for one in other_way}
            yield from (one for one in one_way if (one.array, one.index) in elements)

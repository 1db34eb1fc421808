"""What a loop computes before the only loop in it, from the variables of loops and from what stays the same, is written
out in the inner loop: the two are then a perfect nest, which can be tiled, interchanged, and shared out as a grid.

    for i in 0 .. n:                       for i in 0 .. n:
        start = i * size                       for j in 0 .. m:
        for j in 0 .. m:              ->           a[i * size + j] = 0.0
            a[start + j] = 0.0

The C compiler computes it as rarely as before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from loopwright.ir.nodes import Assign, Binary, Body, Const, Dim, Expr, For, Kernel, Stmt, Var
from loopwright.ir.queries import settled_by, unsettled_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import expressions, rewrite_body, statements, subexpressions

CHEAP = frozenset({"add", "sub", "mul"})
MOST_PARTS = 7
"""Of an expression that is written out."""


def perfect_nests(kernel: Kernel) -> Kernel:
    """The same kernel, its loops nested as far as that goes."""
    reads = Counter(one.name for one in expressions(kernel.body, Var))
    writes = Counter(one.name for one in statements(kernel.body, Assign))
    body = rewrite_body(kernel.body, partial(_nested, reads, writes))
    return kernel if body is kernel.body else replace(kernel, body=body)


def _nested(reads: Counter[str], writes: Counter[str], loop: Stmt) -> Body:
    if not isinstance(loop, For) or len(loop.body) < 2 or not isinstance(loop.body[-1], For):
        return (loop,)
    body: Body = (loop.body[-1],)
    for place, stmt in reversed(list(enumerate(loop.body[:-1]))):
        if not isinstance(stmt, Assign) or not _is_cheap(stmt.value) or writes[stmt.name] != 1:
            return (loop,)
        if settled_by(stmt.value) & unsettled_in(body):
            return (loop,)
        if sum(one.name == stmt.name for one in expressions(loop.body[place + 1 :], Var)) != reads[stmt.name]:
            return (loop,)
        body = rewrite_body(body, expr=partial(_written_out, stmt.name, stmt.value))
    return (replace(loop, body=body),)


def _is_cheap(value: Expr) -> bool:
    parts = list(subexpressions(value))
    plain = all(isinstance(one, Var | Const | Dim) or (isinstance(one, Binary) and one.op in CHEAP) for one in parts)
    return plain and value.type == INT64 and len(parts) <= MOST_PARTS


def _written_out(name: str, value: Expr, part: Expr) -> Expr:
    return value if isinstance(part, Var) and part.name == name else part

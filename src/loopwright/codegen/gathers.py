"""Elements that a loop reads or writes at places that data decide, such as `table[x[i]]`: vector registers need gathers
for them, and masked ones where a condition decides whether they are read. Before AVX-512 C compilers make no code for
whole registers of the latter, and mostly not of the former.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.linear import linear
from loopwright.ir.nodes import Assign, Binary, Body, Call, Checked, Expr, For, If, Load, Logical, Select, Store
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.walk import children, expressions, own_expressions, statements


def gathers(loop: For) -> Iterator[bool]:
    """For each access at places that data decide, whether a condition decides about it."""
    yield from _in_body(loop.body, loop, names_assigned(loop.body), False)


def looks_up(loop: For) -> bool:
    """Whether an innermost loop does little but look narrow numbers up in a table of wide ones (`out[i] = table[a[i]]`
    of bytes in a table of 64 bits): a register that is full of the former takes eight gathers of the latter, and to
    take them apart and to put them together again costs more than the lanes save."""
    accesses: list[Load | Store] = [*expressions(loop.body, Load), *statements(loop.body, Store)]
    spread = [one for one in accesses if any(_is_spread(axis, loop, frozenset()) for axis in one.index)]
    narrow = min((_bytes(one) for one in accesses), default=0)
    computes = any(part.type.is_float or part.op == "mul" for part in expressions(loop.body, Binary))
    calls = any(True for _ in expressions(loop.body, Call))
    return not computes and not calls and any(_bytes(one) >= 4 * narrow for one in spread)


def _bytes(access: Load | Store) -> int:
    return access.type.size_bytes if isinstance(access, Load) else access.value.type.size_bytes


def _in_body(body: Body, loop: For, changing: frozenset[str] | set[str], masked: bool) -> Iterator[bool]:
    for stmt in body:
        if isinstance(stmt, Store) and any(_is_spread(axis, loop, changing) for axis in stmt.index):
            yield masked
        for expr in own_expressions(stmt):
            yield from _in_expression(expr, loop, changing, masked)
        if isinstance(stmt, If):
            yield from _in_body((*stmt.then, *stmt.otherwise), loop, changing, True)
        elif not isinstance(stmt, Assign | Store):
            yield True


def _in_expression(expr: Expr, loop: For, changing: frozenset[str] | set[str], masked: bool) -> Iterator[bool]:
    if isinstance(expr, Load) and any(_is_spread(axis, loop, changing) for axis in expr.index):
        yield masked
    lazy = isinstance(expr, Logical | Select)
    for at, child in enumerate(children(expr)):
        yield from _in_expression(child, loop, changing, masked or (lazy and at > 0))


def _is_spread(index: Expr, loop: For, changing: frozenset[str] | set[str]) -> bool:
    if has(index, Load, Checked) or names_in(index) & changing:
        return True
    return any(loop.name in names_in(term) and isinstance(term, Binary) for term, _ in linear(index).terms)

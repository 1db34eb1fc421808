"""Remainders that the next iteration waits for, as of `s = (a * s) % m`, a random number from the one before. The usual
form of `%` by a constant shares its quotient with a `//` of the same numbers and runs in vector lanes; where one waits
for the other, what counts is how soon it is there: C's own remainder, to which m is added where it is negative, takes
four fifths of the time.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.recurrent_scalars import returning
from loopwright.ir.nodes import Assign, Binary, Body, Const, For, While
from loopwright.ir.queries import contains, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import expressions, statements, subexpressions


def hurry_remainders(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of innermost loops without lanes."""
    found: set[int] = set()
    for loop in statements(given.kernel.body, For, While):
        if loop.name not in lowering.lanes and not contains(loop.body, For, While):
            found |= _late(loop.body)
    return replace(lowering, late=frozenset(found))


def _late(body: Body) -> set[int]:
    names = returning(body, lambda kind: kind == INT64)
    if not names:
        return set()
    divided = {(one.left, one.right) for one in expressions(body, Binary) if one.op == "floordiv"}
    return {
        id(part)
        for stmt in statements(body, Assign)
        if stmt.name in names
        for part in subexpressions(stmt.value, Binary)
        if _is_ours(part) and names_in(part.left) & names and (part.left, part.right) not in divided
    }


def _is_ours(expr: Binary) -> bool:
    if expr.op != "mod" or expr.type != INT64 or not isinstance(expr.right, Const):
        return False
    divisor = int(expr.right.value)
    return divisor > 0 and divisor & (divisor - 1) != 0

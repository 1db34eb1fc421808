"""Extremes of floats with a constant for which the next iteration waits, as of `s = max(0.0, s + a[i] - k)`, a sum that
begins again. The C compiler follows the constant to the next comparison, `if s > h`, which it then knows to fail, and
leaves a jump that the data decide: it costs some fifteen cycles each time it is guessed wrong. One instruction finds
the extreme.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.recurrent_scalars import returning
from loopwright.ir.nodes import Assign, Binary, Body, Const, For, While
from loopwright.ir.queries import contains
from loopwright.ir.walk import statements, subexpressions


def hurry_extremes(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of innermost loops without lanes."""
    found: set[int] = set()
    for loop in statements(given.kernel.body, For, While):
        if loop.name not in lowering.lanes and not contains(loop.body, For, While):
            found |= _late(loop.body)
    return replace(lowering, late=lowering.late | found)


def _late(body: Body) -> set[int]:
    names = returning(body, lambda kind: kind.is_float)
    return {
        id(part)
        for stmt in statements(body, Assign)
        if stmt.name in names
        for part in subexpressions(stmt.value, Binary)
        if _is_ours(part)
    }


def _is_ours(expr: Binary) -> bool:
    is_extreme = expr.op in ("min", "max") and expr.type.is_float
    return is_extreme and isinstance(expr.left, Const) != isinstance(expr.right, Const)

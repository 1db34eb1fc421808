"""Several operands, evaluated from left to right as Python does, whatever statements one of them needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from loopwright.frontend.context import Context
from loopwright.frontend.values import Array, Number, Value
from loopwright.frontend.variables import freeze, survives
from loopwright.ir.nodes import Checked, Expr, Load
from loopwright.ir.walk import rewrite_expr, subexpressions

_LARGEST_COPY = 12


def operands(cx: Context, nodes: Sequence[ast.expr]) -> list[Value]:
    """The Values of several expressions. Those before one that needs statements keep what they are."""
    values: list[Value] = []
    for node in nodes:
        start = len(cx.body)
        value = cx.evaluate(node)
        keep(cx, values, start, nodes)
        values.append(value)
    return values


def keep(cx: Context, values: list[Value], start: int, nodes: Sequence[ast.AST]) -> None:
    """Put into temporaries, before statement `start`, those values that the statements from there on could change."""
    later = cx.body[start:]
    if not later:
        return
    del cx.body[start:]
    for number, value in enumerate(values):
        if not survives(value, later):
            values[number] = freeze(cx, value, cx.at(nodes[number]))
    cx.body += later


def kept(cx: Context, value: Value, start: int, node: ast.AST) -> Value:
    """`keep` of one value."""
    values = [value]
    keep(cx, values, start, [node])
    return values[0]


def fresh(expr: Expr) -> Expr:
    """A copy in which every Load and Checked is a new object: each stands for one occurrence."""
    return rewrite_expr(expr, lambda part: replace(part) if isinstance(part, Load | Checked) else part)


def same_place(place: Value) -> Array:
    """The same element once more: each occurrence of a Load in an index is an object of its own."""
    assert isinstance(place, Array)
    return replace(place, index=tuple(fresh(expr) for expr in place.index))


def twice(cx: Context, value: Value, node: ast.AST) -> tuple[Value, Value]:
    """A value to be used in two places: a short expression is repeated, a longer one put into a temporary."""
    if not isinstance(value, Number):
        return value, value
    parts = list(subexpressions(value.expr))
    if len(parts) > _LARGEST_COPY or any(isinstance(part, Checked) for part in parts):
        value = freeze(cx, value, cx.at(node))
        return value, value
    return value, Number(fresh(value.expr), value.weak)

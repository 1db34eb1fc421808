"""What a `return` of the kernel gives, before it is taken apart: with arrays of its own, and what may be None."""

from __future__ import annotations

import ast
from dataclasses import replace

from loopwright.frontend.context import Context
from loopwright.frontend.creation import snapshot
from loopwright.frontend.elementwise import materialised
from loopwright.frontend.values import Array, Elementwise, Fixed, Items, Keyed, Literal, Mixed, Number, Value, View
from loopwright.frontend.variables import array_if_present, or_zero, presence
from loopwright.ir.nodes import Checked, Const, Expr
from loopwright.ir.types import BOOL


def returned(cx: Context, node: ast.expr) -> Value:
    """What is returned; of names of arrays that are None at times, the array as if there were one."""
    maybe = array_if_present(cx, node)
    if maybe is not None:
        return maybe[1]
    if isinstance(node, ast.Tuple) and any(array_if_present(cx, one) is not None for one in node.elts):
        if not all(isinstance(one, ast.Name | ast.Constant) for one in node.elts):
            raise cx.error(node, "one of several results is an array that may be None",
                           remedy="give the other ones names, and return these")  # fmt: skip
        return Items(tuple(returned(cx, one) for one in node.elts))
    if isinstance(node, ast.Dict) and not node.keys:
        return Keyed((), ())
    if _is_empty_set(cx, node):
        return Fixed(frozenset())
    return cx.evaluate(node)


def _is_empty_set(cx: Context, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args or node.keywords:
        return False
    return cx.evaluate(node.func) == Fixed(set)


def presence_of(
    cx: Context, value: Value, written: ast.expr | None, place: tuple[int, ...]
) -> tuple[Expr, Literal | Number | Items] | None:
    """Whether a value that is None at times is there, and the value as if it were; None for all others."""
    found: tuple[Expr, Literal | Number | Items] | None = None if written is None else presence(cx, written)
    if found is None and isinstance(value, Number) and isinstance(value.expr, Checked) and value.expr.kind == "none":
        found = value.expr.condition, or_zero(value.expr.condition, value)
    if found is not None and place not in cx.session.maybe_results:
        cx.session.maybe_results.add(place)
        cx.session.types.grown = True
    if found is None and place in cx.session.maybe_results and isinstance(value, Literal | Number | Items):
        found = Const(True, BOOL), value
    return found


def own_values(cx: Context, value: Value, node: ast.Return) -> Value:
    """What is returned, with arrays of their own for expressions and parts of local arrays: nobody else has these."""
    place = node.value or node
    match value:
        case Items(items=items) | Keyed(items=items):
            return replace(value, items=tuple(own_values(cx, item, node) for item in items))
        case Elementwise():
            return materialised(cx, value, place)
        case View() if value.array.name in cx.allocations or value.array.is_read_only:
            return materialised(cx, value, place)
        case View(places=places) if any(isinstance(one, Mixed) for one in places):  # an argument in another shape
            return snapshot(cx, value, materialised(cx, value, place))
        case Array(index=index) if index and value.shape and value.name in cx.allocations:
            return materialised(cx, value, place)
        case _:
            return value

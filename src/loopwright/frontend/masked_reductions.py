"""`a[m].sum()`, `np.mean(a[m])`, `a[m].max()`, `len(a[m])` with a mask of all axes: one loop over all elements, of
which those that are not chosen count for nothing, instead of an array of the chosen ones, which would be counted and
filled first."""

from __future__ import annotations

import ast

import numpy as np

from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.elementwise import as_bool, check, map_elements, require_same
from loopwright.frontend.masked import is_pure
from loopwright.frontend.reductions import (
    COUNT,
    MAXIMUM,
    MINIMUM,
    SUM,
    Folding,
    floating,
    mean_of_total,
    reduced,
    widest_type,
)
from loopwright.frontend.values import ArrayLike, Fixed, Literal, Number, Value
from loopwright.frontend.views import ZERO, is_array
from loopwright.ir.nodes import Compare, Const, Select

FUNCTIONS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "len": len}
EXTREMES = {"max": MAXIMUM, "min": MINIMUM}


def reduction_of_chosen(cx: Context, node: ast.Call) -> Value | None:
    """The value of such a call; None, and nothing written, for all others."""
    name, part = _parts(cx, node)
    if part is None or not is_pure(part.value) or not is_pure(part.slice):
        return None
    start, names = len(cx.body), set(cx.names)
    mask, array = cx.evaluate(part.slice), cx.evaluate(part.value)
    if isinstance(mask, ArrayLike) and isinstance(array, ArrayLike) and is_array(mask) and is_array(array):
        is_number = not array.element.is_complex and (array.element.kind != "bool" or name in ("sum", "len"))
        if mask.element.kind == "bool" and len(mask.shape) == len(array.shape) > 0 and is_number:
            for own, given in zip(array.shape, mask.shape, strict=True):
                require_same(cx, own, given, part, is_mask=True)
            return _reduced(cx, name, array, mask, node)
    del cx.body[start:]
    cx.names = names
    return None


def _parts(cx: Context, node: ast.Call) -> tuple[str, ast.Subscript | None]:
    """What is called, and what is chosen for it, where it may be such a call."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in FUNCTIONS or node.keywords or len(node.args) > 1:
        return name, None
    if not node.args:
        owner = node.func.value if isinstance(node.func, ast.Attribute) and name != "len" else None
        return name, owner if isinstance(owner, ast.Subscript) else None
    if not isinstance(node.args[0], ast.Subscript):
        return name, None
    callee = cx.evaluate(node.func)
    is_it = isinstance(callee, Fixed) and callee.value is FUNCTIONS[name]
    return name, node.args[0] if is_it else None


def _reduced(cx: Context, name: str, array: ArrayLike, mask: ArrayLike, node: ast.Call) -> Value:
    axes = range(len(array.shape))
    if name == "len":
        found = reduced(cx, COUNT, mask, axes, False, node)
        assert isinstance(found, Number)
        return Number(found.expr, weak=True)
    how = EXTREMES.get(name, SUM)
    if name in EXTREMES:
        count = reduced(cx, COUNT, mask, axes, False, node)
        assert isinstance(count, Number)
        check(cx, Compare("gt", count.expr, ZERO), "empty", node)
    chosen = _or_nothing(cx, how, array, mask, node)
    if name != "mean":
        return reduced(cx, how, chosen, axes, False, node)
    total = reduced(cx, SUM, chosen, axes, False, node, widest_type(array.element))
    count = reduced(cx, COUNT, mask, axes, False, node)
    assert isinstance(total, Number) and isinstance(count, Number)
    return mean_of_total(cx, total, count.expr, floating(array.element), node)


def _or_nothing(cx: Context, how: Folding, array: ArrayLike, mask: ArrayLike, node: ast.AST) -> ArrayLike:
    """The elements, and in place of those that are not chosen what changes nothing."""
    element = array.element
    begin = how.begin(element)
    nothing = Const(float(begin) if element.is_float else begin if element.kind != "bool" else False, element)

    def choose(cx: Context, condition: Literal | Number, value: Literal | Number) -> Number:
        return Number(Select(as_bool(cx, condition), convert(cx, value, element, node), nothing), weak=False)

    return map_elements(cx, choose, (mask, array), node)

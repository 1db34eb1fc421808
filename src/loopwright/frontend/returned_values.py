"""What a `return` of the kernel gives, before it is taken apart: with arrays of its own, and what may be None."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from loopwright.frontend.bounds import known_at_call
from loopwright.frontend.context import Context
from loopwright.frontend.creation import snapshot
from loopwright.frontend.elementwise import materialised
from loopwright.frontend.promote import NumberType
from loopwright.frontend.values import (
    Along,
    Array,
    Elementwise,
    Fixed,
    Items,
    Keyed,
    Literal,
    Mixed,
    Number,
    Records,
    Value,
    View,
)
from loopwright.frontend.variables import array_if_present, or_zero, presence
from loopwright.frontend.views import ONE, ZERO, size_of
from loopwright.ir.nodes import Checked, Const, Expr
from loopwright.ir.types import BOOL


def is_first_part(cx: Context, view: View) -> bool:
    """Whether a part begins where its array does, and is less than that along the first axis at most: so its elements
    are the first ones in memory, in their order."""
    for axis, (place, size) in enumerate(zip(view.places, view.array.sizes, strict=True)):
        if not isinstance(place, Along) or (place.axis, place.start, place.step) != (axis, ZERO, ONE):
            return False
        if axis and size_of(view.shape[axis]) != size_of(size):
            return False
    return len(view.shape) == len(view.places)


def _is_cut_out(cx: Context, view: View) -> bool:
    """Whether it is part of a local array, of sizes that the code computes."""
    array = view.array
    if array.name not in cx.allocations or array.weak or array.index or array.is_read_only:
        return False
    if any(isinstance(one, Mixed) for one in view.places):
        return False
    return any(known_at_call(cx, size_of(size)) is None for size in view.shape)


def _names_in(value: Value) -> list[str]:
    """The names of the arrays in what is returned."""
    match value:
        case Items(items=items) | Keyed(items=items):
            return [name for item in items for name in _names_in(item)]
        case Records(planes=planes):
            return [name for plane in planes for name in _names_in(plane)]
        case View(array=Array(name=name)) | Array(name=name):
            return [name]
        case _:
            return []


def _without(names: Sequence[str], left_out: Sequence[str]) -> list[str]:
    rest = list(names)
    for name in left_out:
        rest.remove(name)
    return rest


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
    return cx.evaluate(_uncopied(cx, node))


def _uncopied(cx: Context, node: ast.expr) -> ast.expr:
    """What is returned without `.copy()` of parts of local arrays: `own_values` gives each memory of its own."""
    match node:
        case ast.Tuple(elts=items):
            return ast.copy_location(ast.Tuple([_uncopied(cx, item) for item in items], node.ctx), node)
        case ast.Call(func=ast.Attribute(value=ast.Subscript(value=base) as copied, attr="copy"), args=[], keywords=[]):
            value = cx.evaluate(base) if isinstance(base, ast.Name) else None
            return copied if isinstance(value, Array) and value.name in cx.allocations else node
        case _:
            return node


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


def own_values(cx: Context, value: Value, node: ast.Return, others: Sequence[str] = ()) -> Value:
    """What is returned, with arrays of their own for expressions and parts of local arrays: nobody else has these. A
    part whose sizes are computed stays one where no other part of its array is returned. others: names of arrays that
    are returned beside it."""
    place = node.value or node
    match value:
        case Items(items=items) | Keyed(items=items):
            names = [name for item in items for name in _names_in(item)]
            own = []
            for item in items:
                rest = _without(names, _names_in(item))
                own.append(own_values(cx, item, node, (*others, *rest)))
            return replace(value, items=tuple(own))
        case View() if _is_cut_out(cx, value) and value.array.name not in others:
            return value
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


def complex_kind(
    cx: Context, value: Literal | Number, flat: Sequence[Value], packing: Sequence[tuple[str, int]]
) -> NumberType | None:
    """The type of a number that is complex where some return has it in this place; None for all others."""
    key = ("returned", len(flat) - packing.count(("complex", 2)))
    if not value.number_type.type.is_complex and cx.session.types.of(key) is None:
        return None
    joined = cx.session.types.assign(key, value.number_type)
    assert isinstance(joined, NumberType)
    return joined

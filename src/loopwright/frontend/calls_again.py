"""Calls of a function inside itself: what becomes of their arguments, and what they return.

Numbers are variables of the activation, and so are those that say which part of an array is meant: `halve(a[:m])`. All
else is the same thing in all activations. explicit_stack.py makes a loop of the whole.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context, Frame, NotYet, Restart, web_key
from loopwright.frontend.convert import convert
from loopwright.frontend.parse import parameters_of
from loopwright.frontend.values import Along, Array, Fixed, Items, Literal, Mixed, Number, Value, View
from loopwright.frontend.variables import freeze, read_variable, settle, store_variable
from loopwright.frontend.views import as_view, size_of
from loopwright.frontend.webs import Web
from loopwright.ir.nodes import Block, Expr


def opened(cx: Context, tree: ast.FunctionDef, given: dict[str, Value], node: ast.AST) -> dict[str, Value]:
    """The arguments of a function that calls itself with others: a number that is known may be another one there."""
    parts = cx.session.recursive[tree]
    return {name: _opened(cx, _part(one) if name in parts else one, node) for name, one in given.items()}


def _opened(cx: Context, value: Value, node: ast.AST) -> Value:
    if isinstance(value, Literal):
        return Number(cx.temporary(convert(cx, value, value.number_type.type, node), cx.at(node)), weak=True)
    if isinstance(value, Items):
        return replace(value, items=tuple(_opened(cx, item, node) for item in value.items))
    return value


def bind_open(cx: Context, frame: Frame, web: Web, value: Value, node: ast.AST) -> bool:
    """Give a parameter of such a function its first argument, where it is one that may change."""
    key, name = web_key(frame, web), f"{frame.tree.name}.{web.name}"
    if isinstance(value, View) and web.is_single and web.name in cx.session.recursive[frame.tree]:
        numbers = _numbers(value)
        store_variable(cx, key, name, numbers, node, node)
        frame.bindings[web.number] = _rebuilt(value, read_variable(cx, key, node, name))
        return True
    if isinstance(value, Number) or (isinstance(value, Items) and _is_of_numbers(value)):
        store_variable(cx, key, name, value, node, node)
        return True
    return False


def _is_of_numbers(value: Value) -> bool:
    return all(map(_is_of_numbers, value.items)) if isinstance(value, Items) else isinstance(value, Literal | Number)


def call_again(cx: Context, frame: Frame, given: dict[str, Value], call: Arguments) -> Value:
    """A call of a function inside itself: a mark that holds what it sets, and what it returns."""
    if frame.calls_again is None:
        cx.session.recursive[frame.tree] = set()
        raise Restart
    at = cx.at(call.node)
    changed: dict[Web, Value] = {}
    for parameter in parameters_of(frame.tree):
        web = frame.webs.stores[id(parameter)]
        value = _changed(cx, frame, web, given[parameter.arg], call)
        if value is not None:
            changed[web] = value
    values = settle(cx, tuple(changed.values()), [cx.names_of(web_key(frame, web)) for web in changed], at)
    with cx.inner_body() as body:
        for web, value in zip(changed, values, strict=True):
            store_variable(cx, web_key(frame, web), f"{frame.tree.name}.{web.name}", value, call.node, call.node)
    mark = cx.new_name(f"{frame.prefix}again")
    frame.calls_again.add(mark)
    cx.emit(Block(mark, tuple(body), at=at))
    return _returned(cx, frame, call)


def _changed(cx: Context, frame: Frame, web: Web, value: Value, call: Arguments) -> Value | None:
    """What the parameter's variables are set to; None for what has none, and stays the same thing."""
    bound = frame.bindings.get(web.number)
    if bound is None:
        return value
    if isinstance(bound, View) and web.name in cx.session.recursive[frame.tree]:
        part = _part(value)
        if isinstance(part, View) and _shape_alone(part) == _shape_alone(bound):
            return _numbers(part)
    elif bound == value:
        return None
    elif web.is_single and isinstance(_part(bound), View) and isinstance(_part(value), View):
        cx.session.recursive[frame.tree].add(web.name)
        raise Restart
    raise cx.error(call.node, f"'{web.name}' is something else in a call of '{call.name}' inside itself",
                   "in a call of itself, only numbers and the part of an array that is passed may differ",
                   "make the array outside, and pass it with the bounds of the part")  # fmt: skip


def _returned(cx: Context, frame: Frame, call: Arguments) -> Value:
    values = [node.value for node in frame.webs.returns]
    if all(value is None or (isinstance(value, ast.Constant) and value.value is None) for value in values):
        return Fixed(None)
    if (same := same_argument(frame)) is not None:
        return same
    key = (*frame.path, "return")
    if cx.session.types.of(key) is None:
        raise NotYet(f"what '{call.name}' returns is not known", cx.at(call.node),
                     "every path to a return goes through another call of the function itself",
                     "begin with the case that ends it: if n == 0: return 0")  # fmt: skip
    return freeze(cx, read_variable(cx, key, call.node, "result"), cx.at(call.node))


def same_argument(frame: Frame) -> Array | None:
    """The array that a function that calls itself returns wherever it ends: one that it was given."""
    found = None
    for node in frame.webs.returns:
        if getattr(getattr(node.value, "func", None), "id", "") == frame.tree.name:
            continue
        web = frame.webs.loads.get(id(node.value)) if isinstance(node.value, ast.Name) else None
        bound = None if web is None else frame.bindings.get(web.number)
        if not isinstance(bound, Array) or found not in (None, bound):
            return None
        found = bound
    return found


# ---- parts of arrays ------------------------------------------------------------------------------------------


def _part(value: Value) -> Value:
    return as_view(value) if isinstance(value, Array) else value


def _numbers(view: View) -> Items:
    """The numbers that say which part of its array a view is."""
    places = (one.start if isinstance(one, Along) else one for one in view.places)
    sizes = (size_of(size) for size in view.shape)
    return Items(tuple(Number(one, weak=True) for one in (*places, *sizes) if isinstance(one, Expr)))


def _rebuilt(view: View, numbers: Value) -> View:
    """The view of these numbers."""
    assert isinstance(numbers, Items)
    exprs = [one.expr for one in numbers.items if isinstance(one, Number)]
    count = len(view.places)
    places = tuple(replace(place, start=expr) if isinstance(place, Along) else expr
                   for place, expr in zip(view.places, exprs, strict=False))  # fmt: skip
    return View(view.array, places, tuple(Number(expr, weak=True) for expr in exprs[count:]))


def _shape_alone(view: View) -> tuple[object, ...]:
    """A view without its numbers."""
    return (
        view.array,
        *((one.axis, one.step) if isinstance(one, Along) else type(one) is Mixed for one in view.places),
    )

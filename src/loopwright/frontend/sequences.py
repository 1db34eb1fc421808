"""Python's functions over sequences: `sum`, `any`, `all`, `list`, of arrays and tuples."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from loopwright.frontend import list_functions, promote
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_number, in_type, truth
from loopwright.frontend.elementwise import binary
from loopwright.frontend.inline import run_written
from loopwright.frontend.lists import as_elements, kept_item, known
from loopwright.frontend.operators import common_type, extreme
from loopwright.frontend.reductions import ALL, ANY, MAXIMUM, MINIMUM, SUM, reduced, require_elements
from loopwright.frontend.values import ArrayLike, Items, ListValue, Literal, Number, Value, View, describe
from loopwright.frontend.views import ZERO, clipped, element_at, is_array, size_of, steady
from loopwright.ir.nodes import Assign, Binary, Compare, Const, Expr, If, Var
from loopwright.ir.types import BOOL, INT64, Scalar


def _sum(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 2, ("start",))
    start = call.get(1, "start") or Literal(0)
    value = call.values[0]
    if isinstance(value, ListValue):
        value = as_elements(cx, value, call.node, weak=True)
    if isinstance(value, Items):
        for item in value.items:
            start = binary(cx, "add", start, item, call.node)
        return start
    if is_array(value) and len(value.shape) == 1:
        total = _as_items(cx, reduced(cx, SUM, value, [0], False, call.node, _summed_in(start, value)), value, call)
        return binary(cx, "add", start, total, call.node)
    raise cx.error(call.node, "sum() takes an array of one axis, a list or a tuple here", f"this is {describe(value)}",
                   "write: np.sum(a, axis=0)")  # fmt: skip


def _summed_in(start: Value, array: ArrayLike) -> Scalar | None:
    """The type in which Python adds elements to a start; None for what np.sum takes."""
    if not isinstance(start, Literal | Number):
        return None
    kind = promote.binary("add", start.number_type, promote.NumberType(array.element, weak=False))[0]
    return kind if kind.is_integer or kind != array.element else None


def _as_items(cx: Context, found: Value, array: ArrayLike, call: Arguments) -> Value:
    """What is made of the elements: a Python number where they are some."""
    is_weak = any(cx.weak_comprehensions.get(id(argument), False) for argument in call.node.args[:1])
    if isinstance(array, View):
        is_weak = is_weak or array.array.weak
    return replace(found, weak=True) if is_weak and isinstance(found, Number) else found


def _quantified(is_any: bool) -> Callable[[Context, Arguments], Value]:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1)
        value = call.values[0]
        if isinstance(value, ListValue):
            value = as_elements(cx, value, call.node)
        if isinstance(value, Items):
            result: Literal | Number = Literal(not is_any)
            for item in value.items:
                known = truth(cx, item, call.node)
                expr = Const(known, BOOL) if isinstance(known, bool) else known
                so_far = Const(bool(result.value), BOOL) if isinstance(result, Literal) else result.expr
                result = Number(Binary("or" if is_any else "and", so_far, expr), weak=True)
            return result
        if is_array(value) and len(value.shape) == 1:
            found = reduced(cx, ANY if is_any else ALL, value, [0], False, call.node)
            assert isinstance(found, Number)
            return Number(found.expr, weak=True)
        raise cx.error(call.node, f"{call.name}() takes an array of one axis, a list or a tuple here",
                       f"this is {describe(value)}", f"write: np.{call.name}(a, axis=0)")  # fmt: skip

    return handler


def _min(cx: Context, call: Arguments) -> Value:
    return _extreme(cx, call, is_min=True)


def _max(cx: Context, call: Arguments) -> Value:
    return _extreme(cx, call, is_min=False)


def _extreme(cx: Context, call: Arguments, is_min: bool) -> Value:
    call.expect(cx, 1, max(1, len(call.values)), ("default",))
    if "default" in call.named:
        return _or_default(cx, call, is_min)
    if (
        len(call.values) == 1
        and isinstance(call.values[0], ListValue)
        and known(cx, call.values[0], call.node).is_tuple
    ):
        return run_written(cx, list_functions.smallest if is_min else list_functions.largest, call.values, call.node)
    if len(call.values) > 1 and all(isinstance(one, Items) and one.kind is None for one in call.values):
        return _extreme_of_tuples(cx, call, list_functions.smaller if is_min else list_functions.larger)
    if len(call.values) == 1 and isinstance(call.values[0], ListValue):
        call = replace(call, values=(as_elements(cx, call.values[0], call.node, weak=True),))
    if len(call.values) == 1 and is_array(call.values[0]) and len(call.values[0].shape) == 1:
        array = call.values[0]
        if array.element.is_float:
            found = _first_extreme(cx, array, is_min, call.node)
        else:
            found = reduced(cx, MINIMUM if is_min else MAXIMUM, array, [0], False, call.node)
        return _as_items(cx, found, array, call)
    if len(call.values) == 1 and isinstance(call.values[0], Items):
        call = Arguments(call.node, call.name, call.values[0].items, call.named)
    elif len(call.values) == 1:
        raise cx.error(call.node, f"{call.name}() takes numbers, an array of one axis, a list or a tuple here",
                       f"this is {describe(call.values[0])}", f"write: np.{call.name}(a)")  # fmt: skip
    return extreme(cx, "min" if is_min else "max", call.numbers(cx), call.node)


def _extreme_of_tuples(cx: Context, call: Arguments, function: Callable[..., object]) -> Value:
    best, *others = call.values
    for number, other in enumerate(others):
        best = run_written(cx, function, [best, other], call.node, number)
    return best


def _first_extreme(cx: Context, array: ArrayLike, is_min: bool, node: ast.AST) -> Value:
    """Python's `max(x)` of floats: the first element that no later one is larger than, so that NaN has no order."""
    array = steady(cx, array, node)
    require_elements(cx, array, 0, node)
    first = kept_item(cx, element_at(cx, array, [ZERO], node), node)
    how = replace(MINIMUM if is_min else MAXIMUM, step=_first_smaller if is_min else _first_larger)
    return reduced(cx, how, array, [0], False, node, initial=first)


def _first_larger(cx: Context, old: Expr, new: Expr) -> Expr:
    return Binary("max", old, new)


def _first_smaller(cx: Context, old: Expr, new: Expr) -> Expr:
    return Binary("min", old, new)


def _or_default(cx: Context, call: Arguments, is_min: bool) -> Value:
    """`max(x, default=0)`: the default where there are no items. Raises KernelError where the items are no numbers."""
    values, node = call.values, call.node
    if isinstance(values[0], ListValue):
        values = (as_elements(cx, values[0], node, weak=True),)
    plain = Arguments(node, call.name, values, {})
    value, default = values[0], as_number(cx, call.named["default"], node, "the default is a number here")
    if isinstance(value, Items) and len(values) == 1:
        return _extreme(cx, plain, is_min) if value.items else default
    if len(values) > 1 or not is_array(value) or len(value.shape) != 1:
        raise cx.error(node, f"{call.name}() with a default takes an array of one axis, a list or a tuple here")
    with cx.inner_body() as then:
        found = as_number(cx, _extreme(cx, plain, is_min), node)
    kind, name, at = common_type(cx, [found, default], node), cx.temporary_name(), cx.at(node)
    with cx.resumed(then):
        cx.emit(Assign(name, in_type(cx, found, kind, node), at=at))
    otherwise = Assign(name, in_type(cx, default, kind, node), at=at)
    some = Compare("gt", size_of(clipped(cx, value.shape[0])), Const(0, INT64))
    cx.emit(If(some, tuple(then), (otherwise,), at=at))
    return Number(Var(name, kind.type), kind.weak)


SEQUENCES: dict[object, Callable[[Context, Arguments], Value]] = {
    min: _min, max: _max, sum: _sum, any: _quantified(True), all: _quantified(False),
}  # fmt: skip

"""What a `for` goes over: ranges, arrays, tuples, `enumerate`, `zip`, `reversed`; and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Sequence as PythonSequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from loopwright.frontend.arrays import index_value
from loopwright.frontend.characters import at_position, text_of
from loopwright.frontend.closures import given_lambda
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, convert, truth
from loopwright.frontend.elementwise import check, materialised, nest, new_array
from loopwright.frontend.keyed import keys_of
from loopwright.frontend.lists import items_at, size_of_list
from loopwright.frontend.named_tuples import refuse_object
from loopwright.frontend.operands import operands
from loopwright.frontend.promote import common
from loopwright.frontend.reductions import accumulator
from loopwright.frontend.renaming import trips
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.tables import elements
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Character,
    Elementwise,
    Fixed,
    Items,
    IteratorValue,
    Keyed,
    ListValue,
    Literal,
    Number,
    RangeValue,
    Records,
    TableValue,
    Value,
    View,
    Zipped,
    describe,
)
from loopwright.frontend.variables import freeze
from loopwright.frontend.views import (
    ONE,
    ZERO,
    Size,
    add,
    as_size,
    as_view,
    clipped,
    element_at,
    in_range,
    is_array,
    items_of,
    multiply,
    rows_of,
    size_of,
    size_of_all,
    subtract,
    unravelled,
)
from loopwright.ir.nodes import Assign, Binary, Compare, Const, Expr, If, Stmt, Store, Var
from loopwright.ir.queries import names_assigned, names_in
from loopwright.ir.types import BOOL, INT64, Scalar


@dataclass(frozen=True, slots=True)
class Sequence:
    """Something that can be gone over. `item` gives the one at a position (an int64 from 0 on). `fixed`: all of them,
    where they are no numbers of one type; `size` may be less than there are. `after`: what is asked once there are no
    more."""

    size: Size
    item: Callable[[Context, Expr], Value]
    fixed: tuple[Value, ...] | None = None
    after: Callable[[Context], object] | None = None


def function_of(cx: Context, node: ast.Call) -> Value | None:
    """What a call calls, by its name; None for a method of a value, which may be computed once only."""
    if not isinstance(node.func, ast.Attribute):
        return cx.evaluate(node.func)
    owner = node.func.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    is_named = isinstance(owner, ast.Name) and isinstance(cx.evaluate(node.func.value), Fixed)
    return cx.evaluate(node.func) if is_named else None


def sequence_of(cx: Context, node: ast.expr) -> Sequence:
    """What the expression behind `in` gives, item by item. Raises KernelError for what cannot be gone over."""
    if isinstance(node, ast.Call):
        callee = function_of(cx, node)
        made = None if not isinstance(callee, Fixed) else _maker(callee.value)
        if made is not None:
            return made(cx, node)
    return of_value(cx, cx.evaluate(node), node)


def is_prange(function: object) -> bool:
    """numba's or our own prange."""
    return getattr(function, "__name__", "") == "prange"


def _maker(function: object) -> Callable[[Context, ast.Call], Sequence] | None:
    return _range if is_prange(function) else _MAKERS.get(function)


def of_value(cx: Context, value: Value, node: ast.expr) -> Sequence:
    """A value as what a loop goes over. Raises KernelError for one that no loop can go over."""
    if not isinstance(value, Elementwise):
        value = freeze(cx, value, cx.at(node))  # what a loop goes over is told once, when it begins
    if is_array(value):
        assert isinstance(value, ArrayLike)
        array = materialised(cx, value, node) if isinstance(value, Elementwise) else value
        return Sequence(clipped(cx, array.shape[0]), lambda cx, k: rows_of(cx, array, k, node))
    if isinstance(value, Records) and value.shape:
        return Sequence(clipped(cx, value.shape[0]), lambda cx, k: replace(value, index=(*value.index, k)))
    if isinstance(value, TableValue):
        size, item_of, after = elements(cx, value, node)
        return Sequence(size, item_of, after=after)
    if isinstance(value, RangeValue):
        return _of_range(cx, value, node)
    if isinstance(value, Zipped):
        return _in_step(cx, [of_value(cx, part, node) for part in value.parts])
    if isinstance(value, IteratorValue):
        return _rest_of(cx, value, node)
    if isinstance(value, ListValue):
        return Sequence(size_of_list(cx, value), lambda cx, k: items_at(cx, value, k, node))
    text = text_of(value)
    if text is not None:
        fixed = tuple(map(Fixed, text)) if len(text) <= _MOST_LETTERS else None
        return Sequence(Literal(len(text)), lambda cx, k: at_position(cx, text, k, node), fixed)
    refuse_object(cx, value, node)
    if isinstance(value, Items | Keyed):
        found = keys_of(value) if isinstance(value, Keyed) else value
        return Sequence(Literal(len(found.items)), lambda cx, k: _item(cx, found, k, node), found.items)
    raise cx.error(node, f"a loop cannot go over {describe(value)}", "it goes over ranges, arrays and tuples",
                   "write: for i in range(n)")  # fmt: skip


def _rest_of(cx: Context, value: IteratorValue, node: ast.expr) -> Sequence:
    """What is left of an iterator. Where something asks it again, each item counts."""
    begin = cx.temporary(Var(value.position, INT64), cx.at(node))
    loads = [one for one in own_nodes(cx.frame.tree)
             if isinstance(one, ast.Name) and isinstance(node, ast.Name) and one.id == node.id]  # fmt: skip
    is_last = bool(loads) and loads[-1] is node and value.made_in == (cx.frame.number, *cx.frame.loops)
    inner: Sequence = value.sequence

    def item(cx: Context, k: Expr) -> Value:
        place = add(k, begin)
        if not is_last:
            cx.emit(Assign(value.position, add(place, ONE), at=cx.at(node)))
        return inner.item(cx, place)

    return Sequence(as_size(subtract(size_of(inner.size), begin)), item)


_MOST_LETTERS = 8  # of a text of which each character is a constant where a loop goes over it


def _item(cx: Context, value: Items, k: Expr, node: ast.expr) -> Value:
    chosen = Literal(int(k.value)) if isinstance(k, Const) else Number(k, weak=True)
    return index_value(cx, value, [chosen], [node], node)


def _range(cx: Context, node: ast.Call) -> Sequence:
    return of_value(cx, range_value(cx, node, operands(cx, node.args)), node)


def range_value(cx: Context, node: ast.Call, values: PythonSequence[Value]) -> RangeValue:
    """`range(...)` with its bounds computed."""
    if node.keywords or not 1 <= len(values) <= 3:
        raise cx.error(node, "range() takes one to three arguments", remedy="write: range(start, stop, step)")
    bounds = [_as_number(cx.once(as_index(cx, value, node, "a bound of range()"), cx.at(node))) for value in values]
    bounds = [Literal(0), *bounds] if len(bounds) == 1 else bounds
    return RangeValue((bounds[0], bounds[1], _step_of(cx, bounds[2], node) if len(bounds) == 3 else Literal(1)))


def _step_of(cx: Context, step: Value, node: ast.Call) -> Value:
    """The step of a range, which is not zero."""
    if step == Literal(0):
        raise cx.error(node.args[2], "the step of a range must not be zero")
    if isinstance(step, Number):
        check(cx, Compare("ne", step.expr, ZERO), "zero_step", node.args[2])
    return step


def item_of_range(cx: Context, value: RangeValue, index: Value, node: ast.expr) -> Value:
    """`range(...)[k]`."""
    low, high, step = (as_index(cx, bound, node) for bound in value.bounds)
    size = as_size(trips(low, high, step))
    place = in_range(cx, as_index(cx, index, node), size, node)
    return _as_number(add(multiply(place, step), low))


def _of_range(cx: Context, value: RangeValue, node: ast.expr) -> Sequence:
    low, high, step = (as_index(cx, bound, node) for bound in value.bounds)
    count = trips(low, high, step)
    if isinstance(count, Binary) and isinstance(step, Const):  # a size below 0 is one of 0 anyway
        count = count.left
    size: Size = Literal(int(count.value)) if isinstance(count, Const) else Number(count, weak=True)
    return Sequence(size, lambda cx, k: _as_number(add(multiply(k, step), low)))


def _as_number(expr: Expr) -> Value:
    return Literal(int(expr.value)) if isinstance(expr, Const) else Number(expr, weak=True)


def _enumerate(cx: Context, node: ast.Call) -> Sequence:
    begins = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "start")]
    if not 1 <= len(node.args) <= 2 or len(begins) > 1:
        raise cx.error(node, "enumerate() takes a sequence and a start")
    inner = sequence_of(cx, node.args[0])
    begin: Expr = ZERO
    if begins:
        given = freeze(cx, cx.evaluate(begins[0]), cx.at(begins[0]))
        begin = cx.once(as_index(cx, given, node), cx.at(node))

    def item(cx: Context, k: Expr) -> Value:
        return Items((_as_number(add(k, begin)), inner.item(cx, k)))

    if inner.fixed is None:
        return Sequence(inner.size, item, after=inner.after)
    pairs = (Items((_as_number(add(Const(k, INT64), begin)), one)) for k, one in enumerate(inner.fixed))
    return Sequence(inner.size, item, tuple(pairs))


def _sequences(cx: Context, argument: ast.expr) -> list[Sequence]:
    """What one argument of zip() gives; `*x`, the items of a tuple."""
    if not isinstance(argument, ast.Starred):
        return [sequence_of(cx, argument)]
    value = cx.evaluate(argument.value)
    if not isinstance(value, Items):
        raise cx.error(argument, f"'*' before an argument needs a tuple, and this is {describe(value)}",
                       remedy="write the arguments out")  # fmt: skip
    return [of_value(cx, item, argument) for item in value.items]


def _zip(cx: Context, node: ast.Call) -> Sequence:
    strict = [one for one in node.keywords if one.arg != "strict" or ast.unparse(one.value) != "False"]
    if not node.args or strict:
        raise cx.error(node, "zip() takes sequences here")
    return _in_step(cx, [part for argument in node.args for part in _sequences(cx, argument)])


def _in_step(cx: Context, parts: list[Sequence]) -> Sequence:
    """Several sequences at once, until the shortest one ends."""
    least = size_of(parts[0].size)
    for part in parts[1:]:
        other = size_of(part.size)
        if isinstance(least, Const) and isinstance(other, Const):
            least = Const(min(int(least.value), int(other.value)), INT64)
        elif other != least:
            least = Binary("min", least, other)
    size: Size = Literal(int(least.value)) if isinstance(least, Const) else Number(least, weak=True)

    def item(cx: Context, k: Expr) -> Value:
        return Items(tuple(part.item(cx, k) for part in parts))

    fixed = None
    counts = [len(part.fixed) for part in parts if part.fixed is not None]
    if counts:
        count = min(counts) if not isinstance(size, Literal) else int(size.value)
        fixed = tuple(
            Items(tuple(
                part.fixed[k] if part.fixed is not None else part.item(cx, Const(k, INT64)) for part in parts
            )) for k in range(count)
        )  # fmt: skip
    return Sequence(size, item, fixed)


def _map(cx: Context, node: ast.Call) -> Sequence:
    """`map(f, xs, ys)`: f is called where an item is used, once for each."""
    if len(node.args) < 2 or node.keywords:
        raise cx.error(node, "map() takes a function and sequences")
    given = node.args[0]
    function = given_lambda(cx, given) if isinstance(given, ast.Lambda) else cx.evaluate(given)
    inner = _in_step(cx, [sequence_of(cx, one) for one in node.args[1:]])
    shown = "lambda" if isinstance(given, ast.Lambda) else ast.unparse(given)

    def called(cx: Context, values: Value, number: int) -> Value:
        assert isinstance(values, Items)
        names = [f"{shown}.{k}" for k in range(len(values.items))]
        key = (id(node), "map", number)
        if key not in cx.session.calls:
            made = ast.Call(ast.Name(shown), [ast.Name(name) for name in names], [])
            cx.session.calls[key] = ast.fix_missing_locations(ast.copy_location(made, node))
        cx.frame.scopes.append({shown: function, **dict(zip(names, values.items, strict=True))})
        try:
            return cx.evaluate(cx.session.calls[key])
        finally:
            cx.frame.scopes.pop()

    fixed = None if inner.fixed is None else tuple(called(cx, one, k) for k, one in enumerate(inner.fixed))
    return Sequence(inner.size, lambda cx, k: called(cx, inner.item(cx, k), 0), fixed)


def _reversed(cx: Context, node: ast.Call) -> Sequence:
    if len(node.args) != 1 or node.keywords:
        raise cx.error(node, "reversed() takes one sequence")
    inner = sequence_of(cx, node.args[0])
    last = add(size_of(inner.size), Const(-1, INT64))
    fixed = None if inner.fixed is None else inner.fixed[::-1]
    return Sequence(inner.size, lambda cx, k: inner.item(cx, subtract(last, k)), fixed)


def _ndindex(cx: Context, node: ast.Call) -> Sequence:
    """`np.ndindex(a.shape)`, `np.ndindex(n, m)`."""
    values = operands(cx, node.args)
    if len(values) == 1 and isinstance(values[0], Items):
        values = list(values[0].items)
    shape = [as_size(cx.once(as_index(cx, value, node, "a size"), cx.at(node))) for value in values]
    return Sequence(_count(shape), lambda cx, k: Items(tuple(map(_as_number, unravelled(k, shape)))))


def _ndenumerate(cx: Context, node: ast.Call) -> Sequence:
    value = cx.evaluate(node.args[0]) if len(node.args) == 1 else Literal(0)
    if not is_array(value):
        raise cx.error(node, "np.ndenumerate() takes an array")
    assert isinstance(value, ArrayLike)
    array = materialised(cx, value, node) if isinstance(value, Elementwise) else value
    shape = [clipped(cx, size) for size in array.shape]

    def item(cx: Context, k: Expr) -> Value:
        index = unravelled(k, shape)
        return Items((Items(tuple(map(_as_number, index))), element_at(cx, array, index, node)))

    return Sequence(_count(shape), item)


def _count(shape: list[Size]) -> Size:
    return as_size(size_of_all(shape))


_MAKERS: dict[object, Callable[[Context, ast.Call], Sequence]] = {
    range: _range, enumerate: _enumerate, zip: _zip, reversed: _reversed, map: _map,
    np.ndindex: _ndindex, np.ndenumerate: _ndenumerate,
}  # fmt: skip


# ---- comprehensions -------------------------------------------------------------------------------------------


def comprehension(cx: Context, node: ast.ListComp | ast.GeneratorExp, is_list: bool = False) -> ArrayLike | None:
    """The values of `x for k in sequence if c` as an array; None where they are lists or arrays, or, if a list of them
    is wanted, tuples that are no rows of an array. Raises KernelError for several `for`s."""
    if len(node.generators) != 1 or node.generators[0].is_async:
        raise cx.error(node, "a comprehension has one 'for' here", remedy="give the list a name")
    part = node.generators[0]
    sequence = sequence_of(cx, part.iter)
    scope: dict[str, Value] = {}
    cx.frame.scopes.append(scope)
    try:
        with cx.inner_body():
            bind_names(cx, scope, part.target, sequence.item(cx, Var("?k", INT64)))
            sample = cx.evaluate(node.elt)
        if isinstance(sample, ListValue) or is_array(sample) or (is_list and not _is_row(sample)):
            return None
        shape, element = _kind_of_item(cx, sample, node.elt)
        parts = sample.items if isinstance(sample, Items) else (sample,)
        cx.weak_comprehensions[id(node)] = all(isinstance(p, Literal | Number) and p.number_type.weak for p in parts)
        result = new_array(cx, (sequence.size, *shape), element, node)
        position = accumulator(cx, "position", ZERO, node) if part.ifs else None

        def write(index: list[Expr]) -> None:
            bind_names(cx, scope, part.target, sequence.item(cx, index[0]))
            place = index[0] if position is None else position
            with cx.inner_body() as then:
                _store_item(cx, result, place, cx.evaluate(node.elt), node.elt)
                if position is not None:
                    cx.emit(Assign(position.name, Binary("add", position, ONE), at=cx.at(node)))
            write_tested(cx, part.ifs, then)

        nest(cx, (sequence.size,), write, node)
        refuse_growing(cx, sequence.size, part.iter)
    finally:
        cx.frame.scopes.pop()
    if position is None:
        return result
    count = cx.temporary(position, cx.at(node))
    cx.stable.discard(position.name)
    cx.natural.add(count.name)
    cx.bounds[count.name] = size_of(result.shape[0])
    whole = as_view(result)
    return View(result, whole.places, (Number(count, weak=True), *result.shape[1:]))


def refuse_growing(cx: Context, size: Size, node: ast.expr) -> None:
    """Raise KernelError for the loop just written, where it changes the length of the list that it goes over."""
    for name in sorted(names_in(size_of(size)) & names_assigned(tuple(cx.body[-1:]))):
        raise cx.error(node, f"'{name.removesuffix('.length')}' changes its length while a loop goes over it",
                       remedy="write the loop out, with 'for' and 'append'")  # fmt: skip


def write_tested(cx: Context, tests: list[ast.expr], then: list[Stmt]) -> None:
    """Statements that run where all tests hold."""
    for number, test in enumerate(reversed(tests)):
        with cx.inner_body(nested=number < len(tests) - 1) as tested:
            condition = truth(cx, cx.evaluate(test), test)
        expr = Const(condition, BOOL) if isinstance(condition, bool) else condition
        then = [*tested, If(expr, tuple(then), at=cx.at(test))]
    cx.body += then


def weak_items(cx: Context, node: ast.ListComp) -> bool:
    """Whether what the comprehension makes are Python's numbers; asked after it was read."""
    return cx.weak_comprehensions.get(id(node), False)


def bind_names(cx: Context, scope: dict[str, Value], target: ast.expr, value: Value) -> None:
    """Give the names of a comprehension their values."""
    match target:
        case ast.Name(id=name):
            scope[name] = freeze(cx, value, cx.at(target))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if is_array(value):
                value = items_of(cx, value, len(parts), target)
            if not isinstance(value, Items) or len(value.items) != len(parts):
                raise cx.error(target, f"{describe(value)} cannot be unpacked into {len(parts)} names")
            refuse_object(cx, value, target)
            for part, item in zip(parts, value.items, strict=True):
                bind_names(cx, scope, part, item)
        case _:
            raise cx.error(target, "a comprehension has names here")


def _is_row(value: Value) -> bool:
    """Whether this is a number, or a plain tuple of numbers of one type."""
    if not isinstance(value, Items):
        return not isinstance(value, Character | Fixed)
    kinds = {one.number_type if isinstance(one, Literal | Number) else None for one in value.items}
    return value.kind is None and len(kinds) == 1


def _kind_of_item(cx: Context, value: Value, node: ast.AST) -> tuple[tuple[Size, ...], Scalar]:
    match value:
        case Literal() | Number():
            return (), value.number_type.type
        case Items(items=items) if items and all(isinstance(item, Literal | Number) for item in items):
            kinds = [item.number_type for item in items if isinstance(item, Literal | Number)]
            return (Literal(len(items)),), reduce(common, kinds).type
        case _:
            raise cx.error(node, f"a list of {describe(value)} is outside the language")


def _store_item(cx: Context, result: Array, place: Expr, value: Value, node: ast.AST) -> None:
    items = value.items if isinstance(value, Items) else (value,)
    for k, item in enumerate(items):
        assert isinstance(item, Literal | Number)
        index = (place, Const(k, INT64)) if isinstance(value, Items) else (place,)
        cx.emit(Store(result.name, index, convert(cx, item, result.element, node), at=cx.at(node)))


def write_generators(
    cx: Context, generators: list[ast.comprehension], node: ast.expr, innermost: Callable[[], object]
) -> None:
    """The loops and tests of a comprehension, one in another; `innermost` writes what is done for an item."""
    scope: dict[str, Value] = {}

    def write(parts: list[ast.comprehension]) -> None:
        if not parts:
            innermost()
            return
        sequence = sequence_of(cx, parts[0].iter)

        def body(index: list[Expr]) -> None:
            bind_names(cx, scope, parts[0].target, sequence.item(cx, index[0]))
            with cx.inner_body(nested=bool(parts[0].ifs)) as then:
                write(parts[1:])
            write_tested(cx, parts[0].ifs, then)

        nest(cx, (sequence.size,), body, node)
        refuse_growing(cx, sequence.size, parts[0].iter)

    cx.frame.scopes.append(scope)
    try:
        write(generators)
    finally:
        cx.frame.scopes.pop()

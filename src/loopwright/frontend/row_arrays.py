"""Arrays of lists of lists and of lists of arrays: `np.array(rows)`, `np.concatenate(rows)`, `np.vstack(rows)`."""

from __future__ import annotations

import ast

from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.elementwise import nest, new_array, require_same
from loopwright.frontend.lists import items_at, known, length_now
from loopwright.frontend.values import Array, ListValue, Literal, Number, View
from loopwright.frontend.views import ONE, ZERO, Size, add, as_size, element_at, size_of
from loopwright.ir.nodes import Assign, Compare, Expr, Load, Select, Store, Var
from loopwright.ir.types import INT64, Scalar


def holds_rows(cx: Context, value: object, node: ast.AST) -> bool:
    """Whether a value is a list of lists or arrays."""
    return isinstance(value, ListValue) and known(cx, value, node).rows is not None


def _row(cx: Context, value: ListValue, place: Expr, node: ast.AST) -> View:
    """A list or an array of a list as an array."""
    row = items_at(cx, value, place, node)
    if isinstance(row, ListValue):
        if len(row.parts) != 1:
            raise cx.error(node, "an array of lists of tuples is outside the language", remedy="use arrays with rows")
        size = as_size(length_now(cx, row, node))
        (part,) = row.parts
        return View(part.array, part.places, (size,))
    assert isinstance(row, View)
    return row


def _element(cx: Context, value: ListValue, node: ast.AST) -> Scalar:
    value = known(cx, value, node)
    assert value.rows is not None
    if not value.rows.parts:
        known(cx, ListValue((), ZERO, value.rows.key), node)  # nothing is known of its elements yet
    return value.rows.parts[0].element


def _first_sizes(cx: Context, value: ListValue, count: Expr, node: ast.AST) -> list[Size]:
    """The sizes of the first row; 0 where there is none."""
    value = known(cx, value, node)
    assert value.rows is not None
    is_empty = Compare("eq", count, ZERO)
    number = Load(value.parts[0].array.name, (ZERO,), INT64, at=cx.at(node))
    sizes = []
    for one in value.rows.sizes:
        size = Select(is_empty, ZERO, Load(one.name, (number,), INT64, at=cx.at(node)))
        variable = cx.temporary(size, cx.at(node))
        cx.natural.add(variable.name)
        sizes.append(as_size(variable))
    return sizes


def stacked(cx: Context, value: ListValue, node: ast.AST, element: Scalar | None = None) -> Array:
    """`np.array(rows)`: with one more axis in front. Sizes that differ are a ValueError of the run."""
    count = cx.once(length_now(cx, value, node), cx.at(node))
    sizes = _first_sizes(cx, value, count, node)
    element = element or _element(cx, value, node)
    result = new_array(cx, (as_size(count), *sizes), element, node)

    def write(outer: list[Expr]) -> None:
        row = _row(cx, value, outer[0], node)
        for own, other in zip(sizes, row.shape, strict=True):
            require_same(cx, own, other, node)

        def copy(inner: list[Expr]) -> None:
            one = convert(cx, element_at(cx, row, inner, node), element, node)
            cx.emit(Store(result.name, (outer[0], *inner), one, at=cx.at(node)))

        nest(cx, sizes, copy, node)

    nest(cx, (as_size(count),), write, node)
    return result


def _counter(cx: Context, hint: str, node: ast.AST) -> Var:
    """A number that a loop goes on computing, from 0 on."""
    name = cx.new_name(cx.frame.prefix + hint)
    cx.stable.add(name)
    cx.natural.add(name)
    cx.emit(Assign(name, ZERO, at=cx.at(node)))
    return Var(name, INT64)


def _axis_sum(cx: Context, value: ListValue, count: Expr, axis: int, node: ast.AST) -> Var:
    total = _counter(cx, "total", node)

    def add_size(index: list[Expr]) -> None:
        row = _row(cx, value, index[0], node)
        cx.emit(Assign(total.name, add(total, size_of(row.shape[axis])), at=cx.at(node)))

    nest(cx, (as_size(count),), add_size, node)
    return total


def joined(cx: Context, value: ListValue, axis: int, node: ast.AST) -> Array:
    """`np.concatenate(rows, axis)`: an empty list is a ValueError of the run, and so are sizes that do not agree."""
    count = cx.once(length_now(cx, value, node), cx.at(node))
    first = _first_sizes(cx, value, count, node)
    require_same(cx, Number(Select(Compare("gt", count, ZERO), ONE, ZERO), weak=True), Literal(1), node)
    total = cx.temporary(_axis_sum(cx, value, count, axis, node), cx.at(node))
    cx.natural.add(total.name)
    sizes = [as_size(total) if k == axis else size for k, size in enumerate(first)]
    result = new_array(cx, sizes, _element(cx, value, node), node)
    begin = _counter(cx, "begin", node)

    def write(outer: list[Expr]) -> None:
        row = _row(cx, value, outer[0], node)
        for k, (own, other) in enumerate(zip(first, row.shape, strict=True)):
            if k != axis:
                require_same(cx, own, other, node)

        def copy(inner: list[Expr]) -> None:
            place = [add(one, begin) if k == axis else one for k, one in enumerate(inner)]
            one = convert(cx, element_at(cx, row, inner, node), result.element, node)
            cx.emit(Store(result.name, tuple(place), one, at=cx.at(node)))

        nest(cx, row.shape, copy, node)
        cx.emit(Assign(begin.name, add(begin, size_of(row.shape[axis])), at=cx.at(node)))

    nest(cx, (as_size(count),), write, node)
    return result


def axes_of_rows(cx: Context, value: ListValue, node: ast.AST) -> int:
    """How many axes the lists or arrays in a list have."""
    value = known(cx, value, node)
    assert value.rows is not None
    return len(value.rows.sizes)

"""Elements chosen by masks and by arrays of indices: read, and assigned."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, convert
from loopwright.frontend.creation import as_array
from loopwright.frontend.elementwise import (
    as_bool,
    assign_elements,
    broadcast,
    made,
    materialised,
    may_meet,
    meets_itself,
    nest,
    new_array,
    reader,
    reads_of,
    require_same,
)
from loopwright.frontend.manipulation import flattened, number_of
from loopwright.frontend.reductions import COUNT, accumulator, reduced
from loopwright.frontend.values import Along, Array, ArrayLike, Elementwise, Items, Literal, Number, Value, View
from loopwright.frontend.views import (
    ONE,
    ZERO,
    Size,
    as_size,
    clipped,
    element_at,
    in_range,
    is_array,
    place_of,
    rows_of,
    size_of,
)
from loopwright.ir.nodes import Assign, Binary, Expr, If, Load, Stmt, Store, Var
from loopwright.ir.types import INT64

Handler = Callable[[Context, Arguments], Value]


def nonzero(cx: Context, array: ArrayLike, node: ast.AST) -> Items:
    """`np.nonzero(a)`: an array of indices for each axis."""
    if isinstance(array, Elementwise):
        array = materialised(cx, array, node)
    count = counted(cx, array, node)
    results = [new_array(cx, (as_size(count),), INT64, node) for _ in array.shape]

    def write(index: list[Expr], k: Expr) -> list[Stmt]:
        return [Store(one.name, (k,), part, at=cx.at(node)) for one, part in zip(results, index, strict=True)]

    write_where(cx, array, node, write)
    return Items(tuple(results))


def counted(cx: Context, mask: ArrayLike, node: ast.AST) -> Expr:
    """How many elements of a mask are true."""
    total = reduced(cx, COUNT, mask, list(range(len(mask.shape))), False, node)
    assert isinstance(total, Number)
    if isinstance(total.expr, Var):
        cx.natural.add(total.expr.name)
        cx.bounds[total.expr.name] = number_of([size_of(clipped(cx, size)) for size in mask.shape])
    return total.expr


def write_where(cx: Context, mask: ArrayLike, node: ast.AST, write: Callable[[list[Expr], Expr], list[Stmt]]) -> None:
    """For each true element of a mask, in order: what `write` makes of its index and of how many came before."""
    position = accumulator(cx, "position", ZERO, node)

    def body(index: list[Expr]) -> None:
        condition = as_bool(cx, element_at(cx, mask, index, node))
        step = Assign(position.name, Binary("add", position, ONE), at=cx.at(node))
        with cx.inner_body() as then:
            cx.body += write(index, position)
            cx.emit(step)
        cx.emit(If(condition, tuple(then), at=cx.at(node)))

    nest(cx, mask.shape, body, node)
    cx.stable.discard(position.name)


def _nonzero(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    return nonzero(cx, as_array(cx, call.values[0], call.place(0), "np.nonzero()"), call.node)


def _flatnonzero(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    array = as_array(cx, call.values[0], call.place(0), "np.flatnonzero()")
    flat = array if len(array.shape) == 1 else flattened(cx, array, call.node)
    assert isinstance(flat, Array | View | Elementwise)
    return nonzero(cx, flat, call.node).items[0]


def chosen_by_mask(cx: Context, array: ArrayLike, mask: ArrayLike, node: ast.AST) -> Array:
    """`array[mask]`: the elements, or rows, where the mask is true, as an array of their own."""
    _require_mask(cx, array.shape, mask, node)
    if isinstance(mask, Elementwise):
        mask = materialised(cx, mask, node)
    rest = array.shape[len(mask.shape) :]
    result = new_array(cx, (as_size(counted(cx, mask, node)), *rest), array.element, node)

    def write(index: list[Expr], k: Expr) -> list[Stmt]:
        with cx.inner_body(nested=False) as inner:
            nest(
                cx, rest,
                lambda more: cx.emit(Store(
                    result.name, (k, *more),
                    convert(cx, element_at(cx, array, [*index, *more], node), array.element, node), at=cx.at(node),
                )), node,
            )  # fmt: skip
        return inner

    write_where(cx, mask, node, write)
    return result


def _require_mask(cx: Context, shape: Sequence[Size], mask: ArrayLike, node: ast.AST) -> None:
    for own, given in zip(shape, mask.shape, strict=False):
        require_same(cx, own, given, node, is_mask=True)


def assign_where(cx: Context, target: View, mask: ArrayLike, value: Value, at: ast.AST, value_node: ast.AST) -> None:
    """`target[mask] = value`."""
    _require_mask(cx, target.shape, mask, at)
    meets = may_meet(cx, target, mask)
    if meets and is_array(value):
        mask = materialised(cx, mask, at)
    rest = target.shape[len(mask.shape) :]
    if is_array(value):
        source = value if isinstance(value, Array | View) else materialised(cx, value, value_node)
        if may_meet(cx, target, source):
            source = materialised(cx, source, value_node)
        if len(source.shape) > len(rest):
            _assign_in_order(cx, target, mask, source, rest, at)
            return
        value = source

    def body(index: list[Expr]) -> None:
        condition = as_bool(cx, element_at(cx, mask, index, at))
        with cx.inner_body() as then:
            _assign_rest(cx, target, index, rest, value, at, value_node)
        cx.emit(If(condition, tuple(then), at=cx.at(at)))

    if isinstance(value, Number):
        value = Number(cx.once(value.expr, cx.at(value_node)), value.weak)
    if meets and not is_array(value):
        start = len(cx.body)
        nest(cx, mask.shape, body, at)
        if not meets_itself(cx, target, cx.body[start:]):
            return
        del cx.body[start:]
        mask = materialised(cx, mask, at)
    nest(cx, mask.shape, body, at)


def _assign_rest(
    cx: Context, target: View, index: Sequence[Expr], rest: Sequence[Size], value: Value, at: ast.AST, node: ast.AST
) -> None:
    if not rest and isinstance(value, Literal | Number):
        cx.emit(
            Store(target.array.name, place_of(target, index), convert(cx, value, target.element, node), at=cx.at(at))
        )
        return
    row = target
    for part in index:
        inner = rows_of(cx, row, part, at)
        assert isinstance(inner, View)
        row = inner
    assign_elements(cx, row, value, at, node)


def _assign_in_order(
    cx: Context, target: View, mask: ArrayLike, source: ArrayLike, rest: Sequence[Size], at: ast.AST
) -> None:
    """The k-th true place gets the k-th row of the source."""
    if isinstance(mask, Elementwise):
        mask = materialised(cx, mask, at)
    count = counted(cx, mask, at)
    require_same(cx, source.shape[0], as_size(count), at)

    def write(index: list[Expr], k: Expr) -> list[Stmt]:
        with cx.inner_body(nested=False) as inner:
            nest(
                cx, rest,
                lambda more: cx.emit(Store(
                    target.array.name, place_of(target, [*index, *more]),
                    convert(cx, element_at(cx, source, [k, *more], at), target.element, at), at=cx.at(at),
                )), at,
            )  # fmt: skip
        return inner

    write_where(cx, mask, at, write)


def gathered(cx: Context, array: View, indices: Sequence[Value | None], node: ast.AST) -> Elementwise:
    """`array[p]`, `array[:, p]`, `array[p, q]`: NumPy's indexing with arrays of integers, computed where it is used."""
    chosen = [k for k, index in enumerate(indices) if index is not None]
    tables = [index for index in indices if index is not None]
    given = [table for table in tables if is_array(table)]
    together = broadcast(cx, [table.shape for table in given], node)
    adjacent = chosen == list(range(chosen[0], chosen[-1] + 1))
    first = chosen[0] if adjacent else 0
    others = [k for k in range(len(array.shape)) if k not in chosen]
    shape = (*(array.shape[k] for k in others if adjacent and k < first), *together,
             *(array.shape[k] for k in others if not adjacent or k > first))  # fmt: skip
    readers = [
        _index_reader(cx, table, len(together), array.shape[k], node) for k, table in zip(chosen, tables, strict=True)
    ]

    def at(cx: Context, index: Sequence[Expr]) -> Literal | Number:
        own = index[first : first + len(together)]
        rest = [*index[:first], *index[first + len(together) :]]
        place: list[Expr] = [ZERO] * len(array.shape)
        for k, read in zip(chosen, readers, strict=True):
            position = read(cx, own)
            place[k] = position if k in whole else in_range(cx, position, array.shape[k], node)
        for k, part in zip(others, rest, strict=True):
            place[k] = part
        return element_at(cx, array, place, node)

    places = [place for place in array.places if isinstance(place, Along)]
    whole = {place.axis for place in places if place.start == ZERO and place.step == ONE and _is_all(array, place)}
    reads = reads_of(array).union(*(reads_of(table) for table in given))
    return made(cx, shape, at, reads)


def _is_all(array: View, along: Along) -> bool:
    """Whether a view has all elements along one axis of its array, so that reading an element tests the index."""
    return array.shape[along.axis] == array.array.sizes[array.places.index(along)]


def _index_reader(
    cx: Context, table: Value, rank: int, size: Size, node: ast.AST
) -> Callable[[Context, Sequence[Expr]], Expr]:
    if not is_array(table):
        index = cx.once(as_index(cx, table, node), cx.at(node))
        return lambda cx, own: index
    if not table.element.is_integer:
        raise cx.error(node, "arrays used as indices must be of integer (or boolean) type")
    read = reader(cx, table, rank, node)
    return lambda cx, own: as_index(cx, read(cx, own), node)


def assign_gathered(
    cx: Context, target: View, indices: Sequence[Value | None], value: Value, at: ast.AST, value_node: ast.AST
) -> None:
    """`target[p] = value`: in order, so that of several values for one place the last one stays."""
    tables = [
        materialised(cx, index, at)
        if isinstance(index, Elementwise) or (is_array(index) and may_meet(cx, target, index))
        else index
        for index in indices
    ]
    if is_array(value) and isinstance(value, Elementwise | View | Array):
        if isinstance(value, Elementwise) or may_meet(cx, target, value):
            value = materialised(cx, value, value_node)
    elif isinstance(value, Number):
        value = Number(cx.once(value.expr, cx.at(value_node)), value.weak)
    place = gathered(cx, target, tables, at)
    if isinstance(value, Array | View) and is_array(value):
        broadcast(cx, [place.shape, value.shape], value_node)
    read = reader(cx, value, len(place.shape), value_node)

    def body(index: list[Expr]) -> None:
        number = place.at(cx, index)
        assert isinstance(number, Number) and isinstance(number.expr, Load)
        new = convert(cx, read(cx, index), target.element, value_node)
        cx.emit(Store(number.expr.array, number.expr.index, new, at=cx.at(at)))

    nest(cx, place.shape, body, at)


SELECTION: dict[Any, Handler] = {
    np.nonzero: _nonzero, np.flatnonzero: _flatnonzero,
}  # fmt: skip

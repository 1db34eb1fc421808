"""Grids of coordinates: `np.mgrid[a:b, c:d]`, `np.ogrid[...]`, `np.meshgrid(x, y)`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.builtin_functions import Handler
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_number, convert
from loopwright.frontend.creation import as_array, numbers_between
from loopwright.frontend.elementwise import made, map_elements, materialised, reads_of
from loopwright.frontend.values import (
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    Literal,
    Number,
    SliceIndex,
    Value,
    describe,
)
from loopwright.frontend.views import ZERO, as_size, element_at
from loopwright.ir.nodes import Binary, Call, Cast, Compare, Const, Expr, Select
from loopwright.ir.types import FLOAT64, INT64

GRIDS = (np.mgrid, np.ogrid)


def grid(cx: Context, maker: object, indices: Sequence[Value], node: ast.expr) -> Value:
    """`np.mgrid[indices]`: the coordinates of each point along each axis; of `np.ogrid` only along its own axis."""
    axes = [_axis(cx, index, node) for index in indices]
    if len(axes) == 1:
        return axes[0]
    kind = FLOAT64 if any(axis.element == FLOAT64 for axis in axes) else INT64
    axes = [
        map_elements(cx, lambda cx, x: Number(convert(cx, x, kind, node), weak=False), [axis], node) for axis in axes
    ]
    if maker is np.ogrid:
        ones: list[Literal | Number] = [Literal(1)] * len(axes)
        return Items(
            tuple(_along(axis, k, [*ones[:k], axis.shape[0], *ones[k + 1 :]], node) for k, axis in enumerate(axes))
        )

    def at(cx: Context, index: Sequence[Expr]) -> Number:
        found = [element_at(cx, axis, [place], node) for axis, place in zip(axes, index[1:], strict=True)]
        values = [convert(cx, one, kind, node) for one in found]
        if isinstance(index[0], Const):
            return Number(values[int(index[0].value)], weak=False)
        result = values[-1]
        for k, value in reversed(list(enumerate(values[:-1]))):
            result = Select(Compare("eq", index[0], Const(k, INT64)), value, result)
        return Number(result, weak=False)

    return made(cx, (Literal(len(axes)), *(axis.shape[0] for axis in axes)), at, frozenset())


def _axis(cx: Context, index: Value, node: ast.expr) -> Elementwise:
    """The numbers `start:stop:step`; of a step that is a number of points, `5j`, with the stop."""
    if not isinstance(index, SliceIndex):
        raise cx.error(node, "a grid is made of slices", f"this is {describe(index)}", "np.mgrid[0:n, 0:m]")
    nothing = Fixed(None)
    given = ((index.lower, Literal(0)), (index.upper, nothing), (index.step, Literal(1)))
    values: list[Value] = [other if value is None or value == nothing else value for value, other in given]
    start, stop, step = (as_number(cx, value, node, "a grid needs its bounds") for value in values)
    numbers = (start, stop, step)
    if all(not number.number_type.type.is_float and not number.number_type.type.is_complex for number in numbers):
        return numbers_between(cx, numbers, node)
    at_node = cx.at(node)
    first, last = (cx.once(convert(cx, number, FLOAT64, node), at_node) for number in (start, stop))
    gap = Binary("sub", last, first)
    if isinstance(step, Number) and step.type.is_complex:
        if not isinstance(step.expr, Const):
            raise cx.error(node, "a number of points must be known at compile time", remedy="np.linspace(a, b, n)")
        points = int(abs(complex(step.expr.value)))
        count: Expr = Const(points, INT64)
        by = cx.once(Binary("truediv", gap, Const(float(max(points - 1, 1)), FLOAT64)), at_node)
    else:
        by = cx.once(convert(cx, step, FLOAT64, node), at_node)
        steps = Call("ceil", (Binary("truediv", gap, by),), FLOAT64)
        count = cx.temporary(Binary("max", Cast(steps, INT64), ZERO), at_node)

    def at(cx: Context, place: Sequence[Expr]) -> Number:
        return Number(Binary("add", Binary("mul", Cast(place[0], FLOAT64), by), first), weak=False)

    return made(cx, (as_size(count),), at, frozenset())


def _along(axis: ArrayLike, place: int, shape: Sequence[Literal | Number], node: ast.AST) -> Elementwise:
    """Numbers along one axis of an array of such a shape, the same ones along all others."""

    def at(cx: Context, index: Sequence[Expr]) -> Literal | Number:
        return element_at(cx, axis, [index[place]], node)

    return Elementwise(tuple(shape), axis.element, at, reads_of(axis))


def _meshgrid(cx: Context, call: Arguments) -> Value:
    """`np.meshgrid(x, y, indexing="xy")`: an array for each."""
    call.expect(cx, 1, len(call.values), ("indexing",))
    arrays = [as_array(cx, value, call.place(k), "np.meshgrid()") for k, value in enumerate(call.values)]
    if any(len(array.shape) != 1 for array in arrays):
        raise cx.error(call.node, "np.meshgrid() takes arrays of one axis here", remedy="x.ravel()")
    order = list(range(len(arrays)))
    if call.named.get("indexing", Fixed("xy")) == Fixed("xy") and len(arrays) > 1:
        order[:2] = [1, 0]
    shape = [arrays[axis].shape[0] for axis in order]
    places = [order.index(k) for k in range(len(arrays))]
    return Items(
        tuple(
            materialised(cx, _along(array, place, shape, call.node), call.node)
            for array, place in zip(arrays, places, strict=True)
        )
    )


GRID_FUNCTIONS: dict[Any, Handler] = {np.meshgrid: _meshgrid}

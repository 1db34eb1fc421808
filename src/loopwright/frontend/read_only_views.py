"""Views that NumPy lets nobody write, as several of their elements may be one: `np.diag(a)`, `np.broadcast_to(a, s)`,
`sliding_window_view(a, n)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from loopwright.frontend import arrangement
from loopwright.frontend.allocate import ALLOCATIONS
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.elementwise import check, require_same
from loopwright.frontend.inline import inline_function
from loopwright.frontend.manipulation import view_of
from loopwright.frontend.reductions import axes_of
from loopwright.frontend.values import Along, ArrayLike, Fixed, Items, Literal, Mixed, Place, Value, View
from loopwright.frontend.views import (
    ONE,
    ZERO,
    Size,
    add,
    as_size,
    at_most_one,
    clipped,
    is_array,
    moved,
    size_of,
    subtract,
)
from loopwright.ir.nodes import Binary, Compare, Expr, Unary

Handler = Callable[[Context, Arguments], Value]


def _read_only(view: View) -> View:
    return replace(view, array=replace(view.array, is_read_only=True))


def _diag(cx: Context, call: Arguments) -> Value:
    """`np.diag(a, k=0)`: the diagonal of a matrix; a matrix of a vector, which is an array of its own."""
    call.expect(cx, 1, 2, ("k",))
    given = call.values[0]
    if isinstance(given, ArrayLike) and len(given.shape) == 2:
        return _diagonal(cx, call)
    return inline_function(cx, arrangement.diag, call)


def _diagonal(cx: Context, call: Arguments) -> Value:
    """`np.diagonal(a, offset=0)` of two axes."""
    call.expect(cx, 1, 2, ("k", "offset"))
    node, at = call.node, cx.at(call.node)
    array = view_of(cx, call.values[0], node, f"np.{call.name}()")
    if len(array.shape) != 2:
        raise cx.error(node, f"np.{call.name}() takes an array of two axes here", remedy="write the loop")
    place = call.get(1, "k") or call.get(1, "offset") or Literal(0)
    k = cx.once(as_index(cx, place, node, "the number of a diagonal"), at)
    down, right = (ZERO if k == ZERO else cx.once(Binary("max", one, ZERO), at) for one in (Unary("neg", k), k))
    rows, columns = (size_of(clipped(cx, size)) for size in array.shape)
    left, above = subtract(columns, right), subtract(rows, down)
    size = above if left == above else cx.temporary(Binary("max", Binary("min", above, left), ZERO), at)
    if size != above:
        cx.natural.add(getattr(size, "name", ""))

    def along(one: Along) -> Along:
        return Along(0, add(one.start, _times(down if one.axis == 0 else right, one.step)), one.step)

    return _read_only(View(array.array, tuple(moved(one, along) for one in array.places), (as_size(size),)))


def _times(count: Expr, step: Expr) -> Expr:
    return ZERO if count == ZERO else count if step == ONE else Binary("mul", count, step)


def _broadcast_to(cx: Context, call: Arguments) -> Value:
    """`np.broadcast_to(a, shape)`."""
    call.expect(cx, 2, 2, ("shape",))
    node, given, wanted = call.node, call.values[0], call.get(1, "shape")
    assert wanted is not None
    if not is_array(given):
        return ALLOCATIONS[np.full](cx, replace(call, name="full", values=(wanted, given), named={}))
    items = wanted.items if isinstance(wanted, Items) else (wanted,)
    sizes = [as_size(cx.once(as_index(cx, one, node, "a size"), cx.at(node))) for one in items]
    return stretched_to(cx, given, sizes, node)


def stretched_to(cx: Context, given: ArrayLike, sizes: Sequence[Size], node: ast.AST) -> View:
    """An array as one of this shape, by NumPy's rules. Raises KernelError, and ValueError when the code runs."""
    array = view_of(cx, given, node, "np.broadcast_to()")
    for size in sizes:
        check(cx, Compare("ge", size_of(size), ZERO), "negative_size", node)
    extra = len(sizes) - len(array.shape)
    if extra < 0:
        raise cx.error(node, "an array cannot be broadcast to fewer axes", "NumPy raises ValueError")
    stretched = set[int]()
    for axis, (old, new) in enumerate(zip(array.shape, sizes[extra:], strict=True)):
        if old == Literal(1) or at_most_one(cx, size_of(old)):
            stretched.add(axis)
            require_same(cx, old, Literal(1), node)
        else:
            require_same(cx, old, new, node)

    def along(one: Along) -> Expr | Along:
        return one.start if one.axis in stretched else replace(one, axis=one.axis + extra)

    return _read_only(View(array.array, tuple(moved(one, along) for one in array.places), tuple(sizes)))


def _sliding_windows(cx: Context, call: Arguments) -> Value:
    """`sliding_window_view(x, window_shape, axis=None)`: each window along an axis, as one more axis behind."""
    call.expect(cx, 2, 3, ("window_shape", "axis"))
    node = call.node
    array = view_of(cx, call.values[0], node, "sliding_window_view()")
    wanted, axis = call.get(1, "window_shape"), call.get(2, "axis")
    widths = wanted.items if isinstance(wanted, Items) else (wanted,)
    rank = len(array.shape)
    axes = tuple(range(rank)) if axis is None or axis == Fixed(None) else axes_of(cx, axis, rank, node)
    if len(axes) != len(widths):
        raise cx.error(node, "sliding_window_view() takes a width for each axis", "NumPy raises ValueError")
    shape: list[Size] = list(array.shape)
    places: tuple[Place, ...] = array.places
    for own, width in zip(axes, widths, strict=True):
        assert width is not None
        count = cx.once(as_index(cx, width, node, "the width of a window"), cx.at(node))
        size = size_of(clipped(cx, shape[own]))
        check(cx, Compare("ge", count, ZERO), "negative_size", node)
        check(cx, Compare("le", count, size), "shape", node)
        places = tuple(_windowed(cx, place, own, len(shape), node) for place in places)
        shape[own] = as_size(add(subtract(size, count), ONE))
        shape.append(as_size(count))
    return _read_only(View(array.array, places, tuple(shape)))


def _windowed(cx: Context, place: Place, axis: int, behind: int, node: ast.AST) -> Place:
    """A place along an axis as that of the window and of where it is in it."""
    match place:
        case Along() if place.axis == axis:
            return Mixed((Along(axis, ZERO, ONE), Along(behind, ZERO, ONE)), ONE, None, place.start, place.step)
        case Mixed(parts=parts) if any(isinstance(one, Along) and one.axis == axis for one in parts):
            raise cx.error(node, "windows of such a part of an array are outside the language", remedy="copy it first")
        case _:
            return place


HANDLERS: dict[Any, Handler] = {
    np.diag: _diag, np.diagonal: _diagonal, np.broadcast_to: _broadcast_to,
    np.lib.stride_tricks.sliding_window_view: _sliding_windows,
}  # fmt: skip

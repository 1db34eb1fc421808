"""NumPy's functions that give an array other axes, another shape, or put several into one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from loopwright.frontend import row_arrays
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.array_names import is_written_through
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.creation import as_array, common_element, is_dense, snapshot
from loopwright.frontend.elementwise import (
    assign_elements,
    check,
    materialised,
    nest,
    new_array,
    require_same,
    store_element,
)
from loopwright.frontend.reductions import axes_of
from loopwright.frontend.sized_names import extended
from loopwright.frontend.values import (
    Along,
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    ListValue,
    Literal,
    Value,
    View,
)
from loopwright.frontend.views import (
    ONE,
    ZERO,
    Size,
    add,
    as_size,
    as_view,
    clipped,
    element_at,
    moved,
    multiply,
    reshaped_view,
    size_of,
    steady,
    transposed,
    unravelled,
)
from loopwright.ir.nodes import Binary, Compare, Const, Expr, If, Logical
from loopwright.ir.types import INT64

Handler = Callable[[Context, Arguments], Value]


def view_of(cx: Context, value: Value, call_node: ast.AST, what: str) -> View:
    """An operand as part of an array. Raises KernelError for what is no array."""
    array = as_array(cx, value, call_node, what)
    if isinstance(array, Elementwise):
        array = materialised(cx, array, call_node)
    return as_view(array) if isinstance(array, Array) else array


def transpose(cx: Context, value: Value, order: Value | None, node: ast.AST) -> Value:
    """`a.T`, `a.transpose(order)`."""
    array = view_of(cx, value, node, "a transposition")
    rank = len(array.shape)
    if order is None or order == Fixed(None):
        return transposed(cx, array, range(rank - 1, -1, -1))
    items = order.items if isinstance(order, Items) else (order,)
    axes = [axes_of(cx, item, rank, node)[0] for item in items]
    if sorted(axes) != list(range(rank)):
        raise cx.error(node, "axes don't match array")
    return transposed(cx, array, axes)


def _transpose(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 2, ("axes",))
    return transpose(cx, call.values[0], call.get(1, "axes"), call.node)


def _swapaxes(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 3)
    array = view_of(cx, call.values[0], call.node, "np.swapaxes()")
    order = list(range(len(array.shape)))
    a, b = (axes_of(cx, value, len(order), call.node)[0] for value in call.values[1:])
    order[a], order[b] = order[b], order[a]
    return transposed(cx, array, order)


def _expand_dims(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2 - ("axis" in call.named), 2, ("axis",))
    array = view_of(cx, call.values[0], call.node, "np.expand_dims()")
    axis = axes_of(cx, call.get(1, "axis"), len(array.shape) + 1, call.node)[0]
    return _with_axis(array, axis)


def _with_axis(array: View, axis: int) -> View:
    """The same elements with one more axis, of size 1."""
    places = tuple(moved(place, lambda one: replace(one, axis=one.axis + (one.axis >= axis))) for place in array.places)
    return View(array.array, places, (*array.shape[:axis], Literal(1), *array.shape[axis:]))


def reshaped(
    cx: Context, value: Value, shape: Value, node: ast.AST, *, copies: bool = False, shows: bool = False
) -> Value:
    """`a.reshape(shape)`: a copy where nobody can tell, as its elements are found faster, or where it has to be one
    (`copies`); else, and for `shows`, a view."""
    array = as_array(cx, value, node, "reshape()")
    wanted = shape.items if isinstance(shape, Items) else (shape,)
    sizes: list[Expr | None] = []
    for item in wanted:
        expr = cx.once(as_index(cx, item, node, "a size"), cx.at(node))
        sizes.append(None if expr == Const(-1, INT64) else size_of(clipped(cx, as_size(expr))))
    if sizes.count(None) > 1:
        raise cx.error(node, "can only specify one unknown dimension")
    total = number_of([size_of(clipped(cx, size)) for size in array.shape])
    known = number_of([size for size in sizes if size is not None])
    if None in sizes:
        if not isinstance(known, Const):
            check(cx, Compare("ne", known, ZERO), "reshaped", node)
        rest = total if known == ONE else cx.once(Binary("floordiv", total, Binary("max", known, ONE)), cx.at(node))
        sizes = [rest if size is None else size for size in sizes]
        known = number_of([size for size in sizes if size is not None])
    if known != total:
        check(cx, Compare("eq", known, total), "reshaped", node)
    shape_now = tuple(as_size(size) for size in sizes if size is not None)
    source = array
    if [size_of(size) for size in source.shape] == [size_of(size) for size in shape_now]:
        return materialised(cx, source, node) if copies else value
    if (
        not copies
        and not isinstance(source, Elementwise)
        and (shows or is_written_through(cx, node) or _is_linear(source, shape_now))
    ):
        whole = steady(cx, source, node)
        assert isinstance(whole, Array | View)
        shown = reshaped_view(cx, as_view(whole) if isinstance(whole, Array) else whole, shape_now)
        if shown is not None:
            return shown
    copy = _in_axes(cx, source, shape_now, node)
    return copy if copies else snapshot(cx, source, copy)


def _is_linear(source: ArrayLike, shape: Sequence[Size]) -> bool:
    """Whether places of the new axes give the old one by constant factors: nothing is found faster in a copy then."""
    return len(source.shape) == 1 and all(isinstance(size, Literal) for size in shape[1:])


def _in_axes(cx: Context, source: ArrayLike, shape: Sequence[Size], node: ast.AST) -> Array:
    """The elements of an array in other axes. Places are found without divisions where only axes of size 1 come and go,
    which may be known only when the program runs, and where all other axes but one are known to keep their sizes."""
    source = steady(cx, source, node)
    result = new_array(cx, shape, source.element, node)
    target = as_view(result)

    def copy(into: Sequence[Expr], place: Sequence[Expr]) -> None:
        store_element(cx, target, into, element_at(cx, source, place, node), node, node)

    def anyhow() -> None:
        nest(cx, shape, lambda index: copy(index, unravelled(_ravelled(index, shape), source.shape)), node)

    def by_axes(axes: _Axes) -> None:
        if len(axes.old) > len(axes.new):
            nest(cx, source.shape, lambda index: copy(axes.of_new(index, source.shape, shape), index), node)
        else:
            nest(cx, shape, lambda index: copy(index, axes.of_old(index, source.shape, shape)), node)

    axes = _axes(source.shape, shape)
    pairs = [(size_of(source.shape[old]), size_of(shape[new])) for old, new in axes.pairs]
    tests = [Compare("eq", old, new) for old, new in pairs if old != new]
    if not tests:
        by_axes(axes)
        return result
    if axes.old or axes.new:  # what several axes make together is proven to be inside for equal sizes only
        anyhow()
        return result
    condition: Expr = tests[0]
    for test in tests[1:]:
        condition = Logical("and", condition, test)
    with cx.inner_body() as then:
        by_axes(axes)
    with cx.inner_body() as otherwise:
        anyhow()
    cx.emit(If(cx.once(condition, cx.at(node)), tuple(then), tuple(otherwise), at=cx.at(node)))
    return result


@dataclass(frozen=True, slots=True)
class _Axes:
    """How axes of an old and of a new shape may belong together. pairs: those of the same size; old, new: those between
    them, of which one side has one at most. Axes of size 1 are in neither."""

    pairs: tuple[tuple[int, int], ...]
    old: tuple[int, ...]
    new: tuple[int, ...]

    def of_old(self, index: Sequence[Expr], old: Sequence[Size], new: Sequence[Size]) -> list[Expr]:
        """The old index of what is at a new one."""
        return _place([(a, b) for b, a in self.pairs], self.new, self.old, index, new, len(old))

    def of_new(self, index: Sequence[Expr], old: Sequence[Size], new: Sequence[Size]) -> list[Expr]:
        """The new index of what is at an old one."""
        return _place(self.pairs, self.old, self.new, index, old, len(new))


def _place(
    pairs: Sequence[tuple[int, int]],
    several: Sequence[int],
    one: Sequence[int],
    index: Sequence[Expr],
    shape: Sequence[Size],
    axes: int,
) -> list[Expr]:
    """The index among so many axes: one along each pair, one along what several axes make together, else 0."""
    place: list[Expr] = [ZERO] * axes
    for given, found in pairs:
        place[found] = index[given]
    for axis in one:
        place[axis] = _ravelled([index[k] for k in several], [shape[k] for k in several])
    return place


def _axes(old: Sequence[Size], new: Sequence[Size]) -> _Axes:
    """The pairing in which most sizes are known to be equal; of several, the one whose axis that is left alone has a
    computed size, or is the first."""
    olds, news = ([k for k, size in enumerate(shape) if size != Literal(1)] for shape in (old, new))
    if len(olds) == len(news):
        return _Axes(tuple(zip(olds, news, strict=True)), (), ())

    def paired(first: int) -> _Axes:
        last = min(len(olds), len(news)) - 1 - first
        inner_old, inner_new = (found[first : len(found) - last] for found in (olds, news))
        outer = (found[:first] + found[len(found) - last :] for found in (olds, news))
        return _Axes(tuple(zip(*outer, strict=True)), tuple(inner_old), tuple(inner_new))

    def promise(axes: _Axes) -> tuple[int, bool]:
        alone = [size_of(old[k]) for k in axes.old] if len(axes.old) == 1 else [size_of(new[k]) for k in axes.new]
        equal = sum(old[a] == new[b] for a, b in axes.pairs)
        return equal, len(alone) == 1 and isinstance(alone[0], Binary)

    return max((paired(first) for first in range(max(1, min(len(olds), len(news))))), key=promise)


def number_of(sizes: Sequence[Expr]) -> Expr:
    """How many elements an array of these sizes has."""
    result: Expr = ONE
    for size in sizes:
        result = multiply(result, size)
    return result


def _ravelled(index: Sequence[Expr], shape: Sequence[Size]) -> Expr:
    number: Expr = ZERO
    for part, size in zip(index, shape, strict=True):
        number = add(multiply(number, size_of(size)), part)
    return number


def _reshape(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2, 3, ("order",))
    call.in_c_order(cx, 2)
    return reshaped(cx, call.values[0], call.values[1], call.node)


def _ravel(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 2, ("order",))
    call.in_c_order(cx, 1)
    return flattened(cx, call.values[0], call.node)


def flattened(cx: Context, value: Value, node: ast.AST, *, copies: bool = False) -> Value:
    """`a.ravel()`, `a.flatten()`."""
    if not copies and isinstance(value, Array | View) and len(value.shape) == 1 and not is_dense(cx, value):
        return snapshot(cx, value, materialised(cx, value, node))
    return reshaped(cx, value, Literal(-1), node, copies=copies)


def _concatenate(cx: Context, call: Arguments) -> Value:
    """`np.concatenate((a, b), axis=0)`."""
    call.expect(cx, 1, 2, ("axis",))
    if (rows := _rows(cx, call)) is not None:
        count = row_arrays.axes_of_rows(cx, rows, call.node)
        return row_arrays.joined(
            cx, rows, axes_of(cx, call.get(1, "axis") or Literal(0), count, call.node)[0], call.node
        )
    parts = _parts(cx, call)
    axes = call.get(1, "axis") or Literal(0)
    if axes == Fixed(None):
        parts = [as_array(cx, flattened(cx, part, call.node), call.node, "np.concatenate()") for part in parts]
        axes = Literal(0)
    axis = axes_of(cx, axes, len(parts[0].shape), call.node)[0]
    return joined(cx, parts, axis, call.node)


def _rows(cx: Context, call: Arguments) -> ListValue | None:
    """The list of lists or arrays that is to be joined, if it is one."""
    value = call.values[0]
    if isinstance(value, ListValue) and row_arrays.holds_rows(cx, value, call.node):
        return value
    return None


def _parts(cx: Context, call: Arguments) -> list[ArrayLike]:
    if not isinstance(call.values[0], Items):
        raise cx.error(call.node, f"np.{call.name}() takes a tuple of arrays here")
    return [as_array(cx, item, call.place(0), f"np.{call.name}()") for item in call.values[0].items]


def joined(cx: Context, parts: Sequence[ArrayLike], axis: int, node: ast.AST) -> Array | View:
    """The arrays, one behind the other along an axis."""
    for part in parts[1:]:
        if len(part.shape) != len(parts[0].shape):
            raise cx.error(node, f"arrays of {len(parts[0].shape)} and of {len(part.shape)} axes cannot be joined",
                           "NumPy raises ValueError", "give them an axis more: x[:, None], x[None, :]")  # fmt: skip
        for k, (a, b) in enumerate(zip(parts[0].shape, part.shape, strict=True)):
            if k != axis:
                require_same(cx, a, b, node)
    key, cx.extended = cx.extended, None
    longer = None if key is None else extended(cx, key, parts, axis, node)
    if longer is not None:
        return longer
    total: Expr = ZERO
    for part in parts:
        total = add(total, size_of(clipped(cx, part.shape[axis])))
    shape = tuple(as_size(total) if k == axis else size for k, size in enumerate(parts[0].shape))
    result = new_array(cx, shape, common_element(cx, parts, node), node)
    whole = as_view(result)
    begin: Expr = ZERO
    for part in parts:
        size = clipped(cx, part.shape[axis])
        places = tuple(
            replace(p, start=begin) if isinstance(p, Along) and k == axis else p for k, p in enumerate(whole.places)
        )
        window = View(result, places, tuple(size if k == axis else s for k, s in enumerate(whole.shape)))
        assign_elements(cx, window, part, node, node)
        begin = add(begin, size_of(size))
    return result


def _stack(axis: int) -> Handler:
    """`np.stack` and its like for arrays of one axis: each one is a row, or a column."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1, 2, ("axis",))
        chosen = call.get(1, "axis")
        if (rows := _rows(cx, call)) is not None and axis == 0 and chosen in (None, Literal(0)):
            return row_arrays.stacked(cx, rows, call.node)
        parts = _parts(cx, call)
        where = axis if chosen is None else axes_of(cx, chosen, len(parts[0].shape) + 1, call.node)[0]
        raised = []
        for part in parts:
            view = view_of(cx, part, call.node, f"np.{call.name}()")
            raised.append(_with_axis(view, where))
        return joined(cx, raised, where, call.node)

    return handler


def _vstack(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    if (rows := _rows(cx, call)) is not None:
        is_flat = row_arrays.axes_of_rows(cx, rows, call.node) == 1
        return (row_arrays.stacked if is_flat else _joined_first)(cx, rows, call.node)
    parts = _parts(cx, call)
    if all(len(part.shape) == 1 for part in parts):
        return _stack(0)(cx, call)
    views = (view_of(cx, part, call.node, "np.vstack()") for part in parts)
    return joined(cx, [one if len(one.shape) > 1 else _with_axis(one, 0) for one in views], 0, call.node)


def _joined_first(cx: Context, rows: ListValue, node: ast.AST) -> Array:
    return row_arrays.joined(cx, rows, 0, node)


def _hstack(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    if (rows := _rows(cx, call)) is not None:
        axis = 0 if row_arrays.axes_of_rows(cx, rows, call.node) == 1 else 1
        return row_arrays.joined(cx, rows, axis, call.node)
    parts = _parts(cx, call)
    return joined(cx, parts, 0 if len(parts[0].shape) == 1 else 1, call.node)


def _column_stack(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    parts = _parts(cx, call)
    if all(len(part.shape) == 1 for part in parts):
        return _stack(1)(cx, call)
    views = (view_of(cx, part, call.node, "np.column_stack()") for part in parts)
    return joined(cx, [one if len(one.shape) > 1 else _with_axis(one, 1) for one in views], 1, call.node)


MANIPULATION: dict[Any, Handler] = {
    np.transpose: _transpose, np.swapaxes: _swapaxes, np.expand_dims: _expand_dims, np.reshape: _reshape,
    np.ravel: _ravel,
    np.concatenate: _concatenate, np.stack: _stack(0), np.vstack: _vstack, np.hstack: _hstack,
    np.column_stack: _column_stack,
}  # fmt: skip

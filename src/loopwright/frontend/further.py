"""NumPy's functions that fewer programs call, and that need more than the language: what they give depends on how many
arguments or axes there are, or on a text. Splits, `np.einsum`, `np.select`, `np.ix_`, and methods of ufuncs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from loopwright.frontend import operators, singular_vectors
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.arrays import fill_constant
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, convert
from loopwright.frontend.creation import as_array
from loopwright.frontend.decompositions import svdvals
from loopwright.frontend.elementwise import check, made, nest, new_array, reads_of, require_same
from loopwright.frontend.inline import inline_function
from loopwright.frontend.manipulation import transpose, view_of
from loopwright.frontend.reductions import ANY, REDUCTIONS, SUM, axes_of, reduced
from loopwright.frontend.ufuncs import BY_ELEMENT, common_type, in_type
from loopwright.frontend.values import ArrayLike, Fixed, Items, Literal, Number, SliceIndex, Value, View
from loopwright.frontend.views import (
    ONE,
    ZERO,
    add,
    at_most_one,
    element_at,
    is_array,
    moved,
    multiply,
    size_of,
    sliced,
    steady,
)
from loopwright.ir.nodes import Binary, Compare, Const, Expr, Load, Store
from loopwright.ir.types import BOOL, INT64

Handler = Callable[[Context, Arguments], Value]

# ---- parts -------------------------------------------------------------------------------------------------------


def _split(fixed_axis: int | None, is_even: bool = True) -> Handler:
    """`np.split` and its like: a list of views. fixed_axis: along which they go; is_even: in equal parts only."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 2, 3, ("indices_or_sections", "axis"))
        node = call.node
        array = view_of(cx, call.values[0], node, f"np.{call.name}()")
        given = call.get(1, "indices_or_sections")
        axis = fixed_axis
        if axis is None:
            (axis,) = axes_of(cx, call.get(2, "axis") or Literal(0), len(array.shape), node)
        if call.name == "hsplit" and len(array.shape) == 1:
            axis = 0
        ends = _ends(cx, array, axis, given, is_even, call)
        starts: list[Expr | None] = [None, *ends]
        whole = SliceIndex(None, None, None)
        parts = []
        for start, end in zip(starts, [*ends, None], strict=True):
            low, high = (None if one is None else Number(one, weak=True) for one in (start, end))
            index: list[Value] = [whole] * len(array.shape)
            index[axis] = SliceIndex(low, high, None)
            parts.append(sliced(cx, array, index, [], node))
        return Items(tuple(parts), is_list=True)

    return handler


def _ends(cx: Context, array: View, axis: int, given: Value | None, is_even: bool, call: Arguments) -> list[Expr]:
    """Where all parts but the last one end."""
    size, node = size_of(array.shape[axis]), call.node
    if isinstance(given, Items):
        return [cx.once(as_index(cx, one, node, "a place to split at"), cx.at(node)) for one in given.items]
    if not isinstance(given, Literal) or not 0 < int(given.value) <= 64:
        raise cx.error(node, f"np.{call.name}() takes a number of parts that is known at compile time, or a list",
                       remedy="write slices in a loop: a[k * m : (k + 1) * m]")  # fmt: skip
    count, parts = int(given.value), Const(int(given.value), INT64)
    each = cx.temporary(Binary("floordiv", size, parts), cx.at(node))
    over = cx.temporary(Binary("mod", size, parts), cx.at(node))
    cx.natural |= {each.name, over.name}
    if is_even:
        check(cx, Compare("eq", over, ZERO), "shape", node)
        return [multiply(Const(k, INT64), each) for k in range(1, count)]
    return [add(multiply(Const(k, INT64), each), Binary("min", Const(k, INT64), over)) for k in range(1, count)]


def _squeeze(cx: Context, call: Arguments) -> Value:
    """`np.squeeze(a, axis=None)`: a view without the axes of one element."""
    call.expect(cx, 1, 2, ("axis",))
    node, array = call.node, view_of(cx, call.values[0], call.node, "np.squeeze()")
    axis = call.get(1, "axis")
    if axis is None or axis == Fixed(None):
        gone = [k for k, size in enumerate(array.shape) if at_most_one(cx, size_of(size))]
        for k, size in enumerate(array.shape):
            if isinstance(size, Number):
                check(cx, Compare("eq" if k in gone else "ne", size_of(size), ONE), "shape", node)
    else:
        gone = list(axes_of(cx, axis, len(array.shape), node))
        for k in gone:
            check(cx, Compare("eq", size_of(array.shape[k]), ONE), "shape", node)
    kept = [k for k in range(len(array.shape)) if k not in gone]
    places = tuple(
        moved(place, lambda one: replace(one, axis=kept.index(one.axis)) if one.axis in kept else one.start)
        for place in array.places
    )
    return View(array.array, places, tuple(array.shape[k] for k in kept)) if kept else element_at(
        cx, array, [ZERO] * len(array.shape), node
    )  # fmt: skip


def _moveaxis(cx: Context, call: Arguments) -> Value:
    """`np.moveaxis(a, source, destination)` of one axis."""
    call.expect(cx, 3)
    array = as_array(cx, call.values[0], call.place(0), "np.moveaxis()")
    (source,), (to,) = (axes_of(cx, one, len(array.shape), call.node) for one in call.values[1:])
    order = [k for k in range(len(array.shape)) if k != source]
    order.insert(to, source)
    return transpose(cx, array, Items(tuple(map(Literal, order))), call.node)


def _ix(cx: Context, call: Arguments) -> Value:
    """`np.ix_(p, q)`: each along an axis of its own."""
    parts: list[Value] = []
    for k, value in enumerate(call.values):
        array = view_of(cx, value, call.place(k), "np.ix_()")
        if len(array.shape) != 1 or array.element.kind == "bool":
            raise cx.error(call.place(k), "np.ix_() takes arrays of integers with one axis here")
        index: list[Value] = [Fixed(None)] * len(call.values)
        index[k] = SliceIndex(None, None, None)
        parts.append(sliced(cx, array, index, [], call.node))
    return Items(tuple(parts))


def _isscalar(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    return Literal(isinstance(call.values[0], Literal | Number))


def _issubdtype(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    given: list[Any] = [value.value for value in call.values if isinstance(value, Fixed)]
    if len(given) != 2:
        raise cx.error(call.node, "np.issubdtype() takes two types", remedy="np.issubdtype(a.dtype, np.floating)")
    return Literal(bool(np.issubdtype(given[0], given[1])))


def _select(cx: Context, call: Arguments) -> Value:
    """`np.select(conditions, choices, default)`: the first choice whose condition holds."""
    call.expect(cx, 2, 3, ("default",))
    conditions, choices = call.values[:2]
    if not isinstance(conditions, Items) or not isinstance(choices, Items):
        raise cx.error(call.node, "np.select() takes two lists here")
    result = call.get(2, "default") or Literal(0)
    result = in_type(cx, result, common_type(cx, [*choices.items, result], call), call.node)
    for condition, choice in reversed(list(zip(conditions.items, choices.items, strict=True))):
        result = BY_ELEMENT[np.where](cx, replace(call, name="where", values=(condition, choice, result), named={}))
    return result


# ---- einsum ------------------------------------------------------------------------------------------------------


def _einsum(cx: Context, call: Arguments) -> Value:
    """`np.einsum("ij,jk->ik", a, b)`: sums of products over the letters that the result does not have."""
    inputs, output = _letters(cx, call)
    node = call.node
    arrays = [steady(cx, as_array(cx, one, node, "np.einsum()"), node) for one in call.values[1:]]
    if len(inputs) != len(arrays) or any(len(a) != len(b.shape) for a, b in zip(inputs, arrays, strict=False)):
        raise cx.error(node, "np.einsum() needs a letter for each axis of each array")
    sizes: dict[str, Literal | Number] = {}
    for letters, array in zip(inputs, arrays, strict=True):
        for letter, size in zip(letters, array.shape, strict=True):
            if letter in sizes:
                require_same(cx, sizes[letter], size, node)
            sizes.setdefault(letter, size)
    if any(letter not in sizes for letter in output):
        raise cx.error(node, "the result of np.einsum() has a letter that no array has")
    summed = [letter for letter in sizes if letter not in output]

    def product(cx: Context, place: dict[str, Expr]) -> Number:
        values = (
            element_at(cx, array, [place[one] for one in letters], node)
            for letters, array in zip(inputs, arrays, strict=True)
        )
        total = reduce(lambda a, b: operators.binary_operation(cx, "mul", a, b, node), values)
        assert isinstance(total, Number)
        return total

    return _summed(cx, sizes, output, summed, product, arrays, node)


def _letters(cx: Context, call: Arguments) -> tuple[list[str], str]:
    text = call.values[0] if call.values else None
    if not isinstance(text, Fixed) or not isinstance(text.value, str) or "." in text.value or call.named:
        raise cx.error(call.node, "np.einsum() takes a text of letters and arrays here", remedy="write the loops out")
    left, arrow, right = text.value.replace(" ", "").partition("->")
    letters = left.replace(",", "")
    if not arrow:
        right = "".join(sorted(one for one in set(letters) if letters.count(one) == 1))
    return left.split(","), right


def _summed(
    cx: Context, sizes: dict[str, Literal | Number], output: str, summed: list[str],
    product: Callable[[Context, dict[str, Expr]], Number], arrays: Sequence[ArrayLike], node: ast.AST,
) -> Value:  # fmt: skip
    reads: frozenset[str] = frozenset().union(*(reads_of(array) for array in arrays))
    order = [*output, *summed]

    def element(cx: Context, index: Sequence[Expr]) -> Number:
        return product(cx, dict(zip(order, index, strict=True)))

    products = made(cx, tuple(sizes[letter] for letter in order), element, reads)
    if not summed:
        return products
    kind = products.element
    if not output:
        how = ANY if kind == BOOL else SUM
        return reduced(cx, how, products, range(len(order)), False, node, kind if kind.is_integer else None)
    result = new_array(
        cx, tuple(sizes[one] for one in output), kind, node, fill=fill_constant(cx, Literal(0), kind, node)
    )
    loops = [*output[:-1], *summed, output[-1]]  # in this order most are read along their rows

    def body(index: list[Expr]) -> None:
        place = dict(zip(loops, index, strict=True))
        outer = tuple(place[one] for one in output)
        old = Number(Load(result.name, outer, kind, at=cx.at(node)), weak=False)
        new = Number(convert(cx, product(cx, place), kind, node), weak=False)
        total = operators.binary_operation(cx, "add", old, new, node)
        assert isinstance(total, Number)
        cx.emit(Store(result.name, outer, total.expr, at=cx.at(node)))

    nest(cx, tuple(sizes[one] for one in loops), body, node)
    return result


# ---- methods of ufuncs -------------------------------------------------------------------------------------------

_REDUCED: dict[Any, Any] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.logical_and: np.all, np.logical_or: np.any,
}  # fmt: skip


def method_of_ufunc(cx: Context, function: np.ufunc, call: Arguments) -> Value:
    """`np.add.reduce(a)`, `np.maximum.accumulate(a)`, `np.add.at(a, p, b)`."""
    values: tuple[Value, ...] = (Fixed(function), *call.values)
    if call.name == "reduce" and function in _REDUCED:
        if len(call.values) > 2:
            raise cx.error(call.node, f"np.{function.__name__}.reduce() takes an array and an axis here",
                           remedy="write: dtype=..., keepdims=..., or initial=...")  # fmt: skip
        axis = call.get(1, "axis") or Literal(0)
        rest = {name: value for name, value in call.named.items() if name != "axis"}
        return REDUCTIONS[_REDUCED[function]](cx, replace(call, values=call.values[:1], named={**rest, "axis": axis}))
    if call.name == "accumulate":
        along = _accumulate_sums if function in (np.add, np.multiply) else _accumulate
        return inline_function(cx, along, replace(call, values=values))
    if call.name == "at":
        return inline_function(cx, _at, replace(call, values=values))
    raise cx.error(call.node, f"np.{function.__name__}.{call.name}() is outside the language", remedy="write a loop")


def _accumulate(function: Any, array: Any) -> Any:
    return _accumulate_as(function, array, array.dtype)


def _accumulate_sums(function: Any, array: Any) -> Any:
    return _accumulate_as(function, array, array[:0].sum().dtype)


def _accumulate_as(function: Any, array: Any, dtype: Any) -> Any:
    result = np.empty(array.shape, dtype)
    result[:1] = array[:1]
    for i in range(1, array.shape[0]):
        result[i] = function(result[i - 1], array[i])
    return result


def _at(function: Any, a: Any, indices: Any, b: Any) -> None:
    if np.ndim(indices) == 0:
        a[indices] = function(a[indices], b)
    elif np.ndim(b) == 0:
        for i in indices:
            a[i] = function(a[i], b)
    else:
        if len(indices) != len(b):
            raise ValueError("array is not broadcastable to correct shape")
        for k in range(len(indices)):
            a[indices[k]] = function(a[indices[k]], b[k])


def _svd(cx: Context, call: Arguments) -> Value:
    if call.get(2, "compute_uv") == Literal(False):
        return inline_function(cx, svdvals, replace(call, values=call.values[:1], named={}))
    named = {name: value for name, value in call.named.items() if name != "compute_uv"}
    return inline_function(cx, singular_vectors.svd, replace(call, values=call.values[:2], named=named))


def _frombuffer(cx: Context, call: Arguments) -> Value:
    """`np.frombuffer(x, dtype)` of bytes or of an array: its elements in C order, seen as numbers of another type."""
    if not call.values:
        raise cx.error(call.node, "np.frombuffer() takes bytes or an array")
    return inline_function(cx, _of_array if is_array(call.values[0]) else _of_bytes, call)


def _of_bytes(buffer: Any, dtype: Any = np.float64) -> Any:
    return np.array(buffer, np.uint8).view(dtype)


def _of_array(buffer: Any, dtype: Any = np.float64) -> Any:
    return buffer.ravel().view(dtype)


HANDLERS: dict[Any, Handler] = {
    np.split: _split(None), np.array_split: _split(None, is_even=False), np.vsplit: _split(0), np.hsplit: _split(1),
    np.dsplit: _split(2), np.squeeze: _squeeze, np.moveaxis: _moveaxis, np.ix_: _ix, np.select: _select,
    np.isscalar: _isscalar, np.issubdtype: _issubdtype,
    np.einsum: _einsum, np.frombuffer: _frombuffer, np.linalg.svd: _svd,
}  # fmt: skip

"""Products of vectors and matrices, as their loops; norms."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from loopwright.deferred import deferred
from loopwright.frontend import operators, promote
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.arrays import fill_constant
from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.creation import as_array
from loopwright.frontend.elementwise import (
    assign_elements,
    broadcast,
    made,
    map_elements,
    materialised,
    nest,
    new_array,
    reads_of,
    require_same,
)
from loopwright.frontend.inline import inline_function
from loopwright.frontend.manipulation import flattened, view_of
from loopwright.frontend.reductions import ANY, SUM, axes_of, reduced, square_of
from loopwright.frontend.ufuncs import ufunc_of
from loopwright.frontend.values import Array, ArrayLike, Elementwise, Fixed, Items, Literal, Mixed, Number, Value, View
from loopwright.frontend.views import ZERO, element_at, is_array
from loopwright.ir.nodes import Call, Expr, Load, Store
from loopwright.ir.types import BOOL, FLOAT64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.frontend import more
else:
    more = deferred("loopwright.frontend.more")

Handler = Callable[[Context, Arguments], Value]


def product_of(cx: Context, left: Value, right: Value, node: ast.AST, what: str = "'@'") -> Value:
    """`a @ b`: the product of vectors and matrices; of more axes, the products of the matrices in stacks."""
    a, b = as_array(cx, left, node, what), as_array(cx, right, node, what)
    rows, columns = len(a.shape), len(b.shape)
    if min(rows, columns) > 1 and max(rows, columns) > 2:
        return _stacked_product(cx, _read_often(cx, a, node), _read_often(cx, b, node), node)
    return _dot_product(cx, a, b, max(columns - 2, 0), node)


def _dot_product(cx: Context, a: ArrayLike, b: ArrayLike, axis: int, node: ast.AST) -> Value:
    """The sum over the last axis of `a` and one axis of `b`, for each place on their other axes: three loops."""
    rows, columns = len(a.shape), len(b.shape)
    a = a if columns == 1 and isinstance(a, Elementwise) else _read_often(cx, a, node)  # each element is read once
    b = b if rows == 1 and isinstance(b, Elementwise) else _read_often(cx, b, node)
    require_same(cx, a.shape[-1], b.shape[axis], node)
    outer_a, outer_b = a.shape[:-1], (*b.shape[:axis], *b.shape[axis + 1 :])
    kind = promote.binary("mul", promote.NumberType(a.element, False), promote.NumberType(b.element, False))[0]

    def at_pair(cx: Context, i: Sequence[Expr], j: Sequence[Expr], k: Expr) -> Number:
        x = element_at(cx, a, [*i, k], node)
        y = element_at(cx, b, [*j[:axis], k, *j[axis:]], node)
        product = operators.binary_operation(cx, "mul", x, y, node)
        assert isinstance(product, Number)
        return product

    if rows == columns == 1:
        pair = made(cx, (a.shape[0],), lambda cx, index: at_pair(cx, [], [], index[0]), reads_of(a) | reads_of(b))
        if kind == BOOL:
            return reduced(cx, ANY, pair, [0], False, node)
        return reduced(cx, SUM, pair, [0], False, node, kind if kind.is_integer or kind == FLOAT64 else None)
    zero = fill_constant(cx, Literal(0), kind, node)
    result = new_array(cx, (*outer_a, *outer_b), kind, node, fill=zero)
    depth = a.shape[-1]

    def body(index: list[Expr]) -> None:
        i, k, j = index[: len(outer_a)], index[len(outer_a)], index[len(outer_a) + 1 :]
        outer = (*i, *j)
        old = Load(result.name, outer, kind, at=cx.at(node))
        new = convert(cx, at_pair(cx, i, j, k), kind, node)
        cx.emit(Store(result.name, outer, _added(cx, old, new, node), at=cx.at(node)))

    nest(cx, (*outer_a, depth, *outer_b), body, node)  # in this order both are read along their rows
    return result


def _added(cx: Context, old: Expr, new: Expr, node: ast.AST) -> Expr:
    """A sum so far and one more product, of one type."""
    total = operators.binary_operation(cx, "add", Number(old, weak=False), Number(new, weak=False), node)
    assert isinstance(total, Number)
    return total.expr


def _read_often(cx: Context, array: ArrayLike, node: ast.AST) -> Array | View:
    """An operand whose elements are read again and again: computed once, and found without a division."""
    if isinstance(array, Elementwise):
        return materialised(cx, array, node)
    if isinstance(array, View) and any(isinstance(place, Mixed) for place in array.places):
        return materialised(cx, array, node)
    return array


def _stacked_product(cx: Context, a: ArrayLike, b: ArrayLike, node: ast.AST) -> Value:
    """The products of matrices in stacks, which are broadcast."""
    require_same(cx, a.shape[-1], b.shape[-2], node)
    stack = broadcast(cx, [a.shape[:-2], b.shape[:-2]], node)
    kind = promote.binary("mul", promote.NumberType(a.element, False), promote.NumberType(b.element, False))[0]
    result = new_array(
        cx, (*stack, a.shape[-2], b.shape[-1]), kind, node, fill=fill_constant(cx, Literal(0), kind, node)
    )

    def body(index: list[Expr]) -> None:
        *outer, i, k, j = index

        def own(array: ArrayLike) -> list[Expr]:
            mine = outer[len(outer) - (len(array.shape) - 2) :]
            return [ZERO if size == Literal(1) else part for part, size in zip(mine, array.shape, strict=False)]

        x = element_at(cx, a, [*own(a), i, k], node)
        y = element_at(cx, b, [*own(b), k, j], node)
        place = (*outer, i, j)
        product = operators.binary_operation(cx, "mul", x, y, node)
        assert isinstance(product, Number)
        old = Load(result.name, place, kind, at=cx.at(node))
        total = _added(cx, old, convert(cx, product, kind, node), node)
        cx.emit(Store(result.name, place, total, at=cx.at(node)))

    nest(cx, (*stack, a.shape[-2], a.shape[-1], b.shape[-1]), body, node)
    return result


Product = Callable[[Context, ArrayLike, ArrayLike, ast.AST], Value]


def _called(product: Product, takes_numbers: bool = True) -> Handler:
    """`np.dot(a, b)` and its like: a product with a number is one of each element."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 2, 3, ("out",))
        a, b = call.values[:2]
        what, out, node = f"np.{call.name}()", call.get(2, "out"), call.node
        if out is not None and not (is_array(a) and is_array(b)):
            raise cx.error(node, f"{what} takes two arrays beside 'out' here", remedy="out[:] = a * b")
        if not (is_array(a) and is_array(b)) and not isinstance(a, Items) and not isinstance(b, Items):
            if not takes_numbers:
                raise cx.error(node, f"{what} takes two arrays", "NumPy raises ValueError", "write a * b")
            a, b = (_typed(cx, one, node) for one in (a, b))
            return ufunc_of(cx, np.multiply, replace(call, name="multiply", values=(a, b), named={}))
        result = product(cx, as_array(cx, a, node, what), as_array(cx, b, node, what), node)
        if out is None:
            return result
        assign_elements(cx, view_of(cx, out, node, "'out'"), result, node, node)
        return out

    return handler


def _typed(cx: Context, value: Value, node: ast.AST) -> Value:
    """A Python number as NumPy's, which it is made to be beside an array."""
    return replace(operators.scalar_of(cx, value, node), weak=False) if isinstance(value, Literal | Number) else value


def _dot(cx: Context, a: ArrayLike, b: ArrayLike, node: ast.AST) -> Value:
    return _dot_product(cx, a, b, max(len(b.shape) - 2, 0), node)


def _inner(cx: Context, a: ArrayLike, b: ArrayLike, node: ast.AST) -> Value:
    return _dot_product(cx, a, b, len(b.shape) - 1, node)


def _outer(cx: Context, call: Arguments) -> Value:
    """`np.outer(a, b)`: of all elements of each, in the order of memory."""
    call.expect(cx, 2)
    flat = (flattened(cx, as_array(cx, value, call.node, "np.outer()"), call.node) for value in call.values)
    return outer_of(cx, np.multiply, replace(call, values=tuple(flat)))


def outer_of(cx: Context, function: np.ufunc, call: Arguments) -> Value:
    """`np.add.outer(a, b)`: the function of every element of one and every element of the other."""
    call.expect(cx, 2)
    a, b = (view_of(cx, value, call.node, f"np.{call.name}()") for value in call.values)
    column = View(a.array, a.places, (*a.shape, *[Literal(1)] * len(b.shape)))
    return ufunc_of(cx, function, replace(call, name=function.__name__, values=(column, b)))


def _norm(cx: Context, call: Arguments) -> Value:
    """`np.linalg.norm(x)`: the root of the sum of squares, of all elements or along an axis."""
    call.expect(cx, 1, 2, ("axis", "keepdims", "ord"))
    order = call.get(1, "ord")
    array = as_array(cx, call.values[0], call.place(0), "np.linalg.norm()")
    of_matrix = len(array.shape) > 1 and "axis" not in call.named
    if of_matrix and order is not None and order in (Literal(2), Literal(-2), Fixed("nuc")):
        return inline_function(cx, more.norm_of_singular_values, replace(call, values=(array, order), named={}))
    if order is not None and order not in (Fixed(None), Literal(2)):
        return inline_function(cx, more.norm, replace(call, values=(array, *call.values[1:])))
    kind = array.element if array.element.is_float else array.element.part if array.element.is_complex else FLOAT64
    given = array.element if array.element.is_complex else kind

    def square(cx: Context, x: Literal | Number) -> Number:
        return Number(square_of(cx, convert(cx, x, given, call.node), call.node), weak=False)

    axes = axes_of(cx, call.named.get("axis"), len(array.shape), call.node)
    keepdims = call.named.get("keepdims") == Literal(True)
    total = reduced(cx, SUM, map_elements(cx, square, [array], call.node), axes, keepdims, call.node)

    def root(cx: Context, x: Number) -> Number:
        return Number(Call("sqrt", (x.expr,), kind), weak=False)

    return root(cx, total) if isinstance(total, Number) else map_elements(cx, root, [total], call.node)


dot = _called(_dot)

PRODUCTS: dict[Any, Handler] = {
    np.dot: dot, np.matmul: _called(product_of, takes_numbers=False),
    np.inner: _called(_inner), np.outer: _outer, np.linalg.norm: _norm,
}  # fmt: skip

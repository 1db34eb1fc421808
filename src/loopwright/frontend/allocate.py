"""Local arrays: np.zeros, empty, ones, full and their `_like`. Sizes are fixed when the array is made."""

from __future__ import annotations

import ast

import numpy as np

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.arrays import fill_constant, size_expr
from loopwright.frontend.builtin_functions import Handler
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, as_number, convert
from loopwright.frontend.numpy_functions import scalar_of_dtype
from loopwright.frontend.record_arrays import new_records
from loopwright.frontend.values import Array, ArrayLike, Fixed, Items, Literal, Number, Records, Value, describe
from loopwright.frontend.views import shape_of
from loopwright.ir.nodes import Allocate, Const, Expr, For, Store, Var
from loopwright.ir.types import FLOAT64, INT64, Scalar


def _new(name: str, fill: float | None) -> Handler:
    """`np.zeros(shape, dtype=float)` and the like."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 0, 3, ("shape", "dtype", "order"))
        shape = call.get(0, "shape")
        if shape is None:
            raise cx.error(call.node, f"np.{name}() needs a shape")
        if (records := _of_records(call.get(1, "dtype"))) is not None:
            return new_records(cx, records, _sizes(cx, shape, call), fill, call.node)
        element = _dtype(cx, call, 1, FLOAT64)
        value = None if fill is None else Literal(fill)
        return _allocate(cx, call, _sizes(cx, shape, call), element, value)

    return handler


def _of_records(dtype: Value | None) -> np.dtype[np.void] | None:
    """The dtype of arrays of records that an argument names."""
    found = dtype.value if isinstance(dtype, Fixed) else None
    return found if isinstance(found, np.dtype) and found.names else None


def _full(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 0, 4, ("shape", "fill_value", "dtype", "order"))
    shape, value = call.get(0, "shape"), call.get(1, "fill_value")
    if shape is None or value is None:
        raise cx.error(call.node, "np.full() needs a shape and a value")
    number = as_number(cx, value, call.node)
    element = _dtype(cx, call, 2, number.number_type.type)
    return _allocate(cx, call, _sizes(cx, shape, call), element, number)


def _like(name: str, fill: float | None) -> Handler:
    """`np.zeros_like(a, dtype=None)` and the like."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1, 2, ("dtype", "order"))
        given = call.values[0]
        if isinstance(given, Records) and given.shape and given.dtype is not None and call.get(1, "dtype") is None:
            return new_records(cx, given.dtype, given.shape, fill, call.node)
        model = _model(cx, call)
        value = None if fill is None else Literal(fill)
        return _allocate(cx, call, _sizes(cx, _shape(cx, model), call), _dtype(cx, call, 1, model.element), value)

    return handler


def _full_like(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 3, ("fill_value", "dtype", "order"))
    model, value = _model(cx, call), call.get(1, "fill_value")
    if value is None:
        raise cx.error(call.node, "np.full_like() needs a value")
    element = _dtype(cx, call, 2, model.element)
    return _allocate(cx, call, _sizes(cx, _shape(cx, model), call), element, as_number(cx, value, call.node))


def _model(cx: Context, call: Arguments) -> ArrayLike:
    model = call.values[0]
    if not isinstance(model, ArrayLike):
        raise cx.error(call.place(0), f"np.{call.name}() needs an array", f"this is {describe(model)}",
                       "give the shape: np.zeros(n)")  # fmt: skip
    return model


def _shape(cx: Context, model: ArrayLike) -> Items:
    return Items(shape_of(cx, model))


def _dtype(cx: Context, call: Arguments, position: int, default: Scalar) -> Scalar:
    call.in_c_order(cx, position + 1, ("K", "A"))
    given = call.get(position, "dtype")
    if given is None or (isinstance(given, Fixed) and given.value is None):
        return default
    place = next((keyword.value for keyword in call.node.keywords if keyword.arg == "dtype"), None)
    return scalar_of_dtype(cx, given, place or call.place(position))


def _sizes(cx: Context, shape: Value, call: Arguments) -> tuple[Literal | Number, ...]:
    """The sizes, each of which may be used any number of times from now on."""
    sizes: list[Literal | Number] = []
    for item in shape.items if isinstance(shape, Items) else (shape,):
        size = as_index(cx, item, call.place(0), "a size")
        if isinstance(size, Const) and isinstance(size.value, int):
            if size.value < 0:
                raise cx.error(call.place(0), "a size must not be negative")
            sizes.append(Literal(size.value))
        else:
            frozen = size if cx.is_stable(size) else cx.temporary(size, cx.at(call.node))
            sizes.append(Number(frozen, weak=True))
    return tuple(sizes)


def _allocate(
    cx: Context, call: Arguments, sizes: tuple[Literal | Number, ...], element: Scalar, fill: Literal | Number | None
) -> Array:
    name = cx.new_name(cx.frame.prefix + _hint(cx, call.node))
    shape = tuple(size_expr(cx, size, call.node) for size in sizes)
    constant = fill_constant(cx, fill, element, call.node)
    statement = Allocate(name, element, shape, constant, at=cx.at(call.node))
    computed = None
    if fill is not None and constant is None:
        computed = cx.once(convert(cx, fill, element, call.node), cx.at(call.node))
    cx.emit(statement)
    cx.allocations[name] = (statement, cx.depth)
    cx.made_in[name] = cx.scopes
    if computed is not None:
        _fill(cx, name, shape, computed, call.node)
    return Array(name, element, sizes)


def _hint(cx: Context, node: ast.Call) -> str:
    """The name that the user gives the array, if the call is assigned to one."""
    return cx.target_names.get(id(node), "array")


def _fill(cx: Context, name: str, shape: tuple[Expr, ...], value: Expr, node: ast.AST) -> None:
    """A loop nest that writes a value known at run time only into every element."""
    at = cx.at(node)
    loops = [cx.new_name(f"{name}.fill") for _ in shape]
    index = tuple(Var(loop, INT64) for loop in loops)
    inner: For | Store = Store(name, index, value, at=at)
    for loop, size in zip(reversed(loops), reversed(shape), strict=True):
        inner = For(loop, Const(0, INT64), size, Const(1, INT64), (inner,), at=at)
    cx.emit(inner)


ALLOCATIONS: dict[object, Handler] = {
    np.zeros: _new("zeros", 0),
    np.empty: _new("empty", None),
    np.ndarray: _new("ndarray", None),
    np.ones: _new("ones", 1),
    np.full: _full,
    np.zeros_like: _like("zeros_like", 0),
    np.empty_like: _like("empty_like", None),
    np.ones_like: _like("ones_like", 1),
    np.full_like: _full_like,
}

"""NumPy's functions of arrays, by name, and the methods of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from loopwright.deferred import deferred
from loopwright.frontend import library
from loopwright.frontend.allocate import ALLOCATIONS
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.creation import CREATION, as_array, snapshot
from loopwright.frontend.elementwise import assign_elements, check, map_elements, materialised, reads_of
from loopwright.frontend.grids import GRID_FUNCTIONS
from loopwright.frontend.inline import inline_function
from loopwright.frontend.manipulation import MANIPULATION, flattened, reshaped, transpose, view_of
from loopwright.frontend.numpy_functions import number_method, scalar_of_dtype
from loopwright.frontend.products import PRODUCTS, dot
from loopwright.frontend.reductions import METHODS as REDUCTION_METHODS
from loopwright.frontend.reductions import axes_of, from_the_front
from loopwright.frontend.reinterpreted import viewed
from loopwright.frontend.selection import SELECTION, nonzero
from loopwright.frontend.ufuncs import BY_ELEMENT, round_elements
from loopwright.frontend.values import ArrayLike, Elementwise, Fixed, Items, Literal, Number, Value, is_none
from loopwright.frontend.views import ZERO, as_size, element_at, in_range, is_array, multiply, size_of, steady
from loopwright.ir.nodes import Binary, Compare, Expr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.frontend import more
else:
    more = deferred("loopwright.frontend.more")

Handler = Callable[[Context, Arguments], Value]


_AS_FUNCTIONS: dict[str, Handler] = {"swapaxes": MANIPULATION[np.swapaxes], "dot": dot, "round": round_elements}


def method_of_array(cx: Context, base: ArrayLike, call: Arguments) -> Value:
    """`a.sum(axis=0)`, `a.copy()`, `a.fill(0)`. Raises KernelError for a method that is outside the language."""
    name, node = call.name, call.node
    with_self = replace(call, values=(base, *call.values))
    if name in REDUCTION_METHODS:
        return REDUCTION_METHODS[name](cx, with_self)
    match name:
        case "copy":
            return materialised(cx, base, node)
        case "astype":
            call.expect(cx, 1, 1, ("copy",))
            to = scalar_of_dtype(cx, call.values[0], call.place(0))
            if to == base.element:
                return _same_type(cx, base, call)
            return map_elements(cx, lambda cx, x: number_method(cx, "astype", _strong(x), call), [base], node)
        case "view":
            call.expect(cx, 1)
            return viewed(cx, base, scalar_of_dtype(cx, call.values[0], call.place(0)), node)
        case "fill":
            call.expect(cx, 1)
            assign_elements(cx, view_of(cx, base, node, "fill()"), call.values[0], node, call.place(0))
            return Fixed(None)
        case "ravel" | "flatten":
            call.expect(cx, 0, 1, ("order",))
            call.in_c_order(cx, 0)
            return flattened(cx, base, node, copies=name == "flatten")
        case "reshape":
            call.expect(cx, 1, len(call.values), ("order",))
            call.in_c_order(cx, len(call.values))
            shape = call.values[0] if len(call.values) == 1 else Items(call.values)
            return reshaped(cx, base, shape, node)
        case "transpose":
            order = None if not call.values else call.values[0] if len(call.values) == 1 else Items(call.values)
            return transpose(cx, base, order, node)
        case "conj" | "conjugate":
            return map_elements(cx, lambda cx, x: number_method(cx, name, x, call), [base], node)
        case "clip":
            return BY_ELEMENT[np.clip](cx, with_self)
        case "nonzero":
            return nonzero(cx, base, node)
        case "repeat":
            return _repeat(cx, with_self)
        case "item" if not base.shape:
            return element_at(cx, base, [], node)
        case "item" if len(base.shape) == len(call.values):
            place = [in_range(cx, as_index(cx, one, node, "an index"), size, node)
                     for one, size in zip(call.values, base.shape, strict=True)]  # fmt: skip
            found = element_at(cx, base, place, node)
            return number_method(cx, "item", found, replace(call, values=()))
        case "swapaxes" | "dot" | "round":
            return _AS_FUNCTIONS[name](cx, with_self)
        case "diagonal" | "squeeze":
            return more.HANDLERS[getattr(np, name)](cx, with_self)
        case _:
            function = library.METHODS.get(name) or more.METHODS.get(name)
            if function is None:
                raise cx.error(node, f"'.{name}()' of an array is outside the language")
            return inline_function(cx, function, from_the_front(cx, function, with_self))


def _repeat(cx: Context, call: Arguments) -> Value:
    """`np.repeat(a, repeats, axis=None)`, each element as often."""
    axis = call.get(2, "axis")
    if isinstance(call.values[0], Literal | Number):
        return ALLOCATIONS[np.full](cx, replace(call, name="full", values=call.values[1::-1]))
    if is_array(call.values[-1]) and len(call.values) == 2:
        return inline_function(cx, more.repeat_each, call)
    if axis is None or is_none(axis):
        each = library.repeat_in_a_row if len(getattr(call.values[0], "shape", ())) > 1 else library.repeat
        return inline_function(cx, each, replace(call, values=call.values[:2], named={}))
    call.expect(cx, 2, 3, ("axis",))
    node = call.node
    array = steady(cx, as_array(cx, call.values[0], call.place(0), "np.repeat()"), node)
    (place,) = axes_of(cx, axis, len(array.shape), node)
    times = cx.once(as_index(cx, call.values[1], node, "a number of times"), cx.at(node))
    size = array.shape[place]
    shape = (*array.shape[:place], as_size(multiply(size_of(size), times)), *array.shape[place + 1 :])

    def at(cx: Context, index: Sequence[Expr]) -> Literal | Number:
        own = ZERO if size == Literal(1) else Binary("floordiv", index[place], times)
        return element_at(cx, array, [*index[:place], own, *index[place + 1 :]], node)

    check(cx, Compare("ge", times, ZERO), "negative_size", node)
    return materialised(cx, Elementwise(shape, array.element, at, reads_of(array)), node)


def _same_type(cx: Context, base: ArrayLike, call: Arguments) -> Value:
    """`a.astype(a.dtype, copy=...)`."""
    copy = materialised(cx, base, call.node)
    return copy if call.named.get("copy", Literal(True)) == Literal(True) else snapshot(cx, base, copy)


def _strong(number: Literal | Number) -> Number:
    assert isinstance(number, Number)
    return replace(number, weak=False)


ARRAY_FUNCTIONS: dict[Any, Handler] = {
    **CREATION, **GRID_FUNCTIONS, **MANIPULATION, **SELECTION, **PRODUCTS, **BY_ELEMENT, np.repeat: _repeat,
}  # fmt: skip

"""Arrays that are made: of numbers and lists, of ranges, of other arrays; and what a call takes for an array."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from loopwright.frontend import promote, row_arrays
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.arrays import fill_constant
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, convert
from loopwright.frontend.elementwise import (
    assign_elements,
    check,
    made,
    materialised,
    nest,
    new_array,
    reads_of,
    require_same,
)
from loopwright.frontend.lists import as_elements, elements_of, known
from loopwright.frontend.numpy_functions import scalar_of_dtype
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Items,
    ListValue,
    Literal,
    Number,
    Value,
    View,
    describe,
    is_none,
)
from loopwright.frontend.views import (
    ONE,
    ZERO,
    Size,
    add,
    as_size,
    as_view,
    element_at,
    is_array,
    multiply,
    size_of,
    subtract,
)
from loopwright.ir.made_values import form_of
from loopwright.ir.nodes import ArrayParam, Binary, Call, Cast, Checked, Compare, Const, Expr, Select, Store, Unary
from loopwright.ir.types import FLOAT64, INT64, UINT64, Scalar
from loopwright.ir.walk import statements

Handler = Callable[[Context, Arguments], Value]


def array_of_items(cx: Context, items: Items, node: ast.AST, element: Scalar | None = None) -> Array:
    """`np.array([...])` of numbers, or of lists or arrays of one shape."""
    shape, flat = _shape_of_items(cx, items, node)
    if element is None:
        element = FLOAT64 if not flat else common_element(cx, flat, node)
    result = new_array(cx, shape, element, node)
    arrays = [item for item in flat if is_array(item)]
    depth = len(shape) - (len(arrays[0].shape) if arrays else 0)
    counts = [int(size.value) for size in shape[:depth] if isinstance(size, Literal)]
    for number, item in enumerate(flat):
        index = [Const(int(k), INT64) for k in np.unravel_index(number, counts)] if counts else []
        if isinstance(item, Literal | Number):
            cx.emit(Store(result.name, tuple(index), convert(cx, item, element, node), at=cx.at(node)))
        else:
            assign_elements(cx, as_view(replace(result, index=tuple(index))), item, node, node)
    return result


def _shape_of_items(cx: Context, items: Items, node: ast.AST) -> tuple[tuple[Size, ...], list[Value]]:
    """The shape that lists inside lists have, and what they hold, in order."""
    if not items.items:
        return (Literal(0),), []
    inner: list[tuple[tuple[Size, ...], list[Value]]] = []
    for item in items.items:
        match item:
            case Items():
                inner.append(_shape_of_items(cx, item, node))
            case Literal() | Number():
                inner.append(((), [item]))
            case Array() | View() | Elementwise():
                inner.append((item.shape, [item]))
            case _:
                raise cx.error(node, f"an array of {describe(item)} is outside the language")
    first = inner[0][0]
    for shape, _ in inner[1:]:
        if len(shape) != len(first):
            raise cx.error(node, "the parts of an array differ in shape", "NumPy raises ValueError")
        for a, b in zip(first, shape, strict=True):
            if isinstance(a, Literal) and isinstance(b, Literal) and a != b:
                raise cx.error(node, "the parts of an array differ in shape", "NumPy raises ValueError")
            require_same(cx, a, b, node)
    return (Literal(len(inner)), *first), [value for _, values in inner for value in values]


def common_element(cx: Context, values: Sequence[Value], node: ast.AST) -> Scalar:
    """The type of an array that holds these numbers, or these arrays' elements."""
    kinds = [
        value.number_type if isinstance(value, Literal | Number) else promote.NumberType(value.element, weak=False)
        for value in values if isinstance(value, Literal | Number | Array | View | Elementwise)
    ]  # fmt: skip
    result = kinds[0].type
    for kind in kinds[1:]:
        result = promote.common(promote.NumberType(result, False), promote.NumberType(kind.type, False)).type
    return result


def rows_of_list(cx: Context, value: ListValue, node: ast.AST) -> Array:
    """A list of tuples as an array, with a row for each. Raises KernelError for tuples with tuples in them."""
    if form_of(value.kind) is not None:
        raise cx.error(node, "an array of a list of tuples with tuples in them is outside the language",
                       remedy="put the numbers into one tuple: (a, b, c), not ((a, b), c)")  # fmt: skip
    parts = elements_of(cx, value, node)
    element = common_element(cx, parts, node)
    result = new_array(cx, (parts[0].shape[0], Literal(len(parts))), element, node)

    def write(index: list[Expr]) -> None:
        for place, part in enumerate(parts):
            item = convert(cx, element_at(cx, part, index, node), element, node)
            cx.emit(Store(result.name, (*index, Const(place, INT64)), item, at=cx.at(node)))

    nest(cx, (parts[0].shape[0],), write, node)
    return result


def as_array(cx: Context, value: Value, node: ast.AST, what: str) -> ArrayLike:
    """An operand as an array; a tuple or a list of numbers is one. Raises KernelError for anything else."""
    if is_array(value):
        assert isinstance(value, ArrayLike)
        return value
    if isinstance(value, ListValue) and row_arrays.holds_rows(cx, value, node):
        return row_arrays.stacked(cx, value, node)
    if isinstance(value, ListValue):
        return rows_of_list(cx, value, node) if known(cx, value, node).is_tuple else as_elements(cx, value, node)
    if isinstance(value, Items):
        return array_of_items(cx, value, node)
    raise cx.error(node, f"{what} needs an array", f"this is {describe(value)}")


def dtype_of(cx: Context, call: Arguments, position: int) -> Scalar | None:
    """The type that a call names with `dtype`, None where it names none."""
    value = call.get(position, "dtype")
    return None if value is None or is_none(value) else scalar_of_dtype(cx, value, call.node)


def _array(cx: Context, call: Arguments) -> Value:
    """`np.array(x, dtype)`: always a copy."""
    call.expect(cx, 1, 2, ("dtype", "copy", "order"))
    call.in_c_order(cx, 3, ("K", "A"))
    element = dtype_of(cx, call, 1)
    value = call.values[0]
    if isinstance(value, Items):
        return array_of_items(cx, value, call.node, element)
    if isinstance(value, Literal | Number):
        return _rank_zero(cx, value, element, call)
    if isinstance(value, Array) and isinstance(call.place(0), ast.ListComp) and element in (None, value.element):
        return value  # nobody else has it
    return materialised(cx, as_array(cx, value, call.place(0), "np.array()"), call.node, element)


def _rank_zero(cx: Context, value: Literal | Number, element: Scalar | None, call: Arguments) -> Value:
    kind = element or value.number_type.type
    return Number(convert(cx, value, kind, call.node), weak=False)


def _as_given(cx: Context, call: Arguments) -> Value:
    """`np.asarray(x, dtype)`: the array itself where it has the type."""
    call.expect(cx, 1, 2, ("dtype", "order"))
    element = dtype_of(cx, call, 1)
    value = call.values[0]
    if isinstance(value, Array | View) and element in (None, value.element):
        return value
    return _array(cx, replace(call, named={k: v for k, v in call.named.items() if k == "dtype"}))


def _contiguous(cx: Context, call: Arguments) -> Value:
    """`np.ascontiguousarray(x, dtype)`: the array itself where it has the type and lies in C order, else a copy."""
    call.expect(cx, 1, 2, ("dtype",))
    element = dtype_of(cx, call, 1)
    value = call.values[0]
    if not isinstance(value, Array | View) or element not in (None, value.element) or not value.shape:
        return _array(cx, call)
    if isinstance(value, Array) and is_dense(cx, value):
        return value
    return snapshot(cx, value, materialised(cx, value, call.node))


def _fortran(cx: Context, call: Arguments) -> Value:
    """`np.asfortranarray(x, dtype)`: a copy, in C order here; of one axis as `np.ascontiguousarray`."""
    value = call.values[0] if call.values else None
    if not isinstance(value, Array | View) or len(value.shape) < 2:
        return _contiguous(cx, call)
    call.expect(cx, 1, 2, ("dtype",))
    element = dtype_of(cx, call, 1)
    if element not in (None, value.element):
        return _array(cx, call)
    return snapshot(cx, value, materialised(cx, value, call.node))


def is_dense(cx: Context, array: Array | View) -> bool:
    """Whether an array is known to have its elements one behind the other, in C order."""
    if isinstance(array, View):
        return False
    if array.name in cx.allocations:
        return True
    known = cx.parameters.get(array.name)
    return isinstance(known, ArrayParam) and known.layout == "C"


def snapshot(cx: Context, source: ArrayLike, copy: Array) -> Array:
    """A copy of what is an array or a view: NumPy may give a view here."""
    if not isinstance(source, Elementwise):
        stores = sum(one.array == copy.name for one in statements(tuple(cx.body), Store))
        cx.snapshots += [(name, copy.name, stores) for name in reads_of(source)]
    return copy


def _copy(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 1, ("order",))
    return materialised(cx, as_array(cx, call.values[0], call.place(0), "np.copy()"), call.node)


def _arange(cx: Context, call: Arguments) -> Value:
    """`np.arange(start, stop, step, dtype)`: of integers exactly, of floats as NumPy computes them."""
    call.expect(cx, int("stop" not in call.named), 4, ("dtype", "start", "stop", "step"))
    given = call.values[:3]
    is_start = len(given) > 1 or "stop" in call.named
    start = call.named.get("start") or (given[0] if given and is_start else Literal(0))
    stop = call.named.get("stop") or (given[1] if len(given) > 1 else given[0])
    step = call.named.get("step") or (given[2] if len(given) > 2 else Literal(1))
    element = dtype_of(cx, call, 3)
    numbers = [replace(call, values=(value,)).number(cx, 0) for value in (start, stop, step)]
    result = numbers_between(cx, numbers, call.node, element)
    if element is not None and element != result.element:
        return materialised(cx, result, call.node, element)
    return result


def numbers_between(
    cx: Context, numbers: Sequence[Literal | Number], node: ast.AST, element: Scalar | None = None
) -> Elementwise:
    """The numbers from a start to a stop by a step. element: what they are to become; as NumPy does, the first two
    become such, and all others follow from them."""
    kind = numbers[0].number_type
    for number in numbers[1:]:
        kind = promote.common(kind, number.number_type)
    if kind.type.is_float or kind.type == UINT64:
        first, last, delta = (cx.once(convert(cx, number, FLOAT64, node), cx.at(node)) for number in numbers)
        delta = _not_zero(cx, delta, numbers, node)
        steps = Call("ceil", (Binary("truediv", Binary("sub", last, first), delta),), FLOAT64)
        count: Expr = cx.temporary(Binary("max", Cast(steps, INT64), ZERO), cx.at(node))
        next_one: Expr = Binary("add", first, delta)
        if element is not None and element.is_integer:
            first, next_one = (Cast(Cast(one, element), FLOAT64) for one in (first, next_one))
            first = cx.once(first, cx.at(node))
        delta = cx.once(Binary("sub", next_one, first), cx.at(node))
        kind_of = FLOAT64

        def at(cx: Context, index: Sequence[Expr]) -> Number:
            value: Expr = Binary("add", first, Binary("mul", Cast(index[0], FLOAT64), delta))
            return Number(value if kind_of == FLOAT64 else Cast(value, kind_of), weak=False)

    else:
        whole = [cx.once(as_index(cx, number, node, "a bound of np.arange()"), cx.at(node)) for number in numbers]
        low, high, by = whole
        if isinstance(by, Const) and by != ZERO:
            width = abs(int(by.value))
            span = subtract(high, low) if int(by.value) > 0 else subtract(low, high)
            more = add(span, Const(width - 1, INT64))
            count = span if width == 1 else Binary("floordiv", more, Const(width, INT64))
        else:
            by = _not_zero(cx, by, numbers, node)
            up = Binary("floordiv", Binary("sub", Binary("add", Binary("sub", high, low), by), ONE), by)
            down = Binary("floordiv", Binary("sub", Binary("sub", low, high), add(by, ONE)), Binary("sub", ZERO, by))
            count = cx.temporary(Select(Compare("gt", by, ZERO), up, down), cx.at(node))
        kind_of = INT64

        def at(cx: Context, index: Sequence[Expr]) -> Number:
            value = add(multiply(index[0], by), low)
            return Number(value if kind_of == INT64 else Cast(value, kind_of), weak=False)

    return made(cx, (as_size(count),), at, frozenset())


def _not_zero(cx: Context, step: Expr, numbers: Sequence[Literal | Number], node: ast.AST) -> Expr:
    """The step of np.arange(). NumPy divides by it."""
    if isinstance(step, Const) and step.value:
        return step
    zero = Const(0.0 if step.type.is_float else 0, step.type)
    is_pythons = all(number.number_type.weak for number in numbers)
    told = "ZeroDivisionError: division by zero" if is_pythons else "ValueError: Maximum allowed size exceeded"
    tested = Checked(step, Compare("ne", step, zero), "raised", told, at=cx.at(node))
    return cx.temporary(tested, cx.at(node))


def _linspace(cx: Context, call: Arguments) -> Value:
    """`np.linspace(start, stop, num=50, endpoint=True)`."""
    call.expect(cx, 2, 4, ("num", "endpoint", "dtype"))
    at_node = cx.at(call.node)
    first, last = (cx.once(convert(cx, call.number(cx, k), FLOAT64, call.node), at_node) for k in range(2))
    count = cx.once(as_index(cx, call.get(2, "num") or Literal(50), call.node, "a number of elements"), at_node)
    check(cx, Compare("ge", count, ZERO), "negative_size", call.node)
    endpoint = call.get(3, "endpoint") or Literal(True)
    if not isinstance(endpoint, Literal):
        raise cx.error(call.node, "'endpoint' must be known at compile time")
    element = dtype_of(cx, call, 5)
    parts = subtract(count, ONE) if endpoint.value else count
    gaps = Cast(Binary("max", parts, ONE), FLOAT64)
    step = cx.temporary(Binary("truediv", Binary("sub", last, first), gaps), at_node)

    def at(cx: Context, index: Sequence[Expr]) -> Number:
        value: Expr = Binary("add", Binary("mul", Cast(index[0], FLOAT64), step), first)
        if endpoint.value:
            is_last = Binary("and", Compare("eq", index[0], parts), Compare("gt", parts, ZERO))
            value = Select(is_last, last, value)
        if element is not None and element.is_integer:
            value = Call("floor", (value,), FLOAT64)
        return Number(value, weak=False)

    return materialised(cx, made(cx, (as_size(count),), at, frozenset()), call.node, element)


def _identity(cx: Context, call: Arguments) -> Value:
    """`np.identity(n, dtype)`."""
    call.expect(cx, 1, 2, ("n", "dtype"))
    size, dtype = call.get(0, "n"), call.get(1, "dtype")
    assert size is not None
    return _eye(cx, replace(call, values=(size,), named={} if dtype is None else {"dtype": dtype}))


def _eye(cx: Context, call: Arguments) -> Value:
    """`np.eye(N, M, k)`: ones along a diagonal, where the column is the row and `k`."""
    call.expect(cx, 1, 4, ("N", "M", "k", "dtype", "order"))
    call.in_c_order(cx, 4)
    node, at = call.node, cx.at(call.node)
    rows = as_size(cx.once(as_index(cx, call.values[0], node, "a size"), at))
    columns = call.get(1, "M")
    width = rows if columns is None else as_size(cx.once(as_index(cx, columns, node, "a size"), at))
    k = cx.once(as_index(cx, call.get(2, "k") or Literal(0), node, "the number of a diagonal"), at)
    element = dtype_of(cx, call, 3) or FLOAT64
    result = new_array(cx, (rows, width), element, node, fill=fill_constant(cx, Literal(0), element, node))
    one = convert(cx, Literal(1), element, node)
    up: Expr = ZERO
    left: Expr = ZERO
    if k == ZERO:
        count = rows if width == rows else as_size(Binary("min", size_of(rows), size_of(width)))
    else:
        up, left = (cx.once(Binary("max", side, ZERO), at) for side in (Unary("neg", k), k))
        count = as_size(Binary("min", subtract(size_of(rows), up), subtract(size_of(width), left)))

    def write(index: list[Expr]) -> None:
        cx.emit(Store(result.name, (add(index[0], up), add(index[0], left)), one, at=at))

    nest(cx, (count,), write, node)
    return result


CREATION: dict[Any, Handler] = {
    np.array: _array, np.asarray: _as_given, np.asanyarray: _as_given,
    np.ascontiguousarray: _contiguous, np.asfortranarray: _fortran,
    np.copy: _copy, np.arange: _arange,
    np.linspace: _linspace, np.eye: _eye, np.identity: _identity,
}  # fmt: skip

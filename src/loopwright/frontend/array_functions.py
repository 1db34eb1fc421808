"""NumPy's functions that make, choose from, join and multiply arrays, and the methods of arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from loopwright.frontend import library, operators, promote
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.array_names import is_written_through
from loopwright.frontend.arrays import fill_constant
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, convert, default_type
from loopwright.frontend.elementwise import (
    any_array,
    as_bool,
    assign_elements,
    broadcast,
    check,
    made,
    map_elements,
    materialised,
    may_meet,
    nest,
    new_array,
    reads_of,
    require_same,
)
from loopwright.frontend.numpy_functions import number_method, scalar_of_dtype, ufunc_call
from loopwright.frontend.reductions import METHODS as REDUCTION_METHODS
from loopwright.frontend.reductions import SUM, accumulator, as_array, axes_of, reduced
from loopwright.frontend.values import (
    Along,
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    Literal,
    Number,
    Value,
    View,
    describe,
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
    in_range,
    is_array,
    moved,
    multiply,
    place_of,
    reshaped_view,
    size_of,
    steady,
    subtract,
    transposed,
)
from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    If,
    Load,
    Select,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.types import BOOL, FLOAT64, INT64, Scalar
from loopwright.ir.walk import subexpressions

Handler = Callable[[Context, Arguments], Value]


# ---- arrays that are made -------------------------------------------------------------------------------------


def array_of_items(cx: Context, items: Items, node: ast.AST, element: Scalar | None = None) -> Array:
    """`np.array([...])` of numbers, or of lists or arrays of one shape."""
    shape, flat = _shape_of_items(cx, items, node)
    if element is None:
        element = FLOAT64 if not flat else _common(cx, flat, node)
    result = new_array(cx, shape, element, node)
    arrays = [item for item in flat if is_array(item)]
    depth = len(shape) - (len(arrays[0].shape) if arrays else 0)  # type: ignore[union-attr]
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
            require_same(cx, a, b, node)
    return (Literal(len(inner)), *first), [value for _, values in inner for value in values]


def _common(cx: Context, values: Sequence[Value], node: ast.AST) -> Scalar:
    kinds = [
        value.number_type if isinstance(value, Literal | Number) else promote.NumberType(value.element, weak=False)
        for value in values if isinstance(value, Literal | Number | Array | View | Elementwise)
    ]  # fmt: skip
    result = kinds[0].type
    for kind in kinds[1:]:
        result = promote.common(promote.NumberType(result, False), promote.NumberType(kind.type, False)).type
    return result


def _dtype(cx: Context, call: Arguments, position: int) -> Scalar | None:
    value = call.get(position, "dtype")
    return None if value is None or value == Fixed(None) else scalar_of_dtype(cx, value, call.node)


def _array(cx: Context, call: Arguments) -> Value:
    """`np.array(x, dtype)`: always a copy."""
    call.expect(cx, 1, 2, ("dtype", "copy", "order", "ndmin"))
    element = _dtype(cx, call, 1)
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
    element = _dtype(cx, call, 1)
    value = call.values[0]
    if isinstance(value, Array | View) and element in (None, value.element):
        return value
    return _array(cx, replace(call, named={k: v for k, v in call.named.items() if k == "dtype"}))


def _contiguous(cx: Context, call: Arguments) -> Value:
    """`np.ascontiguousarray(x, dtype)`: the array itself where it has the type and lies in C order, else a copy."""
    call.expect(cx, 1, 2, ("dtype",))
    element = _dtype(cx, call, 1)
    value = call.values[0]
    if not isinstance(value, Array | View) or element not in (None, value.element) or not value.shape:
        return _array(cx, call)
    if isinstance(value, Array) and _is_dense(cx, value):
        return value
    return snapshot(cx, value, materialised(cx, value, call.node))


def _is_dense(cx: Context, array: Array | View) -> bool:
    """Whether an array is known to have its elements one behind the other, in C order."""
    if isinstance(array, View):
        return False
    if array.name in cx.allocations:
        return True
    known = cx.parameters.get(array.name)
    return isinstance(known, ArrayParam) and known.layout == "C"


def _copy(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 1, ("order",))
    return materialised(cx, as_array(cx, call.values[0], call.place(0), "np.copy()"), call.node)


def _arange(cx: Context, call: Arguments) -> Value:
    """`np.arange(start, stop, step, dtype)`: of integers exactly, of floats as NumPy computes them."""
    call.expect(cx, 1, 4, ("dtype", "start", "stop", "step"))
    given = [value for value in call.values[:3]]
    start = call.named.get("start") or (given[0] if len(given) > 1 else Literal(0))
    stop = call.named.get("stop") or (given[1] if len(given) > 1 else given[0])
    step = call.named.get("step") or (given[2] if len(given) > 2 else Literal(1))
    element = _dtype(cx, call, 3)
    numbers = [replace(call, values=(value,)).number(cx, 0) for value in (start, stop, step)]
    kind = numbers[0].number_type
    for number in numbers[1:]:
        kind = promote.common(kind, number.number_type)
    if kind.type.is_float:
        wide = [Number(cx.once(convert(cx, number, FLOAT64, call.node), cx.at(call.node)), False) for number in numbers]
        first, last, delta = (number.expr for number in wide)
        steps = Call("ceil", (Binary("truediv", Binary("sub", last, first), delta),), FLOAT64)
        count: Expr = cx.temporary(Binary("max", Cast(steps, INT64), ZERO), cx.at(call.node))
        next_one = Binary("add", first, delta)
        delta = cx.once(Binary("sub", next_one, first), cx.at(call.node))
        kind_of = kind.type if not kind.weak else FLOAT64

        def at(cx: Context, index: Sequence[Expr]) -> Number:
            value: Expr = Binary("add", first, Binary("mul", Cast(index[0], FLOAT64), delta))
            return Number(value if kind_of == FLOAT64 else Cast(value, kind_of), weak=False)

    else:
        whole = [cx.once(as_index(cx, number, call.node, "a bound of np.arange()"), cx.at(call.node)) for number in numbers]
        low, high, by = whole
        if by == ONE:
            count = subtract(high, low)
        elif isinstance(by, Const) and int(by.value) > 0:
            count = Binary("floordiv", add(subtract(high, low), Const(int(by.value) - 1, INT64)), by)
        else:
            up = Binary("floordiv", Binary("sub", Binary("add", Binary("sub", high, low), by), ONE), by)
            down = Binary("floordiv", Binary("sub", Binary("sub", low, high), add(by, ONE)), Binary("sub", ZERO, by))
            count = cx.temporary(Select(Compare("gt", by, ZERO), up, down), cx.at(call.node))
        kind_of = kind.type if not kind.weak else INT64

        def at(cx: Context, index: Sequence[Expr]) -> Number:
            value = add(multiply(index[0], by), low)
            return Number(value if kind_of == INT64 else Cast(value, kind_of), weak=False)

    result = made(cx, (as_size(count),), at, frozenset())
    if element is not None and element != result.element:
        return materialised(cx, result, call.node, element)
    return result


def _linspace(cx: Context, call: Arguments) -> Value:
    """`np.linspace(start, stop, num=50, endpoint=True)`."""
    call.expect(cx, 2, 4, ("num", "endpoint", "dtype"))
    at_node = cx.at(call.node)
    first, last = (
        cx.once(convert(cx, call.number(cx, k), FLOAT64, call.node), at_node) for k in range(2)
    )
    count = cx.once(as_index(cx, call.get(2, "num") or Literal(50), call.node, "a number of elements"), at_node)
    check(cx, Compare("ge", count, ZERO), "negative_size", call.node)
    endpoint = call.get(3, "endpoint") or Literal(True)
    if not isinstance(endpoint, Literal):
        raise cx.error(call.node, "'endpoint' must be known when code is made")
    parts = subtract(count, ONE) if endpoint.value else count
    gaps = Cast(Binary("max", parts, ONE), FLOAT64)
    step = cx.temporary(Binary("truediv", Binary("sub", last, first), gaps), at_node)

    def at(cx: Context, index: Sequence[Expr]) -> Number:
        value: Expr = Binary("add", Binary("mul", Cast(index[0], FLOAT64), step), first)
        if endpoint.value:
            is_last = Binary("and", Compare("eq", index[0], parts), Compare("gt", parts, ZERO))
            value = Select(is_last, last, value)
        return Number(value, weak=False)

    return materialised(cx, made(cx, (as_size(count),), at, frozenset()), call.node, _dtype(cx, call, 5))


def _eye(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 2, ("N", "M", "dtype"))
    rows = as_size(cx.once(as_index(cx, call.values[0], call.node, "a size"), cx.at(call.node)))
    columns = call.get(1, "M")
    width = rows if columns is None else as_size(cx.once(as_index(cx, columns, call.node, "a size"), cx.at(call.node)))
    element = _dtype(cx, call, 9) or FLOAT64
    result = new_array(cx, (rows, width), element, call.node, fill=fill_constant(cx, Literal(0), element, call.node))
    shortest = rows if width == rows else as_size(Binary("min", size_of(rows), size_of(width)))
    one = convert(cx, Literal(1), element, call.node)
    nest(cx, (shortest,), lambda index: cx.emit(Store(result.name, (index[0], index[0]), one, at=cx.at(call.node))),
         call.node)  # fmt: skip
    return result


# ---- axes -----------------------------------------------------------------------------------------------------


def _view_of(cx: Context, value: Value, call_node: ast.AST, what: str) -> View:
    array = as_array(cx, value, call_node, what)
    if isinstance(array, Elementwise):
        array = materialised(cx, array, call_node)
    return as_view(array) if isinstance(array, Array) else array


def transpose(cx: Context, value: Value, order: Value | None, node: ast.AST) -> Value:
    """`a.T`, `a.transpose(order)`."""
    array = _view_of(cx, value, node, "a transposition")
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
    array = _view_of(cx, call.values[0], call.node, "np.swapaxes()")
    order = list(range(len(array.shape)))
    a, b = (axes_of(cx, value, len(order), call.node)[0] for value in call.values[1:])
    order[a], order[b] = order[b], order[a]
    return transposed(cx, array, order)


def _expand_dims(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2, 2, ("axis",))
    array = _view_of(cx, call.values[0], call.node, "np.expand_dims()")
    axis = axes_of(cx, call.values[1], len(array.shape) + 1, call.node)[0]
    places = tuple(moved(place, lambda one: replace(one, axis=one.axis + (one.axis >= axis))) for place in array.places)
    return View(array.array, places, (*array.shape[:axis], Literal(1), *array.shape[axis:]))


def reshaped(cx: Context, value: Value, shape: Value, node: ast.AST, *, copies: bool = False, shows: bool = False) -> Value:  # fmt: skip
    """`a.reshape(shape)`: a copy where nobody can tell, as its elements are found faster, or where it has to be one
    (`copies`); else, and for `shows`, a view."""
    array = as_array(cx, value, node, "reshape()")
    wanted = shape.items if isinstance(shape, Items) else (shape,)
    sizes: list[Expr | None] = []
    for item in wanted:
        expr = cx.once(as_index(cx, item, node, "a size"), cx.at(node))
        sizes.append(None if expr == Const(-1, INT64) else expr)
    if sizes.count(None) > 1:
        raise cx.error(node, "can only specify one unknown dimension")
    total = _product([size_of(clipped(cx, size)) for size in array.shape])
    known = _product([size for size in sizes if size is not None])
    if None in sizes:
        rest = total if known == ONE else cx.once(Binary("floordiv", total, Binary("max", known, ONE)), cx.at(node))
        sizes = [rest if size is None else size for size in sizes]
        known = _product([size for size in sizes if size is not None])
    if known != total:
        check(cx, Compare("eq", known, total), "shape", node)
    shape_now = tuple(as_size(size) for size in sizes if size is not None)
    source = array

    def at(cx: Context, index: Sequence[Expr]) -> Literal | Number:
        return element_at(cx, source, _unravelled(_ravelled(index, shape_now), source.shape), node)

    if [size_of(size) for size in source.shape] == [size_of(size) for size in shape_now]:
        return materialised(cx, source, node) if copies else value
    if not copies and not isinstance(source, Elementwise) and (shows or is_written_through(cx, node)):
        whole = steady(cx, source, node)
        shown = reshaped_view(cx, as_view(whole) if isinstance(whole, Array) else whole, shape_now)
        if shown is not None:
            return shown
    copy = materialised(cx, made(cx, shape_now, at, reads_of(source)), node)
    return copy if copies else snapshot(cx, source, copy)


def snapshot(cx: Context, source: ArrayLike, copy: Array) -> Array:
    """A copy of what is an array or a view: NumPy may give a view here."""
    if not isinstance(source, Elementwise):
        cx.snapshots += [(name, copy.name) for name in reads_of(source)]
    return copy


def _product(sizes: Sequence[Expr]) -> Expr:
    result: Expr = ONE
    for size in sizes:
        result = multiply(result, size)
    return result


def _ravelled(index: Sequence[Expr], shape: Sequence[Size]) -> Expr:
    number: Expr = ZERO
    for part, size in zip(index, shape, strict=True):
        number = add(multiply(number, size_of(size)), part)
    return number


def _unravelled(number: Expr, shape: Sequence[Size]) -> list[Expr]:
    if len(shape) == 1:
        return [number]
    result: list[Expr] = []
    for size in reversed(shape[1:]):
        result.append(Binary("mod", number, size_of(size)))
        number = Binary("floordiv", number, size_of(size))
    return [number, *reversed(result)]


def _reshape(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2, 3, ("order",))
    return reshaped(cx, call.values[0], call.values[1], call.node)


def _ravel(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 2, ("order",))
    return flattened(cx, call.values[0], call.node)


def flattened(cx: Context, value: Value, node: ast.AST, *, copies: bool = False) -> Value:
    """`a.ravel()`, `a.flatten()`."""
    if not copies and isinstance(value, Array | View) and len(value.shape) == 1 and not _is_dense(cx, value):
        return snapshot(cx, value, materialised(cx, value, node))
    return reshaped(cx, value, Literal(-1), node, copies=copies)


# ---- choosing -------------------------------------------------------------------------------------------------


def _where(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 3)
    if len(call.values) == 1:
        return nonzero(cx, as_array(cx, call.values[0], call.place(0), "np.where()"), call.node)
    if len(call.values) != 3:
        raise cx.error(call.node, "np.where() takes a condition and two choices, or the condition alone")
    condition, a, b = call.values
    kind = _common_weak([_kind(cx, value, call) for value in (a, b)])

    def choose(cx: Context, c: Literal | Number, x: Literal | Number, y: Literal | Number) -> Number:
        x, y = (_read_anyway(cx, one, call.node) for one in (x, y))
        return Number(Select(as_bool(cx, c), convert(cx, x, kind, call.node), convert(cx, y, kind, call.node)), False)

    if not any(is_array(value) for value in call.values):
        return choose(cx, *call.numbers(cx))
    values = [array_of_items(cx, v, call.node) if isinstance(v, Items) else v for v in call.values]
    return map_elements(cx, choose, values, call.node)


def _read_anyway(cx: Context, number: Literal | Number, node: ast.AST) -> Literal | Number:
    """A choice of np.where(): where an array of indices chooses it, an index out of range is an error even if unused."""
    loads = [] if isinstance(number, Literal) else subexpressions(number.expr, Load)
    if any(any(subexpressions(part, Load)) for load in loads for part in load.index):
        assert isinstance(number, Number)
        return replace(number, expr=cx.once(number.expr, cx.at(node)))
    return number


def round_elements(cx: Context, call: Arguments) -> Value:
    """`np.round(a, decimals=0)`, as NumPy computes it: scaled, rounded to even, and scaled back."""
    call.expect(cx, 1, 2, ("decimals",))
    decimals = call.get(1, "decimals") or Literal(0)
    value = call.values[0]
    rint = replace(call, name="rint", named={})
    if decimals == Literal(0):
        return ufunc_of(cx, np.rint, replace(rint, values=(value,)))
    if not isinstance(decimals, Literal) or not isinstance(decimals.value, int):
        raise cx.error(call.node, "a number of digits must be known when code is made")
    scale = Literal(10.0 ** abs(decimals.value))
    first, second = (np.multiply, np.true_divide) if decimals.value > 0 else (np.true_divide, np.multiply)
    scaled = ufunc_of(cx, first, replace(rint, values=(value, scale)))
    return ufunc_of(cx, second, replace(rint, values=(ufunc_of(cx, np.rint, replace(rint, values=(scaled,))), scale)))


def _kind(cx: Context, value: Value, call: Arguments) -> promote.NumberType:
    if is_array(value):
        return promote.NumberType(value.element, weak=False)  # type: ignore[union-attr]
    if isinstance(value, Literal | Number):
        return value.number_type
    return promote.NumberType(as_array(cx, value, call.node, "np.where()").element, weak=False)


def _common_weak(kinds: Sequence[promote.NumberType]) -> Scalar:
    result = kinds[0]
    for kind in kinds[1:]:
        result = promote.common(result, kind)
    return result.type


def nonzero(cx: Context, array: ArrayLike, node: ast.AST) -> Items:
    """`np.nonzero(a)`: an array of indices for each axis."""
    if isinstance(array, Elementwise):
        array = materialised(cx, array, node)
    count = counted(cx, array, node)
    results = [new_array(cx, (as_size(count),), INT64, node) for _ in array.shape]
    write_where(
        cx, array, node,
        lambda index, k: [Store(one.name, (k,), part, at=cx.at(node)) for one, part in zip(results, index, strict=True)],
    )  # fmt: skip
    return Items(tuple(results))


def counted(cx: Context, mask: ArrayLike, node: ast.AST) -> Expr:
    """How many elements of a mask are true."""
    from loopwright.frontend.reductions import COUNT

    total = reduced(cx, COUNT, mask, list(range(len(mask.shape))), False, node)
    assert isinstance(total, Number)
    if isinstance(total.expr, Var):
        cx.natural.add(total.expr.name)
        cx.bounds[total.expr.name] = _product([size_of(clipped(cx, size)) for size in mask.shape])
    return total.expr


def write_where(
    cx: Context, mask: ArrayLike, node: ast.AST, write: Callable[[list[Expr], Expr], list[Stmt]]
) -> None:
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
        require_same(cx, own, given, node)


def assign_where(cx: Context, target: View, mask: ArrayLike, value: Value, at: ast.AST, value_node: ast.AST) -> None:
    """`target[mask] = value`."""
    _require_mask(cx, target.shape, mask, at)
    meets = may_meet(cx, target, mask)
    if meets and is_array(value):
        mask = materialised(cx, mask, at)
    rest = target.shape[len(mask.shape) :]
    if is_array(value):
        source = value if isinstance(value, Array | View) else materialised(cx, value, value_node)  # type: ignore[arg-type]
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
        from loopwright.frontend.elementwise import _meets_itself

        if not _meets_itself(cx, target, cx.body[start:]):
            return
        del cx.body[start:]
        mask = materialised(cx, mask, at)
    nest(cx, mask.shape, body, at)


def _assign_rest(
    cx: Context, target: View, index: Sequence[Expr], rest: Sequence[Size], value: Value, at: ast.AST, node: ast.AST
) -> None:
    if not rest and isinstance(value, Literal | Number):
        cx.emit(Store(target.array.name, place_of(target, index), convert(cx, value, target.element, node), at=cx.at(at)))
        return
    from loopwright.frontend.views import rows_of

    row: Value = target
    for part in index:
        row = rows_of(cx, row, part, at)  # type: ignore[arg-type]
    assert isinstance(row, View)
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


def gathered(cx: Context, array: View, indices: Sequence[Value], node: ast.AST) -> Elementwise:
    """`array[p]`, `array[:, p]`, `array[p, q]`: NumPy's indexing with arrays of integers, computed where it is used."""
    chosen = [k for k, index in enumerate(indices) if index is not None]
    tables = [indices[k] for k in chosen]
    given = [table for table in tables if is_array(table)]
    together = broadcast(cx, [table.shape for table in given], node)  # type: ignore[union-attr]
    adjacent = chosen == list(range(chosen[0], chosen[-1] + 1))
    first = chosen[0] if adjacent else 0
    others = [k for k in range(len(array.shape)) if k not in chosen]
    shape = (*(array.shape[k] for k in others if adjacent and k < first), *together,
             *(array.shape[k] for k in others if not adjacent or k > first))  # fmt: skip
    readers = [_index_reader(cx, table, len(together), array.shape[k], node) for k, table in zip(chosen, tables, strict=True)]

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
    reads = reads_of(array).union(*(reads_of(table) for table in given))  # type: ignore[arg-type]
    return made(cx, shape, at, reads)


def _is_all(array: View, along: Along) -> bool:
    """Whether a view has all elements along one axis of its array, so that reading an element tests the index."""
    return array.shape[along.axis] == array.array.sizes[array.places.index(along)]


def _index_reader(
    cx: Context, table: Value, rank: int, size: Size, node: ast.AST
) -> Callable[[Context, Sequence[Expr]], Expr]:
    from loopwright.frontend.elementwise import _reader

    if not is_array(table):
        index = cx.once(as_index(cx, table, node), cx.at(node))
        return lambda cx, own: index
    if not table.element.is_integer:  # type: ignore[union-attr]
        raise cx.error(node, "arrays used as indices must be of integer (or boolean) type")
    read = _reader(cx, table, rank, node)
    return lambda cx, own: as_index(cx, read(cx, own), node)


def assign_gathered(
    cx: Context, target: View, indices: Sequence[Value], value: Value, at: ast.AST, value_node: ast.AST
) -> None:
    """`target[p] = value`: in order, so that of several values for one place the last one stays."""
    tables = [
        materialised(cx, index, at)
        if isinstance(index, Elementwise) or (is_array(index) and may_meet(cx, target, index))  # type: ignore[arg-type]
        else index
        for index in indices
    ]
    if is_array(value) and isinstance(value, Elementwise | View | Array):
        if isinstance(value, Elementwise) or may_meet(cx, target, value):
            value = materialised(cx, value, value_node)
    elif isinstance(value, Number):
        value = Number(cx.once(value.expr, cx.at(value_node)), value.weak)
    place = gathered(cx, target, tables, at)
    from loopwright.frontend.elementwise import _reader

    if isinstance(value, Array | View) and is_array(value):
        broadcast(cx, [place.shape, value.shape], value_node)
    read = _reader(cx, value, len(place.shape), value_node)

    def body(index: list[Expr]) -> None:
        number = place.at(cx, index)
        assert isinstance(number, Number) and isinstance(number.expr, Load)
        new = convert(cx, read(cx, index), target.element, value_node)
        cx.emit(Store(number.expr.array, number.expr.index, new, at=cx.at(at)))

    nest(cx, place.shape, body, at)


# ---- arithmetic of whole arrays -------------------------------------------------------------------------------


def ufunc_of(cx: Context, function: np.ufunc, call: Arguments) -> Value:
    """A ufunc, of each element where an operand is an array; `out` as one more operand or by name."""
    values = tuple(array_of_items(cx, v, call.node) if isinstance(v, Items) else v for v in call.values)
    if not any_array(*values):
        return ufunc_call(cx, function, replace(call, values=values))
    out = call.named.get("out") or (values[function.nin] if len(values) > function.nin else None)
    if set(call.named) - {"out"} or len(values) < function.nin:
        call.expect(cx, function.nin, function.nin + 1, ("out",))
    operands_only = values[: function.nin]
    result = map_elements(
        cx, lambda cx, *numbers: ufunc_call(cx, function, replace(call, values=numbers, named={})), operands_only, call.node
    )
    if out is None:
        return result
    if not isinstance(out, Array | View):
        raise cx.error(call.node, "'out' must be an array", f"this is {describe(out)}")
    assign_elements(cx, as_view(out) if isinstance(out, Array) else out, result, call.node, call.node)
    return out


def _clip(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 3, 3, ("a_min", "a_max"))
    return clip(cx, call.values[0], call.values[1], call.values[2], call)


def clip(cx: Context, value: Value, low: Value, high: Value, call: Arguments) -> Value:
    """`np.clip(a, low, high)`."""
    if low != Fixed(None):
        value = ufunc_of(cx, np.maximum, replace(call, name="maximum", values=(value, low), named={}))
    if high != Fixed(None):
        value = ufunc_of(cx, np.minimum, replace(call, name="minimum", values=(value, high), named={}))
    return value


def product_of(cx: Context, left: Value, right: Value, node: ast.AST, what: str = "'@'") -> Value:
    """`a @ b`: the product of vectors and matrices, as its three loops."""
    a, b = as_array(cx, left, node, what), as_array(cx, right, node, what)
    if isinstance(a, Elementwise):
        a = materialised(cx, a, node)
    if isinstance(b, Elementwise):
        b = materialised(cx, b, node)
    rows, columns = len(a.shape), len(b.shape)
    if rows > 2 or columns > 2:
        return _stacked_product(cx, a, b, node)
    require_same(cx, a.shape[-1], b.shape[0], node)
    outer_a, outer_b = a.shape[:-1], b.shape[1:]
    kind = promote.binary("mul", promote.NumberType(a.element, False), promote.NumberType(b.element, False))[0]

    def at_pair(cx: Context, i: Sequence[Expr], j: Sequence[Expr], k: Expr) -> Number:
        x = element_at(cx, a, [*i, k], node)
        y = element_at(cx, b, [k, *j], node)
        product = operators.binary_operation(cx, "mul", x, y, node)
        assert isinstance(product, Number)
        return product

    if rows == columns == 1:
        pair = made(cx, (a.shape[0],), lambda cx, index: at_pair(cx, [], [], index[0]), reads_of(a) | reads_of(b))
        return reduced(cx, SUM, pair, [0], False, node, kind if kind.is_integer or kind == FLOAT64 else None)
    zero = fill_constant(cx, Literal(0), kind, node)
    result = new_array(cx, (*outer_a, *outer_b), kind, node, fill=zero)
    depth = a.shape[-1]

    def body(index: list[Expr]) -> None:
        *outer, k = index
        i, j = outer[: len(outer_a)], outer[len(outer_a) :]
        old = Load(result.name, tuple(outer), kind, at=cx.at(node))
        new = convert(cx, at_pair(cx, i, j, k), kind, node)
        total = Binary("or" if kind == BOOL else "add", old, new)
        cx.emit(Store(result.name, tuple(outer), total, at=cx.at(node)))

    nest(cx, (*outer_a, *outer_b, depth), body, node)
    return result


def _stacked_product(cx: Context, a: ArrayLike, b: ArrayLike, node: ast.AST) -> Value:
    """The products of matrices in stacks, which are broadcast."""
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise cx.error(node, "a product of a stack of matrices and a vector is outside the language",
                       remedy="add an axis: v[:, None]")  # fmt: skip
    require_same(cx, a.shape[-1], b.shape[-2], node)
    stack = broadcast(cx, [a.shape[:-2], b.shape[:-2]], node)
    kind = promote.binary("mul", promote.NumberType(a.element, False), promote.NumberType(b.element, False))[0]
    result = new_array(cx, (*stack, a.shape[-2], b.shape[-1]), kind, node, fill=fill_constant(cx, Literal(0), kind, node))

    def body(index: list[Expr]) -> None:
        *outer, i, j, k = index

        def own(array: ArrayLike) -> list[Expr]:
            mine = outer[len(outer) - (len(array.shape) - 2) :]
            return [ZERO if size == Literal(1) else part for part, size in zip(mine, array.shape, strict=False)]

        x = element_at(cx, a, [*own(a), i, k], node)
        y = element_at(cx, b, [*own(b), k, j], node)
        place = (*outer, i, j)
        product = operators.binary_operation(cx, "mul", x, y, node)
        assert isinstance(product, Number)
        old = Load(result.name, place, kind, at=cx.at(node))
        cx.emit(Store(result.name, place, Binary("add", old, convert(cx, product, kind, node)), at=cx.at(node)))

    nest(cx, (*stack, a.shape[-2], b.shape[-1], a.shape[-1]), body, node)
    return result


def _dot(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2, 3, ("out",))
    a, b = call.values[:2]
    if not is_array(a) or not is_array(b):
        if isinstance(a, Items) or isinstance(b, Items):
            return product_of(cx, a, b, call.node, f"np.{call.name}()")
        return ufunc_of(cx, np.multiply, replace(call, name="multiply", values=(a, b), named={}))
    return product_of(cx, a, b, call.node, f"np.{call.name}()")


def _outer(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    a, b = (_view_of(cx, value, call.node, "np.outer()") for value in call.values)
    column = View(a.array, a.places, (*a.shape, Literal(1)))
    multiply_both = lambda cx, x, y: operators.binary_operation(cx, "mul", x, y, call.node)  # noqa: E731
    return map_elements(cx, multiply_both, [column, b], call.node)


def _norm(cx: Context, call: Arguments) -> Value:
    """`np.linalg.norm(x)`: the root of the sum of squares, of all elements or along an axis."""
    call.expect(cx, 1, 2, ("axis", "keepdims", "ord"))
    order = call.get(1, "ord")
    if order is not None and order not in (Fixed(None), Literal(2)):
        raise cx.error(call.node, "np.linalg.norm() of another order than 2 is outside the language")
    array = as_array(cx, call.values[0], call.place(0), "np.linalg.norm()")
    kind = array.element if array.element.is_float else FLOAT64

    def square(cx: Context, x: Literal | Number) -> Number:
        value = cx.once(convert(cx, x, kind, call.node), cx.at(call.node))
        return Number(Binary("mul", value, value), weak=False)

    axes = axes_of(cx, call.named.get("axis"), len(array.shape), call.node)
    keepdims = call.named.get("keepdims") == Literal(True)
    total = reduced(cx, SUM, map_elements(cx, square, [array], call.node), axes, keepdims, call.node)
    root = lambda cx, x: Number(Call("sqrt", (x.expr,), kind), weak=False)  # noqa: E731
    return root(cx, total) if isinstance(total, Number) else map_elements(cx, root, [total], call.node)


def _concatenate(cx: Context, call: Arguments) -> Value:
    """`np.concatenate((a, b), axis=0)`."""
    call.expect(cx, 1, 2, ("axis",))
    parts = _parts(cx, call)
    axis = axes_of(cx, call.get(1, "axis") or Literal(0), len(parts[0].shape), call.node)[0]
    return joined(cx, parts, axis, call.node)


def _parts(cx: Context, call: Arguments) -> list[ArrayLike]:
    if not isinstance(call.values[0], Items):
        raise cx.error(call.node, f"np.{call.name}() takes a tuple of arrays here")
    return [as_array(cx, item, call.place(0), f"np.{call.name}()") for item in call.values[0].items]


def joined(cx: Context, parts: Sequence[ArrayLike], axis: int, node: ast.AST) -> Array:
    """The arrays, one behind the other along an axis."""
    for part in parts[1:]:
        for k, (a, b) in enumerate(zip(parts[0].shape, part.shape, strict=True)):
            if k != axis:
                require_same(cx, a, b, node)
    total: Expr = ZERO
    for part in parts:
        total = add(total, size_of(clipped(cx, part.shape[axis])))
    shape = tuple(as_size(total) if k == axis else size for k, size in enumerate(parts[0].shape))
    result = new_array(cx, shape, _common(cx, parts, node), node)
    whole = as_view(result)
    begin: Expr = ZERO
    for part in parts:
        size = clipped(cx, part.shape[axis])
        places = tuple(replace(p, start=begin) if k == axis else p for k, p in enumerate(whole.places))  # type: ignore[type-var]
        window = View(result, places, tuple(size if k == axis else s for k, s in enumerate(whole.shape)))
        assign_elements(cx, window, part, node, node)
        begin = add(begin, size_of(size))
    return result


def _stack(axis: int) -> Handler:
    """`np.stack` and its like for arrays of one axis: each one is a row, or a column."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1, 2, ("axis",))
        chosen = call.get(1, "axis")
        parts = _parts(cx, call)
        where = axis if chosen is None else axes_of(cx, chosen, len(parts[0].shape) + 1, call.node)[0]
        raised = []
        for part in parts:
            view = _view_of(cx, part, call.node, f"np.{call.name}()")
            places = tuple(replace(p, axis=p.axis + (p.axis >= where)) if not isinstance(p, Expr) else p for p in view.places)
            raised.append(View(view.array, places, (*view.shape[:where], Literal(1), *view.shape[where:])))
        return joined(cx, raised, where, call.node)

    return handler


def _vstack(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    parts = _parts(cx, call)
    if len(parts[0].shape) == 1:
        return _stack(0)(cx, call)
    return joined(cx, parts, 0, call.node)


def _hstack(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    parts = _parts(cx, call)
    return joined(cx, parts, 0 if len(parts[0].shape) == 1 else 1, call.node)


def _column_stack(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    parts = _parts(cx, call)
    return _stack(1)(cx, call) if len(parts[0].shape) == 1 else joined(cx, parts, 1, call.node)


# ---- methods --------------------------------------------------------------------------------------------------


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
            return map_elements(cx, lambda cx, x: number_method(cx, "astype", _strong(x), call), [base], node) \
                if to != base.element else _same_type(cx, base, call)
        case "fill":
            call.expect(cx, 1)
            assign_elements(cx, _view_of(cx, base, node, "fill()"), call.values[0], node, call.place(0))
            return Fixed(None)
        case "ravel" | "flatten":
            return flattened(cx, base, node, copies=name == "flatten")
        case "reshape":
            call.expect(cx, 1, len(call.values), ("order",))
            shape = call.values[0] if len(call.values) == 1 else Items(call.values)
            return reshaped(cx, base, shape, node)
        case "transpose":
            order = None if not call.values else call.values[0] if len(call.values) == 1 else Items(call.values)
            return transpose(cx, base, order, node)
        case "dot":
            return _dot(cx, with_self)
        case "clip":
            call.expect(cx, 2)
            return clip(cx, base, call.values[0], call.values[1], with_self)
        case "nonzero":
            return nonzero(cx, base, node)
        case "item" if not base.shape:
            return element_at(cx, base, [], node)
        case "round" if not call.values:
            return ufunc_of(cx, np.rint, replace(with_self, name="rint"))
        case _:
            function = library.METHODS.get(name)
            if function is None:
                raise cx.error(node, f"'.{name}()' of an array is outside the language")
            from loopwright.frontend.inline import inline_function

            return inline_function(cx, function, with_self)


def _same_type(cx: Context, base: ArrayLike, call: Arguments) -> Value:
    """`a.astype(a.dtype, copy=...)`."""
    copy = materialised(cx, base, call.node)
    return copy if call.named.get("copy", Literal(True)) == Literal(True) else snapshot(cx, base, copy)


def _strong(number: Literal | Number) -> Number:
    assert isinstance(number, Number)
    return replace(number, weak=False)


ARRAY_FUNCTIONS: dict[Any, Handler] = {
    np.array: _array, np.asarray: _as_given, np.ascontiguousarray: _contiguous, np.copy: _copy, np.arange: _arange,
    np.linspace: _linspace, np.eye: _eye, np.identity: _eye, np.transpose: _transpose, np.swapaxes: _swapaxes,
    np.expand_dims: _expand_dims, np.reshape: _reshape, np.ravel: _ravel, np.where: _where, np.nonzero: _nonzero,
    np.flatnonzero: _flatnonzero, np.clip: _clip, np.dot: _dot, np.matmul: _dot, np.vdot: _dot, np.inner: _dot,
    np.outer: _outer, np.linalg.norm: _norm, np.concatenate: _concatenate, np.stack: _stack(0), np.vstack: _vstack,
    np.round: round_elements, np.around: round_elements, np.hstack: _hstack, np.column_stack: _column_stack,
}  # fmt: skip

"""NumPy's reductions: sums, products, extremes and their places, means, `any`, `all`; of all elements or along axes."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from loopwright.frontend import operators, promote
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.complex_pairs import parts_of, repeatable
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_number, convert, literal
from loopwright.frontend.creation import as_array, common_element
from loopwright.frontend.elementwise import as_bool, check, map_elements, materialised, nest, new_array, require_same
from loopwright.frontend.numpy_functions import scalar_of_dtype
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    Literal,
    Number,
    Value,
    describe,
    from_object,
    is_none,
)
from loopwright.frontend.views import ZERO, as_view, clipped, element_at, place_of, size_of, steady
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Expr,
    If,
    Logical,
    Select,
    Store,
    Var,
)
from loopwright.ir.types import BOOL, COMPLEX128, FLOAT64, INT64, UINT64, Scalar

Element = Callable[[Context, Sequence[Expr]], Literal | Number]


@dataclass(frozen=True, slots=True)
class Folding:
    """begin: the value of no elements, in the type that is computed in. step: the next value, from the last one and an
    element of that type. working, result: the types computed in and given, from an element's. needs_element: NumPy
    refuses an array without elements."""

    begin: Callable[[Scalar], bool | int | float]
    step: Callable[[Context, Expr, Expr], Expr]
    working: Callable[[Scalar], Scalar]
    result: Callable[[Scalar], Scalar]
    needs_element: bool = False


def _wide(element: Scalar) -> Scalar:
    """The type that NumPy adds integers up in; floats of 32 bits are added up in 64, and rounded once."""
    if element.is_float:
        return FLOAT64
    if element.is_complex:
        return COMPLEX128
    return UINT64 if element.kind == "uint" else INT64


def _total(element: Scalar) -> Scalar:
    return element if element.is_float or element.is_complex else _wide(element)


def _least(element: Scalar) -> bool | int | float:
    return -np.inf if element.is_float else False if element == BOOL else element.minimum


def _greatest(element: Scalar) -> bool | int | float:
    return np.inf if element.is_float else True if element == BOOL else element.maximum


def _larger(cx: Context, old: Expr, new: Expr) -> Expr:
    if old.type == BOOL:
        return Binary("or", old, new)
    return Call("maximum", (old, new), old.type) if old.type.is_float else Binary("max", old, new)


def _smaller(cx: Context, old: Expr, new: Expr) -> Expr:
    if old.type == BOOL:
        return Binary("and", old, new)
    return Call("minimum", (old, new), old.type) if old.type.is_float else Binary("min", old, new)


def _same(element: Scalar) -> Scalar:
    return element


def _is_bool(element: Scalar) -> Scalar:
    return BOOL


SUM = Folding(lambda kind: 0, lambda cx, old, new: Binary("add", old, new), _wide, _total)
PRODUCT = Folding(lambda kind: 1, lambda cx, old, new: Binary("mul", old, new), _wide, _total)
MAXIMUM = Folding(_least, _larger, _same, _same, needs_element=True)
MINIMUM = Folding(_greatest, _smaller, _same, _same, needs_element=True)
ANY = Folding(lambda kind: False, lambda cx, old, new: Binary("or", old, new), _is_bool, _is_bool)
ALL = Folding(lambda kind: True, lambda cx, old, new: Binary("and", old, new), _is_bool, _is_bool)
COUNT = Folding(lambda kind: 0, lambda cx, old, new: Binary("add", old, Cast(new, INT64)), lambda kind: BOOL,
                  lambda kind: INT64)  # fmt: skip


def reduced(
    cx: Context, how: Folding, array: ArrayLike, axes: Sequence[int], keepdims: bool, node: ast.AST,
    element: Scalar | None = None, initial: Value | None = None,
) -> Value:  # fmt: skip
    """The reduction along some axes: a number where these are all of them, else an array. initial: the value of no
    elements, instead of the usual one."""
    array = steady(cx, array, node)
    if how.needs_element:
        _refuse_order(cx, array, node)
    if how.needs_element and initial is None:
        for axis in axes:
            require_elements(cx, array, axis, node)
    kept = [axis for axis in range(len(array.shape)) if axis not in axes]
    result = element or how.result(array.element)
    if not kept and not keepdims:
        return Number(_converted(_along(cx, how, array, axes, {}, node, element, initial), result), weak=False)
    shape = tuple(
        Literal(1) if axis in axes else array.shape[axis]
        for axis in range(len(array.shape)) if keepdims or axis not in axes
    )  # fmt: skip
    target = as_view(new_array(cx, shape, result, node))

    def body(index: list[Expr]) -> None:
        places = [axis for axis in range(len(array.shape)) if keepdims or axis not in axes]
        outer = {axis: index[k] for k, axis in enumerate(places) if axis not in axes}
        total = _along(cx, how, array, axes, outer, node, element, initial)
        cx.emit(Store(target.array.name, place_of(target, index), _converted(total, result), at=cx.at(node)))

    nest(cx, shape, body, node)
    return target.array


def require_elements(cx: Context, array: ArrayLike, axis: int, node: ast.AST) -> None:
    """End the call where an axis has no elements: code that never runs may name such an array."""
    size = clipped(cx, array.shape[axis])
    if size == Literal(0):
        check(cx, Const(False, BOOL), "empty", node)
    elif not isinstance(size, Literal):
        check(cx, Compare("gt", size_of(size), ZERO), "empty", node)


def _refuse_order(cx: Context, array: ArrayLike, node: ast.AST) -> None:
    if array.element.is_complex:
        raise cx.error(node, "minima and maxima of complex numbers are outside the language",
                       "NumPy orders them by their real parts first", "use abs(a) or a.real")  # fmt: skip


def _converted(expr: Expr, to: Scalar) -> Expr:
    return expr if expr.type == to else Cast(expr, to)


def accumulator(cx: Context, hint: str, begin: Expr, node: ast.AST) -> Var:
    """A scalar that a loop goes on computing: its value is what it is after the loop."""
    name = cx.new_name(cx.frame.prefix + hint)
    cx.stable.add(name)
    cx.emit(Assign(name, begin, at=cx.at(node)))
    return Var(name, begin.type)


def _along(
    cx: Context, how: Folding, array: ArrayLike, axes: Sequence[int], outer: dict[int, Expr], node: ast.AST,
    element: Scalar | None, initial: Value | None,
) -> Expr:  # fmt: skip
    """The loops along the axes, for one index of the others."""
    kind = how.working(element or array.element)
    begin, counted = how.begin(kind), how.result(kind) if how is COUNT else kind
    first: Expr = Const(float(begin) if how.result(kind).is_float else begin, counted)
    if initial is not None:
        first = convert(cx, as_number(cx, initial, node), kind, node)
    total = accumulator(cx, "total", first, node)

    def body(index: list[Expr]) -> None:
        inner = dict(zip(axes, index, strict=True))
        place = [outer[axis] if axis in outer else inner[axis] for axis in range(len(array.shape))]
        number = element_at(cx, array, place, node)
        new = as_bool(cx, number) if kind == BOOL else convert(cx, number, kind, node)
        cx.emit(Assign(total.name, _step(cx, how, total, new, node), at=cx.at(node)))

    nest(cx, [array.shape[axis] for axis in axes], body, node)
    return total


def _step(cx: Context, how: Folding, old: Expr, new: Expr, node: ast.AST) -> Expr:
    if not old.type.is_complex:
        return how.step(cx, old, new)
    values = Number(old, weak=False), Number(new, weak=False)
    result = operators.binary_operation(cx, "mul" if how is PRODUCT else "add", *values, node)
    assert isinstance(result, Number)
    return result.expr


# ---- calls ----------------------------------------------------------------------------------------------------


def axes_of(cx: Context, value: Value | None, rank: int, node: ast.AST) -> list[int]:
    """The axes that an argument names, all for None. Raises KernelError for what is no axis, or not known now."""
    match value:
        case None | Fixed(value=None):
            return list(range(rank))
        case Items(items=items):
            chosen = [axis for item in items for axis in axes_of(cx, item, rank, node)]
        case Literal(value=int() as axis):
            if not -rank <= axis < rank:
                raise cx.error(node, f"axis {axis} is out of bounds for an array of {rank} axes")
            return [axis % rank]
        case _:
            raise cx.error(node, "an axis must be known at compile time", f"this is {describe(value)}",
                           "write the number, or one call for each axis")  # fmt: skip
    if len(set(chosen)) != len(chosen):
        raise cx.error(node, "an axis is named twice")
    return sorted(chosen)


def flag_of(cx: Context, value: Value | None, node: ast.AST) -> bool:
    """An argument that is True or False at compile time."""
    match value:
        case None | Fixed(value=None):
            return False
        case Literal(value=known):
            return bool(known)
        case _:
            raise cx.error(node, "this must be True or False at compile time")


def _call(how: Folding) -> Callable[[Context, Arguments], Value]:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1, 3, ("axis", "dtype", "keepdims", "initial"))
        value = call.values[0]
        array = _operand(cx, call)
        initial = _initial(cx, how, call)
        if array is None:
            return _of_number(cx, how, value, call)
        dtype = call.named.get("dtype") or (call.values[2] if len(call.values) > 2 else None)
        element = None if dtype is None or is_none(dtype) else scalar_of_dtype(cx, dtype, call.node)
        axes = axes_of(cx, call.get(1, "axis"), len(array.shape), call.node)
        keepdims = flag_of(cx, call.named.get("keepdims"), call.node)
        return reduced(cx, how, array, axes, keepdims, call.node, element, initial)

    return handler


def _initial(cx: Context, how: Folding, call: Arguments) -> Value | None:
    """What a reduction begins with, where it is told."""
    given = call.named.get("initial")
    if given is None or is_none(given):
        return None
    if how not in (SUM, PRODUCT, MAXIMUM, MINIMUM) or not isinstance(call.values[0], ArrayLike):
        raise cx.error(call.node, f"{call.name}() has no keyword 'initial' here")
    number = as_number(cx, given, call.node, "'initial' is a number")
    if number.number_type.type.is_float and not (call.values[0].element.is_float or call.values[0].element.is_complex):
        raise cx.error(call.node, f"{call.name}() of integers begins with an integer",
                       "NumPy drops the fraction of 'initial'", "use int(x)")  # fmt: skip
    return number if isinstance(number, Literal) else Number(cx.once(number.expr, cx.at(call.node)), number.weak)


def _operand(cx: Context, call: Arguments) -> ArrayLike | None:
    """The first argument as an array; None for a number."""
    value = call.values[0]
    if isinstance(value, Literal | Number) or (isinstance(value, Array) and not value.shape):
        return None
    return as_array(cx, value, call.place(0), f"np.{call.name}()")


def _of_number(cx: Context, how: Folding, value: Value, call: Arguments) -> Value:
    number = call.number(cx, 0)
    kind = how.working(number.number_type.type)
    expr = as_bool(cx, number) if kind == BOOL else convert(cx, number, kind, call.node)
    return Number(_converted(expr, how.result(number.number_type.type)), weak=False)


def _mean(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 3, ("axis", "dtype", "keepdims"))
    array = _operand(cx, call)
    if array is None:
        return Number(convert(cx, call.number(cx, 0), FLOAT64, call.node), weak=False)
    axes = axes_of(cx, call.get(1, "axis"), len(array.shape), call.node)
    dtype = call.get(2, "dtype")
    kind = None if dtype is None or is_none(dtype) else scalar_of_dtype(cx, dtype, call.node)
    keepdims = flag_of(cx, call.named.get("keepdims"), call.node)
    if kind == BOOL:
        raise cx.error(call.node, "a mean of type bool is outside the language", remedy="use np.any(a)")
    return mean_of(cx, array, axes, keepdims, call.node, kind)


def floating(element: Scalar) -> Scalar:
    """The type of a mean: that of floats and complex numbers, else float64."""
    return element if element.is_float or element.is_complex else FLOAT64


def widest_type(element: Scalar) -> Scalar:
    """The type that a mean is computed in."""
    return COMPLEX128 if element.is_complex else FLOAT64


def mean_of(
    cx: Context, array: ArrayLike, axes: Sequence[int], keepdims: bool, node: ast.AST, kind: Scalar | None = None
) -> Value:
    """The mean along axes, computed in 64 bits and given in that type: of the elements, or float64 for integers. An
    integer type is that of the elements that are added up, and of their sum, too."""
    is_whole = kind is not None and not kind.is_float and not kind.is_complex
    total = reduced(cx, SUM, array, axes, keepdims, node, kind if is_whole else widest_type(kind or array.element))
    count = count_of(cx, array, axes, node)
    kind = kind or floating(array.element)
    if isinstance(total, Number):
        return mean_of_total(cx, total, count, kind, node)

    def divided(cx: Context, total: Number, count: Number) -> Value:
        return mean_of_total(cx, total, count.expr, kind, node)

    return materialised(cx, map_elements(cx, divided, (total, Number(count, weak=False)), node), node)


def mean_of_total(cx: Context, total: Number, count: Expr, kind: Scalar, node: ast.AST) -> Number:
    """A total divided by how many there are, in that type."""
    quotient = operators.binary_operation(cx, "truediv", total, Number(Cast(count, FLOAT64), weak=False), node)
    return Number(_converted(operators.scalar_of(cx, quotient, node).expr, kind), weak=False)


def count_of(cx: Context, array: ArrayLike, axes: Sequence[int], node: ast.AST) -> Expr:
    """How many elements there are along axes: int64."""
    total: Value = Literal(1)
    for axis in axes:
        total = operators.binary_operation(cx, "mul", total, clipped(cx, array.shape[axis]), node)
    assert isinstance(total, Literal | Number)
    return cx.once(size_of(total), cx.at(node))


def _variance(is_deviation: bool) -> Callable[[Context, Arguments], Value]:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1, 2, ("axis", "keepdims", "ddof"))
        array = as_array(cx, call.values[0], call.place(0), f"np.{call.name}()")
        axes = axes_of(cx, call.get(1, "axis"), len(array.shape), call.node)
        keepdims = flag_of(cx, call.named.get("keepdims"), call.node)
        ddof = call.named.get("ddof") or Literal(0)
        node, kind, widest = call.node, floating(array.element), widest_type(array.element)
        kind = kind.part if kind.is_complex else kind
        if isinstance(array, Elementwise):
            array = materialised(cx, array, node)
        wide = map_elements(cx, lambda cx, x: Number(convert(cx, x, widest, node), weak=False), [array], node)
        mean = mean_of(cx, wide, axes, True, node)

        def squared(cx: Context, x: Number, m: Number) -> Value:
            distance = operators.binary_operation(cx, "sub", x, m, node)
            return Number(square_of(cx, operators.scalar_of(cx, distance, node).expr, node), weak=False)

        total = reduced(cx, SUM, map_elements(cx, squared, (wide, mean), node), axes, keepdims, node, FLOAT64)
        count = Number(count_of(cx, array, axes, node), weak=True)
        degrees = operators.binary_operation(cx, "sub", count, ddof, node)
        assert isinstance(degrees, Literal | Number)
        known = convert(cx, degrees, FLOAT64, node)
        divisor = Number(cx.once(Binary("max", known, Const(0.0, FLOAT64)), cx.at(node)), weak=False)

        def divided(cx: Context, total: Number, divisor: Number) -> Value:
            result: Expr = Binary("truediv", total.expr, divisor.expr)
            if is_deviation:
                result = Call("sqrt", (result,), FLOAT64)
            return Number(_converted(result, kind), weak=False)

        if isinstance(total, Number):
            return divided(cx, total, divisor)
        return materialised(cx, map_elements(cx, divided, (total, divisor), node), node)

    return handler


def square_of(cx: Context, value: Expr, node: ast.AST) -> Expr:
    """The square of a real, or of the magnitude of a complex number."""
    parts = repeatable(cx, value, cx.at(node)) if value.type.is_complex else (cx.once(value, cx.at(node)),)
    return reduce(lambda a, b: Binary("add", a, b), [Binary("mul", part, part) for part in parts])


def _place_of_extreme(is_max: bool) -> Callable[[Context, Arguments], Value]:
    """`np.argmax(a, axis=None)`: the first of several; of floats, a NaN comes before all."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1, 2, ("axis", "keepdims"))
        array = steady(cx, as_array(cx, call.values[0], call.place(0), f"np.{call.name}()"), call.node)
        _refuse_order(cx, array, call.node)
        axis, keepdims = call.get(1, "axis"), flag_of(cx, call.named.get("keepdims"), call.node)
        if isinstance(axis, Items):
            raise cx.error(call.node, f"np.{call.name}() takes one axis, or none for all elements")
        axes = axes_of(cx, axis, len(array.shape), call.node)
        for one in axes:
            require_elements(cx, array, one, call.node)
        kept = [k for k in range(len(array.shape)) if k not in axes]
        if not kept and not keepdims:
            return Number(_best_place(cx, is_max, array, axes, {}, call.node), weak=False)
        places = [k for k in range(len(array.shape)) if keepdims or k in kept]
        shape = tuple(array.shape[k] if k in kept else Literal(1) for k in places)
        target = as_view(new_array(cx, shape, INT64, call.node))

        def body(index: list[Expr]) -> None:
            outer = {k: at for k, at in zip(places, index, strict=True) if k in kept}
            place = _best_place(cx, is_max, array, axes, outer, call.node)
            cx.emit(Store(target.array.name, place_of(target, index), place, at=cx.at(call.node)))

        nest(cx, shape, body, call.node)
        return target.array

    return handler


def _best_place(
    cx: Context, is_max: bool, array: ArrayLike, axes: Sequence[int], outer: dict[int, Expr], node: ast.AST
) -> Expr:
    at = cx.at(node)

    def element(index: dict[int, Expr]) -> Expr:
        number = element_at(cx, array, [index[axis] for axis in range(len(array.shape))], node)
        return convert(cx, number, array.element, node)

    best = accumulator(cx, "best", element({**outer, **dict.fromkeys(axes, ZERO)}), node)
    place = accumulator(cx, "place", ZERO, node)

    def body(index: list[Expr]) -> None:
        value = cx.temporary(element({**outer, **dict(zip(axes, index, strict=True))}), at)
        number: Expr = ZERO
        for axis, part in zip(axes, index, strict=True):
            size = size_of(array.shape[axis])
            number = part if number == ZERO else Binary("add", Binary("mul", number, size), part)
        better: Expr = Compare("gt" if is_max else "lt", value, best)
        if value.type.is_float:
            is_first_nan = Logical("and", Compare("ne", value, value), Compare("eq", best, best))
            better = Logical("or", better, is_first_nan)
        elif value.type == BOOL:
            better = Binary("and", *((value, Compare("eq", best, Const(False, BOOL))) if is_max
                                     else (best, Compare("eq", value, Const(False, BOOL)))))  # fmt: skip
        cx.emit(If(better, (Assign(best.name, value, at=at), Assign(place.name, number, at=at)), at=at))

    nest(cx, [array.shape[axis] for axis in axes], body, node)
    return place


def _range(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 2, ("axis", "keepdims"))
    array = as_array(cx, call.values[0], call.place(0), "np.ptp()")
    axes = axes_of(cx, call.get(1, "axis"), len(array.shape), call.node)
    keepdims = flag_of(cx, call.named.get("keepdims"), call.node)
    high = reduced(cx, MAXIMUM, array, axes, keepdims, call.node)
    low = reduced(cx, MINIMUM, array, axes, keepdims, call.node)
    if isinstance(high, Number):
        return operators.binary_operation(cx, "sub", high, low, call.node)
    subtract = lambda cx, a, b: operators.binary_operation(cx, "sub", a, b, call.node)  # noqa: E731
    return materialised(cx, map_elements(cx, subtract, (high, low), call.node), call.node)


def _average(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 3, ("axis", "weights"))
    weights = call.get(2, "weights")
    if weights is None or weights == Fixed(None):
        return _mean(
            cx, Arguments(call.node, call.name, call.values[:2], {k: v for k, v in call.named.items() if k == "axis"})
        )
    array = as_array(cx, call.values[0], call.place(0), "np.average()")
    weight = as_array(cx, weights, call.node, "np.average()")
    if call.get(1, "axis") is not None or len(array.shape) != len(weight.shape):
        raise cx.error(call.node, "np.average() with weights takes arrays of one shape and no axis here")
    multiply = lambda cx, a, b: operators.binary_operation(cx, "mul", a, b, call.node)  # noqa: E731
    for one, other in zip(array.shape, weight.shape, strict=True):
        require_same(cx, one, other, call.node)
    kind = common_element(cx, [array, weight], call.node)
    if not array.element.is_float and not array.element.is_complex:
        kind = promote.common(promote.NumberType(kind, False), promote.NumberType(FLOAT64, False)).type
    convert_to = lambda cx, x: Number(convert(cx, x, kind, call.node), weak=False)  # noqa: E731
    array, weight = (map_elements(cx, convert_to, [one], call.node) for one in (array, weight))
    axes = list(range(len(array.shape)))
    total = reduced(cx, SUM, map_elements(cx, multiply, (array, weight), call.node), axes, False, call.node, kind)
    count = reduced(cx, SUM, weight, axes, False, call.node, kind)
    assert isinstance(total, Number) and isinstance(count, Number)
    if kind.is_complex:
        return Number(Binary("truediv", total.expr, count.expr), weak=False)
    at, zero = cx.at(call.node), literal(cx, 0.0, kind, call.node)
    weights_of_all = cx.once(count.expr, at)
    nothing = "ZeroDivisionError: Weights sum to zero, can't be normalized"
    tested = Checked(weights_of_all, Compare("ne", weights_of_all, zero), "raised", nothing, at=at)
    return Number(Binary("truediv", total.expr, tested), weak=False)


def _ignoring_nan(how: Folding) -> Callable[[Context, Arguments], Value]:
    """`np.nansum` and its like: a NaN counts as what changes nothing; an extreme of nothing but NaN is NaN."""

    def handler(cx: Context, call: Arguments) -> Value:
        array = as_array(cx, call.values[0], call.place(0), f"np.{call.name}()")
        if not array.element.is_float and not array.element.is_complex:
            return _call(how)(cx, call)
        array = steady(cx, array, call.node)
        nothing = literal(cx, float(how.begin(array.element)), array.element, call.node)
        numbers = map_elements(cx, lambda cx, x: _without_nan(cx, x, nothing, call.node), [array], call.node)
        found = _call(how)(cx, replace(call, values=(numbers, *call.values[1:])))
        return _or_nan(cx, found, array, call) if how.needs_element else found

    return handler


def _or_nan(cx: Context, found: Value, array: ArrayLike, call: Arguments) -> Value:
    """The extremes of what is no NaN, and NaN where there is none."""
    node = call.node

    def is_number(cx: Context, x: Number) -> Number:
        value = cx.once(x.expr, cx.at(node))
        return Number(Compare("eq", value, value), weak=False)

    def choose(cx: Context, extreme: Number, is_any: Number) -> Number:
        nan = Const(math.nan, extreme.type)
        return Number(Select(is_any.expr, extreme.expr, nan), weak=False)

    present = _call(ANY)(cx, replace(call, values=(map_elements(cx, is_number, [array], node), *call.values[1:])))
    if isinstance(found, Number) and isinstance(present, Number):
        return choose(cx, found, present)
    return materialised(cx, map_elements(cx, choose, (found, present), node), node)


def _without_nan(cx: Context, number: Number, nothing: Const, node: ast.AST) -> Number:
    value = cx.once(number.expr, cx.at(node))
    return Number(Select(_is_nan(cx, value, node), nothing, value), weak=False)


def _is_nan(cx: Context, value: Expr, node: ast.AST) -> Expr:
    if value.type.is_complex:
        one, two = (_is_nan(cx, part, node) for part in parts_of(cx, value, cx.at(node)))
        return Binary("or", one, two)
    return Compare("ne", value, value)


def _nanmean(cx: Context, call: Arguments) -> Value:
    array = as_array(cx, call.values[0], call.place(0), "np.nanmean()")
    if array.element.is_complex:
        raise cx.error(call.node, "np.nanmean() of complex numbers is outside the language",
                       remedy="np.mean(a[~np.isnan(a)])")  # fmt: skip
    if not array.element.is_float:
        return _mean(cx, call)
    total = _ignoring_nan(SUM)(cx, call)
    present = map_elements(
        cx,
        lambda cx, x: Number(Compare("eq", v := cx.once(x.expr, cx.at(call.node)), v), weak=False),
        [array],
        call.node,
    )
    count = _call(COUNT)(cx, Arguments(call.node, call.name, (present, *call.values[1:]), call.named))

    def divide(cx: Context, a: Number, b: Number) -> Value:
        return operators.binary_operation(cx, "truediv", a, Number(Cast(b.expr, a.type), weak=False), call.node)

    if isinstance(total, Number) and isinstance(count, Number):
        return divide(cx, total, count)
    return materialised(cx, map_elements(cx, divide, (total, count), call.node), call.node)


REDUCTIONS: dict[Any, Callable[[Context, Arguments], Value]] = {
    np.sum: _call(SUM), np.prod: _call(PRODUCT), np.max: _call(MAXIMUM), np.amax: _call(MAXIMUM),
    np.min: _call(MINIMUM), np.amin: _call(MINIMUM), np.any: _call(ANY), np.all: _call(ALL),
    np.count_nonzero: _call(COUNT), np.mean: _mean, np.average: _average, np.var: _variance(False),
    np.std: _variance(True), np.argmax: _place_of_extreme(True), np.argmin: _place_of_extreme(False),
    np.ptp: _range, np.nansum: _ignoring_nan(SUM), np.nanmax: _ignoring_nan(MAXIMUM),
    np.nanmin: _ignoring_nan(MINIMUM), np.nanprod: _ignoring_nan(PRODUCT), np.nanmean: _nanmean,
}  # fmt: skip
METHODS = {
    name: REDUCTIONS[getattr(np, name)]
    for name in ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin")
}


def from_the_front(cx: Context, written: Any, call: Arguments) -> Arguments:
    """The call of a function that is written in the language, with its axis counted from the first one, where it has
    one axis. Raises KernelError for what is no axis of its first argument."""
    names = written.__code__.co_varnames[: written.__code__.co_argcount]
    if "axis" not in names or not call.values or not isinstance(array := call.values[0], ArrayLike):
        return call
    place = names.index("axis")
    defaults = dict(zip(reversed(names), reversed(written.__defaults__ or ()), strict=False))
    given = call.values[place] if place < len(call.values) else call.named.get("axis", from_object(defaults["axis"]))
    if is_none(given):
        return call
    axes = axes_of(cx, given, len(array.shape), call.node)
    if len(axes) != 1:
        raise cx.error(call.node, f"{call.name}() takes one axis here")
    axis = Literal(axes[0])
    if place < len(call.values):
        return replace(call, values=(*call.values[:place], axis, *call.values[place + 1 :]))
    return replace(call, named={**call.named, "axis": axis})

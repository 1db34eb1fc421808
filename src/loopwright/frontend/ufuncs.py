"""NumPy's functions of elements, of each one where an operand is an array: ufuncs, `where`, `clip`, `round`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from typing import Literal as OneOf

import numpy as np

from loopwright.frontend import promote
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.builtin_functions import rounded, truncated
from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.creation import array_of_items, as_array
from loopwright.frontend.elementwise import any_array, as_bool, assign_elements, map_elements, materialised
from loopwright.frontend.inline import run_written
from loopwright.frontend.numpy_functions import ufunc_call
from loopwright.frontend.python_library import round_to
from loopwright.frontend.selection import nonzero
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Fixed,
    Items,
    Literal,
    Number,
    Value,
    View,
    describe,
    is_none,
)
from loopwright.frontend.views import as_view, is_array
from loopwright.ir.nodes import Binary, Cast, Const, Load, Select
from loopwright.ir.types import BOOL, INT64, Scalar
from loopwright.ir.walk import subexpressions

Handler = Callable[[Context, Arguments], Value]


def _where(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 3)
    if len(call.values) == 1:
        return nonzero(cx, as_array(cx, call.values[0], call.place(0), "np.where()"), call.node)
    if len(call.values) != 3:
        raise cx.error(call.node, "np.where() takes a condition and two choices, or the condition alone")
    _, a, b = call.values
    kind = _common_weak([_kind(cx, value, call) for value in (a, b)])

    def choose(cx: Context, c: Literal | Number, x: Literal | Number, y: Literal | Number) -> Number:
        x, y = (_wrapped(_read_anyway(cx, one, call.node), kind) for one in (x, y))
        return Number(Select(as_bool(cx, c), convert(cx, x, kind, call.node), convert(cx, y, kind, call.node)), False)

    if not any(is_array(value) for value in call.values):
        return choose(cx, *call.numbers(cx))
    values = [array_of_items(cx, v, call.node) if isinstance(v, Items) else v for v in call.values]
    return map_elements(cx, choose, values, call.node)


def _wrapped(number: Literal | Number, kind: Scalar) -> Literal | Number:
    """A Python int as np.where() takes it: one that does not fit the type of the other choice wraps around."""
    if not kind.is_integer or not number.number_type.weak or number.number_type.type != INT64:
        return number
    if isinstance(number, Literal):
        return Literal(int(np.array(int(number.value)).astype(kind.dtype)))
    return Number(Cast(number.expr, kind), weak=False)


def _read_anyway(cx: Context, number: Literal | Number, node: ast.AST) -> Literal | Number:
    """A choice of np.where(): where an array of indices chooses it, an index out of range is an error anyway."""
    loads = [] if isinstance(number, Literal) else subexpressions(number.expr, Load)
    if any(any(subexpressions(part, Load)) for load in loads for part in load.index):
        assert isinstance(number, Number)
        return replace(number, expr=cx.once(number.expr, cx.at(node)))
    return number


def round_elements(cx: Context, call: Arguments) -> Value:
    """`np.round(a, decimals=0)`, as NumPy computes it: scaled, rounded to even, and scaled back."""
    call.expect(cx, 1, 3, ("decimals", "out"))
    if (out := call.get(2, "out")) is not None:
        rest = {name: value for name, value in call.named.items() if name != "out"}
        return _into(cx, out, round_elements(cx, replace(call, values=call.values[:2], named=rest)), call)
    decimals = call.get(1, "decimals") or Literal(0)
    value = call.values[0]
    rint = replace(call, name="rint", named={})
    whole = (value.element if is_array(value) else _kind(cx, value, call).type).is_integer
    if whole and isinstance(decimals, Literal) and decimals.value >= 0:
        return materialised(cx, value, call.node) if is_array(value) else value
    if decimals == Literal(0):
        return ufunc_of(cx, np.rint, replace(rint, values=(value,)))
    if not isinstance(decimals, Literal) or not isinstance(decimals.value, int):
        raise cx.error(call.node, "a number of digits must be known at compile time")
    scale = Literal(10.0 ** abs(decimals.value))
    first, second = (np.multiply, np.true_divide) if decimals.value > 0 else (np.true_divide, np.multiply)
    scaled = ufunc_of(cx, first, replace(rint, values=(value, scale)))
    if whole:
        raise cx.error(call.node, "rounding integers to tens is outside the language",
                       remedy="round x / 10, and multiply by 10")  # fmt: skip
    return ufunc_of(cx, second, replace(rint, values=(ufunc_of(cx, np.rint, replace(rint, values=(scaled,))), scale)))


def _with_digits(cx: Context, call: Arguments, digits: Value) -> Value:
    """`round(x, digits)` of a Python number."""
    number = call.number(cx, 0)
    if not isinstance(digits, Literal) or not isinstance(digits.value, int) or not 0 <= digits.value < 23:
        raise cx.error(call.node, "round() takes a number of digits from 0 to 22 that is known at compile time")
    if isinstance(number, Literal):
        return Literal(round(number.value, digits.value))
    if number.number_type.type == BOOL:
        return truncated(cx, number, call.node)
    if number.number_type.type.is_integer:
        return number
    scale = np.float64(10.0**digits.value)
    upper = (scale.view(np.int64) & -(1 << 27)).view(np.float64)
    return run_written(cx, round_to, [number, Literal(float(scale)), Literal(float(upper))], call.node)


def _round(cx: Context, call: Arguments) -> Value:
    if len(call.values) == 2 and isinstance(call.values[0], Number) and not call.values[0].weak:
        return round_elements(cx, call)  # as np.float64.__round__ does
    digits = call.get(1, "ndigits")
    if digits is not None and not is_none(digits):
        return _with_digits(cx, call, digits)
    return rounded(cx, call.number(cx, 0), "rint", round, call.node)


def _kind(cx: Context, value: Value, call: Arguments) -> promote.NumberType:
    if is_array(value):
        return promote.NumberType(value.element, weak=False)
    if isinstance(value, Literal | Number):
        return value.number_type
    return promote.NumberType(as_array(cx, value, call.node, "np.where()").element, weak=False)


def _common_weak(kinds: Sequence[promote.NumberType]) -> Scalar:
    result = kinds[0]
    for kind in kinds[1:]:
        result = promote.common(result, kind)
    return result.type


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
        cx,
        lambda cx, *numbers: ufunc_call(cx, function, replace(call, values=numbers, named={})),
        operands_only,
        call.node,
    )
    return _into(cx, out, result, call)


def _into(cx: Context, out: Value | None, result: Value, call: Arguments) -> Value:
    """The result, or `out` with its elements where there is one."""
    if out is None or is_none(out):
        return result
    if not isinstance(out, Array | View):
        raise cx.error(call.node, "'out' must be an array", f"this is {describe(out)}")
    if isinstance(result, ArrayLike) and not np.can_cast(result.element.dtype, out.element.dtype, "same_kind"):
        raise cx.error(call.node, f"{call.name}() gives {result.element} here, and 'out' has {out.element}",
                       "NumPy raises TypeError: cannot cast with casting rule 'same_kind'",
                       f"out[...] = np.{call.name}(...)")  # fmt: skip
    assign_elements(cx, as_view(out) if isinstance(out, Array) else out, result, call.node, call.node)
    return out


WITH_OUT = frozenset(
    {"sum", "prod", "max", "amax", "min", "amin", "mean", "std", "var", "any", "all", "argmax", "argmin", "cumsum",
     "cumprod", "take", "nansum", "nanprod", "nanmax", "nanmin", "nanmean"}
)  # fmt: skip
"""Functions and methods of arrays that put their result into `out`."""


def put_into_out(cx: Context, call: Arguments, apply: Callable[[Arguments], Value]) -> Value:
    """`np.sum(a, axis=0, out=b)`. Raises KernelError where `out` has another type or other axes than the result: NumPy
    then computes in another type, and stretches nothing."""
    named = dict(call.named)
    out = named.pop("out")
    result = apply(replace(call, named=named))
    if is_none(out):
        return result
    if not isinstance(out, Array | View) or not isinstance(result, ArrayLike) or not _are_alike(out, result):
        raise cx.error(call.node, f"'out' of {call.name}() has another type, or other axes, than the result",
                       remedy=f"assign the result: out[...] = np.{call.name}(...)")  # fmt: skip
    return _into(cx, out, result, call)


def _are_alike(out: Array | View, result: ArrayLike) -> bool:
    """Whether they have one type, as many axes, and one element along the same axes."""
    ones = [[size == Literal(1) for size in one.shape] for one in (out, result)]
    return out.element == result.element and ones[0] == ones[1]


def _clip(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 4, ("a_min", "a_max", "min", "max", "out"))
    low, high = (call.get(k, f"a_{name}") or call.named.get(name, Fixed(None)) for k, name in ((1, "min"), (2, "max")))
    return _into(cx, call.get(3, "out"), clip(cx, call.values[0], low, high, call), call)


def clip(cx: Context, value: Value, low: Value, high: Value, call: Arguments) -> Value:
    """`np.clip(a, low, high)`. A Python int beyond what the elements can be is no limit, as in NumPy."""
    limits = [limit for limit in (low, high) if not is_none(limit)]
    given, *kinds = [_kind(cx, one, call) for one in (value, *limits)]
    kind = _common_weak([given, *kinds])
    if given.type.is_integer and not kind.is_integer:
        value = in_type(cx, value, kind, call.node)
    if not is_none(low):
        low = _within(low, kind, "max")
        value = ufunc_of(cx, np.maximum, replace(call, name="maximum", values=(value, low), named={}))
    if not is_none(high):
        high = _within(high, kind, "min")
        value = ufunc_of(cx, np.minimum, replace(call, name="minimum", values=(value, high), named={}))
    return value


def _within(limit: Value, kind: Scalar, op: OneOf["max", "min"]) -> Value:
    """A Python int that limits integers from below (max) or above (min): their own limit where it is beyond that."""
    if not isinstance(limit, Literal | Number) or not kind.is_integer or limit.number_type != promote.WEAK_INT:
        return limit
    end = kind.minimum if op == "max" else kind.maximum
    if isinstance(limit, Literal):
        return Literal(max(limit.value, end) if op == "max" else min(limit.value, end))
    if end > INT64.maximum:
        return limit
    return Number(Binary(op, limit.expr, Const(end, INT64)), weak=True)


def in_type(cx: Context, value: Value, kind: Scalar, node: ast.AST) -> Value:
    """A number, or the elements of an array, in a type."""
    if isinstance(value, Literal | Number):
        return Number(convert(cx, value, kind, node), weak=False)
    return map_elements(cx, lambda cx, x: Number(convert(cx, x, kind, node), weak=False), [value], node)


def common_type(cx: Context, values: Sequence[Value], call: Arguments) -> Scalar:
    """The type that NumPy promotes arrays and numbers to."""
    return _common_weak([_kind(cx, value, call) for value in values])


BY_ELEMENT: dict[Any, Handler] = {
    round: _round, np.where: _where, np.clip: _clip, np.round: round_elements, np.around: round_elements,
}  # fmt: skip

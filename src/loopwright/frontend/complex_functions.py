"""Functions of complex numbers by name: `complex`, `cmath`, NumPy's ufuncs; the parts of numbers and of arrays."""

from __future__ import annotations

import ast
import cmath
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from loopwright.frontend import complex_library, operators
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.builtin_functions import Handler
from loopwright.frontend.complex_numbers import called, magnitude, negated
from loopwright.frontend.complex_numbers import conjugate as conjugate_of_complex
from loopwright.frontend.complex_pairs import pair, part_of, parts_of
from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.elementwise import any_array, made, map_elements
from loopwright.frontend.manipulation import flattened
from loopwright.frontend.numpy_functions import as_ufunc_takes
from loopwright.frontend.products import dot
from loopwright.frontend.values import Array, ArrayLike, Elementwise, Items, Literal, Number, Value, View
from loopwright.frontend.views import as_view, is_array
from loopwright.ir.nodes import Binary, BinaryOp, Call, Const
from loopwright.ir.types import BOOL, COMPLEX128, FLOAT64, INT64

_LIBRARY: dict[str, Callable[[Any], Any]] = {
    "exp": complex_library.exp, "log": complex_library.log, "log10": complex_library.log10,
    "sqrt": complex_library.sqrt, "sin": complex_library.sin, "cos": complex_library.cos, "tan": complex_library.tan,
    "sinh": complex_library.sinh, "cosh": complex_library.cosh, "tanh": complex_library.tanh,
}  # fmt: skip
_OF_PARTS: dict[str, BinaryOp] = {"isnan": "or", "isinf": "or", "isfinite": "and"}


def ufunc(cx: Context, name: str, numbers: Sequence[Number], call: Arguments) -> Number:
    """NumPy's function of numbers of one complex type."""
    first, node = numbers[0], call.node
    if name in _LIBRARY:
        return called(cx, _LIBRARY[name], numbers, False, node)
    match name:
        case "absolute":
            return magnitude(cx, first, node)
        case "conjugate":
            return conjugate_of_complex(cx, first, node)
        case "negative":
            return negated(cx, first, node)
        case "positive":
            return first
        case "square":
            return _strong(operators.binary_operation(cx, "mul", first, first, node))
        case "reciprocal":
            one = Number(convert(cx, Literal(1), first.type, node), weak=False)
            return _strong(operators.binary_operation(cx, "truediv", one, first, node))
        case "isnan" | "isinf" | "isfinite":
            real, imaginary = (Call(name, (part,), BOOL) for part in parts_of(cx, first.expr, cx.at(node)))
            return Number(Binary(_OF_PARTS[name], real, imaginary), weak=False)
        case _:
            raise cx.error(node, f"np.{call.name}() of complex numbers is outside the language")


def _strong(number: Literal | Number) -> Number:
    assert isinstance(number, Number)
    return replace(number, weak=False)


def conjugate(cx: Context, number: Literal | Number, node: ast.AST) -> Literal | Number:
    """`x.conjugate()`, of any number."""
    if isinstance(number, Number) and number.type.is_complex:
        return conjugate_of_complex(cx, number, node)
    return number


def part(number: Number | Literal, imaginary: bool) -> Number | Literal:
    """`z.real`, `z.imag`, of any number."""
    if isinstance(number, Literal):
        return Literal(type(number.value)(0) if imaginary else +number.value)
    if number.type.is_complex:
        return Number(part_of(number.expr, imaginary), number.weak)
    zero = Const(0.0 if number.type.is_float else 0, number.type)
    return Number(zero, number.weak) if imaginary else number


def part_of_array(cx: Context, base: ArrayLike, imaginary: bool, node: ast.AST) -> Value:
    """`a.real`, `a.imag`: of a complex array a view of its memory."""
    if not base.element.is_complex:
        if not imaginary:
            return base
        zero = Const(0.0 if base.element.is_float else 0, base.element)
        return made(cx, base.shape, lambda cx, index: Number(zero, weak=False), frozenset())
    if isinstance(base, Elementwise):
        return map_elements(cx, lambda cx, z: part(z, imaginary), [base], node)
    view = as_view(base) if isinstance(base, Array) else base
    whole = Array(view.array.name, view.element.part, (*view.array.sizes, Literal(2)), weak=view.array.weak)
    return View(whole, (*view.places, Const(int(imaginary), INT64)), view.shape)


def assignable_part(cx: Context, target: ast.Attribute, base: Value) -> View | None:
    """`a.real`, `a.imag` of an array, to be assigned to; None for anything else."""
    if target.attr not in ("real", "imag") or not is_array(base):
        return None
    part = part_of_array(cx, base, target.attr == "imag", target)
    if not isinstance(part, Array | View):
        raise cx.error(target, "the result of an expression cannot be assigned to")
    return as_view(part) if isinstance(part, Array) else part


def _complex(cx: Context, call: Arguments) -> Value:
    """`complex(a, b)`: each of them may be complex, too."""
    call.expect(cx, 0, 2, ("real", "imag"))
    first, second = call.get(0, "real") or Literal(0), call.get(1, "imag") or Literal(0)
    a, b = (replace(call, values=(value,)).number(cx, 0) for value in (first, second))
    if all(isinstance(one, Literal) or not one.type.is_complex for one in (a, b)):
        return Number(pair(*(convert(cx, one, FLOAT64, call.node) for one in (a, b))), weak=True)
    if second == Literal(0):
        return Number(convert(cx, a, COMPLEX128, call.node), weak=True)
    raise cx.error(call.node, "complex(a, b) takes two reals here", remedy="write a + 1j * b")


def _pair(cx: Context, call: Arguments) -> Value:
    real, imaginary = (operators.scalar_of(cx, number, call.node).expr for number in call.numbers(cx))
    return Number(pair(real, imaginary), weak=False)


def _of_cmath(function: Callable[[Any], Any]) -> Handler:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1)
        number = Number(convert(cx, call.number(cx, 0), COMPLEX128, call.node), weak=True)
        return called(cx, function, [number], True, call.node)

    return handler


def _polar(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    number = Number(cx.once(convert(cx, call.number(cx, 0), COMPLEX128, call.node), cx.at(call.node)), weak=True)
    return Items((magnitude(cx, number, call.node), _angle_of(cx, number, True, call.node)))


def _rect(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    size, angle = (cx.once(convert(cx, one, FLOAT64, call.node), cx.at(call.node)) for one in call.numbers(cx))
    turned = (Binary("mul", size, Call(name, (angle,), FLOAT64)) for name in ("cos", "sin"))
    return Number(pair(*turned), weak=True)


def _phase(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    return _angle_of(cx, Number(convert(cx, call.number(cx, 0), COMPLEX128, call.node), True), True, call.node)


def _angle_of(cx: Context, number: Number, weak: bool, node: ast.AST) -> Number:
    real, imaginary = parts_of(cx, number.expr, cx.at(node))
    return Number(Call("arctan2", (imaginary, real), real.type), weak)


def _angle(cx: Context, call: Arguments) -> Value:
    """`np.angle(z)`."""
    call.expect(cx, 1)

    def angle(cx: Context, number: Literal | Number) -> Number:
        kind = number.number_type.type
        if kind.is_complex:
            return _angle_of(cx, Number(convert(cx, number, kind, call.node), False), False, call.node)
        values, kind = as_ufunc_takes(cx, np.arctan2, [Literal(0), number], call)
        return Number(Call("arctan2", tuple(values), kind), weak=False)

    if any_array(call.values[0]):
        return map_elements(cx, angle, call.values, call.node)
    return angle(cx, call.number(cx, 0))


def _part(imaginary: bool) -> Handler:
    """`np.real(z)`, `np.imag(z)`."""

    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1)
        value = call.values[0]
        if is_array(value):
            return part_of_array(cx, value, imaginary, call.node)
        return part(call.number(cx, 0), imaginary)

    return handler


def _vdot(cx: Context, call: Arguments) -> Value:
    """`np.vdot(a, b)`: of all elements, in the order of memory, and the conjugates of a."""
    call.expect(cx, 2)
    if not all(is_array(value) for value in call.values):
        raise cx.error(call.node, "np.vdot() takes two arrays here", remedy="write np.conj(a) * b")
    first, second = (flattened(cx, value, call.node) for value in call.values)
    first = map_elements(cx, lambda cx, z: conjugate(cx, z, call.node), [first], call.node)
    return dot(cx, replace(call, values=(first, second)))


def _is_complex(answer: bool) -> Handler:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1)
        value = call.values[0]
        kind = value.element if isinstance(value, ArrayLike) else call.number(cx, 0).number_type.type
        return Literal(kind.is_complex is answer)

    return handler


def _is(name: str) -> Handler:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1)
        number = Number(convert(cx, call.number(cx, 0), COMPLEX128, call.node), weak=False)
        return replace(ufunc(cx, name, [number], call), weak=True)

    return handler


HANDLERS: dict[Any, Handler] = {
    complex: _complex, complex_library.pair: _pair, np.real: _part(False), np.imag: _part(True), np.angle: _angle,
    np.vdot: _vdot, np.iscomplexobj: _is_complex(True), np.isrealobj: _is_complex(False),
    **{getattr(cmath, name): _of_cmath(function) for name, function in _LIBRARY.items()},
    **{getattr(cmath, name): _is(name) for name in _OF_PARTS},
    cmath.polar: _polar, cmath.rect: _rect, cmath.phase: _phase,
}  # fmt: skip

"""The module `math`: floats are float64, results are Python's floats, ints and bools.

Where Python raises ValueError or OverflowError, the result is NumPy's NaN or infinity, unless a `try` catches it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from loopwright.frontend import python_floats
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.builtin_functions import Handler, rounded
from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.exception_handlers import catches
from loopwright.frontend.values import Literal, Number, Value
from loopwright.ir.nodes import Binary, Call, Const, Expr, Function, Unary
from loopwright.ir.types import FLOAT64

_CALLS: dict[str, Function] = {
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "copysign": "copysign", "fmod": "fmod",
    "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "erf": "erf", "erfc": "erfc",
    "gamma": "gamma", "lgamma": "lgamma",
}  # fmt: skip
_OF_TWO = frozenset({"atan2", "copysign", "fmod"})


def _floats(cx: Context, call: Arguments) -> list[Expr]:
    return [convert(cx, number, FLOAT64, call.place(k)) for k, number in enumerate(call.numbers(cx))]


def _known(call: Arguments, function: Callable[..., float]) -> Literal | None:
    """The result where every argument is known now, by Python itself; None where Python would raise."""
    values = [value.value for value in call.values if isinstance(value, Literal)]
    if len(values) != len(call.values):
        return None
    try:
        return Literal(function(*values))
    except (ValueError, OverflowError):
        return None


def _called(name: str, function: Function) -> Handler:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 2 if name in _OF_TWO else 1)
        known = _known(call, getattr(math, name))
        if known is not None:
            return known
        return Number(python_floats.function(cx, function, tuple(_floats(cx, call)), call.node), weak=True)

    return handler


def _log(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 2)
    known = _known(call, math.log)
    if known is not None:
        return known
    logs = [python_floats.function(cx, "log", (value,), call.node) for value in _floats(cx, call)]
    if len(logs) == 1:
        return Number(logs[0], weak=True)
    return Number(python_floats.operation(cx, "truediv", logs[0], logs[1], call.node), weak=True)


def _hypot(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    x, y = _floats(cx, call)
    return _known(call, math.hypot) or Number(Call("hypot", (x, y), FLOAT64), weak=True)


def _pow(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 2)
    if catches(cx, ValueError, OverflowError):
        raise cx.error(call.node, "'math.pow' in this 'try' is outside the language", remedy="write: x ** y")
    x, y = _floats(cx, call)
    return _known(call, math.pow) or Number(Binary("pow", x, y), weak=True)


def _fabs(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1)
    return _known(call, math.fabs) or Number(Unary("abs", _floats(cx, call)[0]), weak=True)


def _scaled(name: str, factor: float) -> Handler:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1)
        known = _known(call, getattr(math, name))
        return known or Number(Binary("mul", _floats(cx, call)[0], Const(factor, FLOAT64)), weak=True)

    return handler


def _rounding(name: str) -> Handler:
    def handler(cx: Context, call: Arguments) -> Value:
        call.expect(cx, 1)
        return rounded(cx, call.number(cx, 0), name, getattr(math, name), call.node)

    return handler


MATH: dict[object, Handler] = {
    **{getattr(math, name): _called(name, function) for name, function in _CALLS.items()},
    **{getattr(math, name): _rounding(name) for name in ("floor", "ceil", "trunc")},
    math.log: _log,
    math.hypot: _hypot,
    math.pow: _pow,
    math.fabs: _fabs,
    math.degrees: _scaled("degrees", 180.0 / math.pi),
    math.radians: _scaled("radians", math.pi / 180.0),
}

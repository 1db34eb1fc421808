"""Calls: which function a call means, and who reads it."""

from __future__ import annotations

import ast
from types import FunctionType

import numpy as np

from loopwright.frontend.allocate import ALLOCATIONS
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.arrays import array_attribute
from loopwright.frontend.builtin_functions import BUILTINS, Handler
from loopwright.frontend.context import Context
from loopwright.frontend.inline import inline_closure, inline_function
from loopwright.frontend.math_functions import MATH
from loopwright.frontend.numpy_functions import NUMPY, number_method, type_call, ufunc_call
from loopwright.frontend.operands import operands
from loopwright.frontend.refusals import FUNCTIONS
from loopwright.frontend.refusals import NUMPY as NUMPY_INSTEAD
from loopwright.frontend.values import Array, Closure, Fixed, Literal, Number, Records, Value, describe

_HANDLERS: dict[object, Handler] = {**BUILTINS, **MATH, **NUMPY, **ALLOCATIONS}
_NUMBER_METHODS = ("astype", "item")


def call(cx: Context, node: ast.Call) -> Value:
    """The Value of a call."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "this")
    if isinstance(node.func, ast.Attribute) and name in _NUMBER_METHODS:
        owner = cx.evaluate(node.func.value)
        if isinstance(owner, Array | Records):
            return array_attribute(cx, owner, name, node.func)
        if isinstance(owner, Literal | Number):
            return number_method(cx, name, owner, _arguments(cx, node, name))
    callee = cx.evaluate(node.func)
    if isinstance(callee, Fixed):
        _refuse_by_name(cx, callee.value, node)
    arguments = _arguments(cx, node, name)
    match callee:
        case Closure():
            return inline_closure(cx, callee, arguments)
        case Fixed(value=function):
            return _call_fixed(cx, function, arguments)
        case _:
            raise cx.error(node, f"{describe(callee)} cannot be called")


def _arguments(cx: Context, node: ast.Call, name: str) -> Arguments:
    for keyword in node.keywords:
        if keyword.arg is None:
            raise cx.error(keyword, "'**' in a call is outside the language", remedy="write the arguments out")
    values = operands(cx, [*node.args, *(keyword.value for keyword in node.keywords)])
    count = len(node.args)
    named = {str(keyword.arg): value for keyword, value in zip(node.keywords, values[count:], strict=True)}
    return Arguments(node, name, tuple(values[:count]), named)


def _call_fixed(cx: Context, function: object, call: Arguments) -> Value:
    handler = _handler(function)
    if handler is not None:
        return handler(cx, call)
    if isinstance(function, np.ufunc):
        return ufunc_call(cx, function, call)
    if isinstance(function, type) and issubclass(function, np.generic):
        return type_call(cx, function, call)
    if is_prange(function) or function is range:
        raise cx.error(call.node, f"'{call.name}' stands only in a 'for' statement",
                       remedy="write: for i in range(n)")  # fmt: skip
    if isinstance(function, FunctionType) and not _is_of(function, "numpy"):
        return inline_function(cx, function, call)
    if _is_of(type(function), "numba", "loopwright"):  # a jitted function or a kernel: its Python function
        return inline_function(cx, function, call)
    raise cx.error(
        call.node,
        f"'{ast.unparse(call.node.func)}' is outside the language",
        f"this is {describe(Fixed(function))}" if not callable(function) else "",
        "use loops over elements, math.*, scalar functions of NumPy, and functions written with 'def'",
    )


def _handler(function: object) -> Handler | None:
    try:
        return _HANDLERS.get(function)
    except TypeError:  # not hashable
        return None


def is_prange(function: object) -> bool:
    """numba's or our own prange."""
    return getattr(function, "__name__", "") == "prange"


def _is_of(thing: object, *packages: str) -> bool:
    return (getattr(thing, "__module__", None) or "").split(".")[0] in packages


def _refuse_by_name(cx: Context, function: object, node: ast.Call) -> None:
    """Functions of Python's with a better answer than that they are unknown; said before their arguments are read."""
    name = getattr(function, "__name__", "")
    if getattr(function, "__module__", None) == "builtins" and name in FUNCTIONS:
        why, remedy = FUNCTIONS[name]
        raise cx.error(node, f"'{name}' is outside the language", why, remedy)
    if _is_of(function, "numpy") and name in NUMPY_INSTEAD:
        raise cx.error(node, f"'np.{name}' is outside the language", remedy=NUMPY_INSTEAD[name])

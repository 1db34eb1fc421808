"""`raise` and `assert`: exceptions of Python's and the user's classes. What they say is known when the code is made,
but for two numbers that they may tell."""

from __future__ import annotations

import ast
from typing import Literal as Choice

from loopwright.errors import NUMBER, class_named, name_of_class
from loopwright.frontend.context import Context
from loopwright.frontend.convert import negated
from loopwright.frontend.lazy import condition_of
from loopwright.frontend.values import Fixed, Literal, Number
from loopwright.ir.nodes import Assign, Checked, Const, Expr, If
from loopwright.ir.types import BOOL, INT64

Shown = Choice["str", "format", "repr"]
"""By which of Python's functions a number becomes text."""


def raise_statement(cx: Context, node: ast.Raise) -> None:
    """`raise ValueError("...")`: the call ends with this exception."""
    if node.exc is None:
        _raise_again(cx, node)
        return
    name, arguments = node.exc, list[ast.expr]()
    if isinstance(node.exc, ast.Call):
        name, arguments = node.exc.func, node.exc.args
    found = cx.evaluate(name)
    numbers: list[Expr] = []
    says = _message(cx, arguments, numbers)
    kind = _class_name(cx, found.value if isinstance(found, Fixed) else None, says, name)
    _fail(cx, Const(False, BOOL), kind, says, node, numbers)


def _raise_again(cx: Context, node: ast.Raise) -> None:
    """`raise` alone: what the handler around has caught."""
    again = cx.handling[-1] if cx.handling else None
    if again is None:
        raise cx.error(node, "'raise' alone is outside the language here", "no handler of this function is around",
                       "name it: raise ValueError('...')")  # fmt: skip
    for stmt in again.again(cx.at(node)):
        cx.emit(stmt)


def assert_statement(cx: Context, node: ast.Assert) -> None:
    """`assert condition, "..."`."""
    condition = condition_of(cx, node.test)
    if condition is True:
        return
    expr: Expr = Const(False, BOOL) if condition is False else condition
    numbers: list[Expr] = []
    with cx.inner_body() as failing:
        says = _message(cx, [] if node.msg is None else [node.msg], numbers)
        if numbers:
            _fail(cx, Const(False, BOOL), "AssertionError", says, node, numbers)
    if numbers:  # which are computed where the condition does not hold
        cx.emit(If(negated(expr), tuple(failing), at=cx.at(node)))
    else:
        _fail(cx, expr, "AssertionError", says, node, [])


def _fail(cx: Context, condition: Expr, name: str, message: str, node: ast.AST, numbers: list[Expr]) -> None:
    raised = f"{name}: {message}" if message else name
    at = cx.at(node)
    first = numbers[0] if numbers else Const(0, INT64)
    second = numbers[1] if len(numbers) > 1 else None
    cx.temporary(Checked(first, condition, "raised", raised, second, at=at), at)


def _class_name(cx: Context, kind: object, says: str, node: ast.expr) -> str:
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise cx.error(node, "this is not an exception class", remedy="raise ValueError, or one of your own classes")
    name = kind.__name__ if kind.__module__ == "builtins" else name_of_class(kind)
    try:
        is_found = class_named(name) is kind and isinstance(kind(*[says] * bool(says)), kind)
    except Exception:
        is_found = False
    if not is_found:
        raise cx.error(node, f"'{kind.__qualname__}' cannot be raised here",
                       "its module has no such name, or it does not take exactly one message",
                       "define it at the module's top level, with one argument")  # fmt: skip
    return name


def _message(cx: Context, arguments: list[ast.expr], numbers: list[Expr]) -> str:
    """What the exception says; of numbers that are known only when the code runs and are not told, the text that
    computes them. numbers: gets those that are told."""
    if not arguments:
        return ""
    if len(arguments) > 1:
        raise cx.error(arguments[1], "an exception takes one message here")
    return _text(cx, arguments[0], numbers)


def _text(cx: Context, node: ast.expr, numbers: list[Expr]) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.JoinedStr(values=parts):
            return "".join(_text(cx, part, numbers) for part in parts)
        case ast.FormattedValue(value=inner, format_spec=None, conversion=-1):
            return _known(cx, inner, numbers, "format")
        case ast.FormattedValue(
            value=inner, format_spec=ast.JoinedStr(values=[ast.Constant(value=str() as form)]), conversion=-1
        ) if not isinstance(inner, ast.Constant):
            return _told(cx, inner, form, numbers, "format")
        case ast.FormattedValue(value=inner, format_spec=None, conversion=conversion) if conversion != ord("a"):
            return _known(cx, inner, numbers, "repr") if conversion == ord("r") else _known(cx, inner, numbers)
        case ast.FormattedValue(value=inner):
            return "{" + ast.unparse(inner) + "}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(cx, left, numbers) + _text(cx, right, numbers)
        case _:
            return _known(cx, node, numbers)


def _told(cx: Context, node: ast.expr, form: str, numbers: list[Expr], by: Shown) -> str:
    """The place of a number that the exception tells, where it is one of the first two and takes no loop to compute."""
    source = "{" + ast.unparse(node) + "}"
    if len(numbers) == _MOST_NUMBERS:
        return source
    with cx.inner_body(nested=False) as extra:
        value = cx.evaluate(node)
    if not isinstance(value, Number) or (by == "repr" and not value.weak):
        return source
    kind = _KINDS.get(value.expr.type.name, 1 if value.expr.type.is_integer else 0)
    if not kind or not all(isinstance(one, Assign) for one in extra):
        return source
    kind = 3 if kind == 4 and by == "format" else kind  # a float32 is formatted as the float that it is
    try:
        format(_SAMPLES.get(kind, 0), form)
    except ValueError:
        return source
    cx.body.extend(extra)
    numbers.append(value.expr)
    return f"{NUMBER}{kind}{form}{NUMBER}{source}{NUMBER}"


_MOST_NUMBERS = 2
_KINDS = {"uint64": 2, "float64": 3, "float32": 4, "bool": 5}
_SAMPLES = {3: 0.5, 4: 0.5, 5: False}


def _known(cx: Context, node: ast.expr, numbers: list[Expr], by: Shown = "str") -> str:
    with cx.inner_body():
        value = cx.evaluate(node) if isinstance(node, ast.Name | ast.Attribute) else None
    match value:
        case Literal(value=known):
            return str(known)
        case Number(expr=Const(value=known)):
            return str(known)
        case Fixed(value=str() as text):
            return repr(text) if by == "repr" else text
        case _:
            return _told(cx, node, "", numbers, by)

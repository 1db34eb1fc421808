"""`raise` and `assert`: exceptions of Python's and the user's classes. What they say is known when the code is made,
but for one number that a `raise` may tell."""

from __future__ import annotations

import ast

from loopwright.errors import NUMBER, class_named, name_of_class
from loopwright.frontend.context import Context
from loopwright.frontend.lazy import condition_of
from loopwright.frontend.values import Fixed, Literal, Number
from loopwright.ir.nodes import Checked, Const, Expr
from loopwright.ir.types import BOOL, FLOAT64, INT64


def raise_statement(cx: Context, node: ast.Raise) -> None:
    """`raise ValueError("...")`: the call ends with this exception."""
    if node.exc is None:
        raise cx.error(node, "'raise' alone is outside the language", "only the class of an exception is known",
                       "name it: raise ValueError('...')")  # fmt: skip
    name, arguments = node.exc, list[ast.expr]()
    if isinstance(node.exc, ast.Call):
        name, arguments = node.exc.func, node.exc.args
    found = cx.evaluate(name)
    numbers: list[Expr] = []
    says = _message(cx, arguments, numbers)
    kind = _class_name(cx, found.value if isinstance(found, Fixed) else None, says, name)
    _fail(cx, Const(False, BOOL), kind, says, node, *numbers)


def assert_statement(cx: Context, node: ast.Assert) -> None:
    """`assert condition, "..."`."""
    condition = condition_of(cx, node.test)
    if condition is True:
        return
    expr = Const(False, BOOL) if condition is False else condition
    _fail(cx, expr, "AssertionError", _message(cx, [] if node.msg is None else [node.msg]), node)


def _fail(
    cx: Context, condition: Expr | bool, name: str, message: str, node: ast.AST, number: Expr | None = None
) -> None:
    assert not isinstance(condition, bool)
    raised = f"{name}: {message}" if message else name
    at = cx.at(node)
    cx.temporary(Checked(number or Const(0, INT64), condition, "raised", raised, at=at), at)


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


def _message(cx: Context, arguments: list[ast.expr], numbers: list[Expr] | None = None) -> str:
    """What the exception says; of numbers that are known only when the code runs, the text that computes them. numbers:
    a place for the first of them, if it can be told, where the message is only made when it is raised."""
    if not arguments:
        return ""
    if len(arguments) > 1:
        raise cx.error(arguments[1], "an exception takes one message here")
    return _text(cx, arguments[0], numbers)


def _text(cx: Context, node: ast.expr, numbers: list[Expr] | None) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.JoinedStr(values=parts):
            return "".join(_text(cx, part, numbers) for part in parts)
        case ast.FormattedValue(value=inner, format_spec=None, conversion=-1):
            return _known(cx, inner, numbers)
        case ast.FormattedValue(
            value=inner, format_spec=ast.JoinedStr(values=[ast.Constant(value=str() as form)]), conversion=-1
        ) if not isinstance(inner, ast.Constant):
            return _told(cx, inner, form, numbers)
        case ast.FormattedValue(value=inner):
            return "{" + ast.unparse(inner) + "}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(cx, left, numbers) + _text(cx, right, numbers)
        case _:
            return _known(cx, node, numbers)


def _told(cx: Context, node: ast.expr, form: str, numbers: list[Expr] | None) -> str:
    """The place of a number that the exception tells, where it is the first one and takes no statements to compute."""
    source = "{" + ast.unparse(node) + "}"
    if numbers is None or numbers:
        return source
    with cx.inner_body() as extra:
        value = cx.evaluate(node)
    if extra or not isinstance(value, Number) or not (value.expr.type == FLOAT64 or value.expr.type.is_integer):
        return source
    try:
        format(0 if value.expr.type.is_integer else 0.5, form)
    except ValueError:
        return source
    numbers.append(value.expr)
    return f"{NUMBER}{form}{NUMBER}{source}{NUMBER}"


def _known(cx: Context, node: ast.expr, numbers: list[Expr] | None) -> str:
    with cx.inner_body():
        value = cx.evaluate(node) if isinstance(node, ast.Name | ast.Attribute) else None
    match value:
        case Literal(value=known):
            return str(known)
        case Number(expr=Const(value=known)):
            return str(known)
        case Fixed(value=str() as text):
            return text
        case _:
            return _told(cx, node, "", numbers)

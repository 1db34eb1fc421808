"""Operations of Python's floats in the body of a `try` that catches what they raise. Elsewhere they give infinities and
NaN, as NumPy does; here they fail where Python's do: division by zero, powers that are too large, and functions of
`math` outside of their domain.
"""

from __future__ import annotations

import ast

from loopwright.frontend.context import Context
from loopwright.frontend.convert import negated
from loopwright.frontend.exception_handlers import catches
from loopwright.ir.nodes import Binary, BinaryOp, Call, Checked, Compare, Const, Expr, Function, Logical
from loopwright.ir.types import BOOL, FLOAT64

_ZERO = Const(0.0, FLOAT64)
_TOO_LARGE = "OverflowError: (34, 'Numerical result out of range')"
_OVERFLOWS = ("exp", "exp2", "expm1", "sinh", "cosh")
_NEVER_FAIL = ("isnan", "isinf", "isfinite", "erf", "erfc", "copysign", "arctan2", "arctan", "tanh", "arcsinh", "cbrt")
_NOT_TOLD = ("gamma", "lgamma")  # an infinity may be one error or another


def operation(cx: Context, op: BinaryOp, x: Expr, y: Expr, node: ast.AST) -> Expr:
    """An operation of two Python floats."""
    if op in ("truediv", "floordiv", "mod") and catches(cx, ZeroDivisionError):
        if isinstance(y, Const) and y.value != 0.0:
            return Binary(op, x, y)
        y = cx.once(y, cx.at(node))
        return Checked(Binary(op, x, y), Compare("ne", y, _ZERO), "zero_division", at=cx.at(node))
    return power(cx, x, y, node) if op == "pow" else Binary(op, x, y)


def power(cx: Context, x: Expr, y: Expr, node: ast.AST) -> Expr:
    """`x ** y`: zero has no negative powers, and a result must not be too large."""
    at = cx.at(node)
    if not catches(cx, ZeroDivisionError, OverflowError):
        return Binary("pow", x, y)
    x, y = cx.once(x, at), cx.once(y, at)
    is_zero, result = Compare("eq", x, _ZERO), Binary("pow", x, y)
    value: Expr = result
    if catches(cx, OverflowError):
        value = cx.temporary(result, at)
        fits = negated(Call("isinf", (value,), BOOL))
        for one in (Call("isinf", (x,), BOOL), Call("isinf", (y,), BOOL), is_zero):
            fits = Logical("or", fits, one)
        value = Checked(value, fits, "raised", _TOO_LARGE, at=at)
    if catches(cx, ZeroDivisionError) and not (isinstance(y, Const) and y.value >= 0.0):
        has_one = negated(Logical("and", is_zero, Compare("lt", y, _ZERO)))
        value = Checked(value, has_one, "zero_division", at=at)
    return value


def function(cx: Context, name: Function, arguments: tuple[Expr, ...], node: ast.AST) -> Expr:
    """A function of `math`. It fails where its result is NaN and no argument is, or infinite for finite arguments."""
    result = BOOL if name in ("isnan", "isinf", "isfinite") else FLOAT64
    if name in _NEVER_FAIL or not catches(cx, ValueError, OverflowError):
        return Call(name, arguments, result)
    if name in _NOT_TOLD:
        raise cx.error(node, f"'math.{name}' in this 'try' is outside the language",
                       "its errors cannot be told from one another", "test its argument with 'if' before")  # fmt: skip
    at = cx.at(node)
    arguments = tuple(cx.once(one, at) for one in arguments)
    value = cx.temporary(Call(name, arguments, result), at)
    in_domain: Expr = negated(Call("isnan", (value,), BOOL))
    fits: Expr = negated(Call("isinf", (value,), BOOL))
    for one in arguments:
        in_domain = Logical("or", in_domain, Call("isnan", (one,), BOOL))
        fits = Logical("or", fits, negated(Call("isfinite", (one,), BOOL)))
    says = "OverflowError: math range error" if name in _OVERFLOWS else "ValueError: math domain error"
    inside = Checked(value, in_domain, "raised", "ValueError: math domain error", at=at)
    return Checked(inside, fits, "raised", says, at=at)

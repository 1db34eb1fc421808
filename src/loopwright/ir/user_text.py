"""An expression in the user's own Python syntax, for messages: `out[i, j % 4]`, `a.shape[0]`, `x[col[k]]`.

Casts and Checkeds, which the user did not write, do not show; a variable that the front end renamed shows as the
user's name for it. It refuses nothing: what has no Python syntax shows as a call.
"""

from __future__ import annotations

import re
from typing import assert_never

from loopwright.ir.nodes import (
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    Load,
    Logical,
    Select,
    Unary,
    Var,
)
from loopwright.ir.printing import PRIMARY, SIGN, Written, write_operator


def user_text(expr: Expr) -> str:
    """The expression as the user would write it."""
    return _text(expr)[0]


def user_element(array: str, index: tuple[Expr, ...]) -> str:
    """The target of a Store or a Load as the user would write it."""
    return f"{user_name(array)}[{', '.join(map(user_text, index))}]"


def user_name(name: str) -> str:
    """The user's name for a variable: the front end tells variables of one name apart by a number, as in `x.2`."""
    return re.sub(r"(\.\d+)+$", "", name)


def _text(expr: Expr) -> Written:
    match expr:
        case Const():
            text = repr(expr.value)
            return text, SIGN if text.startswith("-") else PRIMARY
        case Var():
            return user_name(expr.name), PRIMARY
        case Dim():
            return f"{user_name(expr.array)}.shape[{expr.axis}]", PRIMARY
        case Load():
            return user_element(expr.array, expr.index), PRIMARY
        case Cast():
            return _text(expr.operand)
        case Checked():
            return _text(expr.value)
        case Call():
            return f"{expr.function}({', '.join(map(user_text, expr.arguments))})", PRIMARY
        case Unary() | Binary() | Compare() | Logical() | Select():
            return write_operator(expr, _text)
    assert_never(expr)

"""What the text of a size tells about it."""

from __future__ import annotations

from loopwright.ir.nodes import Binary, Const, Dim, Expr


def is_never_negative(size: Expr) -> bool:
    """Whether the text alone shows that an integer is not below zero: a size of an array, a constant, what is made of
    such by additions, and the larger of any number and such a one."""
    match size:
        case Dim():
            return True
        case Const(value=value):
            return value >= 0
        case Binary(op="floordiv", left=left, right=Const(value=value)):
            return value > 0 and is_never_negative(left)
        case Binary(op="add" | "min", left=left, right=right):
            return is_never_negative(left) and is_never_negative(right)
        case Binary(op="max", left=left, right=right):
            return is_never_negative(left) or is_never_negative(right)
    return False

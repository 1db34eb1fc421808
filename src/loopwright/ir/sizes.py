"""What the text of a size tells about it."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, Assign, Binary, Body, Checked, Compare, Const, Dim, Expr
from loopwright.ir.types import INT64


def is_never_negative(size: Expr) -> bool:
    """Whether the text alone shows that an integer is not below zero: a size of an array, a constant, what is made of
    such by additions and products, and the larger of any number and such a one."""
    match size:
        case Dim():
            return True
        case Const(value=value):
            return value >= 0
        case Binary(op="floordiv", left=left, right=Const(value=value)):
            return value > 0 and is_never_negative(left)
        case Binary(op="add" | "mul" | "min", left=left, right=right):
            return is_never_negative(left) and is_never_negative(right)
        case Binary(op="max", left=left, right=right):
            return is_never_negative(left) or is_never_negative(right)
    return False


def room_for(size: Expr) -> Expr:
    """A size, or 0 where it is negative."""
    zero = Const(0, INT64)
    return size if is_never_negative(size) else Binary("max", zero, size)


def tests_of(made: Allocate, scalar: str) -> Body:
    """What is left of an array that is made elsewhere: a size that is negative is an error. scalar: a new name."""
    zero = Const(0, INT64)
    tests = (Compare("ge", size, zero) for size in made.shape if not is_never_negative(size))
    return tuple(Assign(scalar, Checked(zero, test, "negative_size", at=made.at), at=made.at) for test in tests)

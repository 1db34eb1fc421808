"""`while` loops that end with the bits of a number: `while x != 0: x = x & (x - 1)` runs once for each bit of x that is
set, and `while k > 0: k = k >> 1` once for each bit up to the highest. They are short whatever the data, so nobody has
to ask in them whether to stop; and the first, where it does nothing but count, is an instruction.
"""

from __future__ import annotations

from loopwright.ir.nodes import Assign, Binary, Compare, Const, Continue, Expr, For, Logical, Stmt, Var, While
from loopwright.ir.queries import contains
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import statements


def most_iterations(loop: While) -> int | None:
    """How often such a loop runs at most; None for any other."""
    if contains(loop.body, For, While) or any(one.loop == loop.name for one in statements(loop.body, Continue)):
        return None
    for stmt in loop.body:
        if isinstance(stmt, Assign) and stmt.value.type.is_integer and _loses_a_bit(stmt, loop.condition):
            again = [one for one in statements(loop.body, Assign) if one.name == stmt.name]
            return stmt.value.type.bits if len(again) == 1 else None
    return None


def counted_bits(loop: While) -> tuple[Var, Var] | None:
    """The number whose one bits a loop does nothing but count, and the count; None for any other loop."""
    match loop.condition, sorted(loop.body, key=lambda stmt: not _clears_a_bit(stmt)):
        case (
            Compare(op="ne", left=Var() as number, right=Const(value=0)),
            [Assign(name=cleared) as first, Assign(name=name, value=Binary(op="add", left=Var() as count, right=one))],
        ) if _clears_a_bit(first) and cleared == number.name and name == count.name != number.name:
            return (number, count) if one == Const(1, INT64) else None
    return None


def _clears_a_bit(stmt: Stmt) -> bool:
    match stmt:
        case Assign(name=name, value=Binary(op="and", left=left, right=right)):
            here = Var(name, stmt.value.type)
            less = Binary("sub", here, Const(1, here.type))
            return (left, right) in ((here, less), (less, here))
    return False


def _loses_a_bit(stmt: Assign, condition: Expr) -> bool:
    """Whether a number has one bit less after each assignment, and the loop ends at the latest where it has none."""
    here = Var(stmt.name, stmt.value.type)
    match stmt.value:
        case Binary(op="and"):
            return _clears_a_bit(stmt) and _goes_on_for(here, condition, ("ne", "gt"))
        case Binary(op="shr", left=left, right=Const(value=by)) if left == here and by >= 1:
            return _goes_on_for(here, condition, _above(here.type))
        case Binary(op="floordiv", left=left, right=Const(value=by)) if left == here and by >= 2:
            return _goes_on_for(here, condition, _above(here.type))
    return False


def _above(kind: Scalar) -> tuple[str, ...]:
    """The comparisons with 0 of which a number that only gets shorter is the end: a negative one stays at -1."""
    return ("gt", "ne") if kind.kind == "uint" else ("gt",)


def _goes_on_for(here: Var, condition: Expr, signs: tuple[str, ...]) -> bool:
    match condition:
        case Logical(op="and", left=left, right=right):
            return _goes_on_for(here, left, signs) or _goes_on_for(here, right, signs)
        case Compare(op=op, left=left, right=Const(value=0)):
            return left == here and op in signs
    return False

"""`while` loops that end with the bits of a number: `while x != 0: x = x & (x - 1)` runs once for each bit of x that is
set, and `while k > 0: k = k >> 1` once for each bit up to the highest. They are short whatever the data, so nobody has
to ask in them whether to stop; and where they do nothing but count bits that are set, they are an instruction.
"""

from __future__ import annotations

from loopwright.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Logical,
    Stmt,
    Var,
    While,
)
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
    """The number whose one bits a loop does nothing but count, and the count; None for any other loop. Where it goes on
    above 0, a negative number has none."""
    match loop.condition, loop.body:
        case Compare(op="ne" | "gt" as op, left=Var() as number, right=Const(value=0)), (first, second):
            cleared, other = (first, second) if _clears_a_bit(first) else (second, first)
            if op == "ne" and _clears_a_bit(cleared) and _is_named(cleared, number):
                return _counted(number, other, None)
            if op in _above(number.type) and _halves(second, number):
                return _counted(number, first, number)
    return None


def _is_named(stmt: Stmt, number: Var) -> bool:
    return isinstance(stmt, Assign) and stmt.name == number.name


def _counted(number: Var, stmt: Stmt, bit_of: Var | None) -> tuple[Var, Var] | None:
    """number and count, if a statement adds 1 to the latter (bit_of: if the lowest bit of it is set)."""
    if bit_of is not None and isinstance(stmt, If):
        is_alone = not stmt.otherwise and len(stmt.then) == 1 and _is_set(stmt.condition, bit_of)
        return _counted(number, stmt.then[0], None) if is_alone else None
    match stmt:
        case Assign(name=name, value=Binary(op="add", left=Var() as count, right=by)):
            added = by == Const(1, INT64) if bit_of is None else _lowest_bit(by, bit_of)
            return (number, count) if name == count.name != number.name and added and count.type == INT64 else None
    return None


def _is_set(condition: Expr, number: Var) -> bool:
    match condition:
        case Compare(op="ne", left=left, right=Const(value=0)) | Compare(op="eq", left=left, right=Const(value=1)):
            return _lowest_bit(left, number)
    return False


def _lowest_bit(expr: Expr, number: Var) -> bool:
    match expr:
        case Cast(operand=operand):
            return expr.type.is_integer and _lowest_bit(operand, number)
        case Binary(op="and", left=left, right=Const(value=1)) | Binary(op="and", left=Const(value=1), right=left):
            return left == number
        case Binary(op="mod", left=left, right=Const(value=2)):
            return left == number
    return False


def _halves(stmt: Stmt, number: Var) -> bool:
    match stmt:
        case Assign(name=name, value=Binary(op="shr", left=left, right=Const(value=1))):
            return left == number and name == number.name
        case Assign(name=name, value=Binary(op="floordiv", left=left, right=Const(value=2))):
            return left == number and name == number.name
    return False


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

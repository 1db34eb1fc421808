"""Index expressions as sums: the linear form of an int64 expression, and sums built so that their constants stay
together. Everything that asks how often a variable is counted, or how far two places are apart, asks here.

A form is the expression modulo 2**64, as the machine computes it; that nothing wraps is for whoever reads more into it
to know. It owns no ranges of values: `analysis/affine.py` does, whose forms are of isl's symbols, not of expressions.
What has to keep the shape of an expression for the text of a bound, or to go into minima and maxima, stands apart:
`parted` here, `steps/limits.lowest`, and `steps/guard.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.ir.nodes import Binary, Cast, Checked, Const, Expr, Unary, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import INT64


@dataclass(frozen=True, slots=True)
class Linear:
    """sum(coefficient * term) + constant, no coefficient 0, in the order of the text. A term is a variable, or any
    other expression that is no sum: two equal ones are one term."""

    terms: tuple[tuple[Expr, int], ...]
    constant: int

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return not self.terms

    def coefficient(self, name: str) -> int | None:
        """How often a variable is counted; None where it stands in any other term."""
        found = 0
        for term, count in self.terms:
            if isinstance(term, Var):
                found += count if term.name == name else 0
            elif name in names_in(term):
                return None
        return found

    def coefficient_of(self, term: Expr) -> int:
        """How often a term is counted."""
        return next((count for known, count in self.terms if known == term), 0)

    @property
    def expr(self) -> Expr:
        """The sum as an expression: positive terms first, the constant last."""
        total: Expr | None = None
        constant = self.constant
        for term, count in sorted(self.terms, key=lambda one: one[1] < 0):
            if total is None and count < 0:
                total, constant = number(constant), 0
            part = times(term, abs(count))
            total = part if total is None else Binary("add" if count > 0 else "sub", total, part)
        return number(constant) if total is None else plus(total, constant)


def linear(expr: Expr, converted: bool = False) -> Linear:
    """The form of an expression. converted: what stands under checks and conversions between integers is read as if no
    value failed the one, or were changed by the other; and sums of other integer types are read too."""
    counts: dict[Expr, int] = {}
    constant = _count(expr, 1, counts, converted)
    return Linear(tuple((term, count) for term, count in counts.items() if count), constant)


def _count(expr: Expr, factor: int, counts: dict[Expr, int], converted: bool) -> int:
    """Count the terms of factor * expr. Returns its constant."""
    if expr.type == INT64 or (converted and expr.type.is_integer):
        match expr:
            case Const():
                return factor * int(expr.value)
            case Unary(op="neg"):
                return _count(expr.operand, -factor, counts, converted)
            case Binary(op="add" | "sub"):
                second = factor if expr.op == "add" else -factor
                return _count(expr.left, factor, counts, converted) + _count(expr.right, second, counts, converted)
            case Binary(op="mul", right=Const() as times):
                return _count(expr.left, factor * int(times.value), counts, converted)
            case Binary(op="mul", left=Const() as times):
                return _count(expr.right, factor * int(times.value), counts, converted)
            case Cast(operand=inner) | Checked(value=inner) if converted and inner.type.is_integer:
                return _count(inner, factor, counts, converted)
    counts[expr] = counts.get(expr, 0) + factor
    return 0


def coefficient(expr: Expr, name: str, converted: bool = False) -> int | None:
    """How often a variable is counted in a sum; None where it stands in anything else."""
    return linear(expr, converted).coefficient(name)


def parted(expr: Expr) -> tuple[Expr | None, int]:
    """An expression as (what is not constant, as it stands; the constant that is added to it)."""
    match expr:
        case Const():
            return None, int(expr.value)
        case Binary(op="add" | "sub", right=Const() as known):
            base, rest = parted(expr.left)
            return base, rest + (int(known.value) if expr.op == "add" else -int(known.value))
    return expr, 0


def apart(left: Expr, right: Expr) -> int | None:
    """left - right where that is a constant, provided that neither wraps."""
    if left.type != INT64:
        return None
    counts: dict[Expr, int] = {}
    distance = _count(left, 1, counts, False) + _count(right, -1, counts, False)
    return None if any(counts.values()) else distance


# ---- building ---------------------------------------------------------------------------------------------------


def number(value: int) -> Const:
    """A whole number, as a machine's: beyond int64 it begins anew from the other end."""
    return Const((value - INT64.minimum) % 2**64 + INT64.minimum, INT64)


def variable(name: str) -> Var:
    """A loop's variable."""
    return Var(name, INT64)


def plus(left: Expr, right: Expr | int) -> Expr:
    """left + right, constants put together."""
    right = number(right) if isinstance(right, int) else right
    match left, right:
        case Const(), Const():
            return number(int(left.value) + int(right.value))
        case Const(), _:
            return plus(right, left)
        case Binary(op="add", right=Const() as known), Const():
            return plus(left.left, int(known.value) + int(right.value))
        case Binary(op="sub", right=Const() as known), Const():
            return plus(left.left, int(right.value) - int(known.value))
        case _, Const(value=0):
            return left
        case _, Const(value=value) if value < 0:
            return Binary("sub", left, number(-int(value)))
        case Binary(op="sub"), _ if left.right == right:
            return left.left
    return Binary("add", left, right)


def minus(left: Expr, right: Expr | int) -> Expr:
    """left - right, constants put together."""
    if isinstance(right, int):
        return plus(left, -right)
    if isinstance(right, Const):
        return plus(left, -int(right.value))
    if isinstance(left, Binary) and left.op == "add" and right in (left.left, left.right):
        return left.left if left.right == right else left.right
    distance = apart(left, right)
    return Binary("sub", left, right) if distance is None else number(distance)


def times(left: Expr, factor: int) -> Expr:
    """left * factor."""
    if isinstance(left, Const):
        return number(int(left.value) * factor)
    return left if factor == 1 else Binary("mul", left, number(factor))


def least(left: Expr, right: Expr) -> Expr:
    """min(left, right)."""
    return left if left == right else Binary("min", left, right)


def most(left: Expr, right: Expr) -> Expr:
    """max(left, right)."""
    return left if left == right else Binary("max", left, right)

"""Linear recurrences of the first order: scalars that each iteration of a loop multiplies by something and adds
something to, `x = a[i] * x + b[i]`.

Each update is an affine map of the scalar, and so is what a stretch of iterations does to it: `x` becomes
`factor * x + rest`. Integers wrap, so that this is exact in them. Floats are another matter: the maps of a stretch may
overflow, or cancel, where the scalar itself never does; `steps/linear_maps.py` says when a result is to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from loopwright.analysis.reductions import NotAReduction
from loopwright.ir.nodes import Assign, Binary, Body, Cast, Checked, Const, Expr, For, Select, Unary, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import statements, subexpressions

Scaling = Literal["none", "down", "any"]
"""What updates multiply by: 1 and 0 only; constants of at most 1; anything."""


@dataclass(frozen=True, slots=True)
class LinearUpdate:
    """One update. reads: where it reads the scalar; part: its value without all that is added to what goes with the
    scalar, None where nothing does, as in `x = 0.0`."""

    stmt: Assign
    reads: tuple[Var, ...]
    part: Expr | None


@dataclass(frozen=True, slots=True)
class LinearValue:
    """A scalar to which every assignment in a loop applies an affine map. updates: all of them."""

    name: str
    type: Scalar
    updates: tuple[LinearUpdate, ...]

    @property
    def exact(self) -> bool:
        """Whether the maps of stretches give the same to the last bit."""
        return not self.type.is_float

    @property
    def adds(self) -> bool:
        """Whether an update does more than to multiply."""
        return any(update.part != update.stmt.value for update in self.updates)

    @property
    def forgets(self) -> bool:
        """Whether an update may set the scalar, whatever it was."""
        return any(update.part is None or _is_set(update.part) for update in self.updates)

    @property
    def scaling(self) -> Scaling:
        """What the updates multiply by."""
        found = {_scaling(update.part, self.name) for update in self.updates if update.part is not None}
        return "any" if "any" in found else "down" if "down" in found else "none"


def linear_value(loop: For, name: str, type_: Scalar) -> LinearValue:
    """How a loop updates a scalar. Raises NotAReduction, whose words end the sentence `'name' ...`."""
    if type_.kind == "bool":
        raise NotAReduction("is updated by an operation whose order matters")
    return LinearValue(name, type_, tuple(_updates(loop.body, name, type_)))


def _updates(body: Body, name: str, type_: Scalar) -> Iterator[LinearUpdate]:
    for stmt in statements(body, Assign):
        if stmt.name == name:
            reads = tuple(one for one in subexpressions(stmt.value, Var) if one.name == name)
            yield LinearUpdate(stmt, reads, linear_part(stmt.value, name, type_))


def linear_part(expr: Expr, name: str, type_: Scalar) -> Expr | None:
    """An expression without all that does not go with a scalar of this type; None where nothing is left. Raises
    NotAReduction where it is not linear in the scalar."""
    if name not in names_in(expr):
        return None
    match expr:
        case Var():
            return expr
        case Checked() if name not in names_in(expr.condition):
            return linear_part(expr.value, name, type_)
        case Cast() if _keeps_sums(expr.type, type_) and _keeps_sums(expr.operand.type, type_):
            part = linear_part(expr.operand, name, type_)
            return None if part is None else Cast(part, expr.type)
        case Unary(op="neg"):
            return _negative(linear_part(expr.operand, name, type_))
        case Binary():
            return _of_two(expr, name, type_)
        case Select() if name not in names_in(expr.condition):
            zero = Const(0.0 if expr.type.is_float else 0, expr.type)
            then, otherwise = (linear_part(side, name, type_) for side in (expr.then, expr.otherwise))
            return Select(expr.condition, then or zero, otherwise or zero)
    raise NotAReduction("is updated by an operation whose order matters")


def _keeps_sums(type_: Scalar, scalar: Scalar) -> bool:
    """Whether what is computed in a type is as good in the end as in the scalar's own: both are floats, or both are
    integers and no bits are missing."""
    if scalar.is_float:
        return type_.is_float
    return type_.is_integer and type_.size_bytes >= scalar.size_bytes


def _negative(part: Expr | None) -> Expr | None:
    return None if part is None else Unary("neg", part)


def _of_two(expr: Binary, name: str, type_: Scalar) -> Expr | None:
    left, right = name in names_in(expr.left), name in names_in(expr.right)
    if expr.op in ("add", "sub"):
        first, second = linear_part(expr.left, name, type_), linear_part(expr.right, name, type_)
        if first is None or second is None:
            return first if second is None else second if expr.op == "add" else _negative(second)
        return Binary(expr.op, first, second)
    if expr.op == "mul" and left != right:
        part = linear_part(expr.left if left else expr.right, name, type_)
        return part and (Binary("mul", part, expr.right) if left else Binary("mul", expr.left, part))
    if (expr.op == "truediv" or (expr.op == "shl" and type_.is_integer)) and not right:
        part = linear_part(expr.left, name, type_)
        return part and Binary(expr.op, part, expr.right)
    raise NotAReduction("is updated by an operation whose order matters")


def _is_set(part: Expr) -> bool:
    """Whether one side of a choice has nothing of the scalar."""
    sides = (side for choice in subexpressions(part, Select) for side in (choice.then, choice.otherwise))
    return any(isinstance(side, Const) for side in sides)


def _scaling(part: Expr, name: str) -> Scaling:
    """By what a linear part multiplies its scalar."""
    match part:
        case Var() | Const():
            return "none"
        case Cast() | Unary(op="neg"):
            return _scaling(part.operand, name)
        case Select():
            sides = {_scaling(side, name) for side in (part.then, part.otherwise)}
            return "any" if "any" in sides else "down" if "down" in sides else "none"
        case Binary(op="mul"):
            factor, inner = (part.left, part.right) if name in names_in(part.right) else (part.right, part.left)
            is_small = isinstance(factor, Const) and abs(factor.value) <= 1
            return "down" if is_small and _scaling(inner, name) != "any" else "any"
    return "any"

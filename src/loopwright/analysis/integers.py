"""What integer expressions of a kernel are worth where sizes and loop variables are numbers, or lie between two of
them. It knows no elements of arrays: what rests on these has no value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Body,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    Kernel,
    Logical,
    Select,
    Unary,
    Var,
)
from loopwright.ir.walk import statements

Interval = tuple[int, int]
"""The least and the greatest value."""


@dataclass(slots=True)
class KnownIntegers:
    """The place that a walk through a kernel has come to. numbers: scalars and loop variables, None where they are not
    known; sizes: of arrays, by name and axis."""

    numbers: dict[str, int | None] = field(default_factory=dict)
    sizes: dict[tuple[str, int], int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: Kernel, sizes: Mapping[str, int]) -> KnownIntegers:
        """Before the first statement. sizes: by the names of symbols (`s0_1`: axis 1 of argument 0; `v2`: argument
        2)."""
        values = cls()
        for param in kernel.params:
            if isinstance(param, ArrayParam):
                own = param.rank - len(param.tail)
                for axis in range(own):
                    values.sizes[param.name, axis] = sizes.get(f"s{param.argument}_{axis}")
                for axis, (known, _) in enumerate(param.tail, own):
                    values.sizes[param.name, axis] = known
            else:
                values.numbers[param.name] = sizes.get(f"v{param.argument}")
        for result in kernel.results:
            for axis, size in enumerate(result.shape):
                values.sizes[result.name, axis] = value_of(size, values)
        return values

    def assign(self, stmt: Assign) -> None:
        """A scalar is given a value."""
        self.numbers[stmt.name] = None if stmt.value.type.is_float else value_of(stmt.value, self)

    def allocate(self, stmt: Allocate) -> None:
        """A local array is made."""
        for axis, size in enumerate(stmt.shape):
            self.sizes[stmt.array, axis] = value_of(size, self)

    def forget(self, body: Body) -> None:
        """What a body may have assigned is not known any more."""
        for stmt in statements(body, Assign):
            self.numbers[stmt.name] = None

    def turns(self, loop: For) -> range | None:
        """The values of a loop's variable; None where the bounds are not known."""
        bounds = [value_of(bound, self) for bound in (loop.lower, loop.upper, loop.step)]
        lower, upper, step = bounds
        return range(lower, upper, step) if lower is not None and upper is not None and step else None


def value_of(expr: Expr, values: KnownIntegers) -> int | None:
    """The value of an integer or truth (then 0 or 1); None where it is not known. Nothing wraps."""
    match expr:
        case Const():
            return None if expr.type.is_float else int(expr.value)
        case Var():
            return values.numbers.get(expr.name)
        case Dim():
            return values.sizes.get((expr.array, expr.axis))
        case Cast():
            return None if expr.type.is_float or expr.operand.type.is_float else value_of(expr.operand, values)
        case Checked():
            return value_of(expr.value, values)
        case Unary():
            operand = value_of(expr.operand, values)
            return None if operand is None else _unary(expr.op, operand)
        case Logical():
            return _logical(expr, values)
        case Select():
            condition = value_of(expr.condition, values)
            return None if condition is None else value_of(expr.then if condition else expr.otherwise, values)
        case Binary() | Compare():
            left, right = value_of(expr.left, values), value_of(expr.right, values)
            return None if left is None or right is None else _binary(expr.op, left, right)
        case _:
            return None


def _logical(expr: Logical, values: KnownIntegers) -> int | None:
    """Known where one side decides it, too."""
    decides = int(expr.op == "or")
    sides = [value_of(side, values) for side in (expr.left, expr.right)]
    if any(side is not None and bool(side) == bool(decides) for side in sides):
        return decides
    return None if None in sides else 1 - decides


def _unary(op: str, value: int) -> int | None:
    match op:
        case "neg":
            return -value
        case "abs":
            return abs(value)
        case "not":
            return int(not value)
        case _:
            return None


def _binary(op: str, left: int, right: int) -> int | None:
    match op:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)
        case "floordiv":
            return left // right if right else 0
        case "mod":
            return left % right if right else 0
        case "and":
            return left & right
        case "or":
            return left | right
        case "xor":
            return left ^ right
        case "shl" | "shr" if 0 <= right < 64:
            return left << right if op == "shl" else left >> right
        case "eq" | "ne" | "lt" | "le" | "gt" | "ge":
            return int(_compared(op, left, right))
        case _:
            return None


def _compared(op: str, left: int, right: int) -> bool:
    match op:
        case "eq":
            return left == right
        case "ne":
            return left != right
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "gt":
            return left > right
        case _:
            return left >= right


def interval_of(expr: Expr, values: KnownIntegers, between: Mapping[str, Interval]) -> Interval | None:
    """The least and the greatest value of an expression where some variables lie between two values, each for itself;
    None where it is not known."""
    match expr:
        case Var() if expr.name in between:
            return between[expr.name]
        case Binary(op="add" | "sub" | "mul" | "min" | "max" | "floordiv"):
            left, right = (interval_of(side, values, between) for side in (expr.left, expr.right))
            return None if left is None or right is None else _between(expr.op, left, right)
        case Binary(op="mod" | "and"):
            right = interval_of(expr.right, values, between)
            if right is None or right[0] != right[1] or right[0] <= 0:
                return None
            left = interval_of(expr.left, values, between)
            if expr.op == "and":
                return 0, right[1] if left is None or left[0] < 0 else min(left[1], right[1])
            inside = left is not None and left[0] >= 0 and left[1] < right[1]
            return left if inside else (0, right[1] - 1)
        case Cast():
            return None if expr.type.is_float else interval_of(expr.operand, values, between)
        case Checked():
            return interval_of(expr.value, values, between)
        case _:
            value = value_of(expr, values)
            return None if value is None else (value, value)


def _between(op: str, left: Interval, right: Interval) -> Interval | None:
    if op == "floordiv" and right[0] <= 0 <= right[1]:
        return None
    ends = [_binary(op, one, other) for one in left for other in right]
    known = [end for end in ends if end is not None]
    return min(known), max(known)

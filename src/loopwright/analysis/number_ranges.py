"""Between which numbers the expressions of a kernel are, by one walk from its first statement on: from the types of
arrays and arguments, constants, bounds of loops and conditions. What a loop assigns may be anything in it.

It tells which checks never fail, such as that of `int(math.sqrt(x * x + y * y))` for small whole numbers, and which
conversions of floats have few bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loopwright.analysis.number_intervals import (
    NumberInterval,
    binary,
    call,
    cast,
    compare,
    constant,
    every,
    unary,
    where,
)
from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Call,
    Cast,
    Checked,
    Compare,
    CompareOp,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Logical,
    Return,
    Select,
    Stmt,
    Unary,
    Var,
    While,
)
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import children, own_expressions, statements

Known = Mapping[str, NumberInterval]
"""Scalars and what they may be; what is missing may be anything that its type holds."""

SIZES = NumberInterval(0, INT64.maximum, whole=True)
TRUE, FALSE = NumberInterval(1, 1, whole=True), NumberInterval(0, 0, whole=True)
MIRRORED: Mapping[CompareOp, CompareOp] = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
OPPOSITE: Mapping[CompareOp, CompareOp] = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True)
class NumberRanges:
    """By the ids of nodes. checks: for each Checked that may be reached, whether its condition always holds;
    conversions: what each Cast of a float to a whole number converts. scalars: by their names, all that they are
    given."""

    checks: Mapping[int, bool]
    conversions: Mapping[int, NumberInterval]
    scalars: Mapping[str, NumberInterval]


@by_identity
def number_ranges(kernel: Kernel) -> NumberRanges:
    """What is known of the checks and conversions of a kernel."""
    walk = _RangeWalk()
    walk.body(kernel.body, {})
    return NumberRanges(walk.checks, walk.conversions, walk.scalars)


@dataclass(slots=True)
class _RangeWalk:
    """The walk. scalars: all that was assigned so far; assigned: the same of each loop and block around the place."""

    checks: dict[int, bool] = field(default_factory=dict)
    conversions: dict[int, NumberInterval] = field(default_factory=dict)
    scalars: dict[str, NumberInterval] = field(default_factory=dict)
    assigned: list[dict[str, NumberInterval]] = field(default_factory=list)

    # ---- statements

    def body(self, body: Body, known: Known) -> Known | None:
        """What is known after some statements; None where their end cannot be reached."""
        after: Known | None = known
        for stmt in body:
            if after is None:
                return None
            after = self._stmt(stmt, after)
        return after

    def _stmt(self, stmt: Stmt, known: Known) -> Known | None:
        match stmt:
            case If():
                self._value(stmt.condition, known)
                then, otherwise = (_under(stmt.condition, truth, known) for truth in (True, False))
                after = None if then is None else self.body(stmt.then, then)
                other = None if otherwise is None else self.body(stmt.otherwise, otherwise)
                return _either(after, other)
            case For():
                lower, upper, step = (self._value(bound, known) for bound in (stmt.lower, stmt.upper, stmt.step))
                inside = {name: numbers for name, numbers in known.items() if name not in names_assigned(stmt.body)}
                if step.low > 0:
                    inside[stmt.name] = NumberInterval(lower.low, max(lower.low, upper.high - 1), whole=True)
                elif step.high < 0:
                    inside[stmt.name] = NumberInterval(min(lower.high, upper.low + 1), lower.high, whole=True)
                else:
                    inside.pop(stmt.name, None)
                return self._repeated(stmt.body, inside, known)
            case While():
                inside = {name: numbers for name, numbers in known.items() if name not in names_assigned(stmt.body)}
                self._value(stmt.condition, inside)
                entered = _under(stmt.condition, True, inside)
                after = known if entered is None else self._repeated(stmt.body, entered, known)
                leaves = any(one.loop == stmt.name for one in statements(stmt.body, Break))
                return after if leaves else _under(stmt.condition, False, after)
            case Block():
                self.assigned.append({})
                after = self.body(stmt.body, known)
                given = self._left()
                leaves = any(one.block == stmt.name for one in statements(stmt.body, Leave))
                return _either(after, _joined(known, given)) if leaves else after
            case Assign():
                value = self._value(stmt.value, known)
                for given in (self.scalars, *self.assigned):
                    given[stmt.name] = given[stmt.name] | value if stmt.name in given else value
                return {**known, stmt.name: value}
            case _:
                for expr in own_expressions(stmt):
                    self._value(expr, known)
                return None if isinstance(stmt, Break | Continue | Leave | Return) else known

    def _repeated(self, body: Body, inside: Known, before: Known) -> Known:
        """What is known after a loop."""
        self.assigned.append({})
        self.body(body, inside)
        return _joined(before, self._left())

    def _left(self) -> dict[str, NumberInterval]:
        """What was assigned in the loop or block that ends here: what is around it has noted it too."""
        return self.assigned.pop()

    # ---- expressions

    def _value(self, expr: Expr, known: Known) -> NumberInterval:
        """What an expression may be."""
        match expr:
            case Const():
                return constant(expr.value, expr.type)
            case Var():
                return known.get(expr.name) or every(expr.type)
            case Dim():
                return SIZES
            case Unary(op="not"):
                return _truth(_opposite(_decided(self._value(expr.operand, known))))
            case Unary():
                return unary(expr.op, self._value(expr.operand, known), expr.type)
            case Binary():
                left, right = self._value(expr.left, known), self._value(expr.right, known)
                if expr.op == "mul" and expr.left == expr.right:  # a square
                    left = right = unary("abs", left, expr.type)
                return binary(expr.op, left, right, expr.type)
            case Compare():
                return _truth(compare(expr.op, self._value(expr.left, known), self._value(expr.right, known)))
            case Logical():
                return self._logical(expr, known)
            case Select():
                return self._select(expr, known)
            case Cast():
                operand = self._value(expr.operand, known)
                if expr.operand.type.is_float and expr.type.is_integer:
                    seen = self.conversions.get(id(expr))
                    self.conversions[id(expr)] = operand if seen is None else seen | operand
                return cast(operand, expr.operand.type, expr.type)
            case Call():
                return call(expr, [self._value(argument, known) for argument in expr.arguments])
            case Checked():
                condition = _decided(self._value(expr.condition, known))
                self.checks[id(expr)] = condition is True and self.checks.get(id(expr), True)
                holds = _under(expr.condition, True, known)
                return every(expr.type) if holds is None else self._value(expr.value, holds)
            case _:
                for child in children(expr):
                    self._value(child, known)
                return every(expr.type)

    def _logical(self, expr: Logical, known: Known) -> NumberInterval:
        ends = expr.op == "or"
        left = _decided(self._value(expr.left, known))
        goes_on = None if left is ends else _under(expr.left, not ends, known)
        right = ends if goes_on is None else _decided(self._value(expr.right, goes_on))
        if left is ends or (right is ends and goes_on is not None):
            return _truth(ends)
        return _truth(right if left is not None and right is not None else None)

    def _select(self, expr: Select, known: Known) -> NumberInterval:
        condition = _decided(self._value(expr.condition, known))
        sides = []
        for truth, side in ((True, expr.then), (False, expr.otherwise)):
            there = None if condition is (not truth) else _under(expr.condition, truth, known)
            if there is not None:
                sides.append(self._value(side, there))
        if not sides:
            return every(expr.type)
        return sides[0] if len(sides) == 1 else sides[0] | sides[1]


def _truth(decided: bool | None) -> NumberInterval:
    return every(BOOL) if decided is None else TRUE if decided else FALSE


def _decided(numbers: NumberInterval) -> bool | None:
    return bool(numbers.low) if numbers.low == numbers.high and not numbers.nan else None


def _opposite(decided: bool | None) -> bool | None:
    return None if decided is None else not decided


def _either(one: Known | None, other: Known | None) -> Known | None:
    """What is known where two ways meet."""
    if one is None or other is None:
        return other if one is None else one
    return {name: numbers | other[name] for name, numbers in one.items() if name in other}


def _joined(before: Known, given: Mapping[str, NumberInterval]) -> Known:
    """What is known after statements that may have given some names these values."""
    return {name: numbers | given[name] if name in given else numbers for name, numbers in before.items()}


# ---- conditions -----------------------------------------------------------------------------------------------


def _under(condition: Expr, truth: bool, known: Known) -> Known | None:
    """What is known where a condition is true, or false; None where it never is."""
    match condition:
        case Const():
            return known if bool(condition.value) is truth else None
        case Unary(op="not"):
            return _under(condition.operand, not truth, known)
        case Logical() | Binary(op="and" | "or") if condition.type == BOOL:
            if (condition.op == "and") is truth:
                first = _under(condition.left, truth, known)
                return None if first is None else _under(condition.right, truth, first)
            return _either(_under(condition.left, truth, known), _under(condition.right, truth, known))
        case Checked():
            return _under(condition.value, truth, known)
        case Compare():
            return _compared(condition, truth, known)
        case _:
            return known


def _compared(condition: Compare, truth: bool, known: Known) -> Known | None:
    walk = _RangeWalk()
    left, right = walk._value(condition.left, known), walk._value(condition.right, known)
    if compare(condition.op, left, right) is (not truth):
        return None
    found: Known | None = known
    for expr, own, op, other in (
        (condition.left, left, condition.op, right), (condition.right, right, MIRRORED[condition.op], left),
    ):  # fmt: skip
        if found is not None:
            found = _narrowed(expr, own, op if truth else OPPOSITE[op], other, truth, found)
    return found


def _narrowed(
    expr: Expr, own: NumberInterval, op: CompareOp, other: NumberInterval, truth: bool, known: Known
) -> Known | None:
    """What is known where a comparison holds, or, if not `truth`, where its opposite does not: of NaN neither does."""
    if not isinstance(expr, Var) or (other.nan and not truth):
        return known
    numbers = where(op, own, other, expr.type)
    if not truth and own.nan:
        numbers = own if numbers is None else NumberInterval(numbers.low, numbers.high, True, numbers.whole)
    return None if numbers is None else {**known, expr.name: numbers}

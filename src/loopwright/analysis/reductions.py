"""Reductions: targets that a loop only ever updates by one operation whose order does not matter.

A target is a scalar, or the elements of one array. Every use of it in the loop must be an update `target = target op
value` with one and the same op, where nothing else in the loop reads it. The code keeps its form: an update works on
a partial result just as on the target.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from loopwright.analysis.facts import Reduction, ReductionOp
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Select,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import names_assigned, names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import bodies, own_expressions, rewrite_expr, statements, subexpressions

MODULAR: dict[str, ReductionOp] = {
    "add": "add", "sub": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor",
}  # fmt: skip
CHOICES: dict[str, ReductionOp] = {
    "maximum": "maximum", "minimum": "minimum", "fmax": "fmax", "fmin": "fmin",
}  # fmt: skip


def identity(op: ReductionOp, scalar: Scalar) -> Const:
    """The value that changes nothing: -0.0 for float sums (0.0 would turn -0.0 into 0.0), NaN for fmin and fmax, which
    drop it."""
    match op:
        case "add" | "or" | "xor":
            value: bool | int | float = -0.0 if scalar.is_float else 0
        case "mul":
            value = 1.0 if scalar.is_float else 1
        case "and":
            value = -1 if scalar.kind == "int" else scalar.maximum
        case "fmin" | "fmax" if scalar.is_float:
            value = math.nan
        case "min" | "minimum" | "fmin":
            value = math.inf if scalar.is_float else scalar.maximum
        case "max" | "maximum" | "fmax":
            value = -math.inf if scalar.is_float else scalar.minimum
        case _:
            assert_never(op)
    return Const(bool(value) if scalar.kind == "bool" else value, scalar)


def combined(op: ReductionOp, left: Expr, right: Expr) -> Expr:
    """Two partial results in one; `left` is the one from earlier iterations."""
    match op:
        case "add" | "mul" | "and" | "or" | "xor" | "min" | "max":
            return Binary(op, left, right)
        case "minimum" | "maximum" | "fmin" | "fmax" if left.type.is_float:
            return Call(op, (left, right), left.type)
        case _:
            return Binary("min" if "min" in op else "max", left, right)


class NotAReduction(Exception):
    """Why a target is no reduction, in words that end the sentence `'target' ...`."""


@dataclass(frozen=True, slots=True)
class UpdateTarget:
    """What one statement updates: a scalar by its name, or the element of an array at an index."""

    name: str
    type: Scalar
    index: tuple[Expr, ...] | None = None

    def is_it(self, expr: Expr) -> bool:
        """Whether an expression is just the target."""
        if self.index is None:
            return isinstance(expr, Var) and expr.name == self.name
        return isinstance(expr, Load) and expr.array == self.name and expr.index == self.index

    def reads(self, expr: Expr) -> list[Load | Var]:
        """The places in an expression that read the target."""
        return [part for part in subexpressions(expr, Load, Var) if self.is_it(part)]


@dataclass(frozen=True, slots=True)
class Update:
    """One `target = target op value`: the statement, and the reads of the target that belong to it."""

    op: ReductionOp
    stmt: Assign | Store
    reads: tuple[Load | Var, ...]


def scalar_reduction(loop: For | While, name: str, type_: Scalar) -> Reduction:
    """The reduction into a scalar local. Raises NotAReduction."""
    target = UpdateTarget(name, type_)
    updates = list(updates_of(loop.body, name, type_))
    ours = {id(read) for update in updates for read in update.reads}
    exprs = (expr for stmt in statements(loop.body) for expr in own_expressions(stmt))
    reads = [id(read) for expr in exprs for read in target.reads(expr)]
    if ours != set(reads) or len(ours) < len(reads):  # a step may put one node in two places
        raise NotAReduction("is updated and also read")
    op = one_op(updates)
    return Reduction(name, op, "scalar", is_exact(op, type_))


def flag_reduction(kernel: Kernel, loop: For | While, name: str) -> Reduction | None:
    """That of a scalar to which a loop assigns one constant; None where the kernel gives it values on both sides of
    it, or those that nobody knows."""
    value = next(stmt.value for stmt in statements(loop.body, Assign) if stmt.name == name)
    assert isinstance(value, Const)
    if value.type.kind == "bool":
        return Reduction(name, "or" if value.value else "and", "scalar", True)
    others = [stmt.value for stmt in statements(kernel.body, Assign) if stmt.name == name]
    known = [int(other.value) for other in others if isinstance(other, Const)]
    if len(known) < len(others) or any(param.name == name for param in kernel.params):
        return None
    if max(known) == value.value or min(known) == value.value:
        return Reduction(name, "max" if max(known) == value.value else "min", "scalar", True)
    return None


def array_updates(loop: For, array: str, type_: Scalar) -> list[Update]:
    """The updates of an array's elements; stores that are none are left out. Raises NotAReduction where the rest
    have no one op."""
    updates = list(updates_of(loop.body, array, type_))
    one_op(updates)
    return updates


def addend(update: Update, type_: Scalar) -> Expr | None:
    """What an update puts together with its target: its value where the target is what changes nothing, or that of
    `if a > most: most = a` (`guarded_update`). None where the target is read elsewhere too."""
    own = {id(read) for read in update.reads}
    inside = [part for part in subexpressions(update.stmt.value) if id(part) in own]
    if len(inside) != len(own):
        return None if inside else update.stmt.value
    return rewrite_expr(update.stmt.value, lambda expr: identity(update.op, type_) if id(expr) in own else expr)


def is_exact(op: ReductionOp, type_: Scalar) -> bool:
    """Whether the result is the same for every grouping of the updates in their order."""
    return not type_.is_float or op not in ("add", "mul")


def is_exact_in_any_order(op: ReductionOp, type_: Scalar) -> bool:
    """The same to the last bit, whatever comes first: of the least of 0.0 and -0.0 the first one is taken."""
    return is_exact(op, type_) and not type_.is_float


def one_op(updates: Sequence[Update]) -> ReductionOp:
    """The op of all updates. Raises NotAReduction where they differ, or where there is none."""
    ops = list(dict.fromkeys(update.op for update in updates))
    if not ops:
        raise NotAReduction("is never updated in place")
    if len(ops) > 1:
        raise NotAReduction(f"is updated by different operations: {' and '.join(ops)}")
    return ops[0]


def updates_of(body: Body, name: str, type_: Scalar) -> Iterator[Update]:
    """Every update in a body. An Assign that is none raises NotAReduction; a Store may touch another element."""
    for stmt in body:
        if isinstance(stmt, If) and (update := guarded_update(stmt, name, type_)) is not None:
            yield update
            continue
        if isinstance(stmt, Assign) and stmt.name == name:
            target = UpdateTarget(name, type_)
            yield Update(_op_of(stmt, target), stmt, tuple(target.reads(stmt.value)))
        elif isinstance(stmt, Store) and stmt.array == name:
            target = UpdateTarget(name, type_, stmt.index)
            with suppress(NotAReduction):
                yield Update(_op_of(stmt, target), stmt, tuple(target.reads(stmt.value)))
        for inner in bodies(stmt):
            yield from updates_of(inner, name, type_)


def _op_of(stmt: Assign | Store, target: UpdateTarget) -> ReductionOp:
    """The op of `target = target op value`, through chains such as `target + a - b`."""
    choice = _choice(stmt.value, target)
    if choice is not None:
        return choice
    reads = len(target.reads(stmt.value))
    if reads == 0:
        raise NotAReduction("is also set to a value of its own")
    if reads > 1:
        raise NotAReduction("is used more than once in its update")
    return _chain(stmt.value, target)


def _chain(expr: Expr, target: UpdateTarget) -> ReductionOp:
    """The one op on the way from a value down to the target inside it."""
    ops: set[ReductionOp] = set()
    narrowed = False
    while not target.is_it(expr):
        match expr:
            case Checked():
                expr = expr.value
            case Cast() if expr.type.is_float == expr.operand.type.is_float and "bool" not in _kinds(expr):
                narrowed = True
                expr = expr.operand
            case Binary() | Logical():
                left = bool(target.reads(expr.left))
                ops.add(_binary_op(expr, left, target))
                expr = expr.left if left else expr.right
            case Call() if expr.function in CHOICES:
                ops.add(CHOICES[expr.function])
                expr = next(argument for argument in expr.arguments if target.reads(argument))
            case _:
                raise NotAReduction("is updated by an operation whose order matters")
    if len(ops) != 1:
        raise NotAReduction("is updated by several operations at once")
    op = ops.pop()
    if narrowed and op not in MODULAR.values():
        raise NotAReduction("is converted within its update")
    return op


def _kinds(expr: Cast) -> tuple[str, str]:
    return expr.type.kind, expr.operand.type.kind


def _binary_op(expr: Binary | Logical, left: bool, target: UpdateTarget) -> ReductionOp:
    match expr.op:
        case "and" | "or" | "add" | "mul" | "xor":
            return MODULAR[expr.op]
        case "sub" if left:
            return "add"
        case "min" | "max" if left or not expr.type.is_float:
            return expr.op
        case "min" | "max":
            raise NotAReduction(f"is forgotten after a NaN: write {expr.op}({target.name}, ...), the target first")
        case _:
            raise NotAReduction("is updated by an operation whose order matters")


def _choice(expr: Expr, target: UpdateTarget) -> ReductionOp | None:
    """min or max of `value if value > target else target`."""
    if not (isinstance(expr, Select) and isinstance(expr.condition, Compare)):
        return None
    if target.is_it(expr.otherwise) and not target.reads(expr.then):
        return _compared(expr.condition, expr.then, target)
    if target.is_it(expr.then) and not target.reads(expr.otherwise) and not expr.type.is_float:
        op = _compared(expr.condition, expr.otherwise, target)
        return None if op is None else "min" if op == "max" else "max"
    return None


def guarded_update(stmt: If, name: str, type_: Scalar) -> Update | None:
    """min or max of `if value > target: target = value`."""
    match stmt:
        case If(condition=Compare() as condition, then=(Assign() | Store() as update,), otherwise=()):
            target = UpdateTarget(name, type_, update.index if isinstance(update, Store) else None)
            updated = update.array if isinstance(update, Store) else update.name
            if updated == name and not target.reads(update.value):
                op = _compared(condition, update.value, target)
                if op is not None:
                    return Update(op, update, tuple(target.reads(condition)))
    return None


def _compared(condition: Compare, value: Expr, target: UpdateTarget) -> ReductionOp | None:
    """The op that keeps `value` where the condition compares it with the target."""
    if condition.op in ("eq", "ne"):
        return None
    greater = condition.op in ("gt", "ge")
    if condition.left == value and target.is_it(condition.right):
        return "max" if greater else "min"
    if condition.right == value and target.is_it(condition.left):
        return "min" if greater else "max"
    return None


def is_told_by_data(loop: For, reduction: Reduction, but_for_unmoved: bool = False) -> bool:
    """Whether the element that an iteration adds to is found by what it reads or computes. but_for_unmoved: those do
    not count, beside others, that are the same in all iterations."""
    computed = names_assigned(loop.body)
    moving = computed | {loop.name} | {stmt.name for stmt in statements(loop.body, For)}
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == reduction.target]
    told = [store for store in stores if any(_is_data(index, computed) for index in store.index)]
    if not but_for_unmoved:
        return len(told) == len(stores)
    others = [store for store in stores if not any(store is one for one in told)]
    return bool(told) and not any(names_in(index) & moving for store in others for index in store.index)


def may_be_told_by_data(loop: For, reduction: Reduction) -> bool:
    """Whether an iteration finds some of the elements that it adds to by what it reads or computes, as where a particle
    pulls at another one, and the other one at it."""
    computed = names_assigned(loop.body)
    stores = (stmt for stmt in statements(loop.body, Store) if stmt.array == reduction.target)
    return any(_is_data(index, computed) for store in stores for index in store.index)


def _is_data(index: Expr, computed: set[str]) -> bool:
    return any(
        isinstance(part, Load) or (isinstance(part, Var) and part.name in computed) for part in subexpressions(index)
    )

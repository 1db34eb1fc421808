"""The most work that a thread of a GPU may do in one launch, as far as the host knows it before: by this it decides
whether the launch has to ask whether to stop, and how many blocks it starts at once. It is a bound, unlike what work.py
estimates, and None where only data tells. Loop variables of the launch stand for the ends of their loops.

A unit is an operation of arithmetic. What moves 8 bytes from or to the GPU's memory takes as long as many of them, and
an update that threads make in turn takes longest (on an H200 at 4.8 TB/s and 1.8 GHz: 2**36 units are 10 ms of accesses
that follow one another, 2 ms of arithmetic, and 70 ms of updates of one element).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import prod

from loopwright.codegen.function import Writer
from loopwright.codegen.work import operations_of
from loopwright.ir.nodes import (
    Allocate,
    Binary,
    Body,
    Cast,
    Const,
    Dim,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_made, names_assigned
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, own_expressions, subexpressions
from loopwright.steps.extent import extent_of, trip_of
from loopwright.steps.threads import THREADS

ACCESS, UPDATE = 16, 512  # units
MOST = 1 << 19  # units of a thread that need no question on any GPU: 16 ms where each access waits for the one before

Amount = float | str | None
"""A number, or C text of one, a double; None: unknown."""


def most_work(around: Sequence[For], body: Body, updated: Collection[str], w: Writer) -> Amount:
    """What a thread does for one iteration of the loops around. updated: arrays whose elements any thread updates. It
    is text of the function that starts the kernel."""
    loops = {loop.name: loop for loop in around}
    return _Bound(w, arrays_made(body), names_assigned(body), updated, loops).body(body)


@dataclass
class _Bound:
    """own: arrays of threads and blocks. changing: scalars that the launch sets. loops: those of the launch."""

    w: Writer
    own: Collection[str]
    changing: Collection[str]
    updated: Collection[str]
    loops: dict[str, For] = field(default_factory=dict)

    def body(self, body: Body) -> Amount:
        total: Amount = 0.0
        for stmt in body:
            total = _sum(total, self._statement(stmt))
        return total

    def _statement(self, stmt: Stmt) -> Amount:
        own = 1.0 + sum(operations_of(expr) for expr in own_expressions(stmt))
        loads = (part for expr in own_expressions(stmt) for part in subexpressions(expr, Load))
        own += ACCESS * sum(load.array not in self.own for load in loads)
        match stmt:
            case While():
                return None
            case Store(array=array):
                return own + (UPDATE if array in self.updated else 1 if array in self.own else ACCESS)
            case Allocate(shape=shape, fill=fill) if fill is not None:
                return own + prod(int(size.value) for size in shape if isinstance(size, Const))
            case If():
                then, otherwise = self.body(stmt.then), self.body(stmt.otherwise)
                if isinstance(then, float) and isinstance(otherwise, float):
                    return own + max(then, otherwise)
                return _sum(own, _sum(then, otherwise))
            case For():
                self.loops[stmt.name] = stmt
                return _sum(own, _product(self._trip(stmt), _sum(1.0, self.body(stmt.body))))
        total: Amount = own
        for part in bodies(stmt):
            total = _sum(total, self.body(part))
        return total

    def _trip(self, loop: For) -> Amount:
        """How many iterations a thread has at most."""
        if not isinstance(loop.step, Const) or not loop.step.value:
            return None
        step = abs(int(loop.step.value))
        known = trip_of(loop)
        if known is None and (extent := extent_of(loop)):
            known = -(-extent // step)
        sharing = (loop.threads or known or 1) if loop.run in THREADS else 1
        if known is not None:
            return float(-(-known // sharing))
        ends = (loop.upper, loop.lower) if loop.step.value > 0 else (loop.lower, loop.upper)
        high, low = self._end(ends[0], True), self._end(ends[1], False)
        if high is None or low is None:
            return None
        return f"LW_MAX(double, 0.0, ({high}) - ({low})) / {float(step * sharing)} + 1.0"

    def _end(self, expr: Expr, high: bool) -> Amount:
        """The largest value of an expression, or the smallest one, for all iterations of the launch's loops."""
        match expr:
            case Const():
                return float(expr.value)
            case Var(name=name) if name in self.loops:
                loop = self.loops[name]
                climbs = isinstance(loop.step, Const) and loop.step.value > 0
                falls = isinstance(loop.step, Const) and loop.step.value < 0
                return self._end(loop.upper if high == climbs else loop.lower, high) if climbs or falls else None
            case Var(name=name) if name not in self.changing:
                return f"(double){self.w.text(expr)}"
            case Dim(array=array) if array not in self.own:
                return f"(double){self.w.text(expr)}"
            case Cast(operand=operand, type=to) if to == INT64 and operand.type.kind in ("int", "uint"):
                return self._end(operand, high)
            case Binary(op="add"):
                return _sum(self._end(expr.left, high), self._end(expr.right, high))
            case Binary(op="sub"):
                left, right = self._end(expr.left, high), self._end(expr.right, not high)
                return None if left is None or right is None else f"({left}) - ({right})"
            case Binary(op="mul", right=Const(value=value)) if value >= 0:
                return _product(self._end(expr.left, high), float(value))
            case Binary(op="mul", left=Const(value=value)) if value >= 0:
                return _product(self._end(expr.right, high), float(value))
            case Binary(op="floordiv", right=Const(value=value)) if value > 0:
                return _sum(_product(self._end(expr.left, high), f"1.0 / {float(value)}"), 0.0 if high else -1.0)
            case Binary(op="mod", right=Const(value=value)) if value > 0:
                return float(value) if high else 0.0
            case Binary(op="min" | "max" as op):
                found = [end for end in (self._end(expr.left, high), self._end(expr.right, high)) if end is not None]
                if len(found) < 2 and (not found or high == (op == "max")):
                    return None
                return found[0] if len(found) < 2 else f"LW_{op.upper()}(double, {found[0]}, {found[1]})"
        return None


def _sum(left: Amount, right: Amount) -> Amount:
    if left is None or right is None:
        return None
    if isinstance(left, float) and isinstance(right, float):
        return left + right
    return str(right) if left == 0.0 else str(left) if right == 0.0 else f"{left} + {right}"


def _product(left: Amount, right: Amount) -> Amount:
    if left is None or right is None or left == 0.0 or right == 0.0:
        return 0.0 if left == 0.0 or right == 0.0 else None
    return left * right if isinstance(left, float) and isinstance(right, float) else f"({left}) * ({right})"

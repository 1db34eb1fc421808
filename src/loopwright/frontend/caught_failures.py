"""Failures that a handler of the user's catches: each check in the body of a `try`, and each index, becomes a test that
goes on at the handler, in the order in which Python finds the failures.

    x = Checked(a // b, b != 0)   ->   if b == 0: leave except
                                       x = a // b

What Python does not raise stays as it is and ends the call: no memory, an integer of more than 64 bits, an axis of
one element that is not stretched here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.errors import class_named
from loopwright.frontend.convert import negated
from loopwright.frontend.reraised import Reraised
from loopwright.ir.nodes import (
    Allocate,
    Body,
    Break,
    Call,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    If,
    Leave,
    Load,
    Location,
    Logical,
    Select,
    Stmt,
    Store,
    Unary,
    While,
)
from loopwright.ir.queries import has
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import (
    bodies,
    children,
    expressions,
    own_expressions,
    statements,
    with_bodies,
    with_children,
    with_own_expressions,
)

_ONE = Const(1, INT64)
_OURS = str(Path(__file__).parent)
_KINDS: dict[str, type[Exception]] = {
    "zero_division": ZeroDivisionError,
    "unassigned": UnboundLocalError,
    "none": TypeError,
    "index": IndexError,
    "pop": IndexError,
    **dict.fromkeys(("negative_shift", "zero_step", "shape", "reshaped", "unpack", "empty"), ValueError),
}


@dataclass(frozen=True)
class Handler:
    """One `except`: the classes that it catches, and the Block whose end is where it begins."""

    kinds: tuple[type[BaseException], ...]
    block: str


@dataclass
class Caught:
    """The handlers of one `try`. left: the blocks that some failure leaves. reraised: of those whose handlers raise
    again what they have caught."""

    handlers: Sequence[Handler]
    left: set[str] = field(default_factory=set)
    reraised: Mapping[str, Reraised] = field(default_factory=dict)

    def body(self, body: Sequence[Stmt]) -> list[Stmt]:
        """The statements, going on at the handlers where they would fail."""
        out: list[Stmt] = []
        for stmt in body:
            self._statement(stmt, out)
        return out

    def _statement(self, stmt: Stmt, out: list[Stmt]) -> None:
        if isinstance(stmt, While):
            self._while(stmt, out)
            return
        own = own_expressions(stmt)
        for expr in own:
            self._tests(expr, out)
        match stmt:
            case Store(array=array, index=index):
                self._inside(array, index, stmt.at, out)
            case Allocate(shape=shape):
                for size in filter(lambda one: not isinstance(one, Const), shape):
                    self._test(Compare("ge", self._bare(size), Const(0, INT64)), ValueError, stmt.at, out)
            case _:
                pass
        stmt = with_own_expressions(stmt, tuple(map(self._bare, own)))
        out.append(with_bodies(stmt, tuple(tuple(self.body(inner)) for inner in bodies(stmt))))

    def _while(self, stmt: While, out: list[Stmt]) -> None:
        tests: list[Stmt] = []
        self._tests(stmt.condition, tests)
        condition, body = self._bare(stmt.condition), tuple(self.body(stmt.body))
        if tests:
            end = If(negated(condition), (Break(stmt.name, at=stmt.at),), at=stmt.at)
            condition, body = Const(True, BOOL), (*tests, end, *body)
        out.append(replace(stmt, condition=condition, body=body))

    # ---- expressions ----

    def _tests(self, expr: Expr, out: list[Stmt]) -> None:
        """What has to be tested before an expression is evaluated."""
        match expr:
            case Checked(value=value, condition=condition):
                self._tests(condition, out)
                for test, kind in _failures(expr):
                    self._test(self._bare(test), kind, expr.at, out, expr)
                self._tests(value, out)
            case Logical(op=op, left=left, right=right):
                self._tests(left, out)
                then: list[Stmt] = []
                self._tests(right, then)
                if then:
                    condition = self._bare(left)
                    out.append(If(condition if op == "and" else negated(condition), tuple(then)))
            case Select(condition=condition, then=first, otherwise=second):
                self._tests(condition, out)
                branches: tuple[list[Stmt], list[Stmt]] = ([], [])
                for one, tests in zip((first, second), branches, strict=True):
                    self._tests(one, tests)
                if any(branches):
                    out.append(If(self._bare(condition), tuple(branches[0]), tuple(branches[1])))
            case _:
                for child in children(expr):
                    self._tests(child, out)
                if isinstance(expr, Load):
                    self._inside(expr.array, expr.index, expr.at, out)

    def _bare(self, expr: Expr) -> Expr:
        """An expression without the checks that were made before."""
        new = tuple(map(self._bare, children(expr)))
        expr = with_children(expr, new)
        if isinstance(expr, Checked) and not _may_fail_otherwise(expr) and self._handler(kind_of(expr)) is not None:
            return expr.value
        return expr

    def _inside(self, array: str, index: tuple[Expr, ...], at: Location | None, out: list[Stmt]) -> None:
        if at is None or is_ours(at):
            return
        for axis, place in enumerate(map(self._bare, index)):
            size = Dim(array, axis)
            low, high = Compare("ge", place, Unary("neg", size)), Compare("lt", place, size)
            if isinstance(place, Const):
                inside: Expr = high if int(place.value) >= 0 else low
            else:
                inside = Logical("and", low, high)
            self._test(inside, IndexError, at, out)

    def _test(
        self, condition: Expr, kind: type[BaseException] | None, at: Location | None, out: list[Stmt],
        check: Checked | None = None,
    ) -> None:  # fmt: skip
        handler = self._handler(kind)
        if handler is None or condition == Const(True, BOOL):
            return
        self.left.add(handler.block)
        leave: tuple[Stmt, ...] = (Leave(handler.block, at=at),)
        if (again := self.reraised.get(handler.block)) is not None:
            leave = (*again.kept(kind, check, at), *leave)
        out += leave if condition == Const(False, BOOL) else [If(negated(condition), leave, at=at)]

    def _handler(self, kind: type[BaseException] | None) -> Handler | None:
        return next((one for one in self.handlers if kind is not None and issubclass(kind, one.kinds)), None)


def kind_of(check: Checked) -> type[BaseException] | None:
    """The class of the exception that Python raises where a check fails; None where it raises none, or another one."""
    if check.kind == "raised":
        return class_named(check.raised.partition(": ")[0])
    return _KINDS.get(check.kind)


def fails_inside(body: Body, kinds: Sequence[tuple[type[BaseException], ...]]) -> bool:
    """Whether one of these loops may fail after it has written something, in a way that one of some handlers catches:
    at an index that is read from an array, or at a check."""
    found: list[type[BaseException] | None] = [kind_of(one) for one in expressions(body, Checked)]
    of_users = [one for one in expressions(body, Load) if one.at is not None and not is_ours(one.at)]
    places: list[Load | Store] = [*of_users, *statements(body, Store)]
    found += [IndexError for one in places if _is_indirect(one.index)]
    return any(kind is not None and issubclass(kind, one) for kind in found for one in kinds)


def _is_indirect(index: tuple[Expr, ...]) -> bool:
    return any(has(place, Load) for place in index)


def is_ours(at: Location) -> bool:
    """Whether this stands in a function that this package has for what NumPy does: its indices are right."""
    return at.file.startswith(_OURS)


def _failures(check: Checked) -> list[tuple[Expr, type[BaseException] | None]]:
    """What has to hold for a check not to fail as it does in Python, and the class of the exception."""
    converted = check.converted
    if check.kind == "not_finite" and converted is not None:
        nan, infinite = Call("isnan", (converted,), BOOL), Call("isinf", (converted,), BOOL)
        return [(negated(nan), ValueError), (negated(infinite), OverflowError)]
    condition = check.condition
    if check.kind == "shape" and isinstance(condition, Compare) and condition.op == "eq":
        a, b = condition.left, condition.right
        for size in (a, b):  # NumPy stretches such an axis
            condition = Logical("or", condition, Compare("eq", size, _ONE))
    return [(condition, kind_of(check))]


def _may_fail_otherwise(check: Checked) -> bool:
    """Whether the check is still needed where all its failures that Python has are caught: also where it alone tells
    that a name has a value."""
    return (
        kind_of(check) is None
        or check.kind == "unassigned"
        or (check.kind == "shape" and isinstance(check.condition, Compare))
    )

"""What certainly has a value when it is read: locals, local arrays and loop variables, along every path.

Part of `ir/verify.py`. The way through a body is followed once: a loop's first iteration knows the least. It also
tells whether the end of the kernel can be reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Return,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.types import BOOL
from loopwright.ir.walk import children, expressions, own_expressions, statements

Known = frozenset[str] | None  # the names that have a value here; None: no path comes here


@dataclass(eq=False)
class Unassigned(Exception):
    """A name is read, or a flag set, where it may have no value."""

    name: str
    stmt: Stmt


def falls_through(kernel: Kernel) -> bool:
    """Whether the end of the body can be reached. Raises Unassigned where a read may come before any value."""
    start = frozenset(given.name for given in (*kernel.params, *kernel.results))
    return _Paths(_loop_names(kernel.body), _guards(kernel.body)).body(kernel.body, start) is not None


def _loop_names(body: Body) -> frozenset[str]:
    return frozenset(stmt.name for stmt in statements(body, For))


def _guards(body: Body) -> dict[str, set[str]]:
    """Flag locals, and the locals that a Checked 'unassigned' reads under them."""
    found: dict[str, set[str]] = {}
    for expr in expressions(body, Checked):
        if (pair := _flag_and_local(expr)) is not None:
            found.setdefault(pair[0], set()).add(pair[1])
    return found


def _flag_and_local(checked: Checked) -> tuple[str, str] | None:
    match checked:
        case Checked(value=Var() as local, condition=Var() as flag, kind="unassigned" | "none") if flag.type == BOOL:
            return flag.name, local.name
        case _:
            return None


def _meet(states: Iterable[Known]) -> Known:
    """What is known where several paths come together."""
    reached = [state for state in states if state is not None]
    return frozenset.intersection(*reached) if reached else None


@dataclass
class _Paths:
    """`jumps`: for the name of a loop or block, what is known at each Break, Continue or Leave of it."""

    loops: frozenset[str]
    guards: dict[str, set[str]]
    jumps: dict[tuple[type[Stmt], str], list[Known]] = field(default_factory=dict)

    def body(self, body: Body, known: Known) -> Known:
        for stmt in body:
            if known is None:
                return None  # no path comes here, so nothing is read
            known = self.stmt(stmt, known)
        return known

    def stmt(self, stmt: Stmt, known: frozenset[str]) -> Known:
        for expr in own_expressions(stmt):
            self.read(expr, known, stmt)
        match stmt:
            case Assign(value=Checked(condition=Const(value=False), kind="raised")):
                return None
            case Assign():
                self.flag(stmt, known)
                return known | {stmt.name}
            case Store():
                self.need(stmt.array, known, stmt)
                return known
            case Allocate():
                return known | {stmt.array}
            case For() | While():
                return self.loop(stmt, known)
            case If():
                return _meet([self.body(stmt.then, known), self.body(stmt.otherwise, known)])
            case Block():
                end = self.body(stmt.body, known)
                return self.outside(_meet([end, *self.jumps.pop((Leave, stmt.name), [])]), known)
            case Break() | Continue():
                self.jump(type(stmt), stmt.loop, known)
                return None
            case Leave():
                self.jump(Leave, stmt.block, known)
                return None
            case Return():
                return None
        assert_never(stmt)

    def jump(self, kind: type[Stmt], target: str, known: Known) -> None:
        self.jumps.setdefault((kind, target), []).append(known)

    def outside(self, known: Known, before: frozenset[str]) -> Known:
        """Without the variables of loops that are over."""
        return None if known is None else known - (self.loops - before)

    def loop(self, loop: For | While, known: frozenset[str]) -> Known:
        inside = known | {loop.name} if isinstance(loop, For) else known
        ends = [self.body(loop.body, inside), *self.jumps.pop((Continue, loop.name), [])]
        breaks = self.jumps.pop((Break, loop.name), [])
        match loop:
            case While(condition=Const(value=True)):
                return self.outside(_meet(breaks), known)
            case For(lower=Const(value=lower), upper=Const(value=upper), step=Const(value=step)) if step:
                if range(int(lower), int(upper), int(step)):
                    return self.outside(_meet([*ends, *breaks]), known)
        return known

    def flag(self, stmt: Assign, known: frozenset[str]) -> None:
        """A flag is true only where its locals have a value, so that what a Checked reads under it has one."""
        if stmt.name in self.guards and stmt.value != Const(False, BOOL):
            for local in self.guards[stmt.name]:
                self.need(local, known, stmt)

    def read(self, expr: Expr, known: frozenset[str], stmt: Stmt) -> None:
        match expr:
            case Var():
                self.need(expr.name, known, stmt)
            case Load() | Dim():
                self.need(expr.array, known, stmt)
            case Checked() if _flag_and_local(expr) is not None:
                return self.read(expr.condition, known, stmt)
            case Checked(value=Var(), condition=Const(value=False)):
                return None  # never gets to the value
        for child in children(expr):
            self.read(child, known, stmt)
        return None

    def need(self, name: str, known: frozenset[str], stmt: Stmt) -> None:
        if name not in known:
            raise Unassigned(name, stmt)

"""How much work an iteration has, as far as its path decides: operations for each iteration of an inner loop that data
decides, on each side of a branch that data decides, and whatever the path is. It is a static count, in no unit: only
the proportions matter. Nothing is claimed of what the path vector leaves out, which counts as if it ran a few times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopwright.ir.linear import minus
from loopwright.ir.nodes import Body, Call, Const, Expr, For, If, Load, Stmt, Store, While
from loopwright.ir.walk import bodies, own_expressions, subexpressions

UNKNOWN_TRIPS = 16
"""Iterations of an inner loop about which nothing is known."""
CALL, ACCESS = 8, 4
"""Operations that a function such as `exp`, and an access to memory, count as."""

Taken = tuple[tuple[str, int], ...]
"""Scalars of branches, and what each is where control comes to a place."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A statement whose path entry is known. scalar: of the entry; under: the branches around it."""

    stmt: If | For
    scalar: str
    under: Taken


@dataclass(frozen=True, slots=True)
class PartWork:
    """Of one entry. first: of each iteration of the loop, or where the branch's condition holds; second: where it does
    not, None for a loop."""

    scalar: str
    first: float
    second: float | None
    under: Taken


@dataclass(frozen=True, slots=True)
class IterationWork:
    """Of an iteration. fixed: what it has to do whatever its path is."""

    fixed: float = 1.0
    parts: tuple[PartWork, ...] = ()


def loop_work(body: Body, decided: Sequence[Decided]) -> IterationWork:
    """Of a loop with this body."""
    count = _Count({id(one.stmt): one for one in decided})
    parts = [
        PartWork(one.scalar, 1.0 + count.body(one.stmt.body), None, one.under)
        if isinstance(one.stmt, For)
        else PartWork(one.scalar, count.body(one.stmt.then), count.body(one.stmt.otherwise), one.under)
        for one in decided
    ]
    return IterationWork(1.0 + count.body(body), tuple(parts))


@dataclass(frozen=True, slots=True)
class _Count:
    decided: Mapping[int, Decided]

    def body(self, body: Body) -> float:
        return sum(map(self._statement, body))

    def _statement(self, stmt: Stmt) -> float:
        own = float(sum(map(_operations, own_expressions(stmt)))) + (ACCESS if isinstance(stmt, Store) else 0)
        if id(stmt) in self.decided:
            return own  # what is inside is counted by its entry
        if isinstance(stmt, For | While):
            return own + _trips(stmt) * (1.0 + self.body(stmt.body))
        inner = [self.body(one) for one in bodies(stmt)]
        return own + (max(inner, default=0.0) if isinstance(stmt, If) else sum(inner))


def _trips(stmt: For | While) -> int:
    if isinstance(stmt, For) and isinstance(stmt.step, Const) and stmt.step.value:
        span = minus(stmt.upper, stmt.lower)
        if isinstance(span, Const):
            return max(0, -(-int(span.value) // int(stmt.step.value)))
    return UNKNOWN_TRIPS


def _operations(expr: Expr) -> int:
    parts = tuple(subexpressions(expr))
    calls = sum(isinstance(one, Call) for one in parts)
    return len(parts) // 2 + CALL * calls + ACCESS * sum(isinstance(one, Load) for one in parts)

"""How much work a loop is, as C text evaluated when it is entered: enough to choose the number of threads by. An
estimate: loops whose length only data tells count as sixteen iterations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.ir.nodes import Binary, Body, Call, Checked, Const, Expr, For, Load, Store, Var, While
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, own_expressions, rewrite_expr, subexpressions

UNKNOWN_TRIP = 16


@dataclass(frozen=True, slots=True)
class LoopWork:
    """`fixed` operations and, for each inner loop, how often it runs (lower, upper, step; None: unknown) and what
    is in it. `loop`: the name of the loop that this is in."""

    fixed: int
    inner: tuple[tuple[tuple[Expr, Expr, Expr] | None, LoopWork], ...]
    loop: str = ""


def work_of(loop: For) -> LoopWork:
    """The work of one iteration of `loop`, in terms of what is known where the loop is entered."""
    changing = names_assigned(loop.body)
    return _body(loop.body, {loop.name: _middle(loop.lower, loop.upper)}, changing)


def _body(body: Body, known: dict[str, Expr], changing: set[str]) -> LoopWork:
    fixed = 0
    inner: list[tuple[tuple[Expr, Expr, Expr] | None, LoopWork]] = []
    for stmt in body:
        fixed += 1 + sum(operations_of(expr) for expr in own_expressions(stmt)) + isinstance(stmt, Store)
        if isinstance(stmt, For):
            bounds = tuple(_at_middle(bound, known, changing) for bound in (stmt.lower, stmt.upper, stmt.step))
            lower, upper, step = bounds
            if lower is None or upper is None or step is None:
                inner.append((None, replace(_body(stmt.body, known, changing | {stmt.name}), loop=stmt.name)))
            else:
                inside = known | {stmt.name: _middle(lower, upper)}
                below = replace(_body(stmt.body, inside, changing), loop=stmt.name)
                inner.append(((lower, upper, step), below))
        elif isinstance(stmt, While):
            inner.append((None, replace(_body(stmt.body, known, changing), loop=stmt.name)))
        else:
            for part in bodies(stmt):
                below = _body(part, known, changing)
                fixed += below.fixed
                inner += below.inner
    return LoopWork(fixed, tuple(inner))


def operations_of(expr: Expr) -> int:
    """How many elementary operations an expression is."""
    count = 0
    for part in subexpressions(expr):
        if isinstance(part, Call):
            count += 4 if part.function == "sqrt" else 20
        elif isinstance(part, Binary) and part.op in ("truediv", "floordiv", "mod", "pow"):
            count += 5
        elif not isinstance(part, Const | Var):
            count += 1
    return count


def _middle(lower: Expr, upper: Expr) -> Expr:
    if isinstance(lower, Const) and lower.value == 0:
        return Binary("floordiv", upper, Const(2, INT64))
    return Binary("floordiv", Binary("add", lower, upper), Const(2, INT64))


def _at_middle(expr: Expr, known: dict[str, Expr], changing: set[str]) -> Expr | None:
    """The expression with every loop variable in the middle of its range, or None where data decides."""
    if has(expr, Load, Checked) or names_in(expr) & changing:
        return None
    return rewrite_expr(expr, lambda e: known.get(e.name, e) if isinstance(e, Var) else e)

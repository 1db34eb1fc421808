"""A kernel of the same meaning with less in it: constants folded, identities, dead branches, needless jumps.

It keeps every failure, and the order of everything that may fail, and never duplicates a Load, Store or Checked.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.identities import cannot_fail, simpler
from loopwright.ir.jumps import is_left, without_needless_jumps
from loopwright.ir.nodes import (
    Assign,
    Block,
    Body,
    Const,
    For,
    If,
    Kernel,
    ResultArray,
    ReturnedScalar,
    Stmt,
    Unary,
    Var,
    While,
)
from loopwright.ir.sunk_operations import behind_branches
from loopwright.ir.walk import rewrite_body, rewrite_expr


def simplify(kernel: Kernel) -> Kernel:
    """The simplest kernel of the same meaning that is known; the same object when nothing changed."""
    returns_nothing = not any(isinstance(part, ReturnedScalar) for part in kernel.returned or ())
    body = rewrite_body(kernel.body, _simpler_stmt, simpler)
    body = without_needless_jumps(body, returns_nothing)
    results = tuple(_simpler_result(result) for result in kernel.results)
    if body is kernel.body and all(a is b for a, b in zip(results, kernel.results, strict=True)):
        return kernel
    return simplify(replace(kernel, body=body, results=results))  # one thing gone, another may go


def simpler_body(body: Body) -> Body:
    """A body with less in it, of the same meaning."""
    while (simple := rewrite_body(body, _simpler_stmt, simpler)) is not body:
        body = simple
    return body


def _simpler_result(result: ResultArray) -> ResultArray:
    shape = tuple(rewrite_expr(size, simpler) for size in result.shape)
    unchanged = all(a is b for a, b in zip(shape, result.shape, strict=True))
    return result if unchanged else replace(result, shape=shape)


def _simpler_stmt(stmt: Stmt) -> Body:
    match stmt:
        case Assign(value=Var(name=name)) if name == stmt.name:
            return ()
        case If():
            return _if(stmt)
        case While(condition=Const(value=False)):
            return ()
        case For() if _does_nothing(stmt):
            return ()
        case Block() if not is_left(stmt):
            return stmt.body
        case _:
            return (stmt,)


def _if(stmt: If) -> Body:
    if isinstance(stmt.condition, Const):
        return stmt.then if stmt.condition.value else stmt.otherwise
    if (sunk := behind_branches(stmt)) is not None:
        return sunk
    if stmt.then:
        return (stmt,)
    if stmt.otherwise:
        opposite = simpler(Unary("not", stmt.condition))
        return (replace(stmt, condition=opposite, then=stmt.otherwise, otherwise=()),)
    return () if cannot_fail(stmt.condition) else (stmt,)


def _does_nothing(loop: For) -> bool:
    if not isinstance(loop.step, Const) or loop.step.value == 0:
        return False
    if not loop.body:
        return cannot_fail(loop.lower) and cannot_fail(loop.upper)
    match loop:
        case For(lower=Const(value=lower), upper=Const(value=upper), step=Const(value=step)):
            return not range(int(lower), int(upper), int(step))
        case _:
            return False

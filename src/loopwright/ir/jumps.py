"""Jumps that only go where control goes anyway, and what can never be reached. Part of `ir/simplify.py`.

An early `continue` or `return` (of an inlined function: leave) becomes the `else` of what follows it:

    for i in 0 .. n:                      for i in 0 .. n:
        if c:                                 if c:
            A                                     A
            continue i           ->           else:
        B                                         B
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import (
    Assign,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    For,
    If,
    Leave,
    Return,
    Stmt,
    While,
)
from loopwright.ir.walk import bodies, statements, with_bodies

Jump = Continue | Leave | Return


def without_needless_jumps(body: Body, returns_nothing: bool) -> Body:
    """The body of a kernel; `returns_nothing`: a Return at its end has no values. The same object if unchanged."""
    return _ended(body, (Return(),) if returns_nothing else ())


def always_jumps(body: Body) -> bool:
    """Whether what follows the body is never reached from it."""
    return any(_never_falls_through(stmt) for stmt in body)


def _never_falls_through(stmt: Stmt) -> bool:
    match stmt:
        case Break() | Continue() | Leave() | Return():
            return True
        case Assign(value=Checked(condition=Const(value=False), kind="raised")):
            return True
        case If():
            return always_jumps(stmt.then) and always_jumps(stmt.otherwise)
        case While(condition=Const(value=True)):
            return not any(isinstance(inner, Break) and inner.loop == stmt.name for inner in statements(stmt.body))
        case Block():
            return always_jumps(stmt.body) and not is_left(stmt)
        case _:
            return False


def is_left(block: Block) -> bool:
    """Whether some Leave names the block."""
    return any(isinstance(inner, Leave) and inner.block == block.name for inner in statements(block.body))


def _ended(body: Body, ends: tuple[Jump, ...]) -> Body:
    """`ends`: the jumps that mean the same as coming to the end of this body."""
    for position, stmt in enumerate(body):
        rest = body[position + 1 :]
        if rest and _never_falls_through(stmt):
            return _ended(body[: position + 1], ends)
        if rest and isinstance(stmt, If) and (merged := _with_rest(stmt, rest, ends)) is not None:
            return _ended((*body[:position], merged), ends)
    if body and body[-1] in ends:
        return _ended(body[:-1], ends)
    last = len(body) - 1
    new = tuple(_stmt(stmt, ends if position == last else ()) for position, stmt in enumerate(body))
    return body if all(a is b for a, b in zip(new, body, strict=True)) else new


def _with_rest(stmt: If, rest: Body, ends: tuple[Jump, ...]) -> If | None:
    """What follows an If moved into the branch that comes to it, where the other one jumps to the end."""
    if stmt.then and stmt.then[-1] in ends:
        return replace(stmt, then=stmt.then[:-1], otherwise=(*stmt.otherwise, *rest))
    if stmt.otherwise and stmt.otherwise[-1] in ends:
        return replace(stmt, then=(*stmt.then, *rest), otherwise=stmt.otherwise[:-1])
    return None


def _stmt(stmt: Stmt, ends: tuple[Jump, ...]) -> Stmt:
    """`ends`: the jumps that mean the same as going on after this statement."""
    match stmt:
        case For() | While():
            own: tuple[Jump, ...] = (Continue(stmt.name),)
        case Block():
            own = (*ends, Leave(stmt.name))
        case _:
            own = ends
    return with_bodies(stmt, tuple(_ended(inner, own) for inner in bodies(stmt)))

"""`while` loops inside of others, written out, where they go on for as long as a number says that is known beforehand:

    s = 1 << 15                            if x & 32768: n = n + 1
    while s > 0:                           if x & 16384: n = n + 1
        if x & s: n = n + 1        ->      ...
        s = s // 2                         s = 0

The number is set to a constant before the loop, and each iteration changes it once, in the same way. Bits are gone
through so, and with constants for them the loop around fills the lanes of vector registers. Of whole numbers only: an
iteration of floats mostly waits for the one before, and then many loops together are faster (steps/lockstep.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from loopwright.ir.arithmetic import binary, compare
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Checked,
    Compare,
    CompareOp,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, rewrite_body, statements, with_bodies

MOST_ITERATIONS, MOST_STATEMENTS = 64, 256
"""Of a loop that is written out; of all that it becomes."""
STEPS = ("add", "sub", "mul", "shl", "shr", "floordiv")


def whiles_written_out(kernel: Kernel) -> Kernel:
    """The same kernel without such loops."""
    body = _in_body(kernel.body, False)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _in_body(body: Body, is_repeated: bool) -> Body:
    known: dict[str, int] = {}
    made: list[Stmt] = []
    for stmt in body:
        if is_repeated and isinstance(stmt, While) and (several := _written_out(stmt, known)) is not None:
            made += several
        elif inside := bodies(stmt):
            within = tuple([_in_body(one, is_repeated or isinstance(stmt, For)) for one in inside])
            made.append(stmt if all(map(_is, inside, within)) else with_bodies(stmt, within))
        else:
            made.append(stmt)
        match stmt:
            case Assign(name=name, value=Const(value=value, type=kind)) if kind == INT64:
                known[name] = int(value)
            case _ if known:
                changed = names_assigned((stmt,))
                known = {name: value for name, value in known.items() if name not in changed}
            case _:
                pass
    return body if len(made) == len(body) and all(map(_is, body, made)) else tuple(made)


def _is(a: object, b: object) -> bool:
    return a is b


def _written_out(loop: While, known: Mapping[str, int]) -> Body | None:
    """What does the same; None for any other loop. known: numbers before it, by name."""
    match loop.condition:
        case Compare(op=op, left=Var(name=name), right=Const(value=bound, type=kind)) if kind == INT64:
            step = _step(loop, name)
        case _:
            return None
    if step is None or name not in known or not _is_simple(loop.body):
        return None
    numbers = _numbers(op, int(bound), known[name], step)
    if numbers is None or (len(numbers) - 1) * sum(1 for _ in statements(loop.body)) > MOST_STATEMENTS:
        return None
    place = next(at for at, stmt in enumerate(loop.body) if stmt is step)
    several: list[Stmt] = []
    for number, following in pairwise(numbers):
        several += _with(loop.body[:place], name, number)
        several += _with(loop.body[place + 1 :], name, following)
    return (*several, replace(step, value=Const(numbers[-1], INT64)))


def _step(loop: While, name: str) -> Assign | None:
    """The one statement of an iteration that changes a number, always, by a constant."""
    changes = [stmt for stmt in statements(loop.body, Assign) if stmt.name == name]
    if len(changes) != 1 or not any(stmt is changes[0] for stmt in loop.body):
        return None
    match changes[0].value:
        case Binary(op=op, left=Var(name=other), right=Const(value=by, type=kind)) if other == name and kind == INT64:
            is_defined = by != 0 if op == "floordiv" else 0 <= by < INT64.bits or op not in ("shl", "shr")
            return changes[0] if op in STEPS and is_defined else None
        case _:
            return None


def _is_simple(body: Body) -> bool:
    """Whether it only chooses, and computes and stores whole numbers."""
    return all(
        isinstance(stmt, If | Store) or (isinstance(stmt, Assign) and not stmt.value.type.is_float)
        for stmt in statements(body)
    )


def _numbers(op: CompareOp, bound: int, number: int, step: Assign) -> list[int] | None:
    """What the number is before each iteration, and behind the last; None where there are too many of them."""
    assert isinstance(step.value, Binary) and isinstance(step.value.right, Const)
    found = [number]
    while compare(op)(found[-1], bound):
        found.append(int(binary(step.value.op)(found[-1], int(step.value.right.value))))
        if len(found) > MOST_ITERATIONS + 1 or not INT64.minimum <= found[-1] <= INT64.maximum:
            return None
    return found


def _with(body: Body, name: str, number: int) -> Body:
    """A copy of a body for one number: every node stands in one place."""

    def known(expr: Expr) -> Expr:
        if isinstance(expr, Var) and expr.name == name:
            return Const(number, INT64)
        return replace(expr, key=object()) if isinstance(expr, Load | Checked) else expr

    return rewrite_body(body, _anew, known)


def _anew(stmt: Stmt) -> Body:
    return (replace(stmt, key=object()) if isinstance(stmt, Store) else replace(stmt),)

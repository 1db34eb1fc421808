"""What an iteration keeps for the next one is computed again there, where that is cheap: of a scalar that the end of
an iteration sets to an element, or to its number, only the first iteration needs the value from before the loop. That
one is peeled off, and what is left has no order.

    x = b[n - 1]                           x = b[n - 1]
    for i in 0 .. n:                       if 0 < n:
        a[i] = b[i] + x            ->          a[0] = b[0] + x
        x = b[i]                               x = b[0]
                                           for i in 1 .. n:
                                               a[i] = b[i] + b[i - 1]
                                               x = b[i]

A value that comes from two iterations before takes two. A loop of which another scalar ties the iterations all the
same, and is no plain sum, and no switch that is only turned, stays as it is; on a GPU it may also be a place of a list
that grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopwright.ir.identities import cannot_fail, simpler
from loopwright.ir.linear import linear, parted, plus, variable
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Cast,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Stmt,
    Store,
    Unary,
    Var,
)
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import own_expressions, rewrite_body, rewrite_expr, statements, subexpressions

MOST_STATEMENTS, MOST_PARTS = 16, 14
"""Of a loop that is peeled; of an expression that is computed again."""
MOST_BEFORE = 2
"""Iterations back that a value may come from."""
CHEAP = frozenset({"add", "sub", "mul", "min", "max", "and", "or", "xor"})
ADDED = frozenset({"add", "mul", "min", "max"})


def computed_again(kernel: Kernel, places: bool = False) -> Kernel:
    """The same kernel without such scalars between iterations. places: also in loops that are tied by places of lists,
    which are worth being found by a prefix sum on a GPU."""
    if kernel.overlap:
        return kernel
    body = rewrite_body(kernel.body, lambda stmt: _peeled(stmt, places))
    return kernel if body is kernel.body else replace(kernel, body=body)


def _peeled(stmt: Stmt, places: bool) -> Body:
    if not isinstance(stmt, For) or not _may_be_peeled(stmt):
        return (stmt,)
    grown = _places(stmt.body) if places else set[str]()
    if not _tying(stmt.body) - grown:
        return (stmt,)
    first: list[If] = []
    loop = stmt
    while len(first) < MOST_BEFORE and (again := _told_again(loop)):
        first.append(_first(loop))
        loop = _rest(loop, again)
    if not first or _tying(loop.body) - grown:
        return (stmt,)
    if _is_small(stmt.lower):
        return (*first, loop)
    inside: Stmt = loop  # only where there is a first one is the number of the second one known to be no overflow
    for one in reversed(first):
        inside = replace(one, then=(*one.then, inside))
    return (inside,)


def _is_small(lower: Expr) -> bool:
    """Whether a few steps from there are no overflow, whatever the arguments are."""
    form = linear(lower)
    return abs(form.constant) < 2**32 and all(isinstance(term, Dim) and abs(times) == 1 for term, times in form.terms)


def _may_be_peeled(loop: For) -> bool:
    inside = list(statements(loop.body))
    if loop.asserted or loop.run != "sequential" or len(inside) > MOST_STATEMENTS:
        return False
    if not isinstance(loop.step, Const) or loop.step.value == 0:
        return False
    if not all(isinstance(one, Assign | Store | If) for one in inside):
        return False
    if abs(loop.step.value) > (2**31 if _is_small(loop.lower) else 1):
        return False
    bounds = (loop.lower, loop.upper)
    changed = names_assigned(loop.body)
    return all(cannot_fail(one) and not has(one, Load) and not names_in(one) & changed for one in bounds)


def _tying(body: Body) -> set[str]:
    """The scalars that an iteration reads before it has surely written them, but for sums that nothing else reads."""
    carried: set[str] = set()
    _exposed(body, set(), carried)
    return (carried & names_assigned(body)) - _sums(body)


def _exposed(body: Body, written: set[str], found: set[str]) -> set[str]:
    """Adds what is read before it is written; returns what is surely written at the end."""
    for stmt in body:
        found |= {name for expr in own_expressions(stmt) for name in names_in(expr)} - written
        if isinstance(stmt, Assign):
            written = written | {stmt.name}
        elif isinstance(stmt, If):
            written = _exposed(stmt.then, written, found) & _exposed(stmt.otherwise, written, found)
    return written


def _sums(body: Body) -> set[str]:
    assigned = list(statements(body, Assign))
    reads = Counter(
        part.name for stmt in statements(body) for expr in own_expressions(stmt) for part in subexpressions(expr, Var)
    )
    added = Counter(stmt.name for stmt in assigned if _adds(stmt))
    every = Counter(stmt.name for stmt in assigned)
    return {name for name, times in every.items() if added[name] == times == reads[name]}


def _places(body: Body) -> set[str]:
    """The scalars that only grow by constants, and only tell where something is stored: a prefix sum finds them."""
    assigned = list(statements(body, Assign))
    grows = [one.value.type == INT64 and parted(one.value)[0] == Var(one.name, INT64) for one in assigned]
    grown = {one.name for one, does in zip(assigned, grows, strict=True) if does}
    other = {one.name for one, does in zip(assigned, grows, strict=True) if not does}
    asked = [expr for stmt in statements(body) if not isinstance(stmt, Store) for expr in own_expressions(stmt)]
    asked += [stmt.value for stmt in statements(body, Store)]
    reads = Counter(part.name for expr in asked for part in subexpressions(expr, Var))
    return {name for name in grown - other if reads[name] == sum(one.name == name for one in assigned)}


def _adds(stmt: Assign) -> bool:
    match stmt.value:
        case Binary(op=op, left=left, right=right) if op in ADDED:
            return Var(stmt.name, stmt.value.type) in (left, right)
        case Unary(op="not", operand=Var(name=old)):  # one is added to a number of one bit
            return old == stmt.name
        case _:
            return False


# ---- what a scalar was set to ---------------------------------------------------------------------------------


def _told_again(loop: For) -> dict[str, Expr]:
    """Of scalars that tie iterations and may be computed again: the value at the end of an iteration."""
    times = Counter(one.name for one in statements(loop.body, Assign))
    found: dict[str, Expr] = {}
    for name in sorted(_tying(loop.body)):
        place = next((k for k, one in enumerate(loop.body) if isinstance(one, Assign) and one.name == name), None)
        if place is None or times[name] != 1:
            continue
        value = _value_at(loop, place, times)
        if value is not None:
            found[name] = value
    return found


def _value_at(loop: For, place: int, times: Mapping[str, int]) -> Expr | None:
    """What the assignment at this place gives, as an expression of the iteration alone."""
    stmt = loop.body[place]
    assert isinstance(stmt, Assign)
    value = stmt.value
    for before in reversed(range(place)):
        known = loop.body[before]
        if isinstance(known, Assign) and known.name in names_in(value):
            value = _with(value, {known.name: known.value})
        elif isinstance(known, If) and names_assigned((known,)) & names_in(value):
            return None
    changed = {name for name in times if name in names_in(value)}
    stored = arrays_stored(loop.body)
    parts = list(subexpressions(value))
    if changed or len(parts) > MOST_PARTS or not all(_is_cheap(one) for one in parts):
        return None
    return None if any(isinstance(one, Load) and one.array in stored for one in parts) else value


def _is_cheap(part: Expr) -> bool:
    match part:
        case Const() | Var() | Dim() | Load():
            return True
        case Binary():
            return part.op in CHEAP
        case Unary():
            return part.op in ("neg", "abs")
        case Cast():
            return not (part.operand.type.is_float and part.type.is_integer)
        case _:
            return False


# ---- the loop without its first iteration ---------------------------------------------------------------------


def _first(loop: For) -> If:
    """The first iteration, where there is one."""
    assert isinstance(loop.step, Const)
    runs = Compare("lt" if loop.step.value > 0 else "gt", loop.lower, loop.upper)
    body = rewrite_body(loop.body, _anew, lambda one: _anew_expr(_number(one, loop, loop.lower)))
    return If(runs, body, at=loop.at)


def _rest(loop: For, again: Mapping[str, Expr]) -> For:
    """The other iterations, in which what the one before has set is computed again."""
    assert isinstance(loop.step, Const)
    step = int(loop.step.value)
    earlier = plus(variable(loop.name), -step)
    values = {name: rewrite_expr(value, lambda one: _number(one, loop, earlier)) for name, value in again.items()}
    return replace(loop, lower=simpler(plus(loop.lower, step)), body=tuple(_inside(loop.body, values)))


def _inside(body: Body, values: Mapping[str, Expr]) -> Iterator[Stmt]:
    left = dict(values)
    for stmt in body:
        now = dict(left)
        yield from rewrite_body((stmt,), expr=lambda one, now=now: _kept(one, now))  # type: ignore[misc]
        if isinstance(stmt, Assign):
            left.pop(stmt.name, None)


def _kept(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    if isinstance(expr, Var) and expr.name in values:
        return rewrite_expr(values[expr.name], _anew_expr)
    return expr


def _with(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    return rewrite_expr(expr, lambda one: values.get(one.name, one) if isinstance(one, Var) else one)


def _number(expr: Expr, loop: For, value: Expr) -> Expr:
    return value if expr == Var(loop.name, INT64) else simpler(expr)


def _anew_expr(expr: Expr) -> Expr:
    """Each access stands in one place only: a copy is another one."""
    return replace(expr, key=object()) if isinstance(expr, Load) else expr


def _anew(stmt: Stmt) -> Body:
    """So does each statement."""
    return (replace(stmt, key=object()) if isinstance(stmt, Store) else replace(stmt),)

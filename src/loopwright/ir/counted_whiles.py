"""`while` loops that count are `for` loops: a number that each iteration moves on by the same, up to a bound that no
iteration changes.

    i = 1                                    for i in 1 .. n:
    while i < n:                                 a[i] = a[i - 1]
        a[i] = a[i - 1]                ->    i = max(n, 1)           if it is read behind the loop
        i = i + 1

Where a loop ends at the first of several bounds, or where two numbers meet (`while i < j: i += 1; j -= 1`), it counts
its iterations, and the numbers stay what they are: induction.py makes functions of them.

All that is known of `for` loops then holds of them: their iterations may need no order, and their indices are proven to
be inside. A loop that may be left early gives its number a value in each iteration if it is read behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, TypeGuard

from loopwright.ir.identities import cannot_fail
from loopwright.ir.linear import least, linear, minus, most, number, plus
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    Return,
    Stmt,
    Var,
    While,
)
from loopwright.ir.queries import (
    arrays_made,
    arrays_stored,
    contains,
    fresh,
    names_assigned,
    names_in,
    names_of,
    names_read,
    settled_by,
    unsettled_in,
)
from loopwright.ir.types import INT64
from loopwright.ir.walk import (
    bodies,
    own_expressions,
    rewrite_body,
    rewrite_expr,
    statements,
    subexpressions,
    with_bodies,
)

FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass(frozen=True, slots=True)
class _Counter:
    """name: of the number. upper: the bound, where a `for` loop ends. change: the one statement that moves it on, by
    `step`, at this place of the body."""

    name: str
    upper: Expr
    step: int
    change: Assign
    place: int


_Frame = tuple[Body, For | While | None]
"""What comes behind a statement in its body; the loop that this is the body of, if it is one."""


def whiles_that_count(kernel: Kernel) -> Kernel:
    """The same kernel with `for` loops in place of those."""
    loops = [*statements(kernel.body, While)]
    if not any(_counter(loop, kernel.overlap) or _trips(loop) for loop in loops):
        return kernel
    found = _Loops(kernel)
    body = found.body(kernel.body, ())
    if body is kernel.body:
        return kernel
    made = replace(kernel, body=body)
    for loop, scalar in found.made.items():  # its own name, if nothing else is left of it
        if scalar not in names_of(made) and scalar not in names_read(made.body):
            made = replace(made, body=_renamed(made.body, loop, scalar))
    return made


def _counter(loop: Stmt, overlap: bool) -> _Counter | None:
    """The number that a loop counts; None where it does something else."""
    bound = _bound(loop) if isinstance(loop, While) else None
    if not isinstance(loop, While) or bound is None:
        return None
    name, op, upper = bound
    changes = [stmt for stmt in statements(loop.body, Assign) if stmt.name == name]
    place = next((at for at, stmt in enumerate(loop.body) if changes and stmt is changes[0]), None)
    if len(changes) != 1 or place is None or (step := _step(changes[0])) is None:
        return None
    if step == 0 or (step > 0) != (op in ("lt", "le")) or not _is_settled(upper, loop.body, overlap):
        return None
    if any(one.loop == loop.name for one in statements(loop.body[:place], Continue)):
        return None
    if op in ("le", "ge"):
        upper = plus(upper, number(1 if step > 0 else -1))
    return _Counter(name, upper, step, changes[0], place)


def _bound(loop: While) -> tuple[str, str, Expr] | None:
    """A number that a loop changes, how it is compared, and with what; None where the condition asks something else."""
    match loop.condition:
        case Compare(op="lt" | "le" | "gt" | "ge" as op, left=left, right=right):
            for one, other, how in ((left, right, op), (right, left, FLIPPED[op])):
                if isinstance(one, Var) and one.type == INT64 and one.name in names_assigned(loop.body):
                    return one.name, how, other
    return None


def _trips(loop: While) -> Expr | None:
    """How often a loop runs that ends where one of several numbers has come to its bound, or two have met; None where
    that is not all that ends it."""
    if contains(loop.body, Break, Continue, Leave, Return):
        return None
    changes = [stmt for stmt in statements(loop.body, Assign) if stmt.value.type == INT64]
    steps = {one.name: _step(one) for one in loop.body if isinstance(one, Assign) and one in changes}
    often = Counter(one.name for one in changes)
    moving = {name: step for name, step in steps.items() if step is not None and often[name] == 1}
    trips = [_trips_of(part, loop.body, moving) for part in _parts(loop.condition)]
    known = [one for one in trips if one is not None]
    return reduce(least, known) if len(known) == len(trips) else None


def _parts(condition: Expr) -> list[Expr]:
    if isinstance(condition, Logical) and condition.op == "and":
        return [*_parts(condition.left), *_parts(condition.right)]
    return [condition]


def _trips_of(part: Expr, body: Body, moving: Mapping[str, int]) -> Expr | None:
    """How often a comparison holds before it does not."""
    match part:
        case Compare(op="lt" | "le", left=left, right=right) if left.type == INT64:
            gap = linear(minus(right, left))
        case Compare(op="gt" | "ge", left=left, right=right) if left.type == INT64:
            gap = linear(minus(left, right))
        case _:
            return None
    if not cannot_fail(gap.expr) or settled_by(gap.expr) & unsettled_in(body) - set(moving):
        return None
    counts = [(gap.coefficient(name), step) for name, step in moving.items()]
    if any(count is None for count, _ in counts):
        return None
    closer = -sum(count * step for count, step in counts if count is not None)
    if closer <= 0:
        return None
    room = plus(gap.expr, closer - (part.op in ("lt", "gt")))
    return room if closer == 1 else Binary("floordiv", room, number(closer))


def _is_one_of(expr: Expr, names: Mapping[str, str]) -> TypeGuard[Var]:
    return isinstance(expr, Var) and expr.name in names


def _step(change: Assign) -> int | None:
    match change.value:
        case Binary(op="add", left=Var(name=old), right=Const(value=by)) if old == change.name:
            return int(by)
        case Binary(op="add", left=Const(value=by), right=Var(name=old)) if old == change.name:
            return int(by)
        case Binary(op="sub", left=Var(name=old), right=Const(value=by)) if old == change.name:
            return -int(by)
        case _:
            return None


def _is_settled(bound: Expr, body: Body, overlap: bool) -> bool:
    """Whether no iteration changes it: neither a number in it, nor an element."""
    read = {part.array for part in subexpressions(bound, Load)}
    if read and (overlap or read & (arrays_stored(body) | arrays_made(body))):
        return False
    return not settled_by(bound) & unsettled_in(body)


class _Loops:
    """made: the `for` loops, by their names, and the numbers that they count."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._taken = names_of(kernel)
        self._asked = {part.name for one in kernel.results for size in one.shape for part in subexpressions(size, Var)}
        self.made: dict[str, str] = {}

    def body(self, body: Body, frames: tuple[_Frame, ...], around: For | While | None = None) -> Body:
        """The same body. frames: what comes behind the statement that it stands in, innermost first; around: that
        statement, if it is a loop."""
        made: list[Stmt] = []
        for place, stmt in enumerate(body):
            behind: tuple[_Frame, ...] = ((body[place + 1 :], around), *frames)
            found = _counter(stmt, self._kernel.overlap)
            if isinstance(stmt, While) and found is None and (trips := _trips(stmt)) is not None:
                made += self._of_several(stmt, trips, behind)
                continue
            if isinstance(stmt, While) and found is not None and (several := self._made(stmt, found, made, behind)):
                made = several
            else:
                made.append(self._inside(stmt, behind))
        return body if len(made) == len(body) and all(a is b for a, b in zip(body, made, strict=True)) else tuple(made)

    def _inside(self, stmt: Stmt, behind: tuple[_Frame, ...]) -> Stmt:
        loop = stmt if isinstance(stmt, For | While) else None
        return with_bodies(stmt, tuple(self.body(one, behind, loop) for one in bodies(stmt)))

    def _made(self, loop: While, found: _Counter, before: list[Stmt], behind: tuple[_Frame, ...]) -> list[Stmt] | None:
        """The statements before a loop, and what the loop becomes; None where its number cannot be told behind it."""
        is_read = self._is_read(found.name, behind) or _leaves_more(loop)
        is_left = any(one.loop == loop.name for one in statements(loop.body, Break)) or contains(loop.body, Leave)
        if is_read and not is_left and (abs(found.step) != 1 or not cannot_fail(found.upper)):
            return None
        lower: Expr = Var(found.name, INT64)
        begin = _begin(found.name, before)
        if begin is not None and (cannot_fail(begin.value) or (begin is before[-1] and not is_read)):
            lower = begin.value
            before = [one for one in before if one is not begin or is_read]
        name = self._fresh(found.name)
        self.made[name] = found.name
        body = self._body_of(loop, found, name, is_read and is_left, behind)
        made: list[Stmt] = [*before, For(name, lower, found.upper, number(found.step), body, at=loop.at)]
        if is_read and not is_left:
            end = most(found.upper, lower) if found.step > 0 else Binary("min", lower, found.upper)
            made.append(Assign(found.name, end, at=loop.at))
        return made

    def _body_of(self, loop: While, found: _Counter, name: str, is_told: bool, behind: tuple[_Frame, ...]) -> Body:
        """The body of the `for` loop. is_told: whether it gives the number its value each time."""
        own, following = Var(name, INT64), Binary("add", Var(name, INT64), number(found.step))
        inside = While(loop.name, loop.condition, loop.body, at=loop.at)
        body = self.body(loop.body, behind, inside)
        place = next(at for at, stmt in enumerate(body) if stmt is found.change)
        first = _with(body[:place], loop.name, name, found.name, own)
        last = _with(body[place + 1 :], loop.name, name, found.name, following)
        if not is_told:
            return (*first, *last)
        at = found.change.at
        return (Assign(found.name, own, at=at), *first, Assign(found.name, following, at=at), *last)

    def _of_several(self, loop: While, trips: Expr, behind: tuple[_Frame, ...]) -> list[Stmt]:
        """A loop whose numbers move on as they did; what they are is found where counters are (induction.py)."""
        first = {name: self._fresh(f"{name}.b") for name in sorted(names_in(trips) & names_assigned(loop.body))}
        before = [Assign(other, Var(name, INT64), at=loop.at) for name, other in first.items()]
        upper = rewrite_expr(trips, lambda one: Var(first[one.name], INT64) if _is_one_of(one, first) else one)
        body = self.body(loop.body, behind, loop)
        return [*before, For(self._fresh("n"), number(0), upper, number(1), body, at=loop.at)]

    def _fresh(self, wanted: str) -> str:
        name = fresh(wanted, self._taken)
        self._taken.add(name)
        return name

    def _is_read(self, name: str, behind: tuple[_Frame, ...]) -> bool:
        """Whether a number may be read before it gets another value."""
        for rest, loop in behind:
            match _first(name, rest):
                case "read":
                    return True
                case "given":
                    return False
            if loop is not None:
                if isinstance(loop, While) and name in names_in(loop.condition):
                    return True
                if _first(name, loop.body) == "read":
                    return True
        return name in self._asked


def _leaves_more(loop: While) -> bool:
    """Whether an iteration may go on elsewhere than behind the loop, as one that leaves out the loop's `else` does."""
    own = {one.name for one in statements((loop,), For, While)}
    return contains(loop.body, Leave) or any(one.loop not in own for one in statements(loop.body, Break, Continue))


def _begin(name: str, before: Sequence[Stmt]) -> Assign | None:
    """The statement that gives a number its value right before a loop, with nothing behind it that matters to it."""
    changed: set[str] = set()
    for stmt in reversed(before):
        if not isinstance(stmt, Assign):
            return None
        if stmt.name == name:
            return None if names_in(stmt.value) & (changed | {name}) else stmt
        if name in names_in(stmt.value) or not cannot_fail(stmt.value):
            return None
        changed.add(stmt.name)
    return None


def _first(name: str, body: Body) -> Literal["read", "given"] | None:
    """What statements do first with a number. One that may go on elsewhere counts as one that reads it."""
    for stmt in body:
        if any(name in names_in(own) for own in own_expressions(stmt)):
            return "read"
        match stmt:
            case Assign(name=given) if given == name:
                return "given"
            case Return():
                return "given"
            case Break() | Continue() | Leave():
                return "read"
            case If(then=then, otherwise=otherwise):
                both = {_first(name, then), _first(name, otherwise)}
                if "read" in both:
                    return "read"
                if both == {"given"}:
                    return "given"
            case For(body=inner) | While(body=inner) | Block(body=inner):
                if (name in names_read(inner) or contains(inner, Leave)) and _first(name, inner) != "given":
                    return "read"
    return None


def _with(body: Body, loop: str, name: str, scalar: str, value: Expr) -> Body:
    """A body with another name for the loop around it, and a value for a number."""

    def stmt(one: Stmt) -> Body:
        return (replace(one, loop=name),) if isinstance(one, Break | Continue) and one.loop == loop else (one,)

    def expr(one: Expr) -> Expr:
        return value if isinstance(one, Var) and one.name == scalar else one

    return rewrite_body(body, stmt, expr)


def _renamed(body: Body, loop: str, name: str) -> Body:
    """The body with another name for a loop and its variable."""

    def stmt(one: Stmt) -> Body:
        if isinstance(one, For) and one.name == loop:
            return (replace(one, name=name),)
        return (replace(one, loop=name),) if isinstance(one, Break | Continue) and one.loop == loop else (one,)

    def expr(one: Expr) -> Expr:
        return Var(name, INT64) if isinstance(one, Var) and one.name == loop else one

    return rewrite_body(body, stmt, expr)

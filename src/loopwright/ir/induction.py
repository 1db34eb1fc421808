"""Induction variables become functions of the loop's own: of a counter that every iteration moves on by the same, the
value is known without the iterations before. What is left has no order, and its indices are affine.

    k = -1                                 k = -1
    for i in 0 .. n:                       for i in 0 .. n:
        k = k + 1                     ->       a[k + 2 * i + 1] = b[i]
        a[k] = b[i]                            a[k + 2 * i + 2] = c[i]
        k = k + 1                          k = k + max(n, 0) * 2
        a[k] = c[i]

Inner loops come first: what one adds to a counter in all its iterations is a step of the loop around it. A step may
grow or shrink by a constant from one iteration to the next, as that of a loop over all pairs does: then the counter is
a function of the variable's square. The steps of both branches of a test have to be the same. A loop that is left early
keeps its counters, and so does one whose first iteration or number of iterations would have to be asked for again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from loopwright.ir.identities import cannot_fail
from loopwright.ir.linear import Linear, linear, minus, most, number, plus, times, variable
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Const,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Return,
    Stmt,
    Var,
    While,
)
from loopwright.ir.queries import contains, has, names_assigned, names_in, settled_by, types_assigned, unsettled_in
from loopwright.ir.sizes import is_never_negative
from loopwright.ir.types import INT64
from loopwright.ir.walk import own_expressions, rewrite_body, rewrite_expr, statements, subexpressions


def counters_as_functions(kernel: Kernel) -> Kernel:
    """The same kernel, its counters functions of the loops' variables."""
    body = rewrite_body(kernel.body, _without_counters)
    if body is kernel.body:
        return kernel
    changed = replace(kernel, body=body)
    reads = Counter(_reads(body))
    reads.update(part.name for one in kernel.results for size in one.shape for part in subexpressions(size, Var))
    body = rewrite_body(body, partial(_begun_anew, reads))
    return changed if body is changed.body else replace(changed, body=body)


def _begun_anew(reads: Counter[str], loop: Stmt) -> Body:
    """A loop without counters that each of its iterations begins with a constant, and that nothing else reads: they are
    functions of the inner loops' variables alone, and what they are after these is not asked for."""
    if not isinstance(loop, For | While):
        return (loop,)
    body = list(loop.body)
    for begin in [one for one in loop.body if isinstance(one, Assign) and isinstance(one.value, Const)]:
        name, own = begin.name, [one for one in body if isinstance(one, Assign) and one.name == begin.name]
        ends = own[1:]
        inside = [one for one in statements(tuple(body), Assign) if one.name == name]
        if len(ends) != 1 or own[0] is not begin or len(inside) != 2:
            continue
        first, last = (next(k for k, one in enumerate(body) if one is there) for there in (begin, ends[0]))
        between = tuple(body[first + 1 : last])
        used = Counter(_reads(between))[name]
        if used + Counter(_reads((ends[0],)))[name] != reads[name]:
            continue
        body[first : last + 1] = rewrite_body(between, expr=partial(_put, name, begin.value))
    return (loop,) if len(body) == len(loop.body) else (replace(loop, body=tuple(body)),)


def _put(name: str, value: Expr, part: Expr) -> Expr:
    return value if isinstance(part, Var) and part.name == name else part


def _reads(body: Body) -> Iterator[str]:
    for stmt in statements(body):
        for expr in own_expressions(stmt):
            yield from (part.name for part in subexpressions(expr, Var))


def _without_counters(stmt: Stmt) -> Body:
    if not isinstance(stmt, For) or stmt.asserted or not _is_plain(stmt):
        return (stmt,)
    inside = names_assigned(stmt.body)
    counting = _counters(stmt)
    if not counting or (settled_by(stmt.lower) | settled_by(stmt.upper)) & unsettled_in(stmt.body):
        return (stmt,)
    values = {name: _value_in(stmt, name, step) for name, step in counting.items()}
    steps = _Steps(stmt, frozenset(inside) | {stmt.name})
    body, _ = _Rewriting(values, steps).body(stmt.body, {n: _zero(n) for n in values})
    trips = _trips(stmt)
    after = tuple(
        Assign(name, linear(plus(variable(name), _total(stmt, step, trips))).expr, at=stmt.at)
        for name, step in counting.items()
        if step != number(0)
    )
    return (replace(stmt, body=body), *after)


def _is_plain(loop: For) -> bool:
    """Whether all iterations run, and how many there are can be told again behind the loop."""
    if not isinstance(loop.step, Const) or loop.step.value == 0 or loop.run != "sequential":
        return False
    if any(has(bound, Load) or not cannot_fail(bound) for bound in (loop.lower, loop.upper)):
        return False
    jumps = statements(loop.body, Break, Continue)
    return not any(one.loop == loop.name for one in jumps) and not contains(loop.body, Leave, Return)


def _value_in(loop: For, name: str, step: Expr) -> Expr:
    """The counter's value at the start of an iteration."""
    passed = minus(variable(loop.name), loop.lower)
    assert isinstance(loop.step, Const)
    stride = int(loop.step.value)
    if loop.name in names_in(step):
        passed = passed if stride > 0 else minus(loop.lower, variable(loop.name))
        return linear(plus(variable(name), _total(loop, step, passed))).expr
    if isinstance(step, Const) and int(step.value) % stride == 0:
        return plus(variable(name), _product(number(int(step.value) // stride), passed))
    return plus(variable(name), _product(step, passed if stride == 1 else Binary("floordiv", passed, number(stride))))


def _trips(loop: For) -> Expr:
    """The number of iterations."""
    assert isinstance(loop.step, Const)
    stride = int(loop.step.value)
    first, end = (loop.lower, loop.upper) if stride > 0 else (loop.upper, loop.lower)
    whole = end if first == number(0) and is_never_negative(end) else minus(most(end, first), first)
    return whole if abs(stride) == 1 else Binary("floordiv", plus(whole, abs(stride) - 1), number(abs(stride)))


def _total(loop: For, step: Expr, trips: Expr) -> Expr:
    """What so many iterations, the first ones, add to a counter."""
    slope = linear(step).coefficient(loop.name)
    if not slope:
        return _product(step, trips)
    assert isinstance(loop.step, Const)
    slope *= int(loop.step.value)
    first = linear(rewrite_expr(step, partial(_put, loop.name, loop.lower))).expr
    pairs = Binary("floordiv", Binary("mul", trips, minus(trips, 1)), number(2))
    return plus(_product(first, trips), times(pairs, slope))


def _within(loop: For, expr: Expr) -> Expr:
    """The larger or the smaller of two numbers, where the bounds of a loop tell in all its iterations which that is."""
    if not isinstance(expr, Binary) or expr.op not in ("max", "min") or expr.type != INT64:
        return expr
    for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
        above, below = (one, other) if expr.op == "max" else (other, one)
        if _never_negative_in(loop, minus(above, below)):
            return one
    return expr


def _never_negative_in(loop: For, expr: Expr) -> bool:
    """Whether a sum is not below zero where it is least: in the first or the last iteration."""
    slope = linear(expr).coefficient(loop.name)
    if slope is None or (slope and loop.step not in (number(1), number(-1))):
        return False
    is_up = loop.step == number(1)
    end = loop.lower if (slope > 0) == is_up else minus(loop.upper, 1) if is_up else plus(loop.upper, 1)
    form = linear(rewrite_expr(expr, partial(_put, loop.name, end)) if slope else expr)
    return form.constant >= 0 and all(count > 0 and is_never_negative(term) for term, count in form.terms)


def _product(left: Expr, right: Expr) -> Expr:
    if right == number(1):
        return left
    if isinstance(right, Const) or isinstance(left, Const):
        form = linear(Binary("mul", left, right))
        return form.expr
    return Binary("mul", left, right)


# ---- what an iteration adds -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offset:
    """What a scalar is at some place: what a counter was when the iteration began, and what has been added."""

    counter: str
    added: Expr


Offsets = Mapping[str, Offset]
"""Of the scalars of which that is known."""


def _zero(name: str) -> Offset:
    return Offset(name, number(0))


@dataclass(frozen=True, slots=True)
class _Steps:
    """changing: the names that stand for several values in the loop. lost: those of which nothing was known at some
    place, to which `followed` adds."""

    loop: For
    changing: frozenset[str]
    lost: set[str] = field(default_factory=set)

    def followed(self, body: Body, known: Offsets) -> dict[str, Offset]:
        """What is known at the end of a body."""
        now = dict(known)
        for stmt in body:
            before = now
            match stmt:
                case Assign():
                    now = self.after(stmt, now)
                case If():
                    now = _met(self.followed(stmt.then, now), self.followed(stmt.otherwise, now))
                case _:  # loops and blocks assign no counter
                    now = {name: offset for name, offset in now.items() if name not in names_assigned((stmt,))}
            self.lost.update(before.keys() - now.keys())
        return now

    def after(self, stmt: Assign, known: Offsets) -> dict[str, Offset]:
        """What is known behind an assignment."""
        left = {name: offset for name, offset in known.items() if name != stmt.name}
        found = self._offset(stmt.value, known)
        return left if found is None else left | {stmt.name: found}

    def _offset(self, value: Expr, known: Offsets) -> Offset | None:
        if value.type != INT64 or not cannot_fail(value):
            return None
        form = linear(value)
        bases = [term for term, times in form.terms if isinstance(term, Var) and term.name in known and times == 1]
        if len(bases) != 1 or not isinstance(bases[0], Var):
            return None
        base = known[bases[0].name]
        rest = linear(rewrite_expr(minus(form.expr, bases[0]), partial(_within, self.loop)))
        if not self._is_step(rest) or has(rest.expr, Load):
            return None
        return Offset(base.counter, linear(plus(base.added, rest.expr)).expr)

    def _is_step(self, rest: Linear) -> bool:
        """Whether a sum is the same in all iterations, or counts their variable, which goes up or down by ones."""
        changing = names_in(rest.expr) & self.changing
        if changing != {self.loop.name}:
            return not changing
        return rest.coefficient(self.loop.name) is not None and self.loop.step in (number(1), number(-1))


def _counters(loop: For) -> dict[str, Expr]:
    """The scalars that each iteration moves on, and by what."""
    types = types_assigned(loop.body)
    apart = {name for inner in statements(loop.body, For, While, Block) for name in names_assigned((inner,))}
    names = {name for name, kind in types.items() if kind == INT64} - apart - {loop.name}
    changing = frozenset(names_assigned(loop.body)) | {loop.name}
    while names:
        steps = _Steps(loop, changing)
        end = steps.followed(loop.body, {name: _zero(name) for name in names})
        found = {name: end[name].added for name in names - steps.lost if end[name].counter == name}
        if len(found) == len(names):
            return dict(sorted(found.items()))
        names = set(found)
    return {}


def _met(some: Offsets, others: Offsets) -> dict[str, Offset]:
    return {name: offset for name, offset in some.items() if others.get(name) == offset}


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """values: of the counters, at the start of an iteration. Their assignments go, and what reads them is told."""

    values: Mapping[str, Expr]
    steps: _Steps

    def body(self, body: Body, known: Offsets) -> tuple[Body, dict[str, Offset]]:
        """The body without counters, and what is known at its end."""
        now, new = dict(known), list[Stmt]()
        for stmt in body:
            if isinstance(stmt, If):
                then, after_then = self.body(stmt.then, now)
                otherwise, after_otherwise = self.body(stmt.otherwise, now)
                condition = rewrite_expr(stmt.condition, partial(self._at, known=now))
                new.append(replace(stmt, condition=condition, then=then, otherwise=otherwise))
                now = _met(after_then, after_otherwise)
                continue
            if not isinstance(stmt, Assign) or stmt.name not in self.values:
                new.append(self._inside(stmt, now))
            now = self.steps.followed((stmt,), now)
        return tuple(new), now

    def _inside(self, stmt: Stmt, known: Offsets) -> Stmt:
        """A statement in which no counter changes."""
        (changed,) = rewrite_body((stmt,), expr=partial(self._at, known=known))
        return changed

    def _at(self, expr: Expr, known: Offsets) -> Expr:
        if not isinstance(expr, Var) or expr.name not in self.values:
            return expr
        offset = known[expr.name]
        return linear(plus(self.values[offset.counter], offset.added)).expr

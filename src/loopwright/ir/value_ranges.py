"""Value-range propagation: comparisons, minima and maxima that the bounds of the loops around them decide, and scalars
that are sums of loops' variables then.

    for i in 1 .. size(a, 0) - 1:
        t = max(i - 1, 0)
        for k in 0 .. min(i + 2, size(a, 0)) - t:
            s = s + a[k + t]
    ->
    for i in 1 .. size(a, 0) - 1:
        for k in 0 .. 3:
            s = s + a[k + (i - 1)]

That is what a slice such as `a[i - 1 : i + 2]` comes to: a window of three elements then, not one of any length. Only
sizes of arrays, which are small whole numbers that are not negative, stand in what is decided: no sum of them wraps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loopwright.ir.identities import cannot_fail, simpler
from loopwright.ir.linear import Linear, linear, number
from loopwright.ir.nodes import Assign, Binary, Body, Compare, Const, Dim, Expr, For, Kernel, Stmt, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import (
    bodies,
    expressions,
    own_expressions,
    rewrite_expr,
    statements,
    unless_same,
    with_bodies,
    with_own_expressions,
)

FARTHEST = 2**31
"""Larger constants than this may wrap where sizes are added to them."""
LEAST_OF_DIFFERENCE = {"lt": ("right", 1), "le": ("right", 0), "gt": ("left", 1), "ge": ("left", 0)}
"""By the operator, which side has to be greater by how much."""

Ends = Mapping[str, tuple[Linear, Linear]]
"""The least and the greatest value of loops' variables, inner loops last."""


def decided_by_ranges(kernel: Kernel) -> Kernel:
    """The same kernel without what the bounds of loops decide."""
    if kernel.overlap or not any(_may_be_decided(expr) for expr in expressions(kernel.body)):
        return kernel
    body = _Deciding(kernel).body(kernel.body, {}, {})
    return kernel if body is kernel.body else replace(kernel, body=body)


def _may_be_decided(expr: Expr) -> bool:
    match expr:
        case Binary(op="min" | "max"):
            return expr.type == INT64
        case Compare():
            return expr.left.type == INT64
    return False


@dataclass(frozen=True, slots=True)
class _Deciding:
    """assigned, read: how often each scalar is, in the whole kernel."""

    kernel: Kernel
    assigned: Counter[str] = field(init=False)
    read: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        assigned = Counter(stmt.name for stmt in statements(self.kernel.body, Assign))
        read = _reads(self.kernel.body)
        read.update(name for result in self.kernel.results for size in result.shape for name in names_in(size))
        object.__setattr__(self, "assigned", assigned)
        object.__setattr__(self, "read", read)

    def body(self, body: Body, ends: Ends, sums: Mapping[str, Expr]) -> Body:
        """sums: what scalars stand for that are gone."""
        made, known = list[Stmt](), dict(sums)
        for place, stmt in enumerate(body):
            new = self._stmt(stmt, ends, known)
            if isinstance(new, Assign) and new is not stmt and self._may_go(new, body[place + 1 :], ends):
                known[new.name] = new.value
            else:
                made.append(new)
        return unless_same(body, made)

    def _stmt(self, stmt: Stmt, ends: Ends, sums: Mapping[str, Expr]) -> Stmt:
        new = with_own_expressions(stmt, tuple(_decided(expr, ends, sums) for expr in own_expressions(stmt)))
        if isinstance(new, For):
            if new is not stmt:
                new = replace(new, lower=_constant(new.lower), upper=_constant(new.upper))
            ends = _inside(new, ends)
        return with_bodies(new, tuple(self.body(inner, ends, sums) for inner in bodies(new)))

    def _may_go(self, stmt: Assign, rest: Body, ends: Ends) -> bool:
        """Whether a scalar is a sum of loops' variables and sizes, and read only where these are the same."""
        if stmt.value.type != INT64 or self.assigned[stmt.name] > 1 or _reads(rest)[stmt.name] < self.read[stmt.name]:
            return False
        terms = linear(stmt.value).terms
        return all(_is_known(term, ends) for term, _ in terms)


def _reads(body: Body) -> Counter[str]:
    return Counter(expr.name for expr in expressions(body, Var))


def _inside(loop: For, ends: Ends) -> Ends:
    """What is known in the body of a loop."""
    found = {name: ends[name] for name in ends if name != loop.name}
    if isinstance(loop.step, Const) and int(loop.step.value) > 0:
        lower, upper = linear(loop.lower), linear(loop.upper)
        found[loop.name] = lower, replace(upper, constant=upper.constant - 1)
    return found


def _decided(expr: Expr, ends: Ends, sums: Mapping[str, Expr]) -> Expr:
    if not ends and not sums:
        return expr

    def change(part: Expr) -> Expr:
        match part:
            case Var(name=name):
                return sums.get(name, part)
            case Binary(op="min" | "max", left=left, right=right) if part.type == INT64:
                return _chosen(part, left, right, ends)
            case Compare(left=left, right=right) if left.type == INT64 and cannot_fail(left) and cannot_fail(right):
                return _compared(part, ends)
        return simpler(part)  # of choices too, whose conditions are decided now

    return rewrite_expr(expr, change)


def _chosen(expr: Binary, left: Expr, right: Expr, ends: Ends) -> Expr:
    for one, other in ((left, right), (right, left)):
        low, high = (one, other) if expr.op == "min" else (other, one)
        if cannot_fail(other) and _is_above(high, low, 0, ends):
            return one
    return expr


def _compared(expr: Compare, ends: Ends) -> Expr:
    left, right = expr.left, expr.right
    if expr.op in ("eq", "ne"):
        if _is_above(left, right, 1, ends) or _is_above(right, left, 1, ends):
            return Const(expr.op == "ne", BOOL)
        return expr
    side, least = LEAST_OF_DIFFERENCE[expr.op]
    high, low = (right, left) if side == "right" else (left, right)
    if _is_above(high, low, least, ends):
        return Const(True, BOOL)
    return Const(False, BOOL) if _is_above(low, high, 1 - least, ends) else expr


def _is_above(high: Expr, low: Expr, least: int, ends: Ends) -> bool:
    """Whether high - low >= least, whatever the sizes are."""
    if not all(_is_known(term, ends) for side in (high, low) for term, _ in linear(side).terms):
        return False  # what has another value may wrap
    form = linear(Binary("sub", high, low))
    for name in reversed(list(ends)):
        first, last = ends[name]
        count = form.coefficient(name)
        if count is None:
            return False
        if count:
            form = _put(form, name, count, first if count > 0 else last)
    is_small = abs(form.constant) < FARTHEST and all(abs(count) < FARTHEST for _, count in form.terms)
    return (
        is_small and form.constant >= least and all(isinstance(term, Dim) and count > 0 for term, count in form.terms)
    )


def _is_known(term: Expr, ends: Ends) -> bool:
    return isinstance(term, Dim) or (isinstance(term, Var) and term.name in ends)


def _put(form: Linear, name: str, count: int, value: Linear) -> Linear:
    """A sum with another one in place of a variable."""
    counts = Counter({term: number_of for term, number_of in form.terms if term != Var(name, INT64)})
    for term, times in value.terms:
        counts[term] += count * times
    terms = tuple((term, number_of) for term, number_of in counts.items() if number_of)
    return Linear(terms, form.constant + count * value.constant)


def _constant(bound: Expr) -> Expr:
    """A bound as a number where it is one."""
    form = linear(bound)
    return number(form.constant) if form.is_constant else bound

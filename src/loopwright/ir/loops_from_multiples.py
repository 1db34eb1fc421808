"""Loop normalization: loops from a multiple of something to the next one, which count from zero then.

    for c in g * size .. (g + 1) * size:
        s = s + x[c]
    ->
    for c in 0 .. size:
        s = s + x[g * size + c]

How often such a loop runs is then told by a size alone, as that of the channels of a group, or of the chunk of a
thread; and where it is in an array, by a sum of products, which can be proven to be inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from loopwright.ir.identities import cannot_fail
from loopwright.ir.linear import number, times
from loopwright.ir.nodes import Binary, Body, Const, Expr, For, Kernel, Stmt, Unary, Var
from loopwright.ir.queries import settled_by, unsettled_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import rewrite_body, statements

MOST_TERMS = 8
"""Of a bound that is looked at."""

Product = frozenset[tuple[Expr, int]]
"""Factors, and how often each of them is one."""


def loops_from_zero(kernel: Kernel) -> Kernel:
    """The same kernel with such loops from zero."""
    if kernel.overlap or not any(_starts_at_product(loop) for loop in statements(kernel.body, For)):
        return kernel
    body = rewrite_body(kernel.body, stmt=_from_zero)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _starts_at_product(loop: For) -> bool:
    return loop.step == Const(1, INT64) and any(
        sum(often for _, often in factors) > 1 for factors in _sum(loop.lower) or ()
    )


def _from_zero(stmt: Stmt) -> Body:
    if not isinstance(stmt, For) or not _starts_at_product(stmt):
        return (stmt,)
    length, lower = _length(stmt.lower, stmt.upper), stmt.lower
    if length is None or not cannot_fail(lower) or settled_by(lower) & unsettled_in(stmt.body):
        return (stmt,)
    own = Var(stmt.name, INT64)
    body = rewrite_body(stmt.body, expr=lambda expr: Binary("add", lower, own) if expr == own else expr)
    return (replace(stmt, lower=number(0), upper=length, body=body),)


def _length(lower: Expr, upper: Expr) -> Expr | None:
    """What is between two bounds, where that is no sum of products itself; None where it is."""
    if isinstance(upper, Binary) and upper.op == "min":
        left, right = _length(lower, upper.left), _length(lower, upper.right)
        if left is None and right is None:
            return None
        return Binary("min", left or Binary("sub", upper.left, lower), right or Binary("sub", upper.right, lower))
    first, last = _sum(lower), _sum(upper)
    if first is None or last is None:
        return None
    found = Counter(last)
    found.subtract(first)
    total: Expr | None = None
    for factors, count in sorted(found.items(), key=lambda term: term[1] < 0):
        if not count:
            continue
        if sum(often for _, often in factors) > 1 or (total is None and count < 0):
            return None
        part = times(next(iter(factors))[0], abs(count)) if factors else number(abs(count))
        total = part if total is None else Binary("add" if count > 0 else "sub", total, part)
    return total


def _sum(expr: Expr) -> Mapping[Product, int] | None:
    """An expression as a sum of products, and how often each is counted; None where that is too long."""
    if expr.type != INT64:
        return None
    match expr:
        case Const():
            return {frozenset(): int(expr.value)}
        case Unary(op="neg"):
            inner = _sum(expr.operand)
            return None if inner is None else {factors: -count for factors, count in inner.items()}
        case Binary(op="add" | "sub" | "mul"):
            left, right = _sum(expr.left), _sum(expr.right)
            if left is None or right is None or len(left) * len(right) > MOST_TERMS:
                return None
            return _product(left, right) if expr.op == "mul" else _added(left, right, 1 if expr.op == "add" else -1)
    return {frozenset(((expr, 1),)): 1}


def _added(left: Mapping[Product, int], right: Mapping[Product, int], sign: int) -> Mapping[Product, int]:
    total = Counter(left)
    for factors, count in right.items():
        total[factors] += sign * count
    return total


def _product(left: Mapping[Product, int], right: Mapping[Product, int]) -> Mapping[Product, int]:
    total = Counter[Product]()
    for some, count in left.items():
        for others, times_of in right.items():
            both = Counter(dict(some))
            both.update(dict(others))
            total[frozenset(both.items())] += count * times_of
    return total

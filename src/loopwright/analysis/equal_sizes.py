"""Sizes of arguments that are equal wherever a statement runs, as a test before it has asked for that: what NumPy asks
of arrays that meet in an expression."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.ir.linear import apart
from loopwright.ir.nodes import Assign, Body, Checked, Compare, Const, Dim, Expr, For, Kernel, Stmt
from loopwright.ir.walk import bodies, rewrite_expr


def distance_by_tests(kernel: Kernel, first: For, second: For) -> int | None:
    """How far the second loop's variable is ahead of the first one's in the same iteration, where both run equally
    often, as their bounds, which are to mean the same all the time, are made of sizes that tests before the second one
    have found equal."""
    if not isinstance(first.step, Const) or first.step != second.step:
        return None
    bounds = (first.lower, first.upper, second.lower, second.upper)
    same = _equal_sizes(kernel, second)
    first_lower, first_upper, second_lower, second_upper = (_canonical(one, same) for one in bounds)
    lower, upper = apart(second_lower, first_lower), apart(second_upper, first_upper)
    return lower if lower is not None and lower == upper else None


def _canonical(bound: Expr, same: Mapping[Dim, Dim]) -> Expr:
    """A bound in which one of several equal sizes stands for all."""
    return rewrite_expr(bound, lambda part: same.get(part, part) if isinstance(part, Dim) else part)


def _equal_sizes(kernel: Kernel, stmt: Stmt) -> Mapping[Dim, Dim]:
    """For sizes of arguments that are equal to others, the one that stands for all of these."""
    given = {array.name for array in kernel.arrays}
    same: dict[Dim, Dim] = {}
    for left, right in _tests_before(kernel.body, stmt) or ():
        if left.array in given and right.array in given:
            kept, gone = same.get(left, left), same.get(right, right)
            others = [size for size, other in same.items() if other == gone]
            same.update(dict.fromkeys((left, right, gone, *others), kept))
    return same


def _tests_before(body: Body, stmt: Stmt) -> list[tuple[Dim, Dim]] | None:
    """The sizes that have been found equal whenever a statement runs; None where it does not stand in the body."""
    found: list[tuple[Dim, Dim]] = []
    for one in body:
        if one is stmt:
            return found
        for inner in bodies(one):
            if (more := _tests_before(inner, stmt)) is not None:
                return [*found, *more]
        match one:
            case Assign(value=Checked(condition=Compare(op="eq", left=Dim() as left, right=Dim() as right))):
                found.append((left, right))
    return None

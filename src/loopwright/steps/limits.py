"""Limits: conditions `i < end` around what stands in loops over whole stretches, the last of which may reach beyond
the end. It knows such conditions when it sees them, and says when a whole stretch needs none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from loopwright.ir.linear import parted, plus, variable
from loopwright.ir.nodes import Binary, Checked, Compare, Const, Expr, For, Load, Logical, Var
from loopwright.ir.queries import has, names_in
from loopwright.ir.walk import subexpressions
from loopwright.steps.extent import ends_of, stretch_of


@dataclass(frozen=True, slots=True)
class Limit:
    """`below` stays below `end`. It is a loop's variable where there is one limit for a loop; in a triangle the end may
    move with another loop (`j < i + 1`), or nothing but the end moves (`j.o < i + 1`)."""

    below: Expr
    end: Expr

    @property
    def test(self) -> Expr:
        """The limit as a condition."""
        return Compare("lt", self.below, self.end)

    @property
    def names(self) -> frozenset[str]:
        """The variables that it is about."""
        return frozenset(names_in(self.below) | names_in(self.end))


def limits_in(condition: Expr) -> tuple[Limit, ...] | None:
    """The limits that a condition consists of; None where it says anything else, or asks data. That `j` is at least
    `i + 1` limits i."""
    match condition:
        case Logical(op="and"):
            left, right = limits_in(condition.left), limits_in(condition.right)
            return None if left is None or right is None else (*left, *right)
        case Compare(op="lt", left=Var() as counted):
            data = has(condition.right, Load, Checked)
            return None if data else (Limit(counted, condition.right),)
        case Compare(op="ge", left=Var() as counted):
            least, more = parted(condition.right)
            return (Limit(least, plus(counted, 1 - more)),) if isinstance(least, Var) else None
    return None


def limits_of(loop: For) -> tuple[Limit, ...]:
    """What limits a loop beside the end of its stretch; nothing where it has a constant length, or none."""
    whole = stretch_of(loop)
    if whole is None or whole[0] != loop.lower:
        return ()
    return tuple(Limit(variable(loop.name), end) for end in ends_of(loop) if end != whole[1])


def all_of(tests: Iterable[Expr]) -> Expr:
    """One condition that asks for all of them, of which there is at least one."""
    first, *rest = tests
    for one in rest:
        first = Logical("and", first, one)
    return first


def none_beyond(limits: Iterable[Limit], loops: Mapping[str, For]) -> Expr:
    """The condition that all iterations of the loops keep to their limits: the last ones of what stays below, the first
    ones of an end that moves."""
    tests: list[Expr] = []
    for limit in limits:
        end = lowest(limit.end, loops)
        assert end is not None
        loop = loops.get(limit.below.name) if isinstance(limit.below, Var) else None
        tests.append(Compare("lt", limit.below, end) if loop is None else Compare("le", loop.upper, end))
    return all_of(tests)


def lowest(expr: Expr, loops: Mapping[str, For]) -> Expr | None:
    """What a sum is worth in the first iteration of all loops, which is the least it comes to be; None for anything but
    a sum of loops' variables and other things."""
    match expr:
        case Var(name=name) if name in loops:
            return lowest(loops[name].lower, loops)
        case Binary(op="sub", right=Const() as known):
            first = lowest(expr.left, loops)
            return None if first is None else plus(first, -int(known.value))
    if not any(isinstance(part, Var) and part.name in loops for part in subexpressions(expr)):
        return expr
    if not isinstance(expr, Binary) or expr.op != "add":
        return None
    left, right = lowest(expr.left, loops), lowest(expr.right, loops)
    return None if left is None or right is None else plus(left, right)


def terms(condition: Expr) -> Iterator[Expr]:
    """The conditions that have to hold together."""
    if isinstance(condition, Logical) and condition.op == "and":
        yield from terms(condition.left)
        yield from terms(condition.right)
    else:
        yield condition

"""Limits: conditions `i < end` around what stands in loops over whole stretches, the last of which may reach beyond
the end. It knows such conditions when it sees them, and says when a whole stretch needs none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from loopwright.ir.nodes import Binary, Checked, Compare, Expr, For, Load, Logical, Var
from loopwright.ir.walk import subexpressions
from loopwright.steps.draft import plus, variable
from loopwright.steps.extent import ends_of, stretch_of


@dataclass(frozen=True, slots=True)
class Limit:
    """The variable of the loop `loop` stays below `end`."""

    loop: str
    end: Expr

    @property
    def test(self) -> Expr:
        """The limit as a condition."""
        return Compare("lt", variable(self.loop), self.end)


def limits_in(condition: Expr) -> tuple[Limit, ...] | None:
    """The limits that a condition consists of; None where it says anything else, or asks data."""
    match condition:
        case Logical(op="and"):
            left, right = limits_in(condition.left), limits_in(condition.right)
            return None if left is None or right is None else (*left, *right)
        case Compare(op="lt", left=Var() as counted):
            data = any(isinstance(part, Load | Checked) for part in subexpressions(condition.right))
            return None if data else (Limit(counted.name, condition.right),)
    return None


def limits_of(loop: For) -> tuple[Limit, ...]:
    """What limits a loop beside the end of its stretch; nothing where it has a constant length, or none."""
    whole = stretch_of(loop)
    if whole is None or whole[0] != loop.lower:
        return ()
    return tuple(Limit(loop.name, end) for end in ends_of(loop) if end != whole[1])


def all_of(tests: Iterable[Expr]) -> Expr:
    """One condition that asks for all of them, of which there is at least one."""
    first, *rest = tests
    for one in rest:
        first = Logical("and", first, one)
    return first


def none_beyond(limits: Iterable[Limit], loops: Mapping[str, For]) -> Expr:
    """The condition that all iterations of the loops keep to their limits."""
    return all_of(Compare("le", loops[limit.loop].upper, limit.end) for limit in limits)


def lowest(expr: Expr, loops: Mapping[str, For]) -> Expr | None:
    """What a sum is worth in the first iteration of all loops, which is the least it comes to be; None for anything but
    a sum of loops' variables and other things."""
    match expr:
        case Var(name=name) if name in loops:
            return lowest(loops[name].lower, loops)
    if not any(isinstance(part, Var) and part.name in loops for part in subexpressions(expr)):
        return expr
    if not isinstance(expr, Binary) or expr.op != "add":
        return None
    left, right = lowest(expr.left, loops), lowest(expr.right, loops)
    return None if left is None or right is None else plus(left, right)

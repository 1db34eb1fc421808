"""Iterations that add to elements in loops which stand under a condition, as in

    for p: if weight[p] > 0: for a: s[a] += weight[p] * x[p, a]

The loops inside are nests of their own, which would be launched in each iteration of the outer one, and the outer one
would be one thread's. With the condition inside all of them, they are sums of columns like others."""

from __future__ import annotations

from loopwright.ir.nodes import For, If
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_keys import adds_by_key
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.predicate import Predicate


def conditions_inside(partial: PartialSchedule) -> None:
    """Move such conditions into the loops under them."""
    for name in list(loops(partial.kernel)):
        loop = loops(partial.kernel).get(name)
        if isinstance(loop, For) and (inner := _under_conditions(partial, loop)):
            with partial.together():
                _inside(partial, loop, inner)


def _inside(partial: PartialSchedule, loop: For, inner: list[For]) -> None:
    """Raises NotTaken."""
    words = " and ".join(dict.fromkeys(f"'{user_name(one.name)}'" for one in inner))
    for one in inner:
        why = f"with the condition in {words}, nothing else stands between it and '{user_name(loop.name)}'"
        partial.take(Predicate(one.name), why, anew=True)
    partial.begin_again()
    there = loops(partial.kernel)
    for one in inner:
        now = there[one.name]
        if not isinstance(now, For) or not is_free_now(partial, now):
            raise NotTaken
    if partial.facts.loops[loop.name].verdict != "reduction":
        raise NotTaken


def _under_conditions(partial: PartialSchedule, loop: For) -> list[For]:
    """The first loop that needs no order under each condition in a loop that adds to elements, which its iterations
    tell: of those that data tells, and of totals, parts are found with the conditions as they are."""
    firsts = [
        next((one for one in stmt.then if isinstance(one, For)), None)
        for stmt in loop.body
        if isinstance(stmt, If) and not stmt.otherwise
    ]
    found = [one for one in firsts if one is not None and is_free_now(partial, one)]
    if not found or partial.verdict(loop) != "reduction" or adds_by_key(partial, loop):
        return []
    kinds = {one.kind for one in partial.present_facts().loops[loop.name].reductions}
    return [] if "scalar" in kinds else found

"""Loops that need no order and whose step is known only at run time, or whose end is a quotient that may fail, count
their iterations, so that a grid can have them: as they are, each iteration would be a launch of its own."""

from __future__ import annotations

from loopwright.ir.linear import linear, number
from loopwright.ir.nodes import Binary, Checked, Const, Expr, For
from loopwright.ir.queries import has, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.normalize import Normalize


def counted(partial: PartialSchedule) -> None:
    """Normalize them, where that is legal and what they touch is still known to be apart."""
    for name, loop in loops(partial.kernel).items():
        found = partial.facts.loops.get(name)
        if not isinstance(loop, For) or found is None or not is_free(loop, found):
            continue
        if isinstance(loop.step, Const) and not has(loop.upper, Checked):
            continue
        why = f"iterations of '{user_name(name)}' are independent: counted, they can be shared out"
        with partial.together():
            new = _normalized(partial, name, why)
            within = [one for one in statements(new.body, For) if new.name in names_in(one.lower)]
            with partial.together():  # then all of its rows begin at 0, and have one length
                for one in within:
                    if one.step == number(1) and new.name not in names_in(_length(one)):
                        _normalized(partial, one.name, f"all '{user_name(one.name)}' are as many")
            partial.begin_again()


def _length(loop: For) -> Expr:
    return linear(Binary("sub", loop.upper, loop.lower)).expr


def _normalized(partial: PartialSchedule, name: str, why: str) -> For:
    """The loop that has come in the place of this one. Raises NotTaken."""
    before = set(loops(partial.kernel))
    partial.take(Normalize(name), why)
    (new,) = set(loops(partial.kernel)) - before
    now = loops(partial.kernel)[new]
    if not isinstance(now, For) or not is_free(now, partial.present_facts().loops[new]):
        raise NotTaken
    return now

"""Ragged nests, for the default recipe of a GPU: loops through ranges that arrays tell, as of rows, groups, lists and
boxes, neither of which needs its order, become one loop (`flatten`). Threads then have equal parts whatever the ranges
are: few long ones would keep few threads busy, short ones would leave most threads of a block without work, and what
lies side by side in a range is for neighbours. Where iterations add to elements, by atomic updates then, each of many
rows keeps threads of its own: there are threads enough."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.analysis.facts import Reduction
from loopwright.ir.nodes import For, Load
from loopwright.ir.queries import arrays_loaded, has, names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements
from loopwright.recipe.grid_rows import ENOUGH, MANY, length_of, version
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made
from loopwright.recipe.run_time_inspection import inspected
from loopwright.steps.extent import loops_around
from loopwright.steps.flatten import Flatten, ragged


def ragged_nests(partial: PartialSchedule) -> None:
    """Find out of which loops only data tells that they need no order, and make one loop of each two that are such a
    nest."""
    inspected(partial)
    done: set[str] = set()
    while found := next((two for two in ragged(partial.kernel) if two[0].name not in done), None):
        outer, inner = found
        done.add(outer.name)
        if outer.name in partial.rare or not _is_worth_it(partial, outer, inner):
            continue
        why = f"ranges of '{user_name(inner.name)}' differ: threads have equal parts of all of them together"
        with partial.together():
            names = {name: name for name in (outer.name, inner.name)}
            if not all(partial.verdict(loop) == "parallel" for loop in found):
                # Of rows that go through others, a thread would have each.
                enough = MANY if any(two[0] is inner for two in ragged(partial.kernel)) else ENOUGH
                names = version(partial, outer.name, length_of([outer]), enough) or names
            done.add(names[outer.name])  # of which there is one left for too many iterations
            added = {one.target for loop in found for one in _reductions(partial, loop)}
            new = made(partial, Flatten(names[outer.name], names[inner.name]), why, anew=True)
            partial.begin_again()
            _adds_to_the_same(partial, new, added)


def _reductions(partial: PartialSchedule, loop: For) -> tuple[Reduction, ...]:
    found = partial.proven(loop)
    return () if found is None else found.reductions


def _adds_to_the_same(partial: PartialSchedule, names: Sequence[str], targets: set[str]) -> None:
    """Raises NotTaken where the text of a loop that is known to need no order but for additions does not tell all of
    these: they would not be atomic."""
    for loop in statements(partial.kernel.body, For):
        is_new = loop.name in names and loop.asserted is True
        if is_new and not targets <= {one.target for one in _reductions(partial, loop)}:
            raise NotTaken


def _is_worth_it(partial: PartialSchedule, outer: For, inner: For) -> bool:
    """Whether data tells the ranges, no iteration of either loop needs another one, and nothing around them is shared
    out instead."""
    if not _told_by_data(outer, inner):
        return False
    if any(_may_be_shared(partial, loop) for loop in loops_around(partial.kernel, outer).values()):
        return False
    return _may_be_shared(partial, outer) and _may_be_shared(partial, inner)


def _told_by_data(outer: For, inner: For) -> bool:
    before = outer.body[:-1]
    told = names_assigned(before) if arrays_loaded(before) else set[str]()
    return any(has(end, Load) or not told.isdisjoint(names_in(end)) for end in (inner.lower, inner.upper))


def _may_be_shared(partial: PartialSchedule, loop: For) -> bool:
    """Whether iterations need no order, or meet in elements that data tells, to which they add."""
    found = partial.proven(loop)
    if found is None or found.last or found.verdict not in ("parallel", "reduction"):
        return False
    return all(one.kind == "scatter" for one in found.reductions)

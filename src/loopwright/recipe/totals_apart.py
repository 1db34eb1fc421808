"""Totals beside rows that threads are to share, for the default recipe of a GPU, as in

    for i: s = 0; for k in a row of i: s += ...
           v[i] = s; total += b[i] * s

or the loss of a layer beside its gradients. Parts of the total would decide how rows are shared out, though it takes
next to nothing: in loops of its own it leaves the rows without order. What it is made of is kept in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from loopwright.ir.nodes import Assign, Body, For, If, Load, Stmt
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, contains, has, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, own_expressions, statements
from loopwright.recipe.code_sinking import CHEAP, price_of
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.sums_apart import alone
from loopwright.steps.distribute import Distribute
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.forward import Forward


def totals_apart(partial: PartialSchedule) -> None:
    """Give totals loops of their own, unless additions have to keep their order."""
    if partial.strict:
        return
    for name in list(loops(partial.kernel)):
        loop = loops(partial.kernel).get(name)
        if isinstance(loop, For) and (found := _totals(partial, loop)):
            with partial.together():
                _apart(partial, loop, found)
                partial.begin_again()


def _totals(partial: PartialSchedule, loop: For) -> dict[str, Chain]:
    """The scalars in which alone iterations of an outermost loop meet, each with the loops down to the one place where
    it is set; {} where threads share the rows beside them as they are."""
    if not contains(loop.body, For) or not arrays_stored(loop.body) - arrays_made(loop.body):
        return {}
    if not names_assigned(loop.body) or _is_inside(partial, loop):
        return {}
    facts = partial.proven(loop)
    if facts is None or facts.verdict != "reduction" or any(one.kind != "scalar" or one.by for one in facts.reductions):
        return {}
    found: dict[str, Chain] = {}
    for target in {one.target for one in facts.reductions}:
        paths = list(_paths((loop,), loop.body, target))
        if len(paths) != 1:
            return {}
        found[target] = paths[0]
    return found if any(_has_rows(path) for path in found.values()) else {}


def _is_inside(partial: PartialSchedule, loop: For) -> bool:
    """Whether a loop stands in one that threads may share."""
    return any(partial.verdict(one) in ("parallel", "reduction") for one in partial.around(loop.name)[:-1])


def _paths(path: Chain, body: Body, target: str) -> Iterator[Chain]:
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.name == target:
            yield path
        for inner in bodies(stmt):
            yield from _paths((*path, stmt) if isinstance(stmt, For) else path, inner, target)


def _has_rows(path: Chain) -> bool:
    """Whether loops stand beside the place where a total is set that threads share in a way which it would forbid:
    through ranges that data tells, or around others, or in several loops around one another."""
    beside = [stmt for stmt in path[-1].body if isinstance(stmt, For) and trip_of(stmt) is None]
    if not beside:
        return False
    return any(map(_is_ragged, beside)) or len(path) > 1 or any(contains(loop.body, For) for loop in beside)


def _is_ragged(loop: For) -> bool:
    return any(has(end, Load) for end in own_expressions(loop))


def _apart(partial: PartialSchedule, loop: For, totals: dict[str, Chain]) -> None:
    """Raises NotTaken."""
    words = " and ".join(f"'{user_name(name)}'" for name in totals)
    why = f"{words} in loops of their own: rows of '{user_name(loop.name)}' are shared out whatever they add up to"
    if any(_is_ragged(one) for path in totals.values() for one in path[-1].body if isinstance(one, For)):
        if any(len(path) > 1 for path in totals.values()):
            raise NotTaken
        updates = [one for target in totals for one in _with_conditions(loop.body, target)]
        alone(partial, loop.name, loop.name, updates, why)
        return  # `distribute` wants bounds that nothing in the nest may change
    for target, path in totals.items():
        names = tuple(one.name for one in path)
        while needed := _needed(partial, names, target):
            name = min(needed)
            values = [one for one in statements(partial.kernel.body, Assign) if one.name == name]
            before, body = partial.kernel, partial.around(names[-1])[-1].body
            if not names_read(tuple(values)) & names_assigned(body) and price_of(tuple(values)) <= CHEAP:
                with suppress(NotTaken):
                    partial.take(Forward(name), why, anew=True)
            if partial.kernel is before:
                partial.take(Expand(name, names), why, anew=True)
    partial.take(Distribute(loop.name, tuple(totals)), why, anew=True)


def _needed(partial: PartialSchedule, names: tuple[str, ...], target: str) -> set[str]:
    """Scalars that iterations set, and that what sets a total reads, conditions around it too. Raises NotTaken."""
    path = partial.around(names[-1])
    outer = next(one for one in path if one.name == names[0])
    updates = list(_with_conditions(path[-1].body, target))
    if arrays_loaded(tuple(updates)) & arrays_made(outer.body):
        raise NotTaken
    return (names_assigned(outer.body) - {target, *names}) & names_read(tuple(updates))


def _with_conditions(body: Body, target: str) -> Iterator[Stmt]:
    """The statements that set a scalar; a condition around them as a whole."""
    for stmt in body:
        if isinstance(stmt, Assign | If) and target in names_assigned((stmt,)):
            yield stmt

"""Iterations in the order of what data makes them do (`redirect`): whether it pays is a question of data and sizes, so
that the recipe takes it where it is asked for, and tuning tries it as one more way."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Body, For, If, Kernel, Load, While
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, own_expressions, statements
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, ReasonedStep
from loopwright.recipe.renumbering import may_count, why
from loopwright.recipe.tunable import Tunable
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.abreast import Abreast, waits_for_itself
from loopwright.steps.group import PATHS, Group
from loopwright.steps.redirect import Redirect
from loopwright.steps.relayout import Relayout
from loopwright.steps.schedule import Schedule
from loopwright.steps.step import Step

ORDER = Tunable(
    "order of iterations",
    0,
    (0, 1),
    "threads wait for neighbours whose iterations go other ways or take longer; to sort iterations takes time too",
    leads=True,
    words=("as they stand", "by what data makes them do"),
)


LESS = "less is moved in vain with what is used of the array"
WHY = "only data tells what an iteration of '{}' does: those that do alike stand together"

ABREAST = "each step of an inner loop waits for the one before: iterations of '{}' go through them side by side"


def in_order_that_is_asked_for(partial: PartialSchedule, steps: Schedule) -> None:
    """Take steps that are legal before all others."""
    for step in steps:
        if not partial.allows(step):
            raise NotTaken(str(step))
        partial.kernel = step.applied(partial.kernel, partial.present_facts())
        partial.decisions.append(ReasonedStep(step, why_first(step)))
    if steps:
        partial.begin_again()


def may_have_another(kernel: Kernel) -> bool:
    """Whether iterations, or what index arrays count, may have another order, at a glance."""
    return may_be_irregular(kernel) or may_count(kernel)


def may_be_irregular(kernel: Kernel) -> bool:
    """Whether some loop holds a condition or an inner loop about which data may decide, at a glance."""
    return any(
        any(has(expr, Load) or names_in(expr) & names_assigned(loop.body) for expr in own_expressions(stmt))
        for loop in statements(kernel.body, For)
        for stmt in statements(loop.body, For, If)
    )


def redirections(kernel: Kernel, facts: Facts, strict: bool) -> Schedule:
    """The steps that would put the iterations of a kernel's loops in order, on a GPU, each of which is legal by itself
    and after those before it."""
    partial = PartialSchedule(kernel, facts, strict, kernel)
    found: list[Step] = []
    for step in [Redirect(loop.name) for loop in _outermost_free(partial, kernel.body)]:
        if partial.allows(step):
            partial.kernel = step.applied(partial.kernel, partial.present_facts())
            found.append(step)
    return tuple(found)


def groupings(kernel: Kernel, facts: Facts, strict: bool) -> Schedule:
    """The steps that would have the iterations of a kernel's loops run by their paths on a CPU, side by side in vector
    lanes where that gains: a loop none of whose paths gains stays as it is."""
    partial = PartialSchedule(kernel, facts, strict, kernel)
    found: list[Step] = []
    for loop in list(_outermost_free(partial, kernel.body)):
        before, step = partial.kernel, Group(loop.name)
        if not partial.allows(step):
            continue
        known = set(loops(before))
        partial.kernel = step.applied(before, partial.present_facts())
        paths = [one for name, one in loops(partial.kernel).items() if name not in known and _is_path(one, loop)]
        side_by_side = [step for step in map(_abreast, paths) if _gains(partial, step)]
        for one in side_by_side:
            partial.kernel = one.applied(partial.kernel, partial.present_facts())
        if side_by_side:
            found += [step, *side_by_side]
        else:
            partial.kernel = before
    return tuple(found)


def _is_path(one: For | While, loop: For) -> bool:
    return isinstance(one, For) and one.name.startswith(f"{loop.name}.{PATHS}")


def _abreast(path: For | While) -> Abreast:
    return Abreast(path.name)


def _gains(partial: PartialSchedule, step: Abreast) -> bool:
    loop = loops(partial.kernel)[step.loop]
    return isinstance(loop, For) and partial.allows(step) and waits_for_itself(loop, partial.present_facts())


def why_first(step: Step) -> str:
    """Why a step is taken before all others."""
    if isinstance(step, Redirect | Group):
        return WHY.format(user_name(step.loop))
    if isinstance(step, Abreast):
        return ABREAST.format(user_name(step.loop))
    return LESS if isinstance(step, Relayout) else why(step)


def in_order_of_keys(partial: PartialSchedule) -> None:
    """Redirect each outermost loop that is free and irregular, where that is wanted."""
    if partial.choices is None:
        return  # the default is not to, and to find out whether it could be done takes time
    steps = [Redirect(loop.name) for loop in _outermost_free(partial, partial.kernel.body)]
    wanted: list[Redirect] = []
    for step in (step for step in steps if partial.allows(step)):
        with partial.in_nest(_nest_of(partial, step.loop)):
            wanted += [step] if partial.number(ORDER) else []
    for step in wanted:
        partial.take(step, why_first(step))
    if wanted:
        partial.begin_again()


def _outermost_free(partial: PartialSchedule, body: Body) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For) and (found := partial.proven(stmt)) is not None and is_free(stmt, found):
            yield stmt
            continue
        for inner in bodies(stmt):
            yield from _outermost_free(partial, inner)


def _nest_of(partial: PartialSchedule, name: str) -> Chain:
    """The loops of the deepest nest that a loop is in."""
    chains = [chain for chain in partial.chains() if any(loop.name == name for loop in chain)]
    return max(chains, key=len, default=partial.around(name))

"""Recurrences side by side: where each iteration of a parallel loop runs through a recurrence (a tridiagonal solution,
a recursive filter, a trajectory), the steps of one recurrence wait for one another, but those of neighbouring ones do
not. A stretch of them goes through its steps together, and fills vector registers (outer-loop vectorisation; Nuzman and
Zaks 2008). Where data lie along the recurrences, each lane loads and stores for itself: that has to cost less than the
waiting."""

from __future__ import annotations

from itertools import groupby

from loopwright.analysis.recurrence_latency import recurrence_latency
from loopwright.analysis.strides import AccessStrides
from loopwright.ir.nodes import Body, For, If, While
from loopwright.ir.queries import contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.distribution import isolate
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, whole
from loopwright.recipe.scalar_expansion import temporaries, tying
from loopwright.recipe.tunable import Tunable
from loopwright.steps.expand import Expand
from loopwright.steps.reorder import Reorder
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split

ABREAST = Tunable(
    "recurrences side by side",
    16,
    (4, 8, 16, 32, 64),
    "recurrences that go together: some vector registers, and a cache line for each still fits into the first cache",
)

ALONG = Tunable(
    "recurrences along rows, side by side",
    64,
    (16, 32, 64, 256),
    "more that go on while one waits; their elements are still in the first cache at the next step",
)
"""Those that hand on nothing but elements that lie side by side."""

MOST_SCALARS = 8
"""Scalars that a recurrence hands on: all of them are to stay in registers, or near them."""

LOAD, STORE, RANDOM = 3.0, 4.0, 1.0
"""Cycles, for each iteration, of an access that goes from lane to lane in other steps than one, and of a load from
where data say, which costs the same one by one: rows of 1000 to 4000 numbers, out of the second cache, on Zen cores."""

WORK = 2.0
"""Cycles of an iteration that nothing has to wait for: what waits no longer is as fast one by one."""


def side_by_side(partial: PartialSchedule) -> None:
    """Interchange a stretch of a parallel loop with the recurrences inside it."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or partial.verdict(loop) != "parallel":
            continue
        if (inner := _recurrences(partial, loop)) and _wait_longer(partial, loop):
            with partial.together(), partial.in_nest((loop, partial.around(inner[0])[-1])):
                _interleave(partial, name, inner)


def _recurrences(partial: PartialSchedule, loop: For) -> list[str]:
    """The loops that are all in one's body that loops again, if each is innermost and needs its order."""
    inside = list(statements(loop.body, For))
    if any(stmt not in loop.body or partial.verdict(stmt) in ("parallel", "reduction") for stmt in inside):
        return []
    conditions = [one for stmt in inside for one in statements(stmt.body, If)]
    if contains(loop.body, While) or any(contains((*one.then, *one.otherwise), If) for one in conditions):
        return []  # lanes would go through the paths of all
    return [stmt.name for stmt in inside]


def _wait_longer(partial: PartialSchedule, loop: For) -> bool:
    """Whether steps of the recurrences in a loop wait longer for one another than lanes that go along them cost."""
    recurrences = [one for one in loop.body if isinstance(one, For)]
    inside = {id(stmt) for one in recurrences for stmt in statements(one.body)}
    walks = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    once = {(walk.array, walk.node.index, walk.is_write): walk for walk in walks}
    waiting = sum(recurrence_latency(one.body, tying(partial, one)) for one in recurrences)
    return waiting > WORK + sum(_apart(walk, loop.name) for walk in once.values())


def _apart(walk: AccessStrides, loop: str) -> float:
    """What it costs that neighbouring iterations of a loop access what is not side by side."""
    stride = walk.strides.get(loop)
    if stride is None:
        return STORE if walk.is_write else RANDOM
    return 0.0 if abs(stride) <= 1 else STORE if walk.is_write else LOAD


def _interleave(partial: PartialSchedule, outer: str, recurrences: list[str]) -> None:
    names = " and ".join(f"'{user_name(name)}'" for name in dict.fromkeys(recurrences))
    is_along = _is_along(partial, partial.around(outer)[-1])
    abreast = partial.number(ALONG if is_along else ABREAST)
    why = (
        f"each step of {names} waits for the one before: {abreast} iterations of '{user_name(outer)}' go through them "
        "side by side"
    )
    partial.take(Split(outer, abreast), why)
    if is_along:
        whole(partial, Specialize((outer,), "full"), f"{why}; all of {abreast} in most stretches")
    scalars = _handed_on(partial, partial.around(outer)[-1])
    if len(scalars) > MOST_SCALARS:
        raise NotTaken
    for scalar in scalars:
        partial.take(Expand(scalar, (outer,)), why)
    for name in recurrences:
        stretch = partial.around(name)[-2].name
        band = isolate(partial, name, stretch, why)
        partial.take(Reorder((band[1], band[0])), why, anew=True)


def _is_along(partial: PartialSchedule, loop: For) -> bool:
    """Whether neighbouring iterations of a loop touch neighbouring elements, or the same ones, and hand on no scalar to
    one another's next steps: lanes need nothing but vectors then."""
    inside = {id(stmt) for stmt in statements(loop.body)}
    strides = [walk.strides.get(loop.name) for walk in partial.walks() if id(walk.stmt) in inside]
    return all(stride in (0, 1) for stride in strides) and not _handed_on(partial, loop)


def _handed_on(partial: PartialSchedule, loop: For) -> list[str]:
    """The scalars that steps of a recurrence hand on to one another, or to what stands before or after it. What each
    step sets anew for itself stays a scalar."""
    pieces: list[Body] = []
    for is_recurrence, group in groupby(loop.body, lambda stmt: isinstance(stmt, For)):
        some = tuple(group)
        pieces += [(stmt,) for stmt in some] if is_recurrence else [some]
    used = [names_assigned(piece) | names_read(piece) for piece in pieces]
    ties = {name for stmt in loop.body if isinstance(stmt, For) for name in tying(partial, stmt)}
    return [name for name in temporaries(loop) if name in ties or sum(name in names for names in used) > 1]

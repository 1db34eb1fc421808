"""Recurrences side by side: where each iteration of a parallel loop runs through a recurrence (a tridiagonal solution,
a recursive filter, a trajectory), the steps of one recurrence wait for one another, but those of neighbouring ones do
not. A stretch of them goes through its steps together, and fills vector registers (outer-loop vectorisation; Nuzman and
Zaks 2008). Where data lie along the recurrences, each lane loads and stores for itself: that has to cost less than the
waiting. Short loops in a recurrence are written out; elements that it looks up where data say are looked up before the
lanes go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopwright.analysis.recurrence_latency import initiation_interval, recurrence_latency
from loopwright.analysis.strides import AccessStrides
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Call,
    Checked,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Leave,
    Load,
    Return,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_loaded, arrays_stored, contains, has
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements, subexpressions
from loopwright.recipe.distribution import isolate
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, whole
from loopwright.recipe.scalar_expansion import handed_on, tying
from loopwright.recipe.tunable import Tunable
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.nest import the_loop
from loopwright.steps.reorder import Reorder
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split
from loopwright.steps.unroll import Unroll

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

MOST_WRITTEN_OUT = 128
"""Operations of a short loop in a recurrence that is written out."""

FEW_STEPS = 16
"""Of a recurrence of which results of all iterations are added up: it is over before others have begun."""

ABREAST_ANYWAY = 2
"""Operations that a core does in a cycle one by one, of what is not only one chain."""

FOR_EACH = 2.0
"""Cycles of waiting for each operation that make it worthwhile to do iterations side by side, but one by one."""

MOST_CHOSEN = 4
"""Assignments of a branch that has branches of its own, all of which lanes go through."""

WORK = 2.0
"""Cycles of an iteration that nothing has to wait for: what waits no longer is as fast one by one."""


def side_by_side(partial: PartialSchedule) -> None:
    """Interchange a stretch of a parallel loop with the recurrences inside it."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or partial.verdict(loop) not in ("parallel", "reduction"):
            continue
        inner = _recurrences(partial, loop)
        if partial.verdict(loop) == "reduction" and any(0 < (trip_of(one) or 0) <= FEW_STEPS for one in inner):
            continue  # their results are used at once, and in order
        short = [one.name for each in inner for one in reversed(list(statements(each.body, For)))]
        if not inner or not (short or _wait_longer(partial, loop)):
            continue
        recurrences = [one.name for one in inner]
        with partial.together(), partial.in_nest((loop, partial.around(recurrences[0])[-1])):
            for one in short:
                partial.take(Unroll(one), f"'{user_name(name)}' can then fill vector lanes")
            if short and not _is_chain(partial, the_loop(partial.kernel, name)):
                raise NotTaken
            _interleave(partial, name, recurrences)


def _recurrences(partial: PartialSchedule, loop: For) -> list[For]:
    """The loops that are all in one's body that loops again, if each needs its order, and holds no loops but short
    ones."""
    inside = [stmt for stmt in loop.body if isinstance(stmt, For)]
    if any(partial.verdict(stmt) in ("parallel", "reduction") for stmt in inside):
        return []
    if contains(loop.body, While) or any(stmt not in loop.body for stmt in _long_inside(loop.body)):
        return []
    if not all(_is_cheap(one) for stmt in inside for one in statements(stmt.body, If)):
        return []  # lanes would go through the paths of all
    return inside


def _is_cheap(stmt: If) -> bool:
    """Whether a branch in it that has branches of its own only counts, or the like."""
    inner = (*stmt.then, *stmt.otherwise)
    if not contains(inner, If):
        return True
    if contains(inner, Store, Break, Continue, Leave, Return):
        return False
    values = [one.value for one in statements(inner, Assign)]
    return len(values) <= MOST_CHOSEN and all(map(_only_counts, values))


def _only_counts(value: Expr) -> bool:
    match value:
        case Binary(op="add" | "sub", left=left, right=right):
            return isinstance(left, Const | Var) and isinstance(right, Const | Var)
        case _:
            return isinstance(value, Const | Var)


def _long_inside(body: Body) -> Iterator[For]:
    """The loops in a body but those that are little straight code when they are written out."""
    for loop in statements(body, For):
        is_straight = not contains(loop.body, For, While, Allocate, Block, Break, Continue, Leave, Return)
        if not is_straight or not 0 < (trip_of(loop) or 0) * _operations(loop.body) <= MOST_WRITTEN_OUT:
            yield loop


def _is_chain(partial: PartialSchedule, loop: For) -> bool:
    """Whether most of what is written out in recurrences waits for one another, too: else it is done side by side."""
    return _wait_longer(partial, loop) and all(
        _operations(one.body) < ABREAST_ANYWAY * recurrence_latency(one.body, tying(partial, one))
        for one in loop.body
        if isinstance(one, For)
    )


def _operations(body: Body) -> int:
    return sum(1 for _ in expressions(body, Binary, Compare, Call))


def _wait_longer(partial: PartialSchedule, loop: For) -> bool:
    """Whether steps of the recurrences in a loop wait longer for one another than lanes that go along them cost."""
    recurrences = [one for one in loop.body if isinstance(one, For)]
    inside = {id(stmt) for one in recurrences for stmt in statements(one.body)}
    walks = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    once = {(walk.array, walk.node.index, walk.is_write): walk for walk in walks}
    waiting = sum(recurrence_latency(one.body, tying(partial, one)) for one in recurrences)
    looks_up = (walk.strides.get(loop.name) is None and not walk.is_write for walk in _chosen(walks, recurrences))
    if any(looks_up):  # no vector looks up what a condition of each lane asks for: iterations go one by one
        waiting = sum(initiation_interval(one.body, tying(partial, one)) for one in recurrences)
        if waiting < FOR_EACH * sum(_operations(one.body) for one in recurrences):
            return False
    return waiting > WORK + sum(_apart(walk, loop.name) for walk in once.values())


def _chosen(walks: Iterable[AccessStrides], recurrences: Iterable[For]) -> Iterator[AccessStrides]:
    """Accesses that conditions decide about, or that they ask for."""
    branches = [stmt for one in recurrences for stmt in statements(one.body, If)]
    inside = {id(stmt) for one in branches for stmt in (one, *statements((*one.then, *one.otherwise)))}
    return (walk for walk in walks if id(walk.stmt) in inside)


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
    scalars = handed_on(partial, partial.around(outer)[-1])
    if len(scalars) > MOST_SCALARS:
        raise NotTaken
    for scalar in scalars:
        partial.take(Expand(scalar, (outer,)), why)
    for name in recurrences:
        stretch = partial.around(name)[-2].name
        band = isolate(partial, name, stretch, why)
        partial.take(Reorder((band[1], band[0])), why, anew=True)
        if place := _after_lookups(partial.around(band[0])[-1].body):
            looked = f"what is looked up is there before lanes go on with '{user_name(name)}'"
            partial.take(Fission(band[0], place, kept=True), looked)


def _after_lookups(body: Body) -> int:
    """Where, counted from 1, the first statement stands after those that look elements up where data say, without
    waiting for what a step of a recurrence hands on; 0 where there are none, or nothing else."""
    place = 0
    for number, stmt in enumerate(body, 2):
        if not isinstance(stmt, Assign) or has(stmt.value, Checked) or arrays_loaded((stmt,)) & arrays_stored(body):
            break
        if any(has(index, Load) for load in subexpressions(stmt.value, Load) for index in load.index):
            place = number
    return place if place <= len(body) else 0


def _is_along(partial: PartialSchedule, loop: For) -> bool:
    """Whether neighbouring iterations of a loop touch neighbouring elements, or the same ones, and hand on no scalar to
    one another's next steps: lanes need nothing but vectors then."""
    inside = {id(stmt) for stmt in statements(loop.body)}
    strides = [walk.strides.get(loop.name) for walk in partial.walks() if id(walk.stmt) in inside]
    return all(stride in (0, 1) for stride in strides) and not handed_on(partial, loop)

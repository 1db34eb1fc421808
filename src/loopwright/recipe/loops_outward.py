"""A loop that needs its order, such as one over time, around several loops that need none, for the default recipe of a
GPU: what each of many channels hands on from step to step concerns that channel alone. Where a new order of all
statements (steps/reschedule.py) puts such a loop around the one over time, its iterations have threads that wait for
nobody; a block would wait for all its threads in each step."""

from __future__ import annotations

from loopwright.analysis.isl_schedule import Wanted
from loopwright.ir.nodes import Allocate, Body, For, Var
from loopwright.ir.queries import names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.loop_fusion import loops_fused
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.promote import Promote
from loopwright.steps.reschedule import Reschedule
from loopwright.steps.threads import constant_size


def loops_outward(partial: PartialSchedule) -> None:
    """Give nests with arrays of their own, in which that is so, another order."""
    before = partial.kernel
    for name in list(loops(partial.kernel)):
        loop = loops(partial.kernel).get(name)
        if isinstance(loop, For) and is_outermost(partial, loop) and is_free_now(partial, loop):
            run = [loop]
            while len(run[-1].body) == 1 and isinstance(inner := run[-1].body[0], For) and is_free_now(partial, inner):
                run.append(inner)
            if steps := _steps(partial, run[-1]):
                with partial.together():
                    _outward(partial, [one.name for one in run], steps)
    if partial.kernel is not before:
        partial.begin_again()


def _steps(partial: PartialSchedule, each: For) -> list[For]:
    """The loops in the body of one that need their order and hold some that need none, if there are arrays which no
    thread has room for."""
    most = partial.facts.gpu.own_bytes
    if all(constant_size(stmt, most) is not None for stmt in each.body if isinstance(stmt, Allocate)):
        return []
    found = [stmt for stmt in each.body if isinstance(stmt, For) and not is_free_now(partial, stmt)]
    return [step for step in found if any(_is_long(partial, one) for one in statements(step.body, For))]


def _is_long(partial: PartialSchedule, loop: For) -> bool:
    return trip_of(loop) is None and is_free_now(partial, loop)


def _outward(partial: PartialSchedule, run: list[str], steps: list[For]) -> None:
    """Raises NotTaken where no more loops need no order than before."""
    why = f"what '{user_name(steps[0].name)}' hands on concerns iterations of loops inside it alone: these go around it"
    body = partial.around(run[-1])[-1].body
    for name in _carrying(partial, body):
        partial.take(Expand(name, tuple(run)), why, anew=True)
    for step in steps:
        for name in _carrying(partial, step.body):
            _has_array(partial, [*run, step.name])
            partial.take(Expand(name, (*run, step.name)), why, anew=True)
    there = set(loops(partial.kernel))
    partial.take(Reschedule(Wanted("min"), nest=run[0]), why, anew=True)
    partial.begin_again()
    chains = [chain for chain in partial.chains() if chain[0].name == run[0] or chain[0].name not in there]
    deepest = max(map(len, chains), default=0)
    for chain in chains:
        free = next((at for at, loop in enumerate(chain) if not is_free_now(partial, loop)), len(chain))
        if len(chain) == deepest and free <= len(run):
            raise NotTaken
    loops_fused(partial, on_gpu=True, into_elements=True)
    for chain in partial.chains():
        if chain[0].name != run[0] and chain[0].name in there:
            continue
        found = partial.proven(chain[-1])
        for target in [] if found is None else [one.target for one in found.reductions if one.kind == "element"]:
            if partial.allows(promote := Promote(target, chain[-1].name)):
                partial.take(promote, f"threads add up '{user_name(target)}' together")
    partial.begin_again()


def _carrying(partial: PartialSchedule, body: Body) -> list[str]:
    """The arrays that a body makes, and the scalars that it sets itself and loops in it read."""
    arrays = [stmt.array for stmt in body if isinstance(stmt, Allocate)]
    own = names_assigned(tuple(stmt for stmt in body if not isinstance(stmt, For)))
    own |= {name for stmt in body if isinstance(stmt, For) for name in names_assigned((stmt,))} & names_read(
        tuple(stmt for stmt in body if not isinstance(stmt, For))
    )
    return arrays + sorted(own & names_read(tuple(stmt for stmt in body if isinstance(stmt, For))))


def _has_array(partial: PartialSchedule, names: list[str]) -> None:
    """Raises NotTaken where no array has an element for each iteration of these loops: those that are to be made would
    take more memory than there may be."""
    inside = {id(stmt) for stmt in statements(partial.around(names[-1])[-1].body)}
    own = [walk.node.index for walk in partial.walks() if id(walk.stmt) in inside]
    if not any({axis.name for axis in index if isinstance(axis, Var)}.issuperset(names) for index in own):
        raise NotTaken

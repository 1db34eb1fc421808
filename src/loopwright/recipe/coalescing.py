"""Coalescing: which of the parallel loops the threads of a warp go along, so that together they move as few pieces of
memory as can be."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.analysis.strides import AccessStrides
from loopwright.ir.linear import parted
from loopwright.ir.nodes import Const, For, Load, Var
from loopwright.ir.walk import statements
from loopwright.recipe.interchange import starts_far_apart
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.nest import step_of

ALONG = Tunable(
    "loop along x",
    0,
    (0, 1, 2),
    "neighbouring threads do neighbouring iterations of it, and should touch neighbouring elements",
    words=("least memory moved", "second", "third"),
)
LANES, AGAIN = 32, 8
"""Threads that access memory together; how often they do so in a loop of their own."""


def accesses_inside(partial: PartialSchedule, loop: For) -> list[AccessStrides]:
    """Every access in the body of a loop."""
    inside = {id(stmt) for stmt in statements(loop.body)}
    return [walk for walk in partial.walks() if id(walk.stmt) in inside]


def along_x(partial: PartialSchedule, inner: For, free: list[For]) -> For:
    """The loop that neighbouring threads go along, of those that may be."""
    accesses = accesses_inside(partial, inner)
    best = _along_rows(accesses, free)
    if partial.choices is None or len(free) < 3:
        return best
    score = {loop.name: sum(_goes_by_ones(walk, loop) for walk in accesses) for loop in free}
    others = sorted((loop for loop in reversed(free) if loop is not best), key=lambda loop: -score[loop.name])
    return [best, *others][partial.number(ALONG)]


def _along_rows(accesses: list[AccessStrides], free: list[For]) -> For:
    """The parallel loop along which neighbouring threads move the least memory; the innermost of several."""
    each = {(walk.array, walk.node.index, walk.is_write): walk for walk in accesses}  # the same element is there still
    accesses = list(each.values())
    least = min((len(walk.strides) for walk in accesses), default=0)

    def moved(loop: For) -> int:
        lanes = [one for one in statements(loop.body, For) if _begins_at(one, loop) and isinstance(one.step, Const)]
        steps = {one.name: step_of(one) for one in lanes}
        steps |= {one.name: 0 for one in statements(loop.body, For) if starts_far_apart(one, loop.name)}
        return sum(_sectors(walk, loop, steps) * AGAIN ** (len(walk.strides) - least) for walk in accesses)

    return min(reversed(free), key=moved)


def _begins_at(inner: For, loop: For) -> bool:
    """Whether iterations of a loop inside begin where the loop is, as those of a lane do."""
    base, _ = parted(inner.lower)
    return isinstance(base, Var) and base.name == loop.name


def _sectors(walk: AccessStrides, loop: For, steps: Mapping[str, int]) -> int:
    """Pieces of memory of eight elements that an access moves for neighbouring threads along a loop; of a store they
    are read and written. steps: of the loops that begin where it is, 0 where they begin far apart."""
    strides = [walk.strides.get(loop.name, 0)]
    for name, step in steps.items():
        stride = walk.strides.get(name, 0)
        strides.append(0 if stride == 0 else None if stride is None or not step else stride // step)
    known = [stride for stride in strides if stride is not None]
    found = LANES if len(known) < len(strides) else min(LANES, max(1, LANES * abs(sum(known)) // 8))
    return 2 * found if walk.is_write else found


def _goes_by_ones(walk: AccessStrides, loop: For) -> int:
    return (2 if walk.is_write else 1) if walk.strides.get(loop.name) in (1, -1) else 0


def turned_along(walks: list[AccessStrides], nest: Chain, x: For) -> tuple[For, tuple[str, ...], int] | None:
    """The loop along which arrays are read by ones that are not along `x`, these arrays, and the size of an element in
    bytes: tiles of them are worth turning in shared memory. None where there are none, or where it cannot be done."""
    far = [walk for walk in walks if walk.strides.get(x.name) not in (0, 1, -1)]
    for loop in reversed(nest):
        turned = [walk for walk in far if loop is not x and walk.strides.get(loop.name) == 1]
        if turned:
            arrays = tuple(dict.fromkeys(walk.array for walk in turned))
            sizes = {walk.node.type.size_bytes for walk in turned if isinstance(walk.node, Load)}
            if len(turned) != len(arrays) or len(sizes) != 1 or any(walk.is_write for walk in turned):
                raise NotTaken
            return loop, arrays, sizes.pop()
    return None

"""Sweeps over the same arrays again and again (a stencil in time, a recurrence in two directions): several sweeps are
done on a tile while it is in the cache, and where every loop needs its order, tiles on a diagonal run at once.

The new order is a version of its own for arrays that the caches next to the cores cannot hold, and for more sweeps than
one tile has; others gain nothing from it and keep their loops.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from loopwright.analysis.isl_schedule import Wanted
from loopwright.ir.nodes import Body, Const, For, Load, Store
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, statements
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.tunable import Tunable
from loopwright.steps.reschedule import Reschedule

TIMES = Tunable(
    "sweeps of a time tile",
    16,
    (4, 8, 16, 32),
    "sweeps that are done on a tile while it is in the cache; its edges are slanted, and grow with them",
)
ROWS = Tunable(
    "rows of a time tile",
    32,
    (8, 16, 32),
    "rows that several sweeps visit while they are in the cache",
)
"""The innermost loop stays whole: short rows would help a recurrence, in which the processor could begin the next row
meanwhile (seidel-2d: 1.3 times), but take seconds to schedule. So do 64 rows and more, with most numbers of sweeps."""

PLANES = Tunable("planes of a time tile", 16, (4, 8, 16, 32), "the same where there are three loops inside a sweep")

CACHES = Tunable(
    "caches that arrays exceed",
    4,
    (0, 4),
    "how many times a core's second cache the arrays must be for tiles in time: below that, sweeps run from the cache",
)

MOST_NESTS = 2
"""Nests of a kernel whose new order is looked for, each of which takes up to a second."""

MOST_STATEMENTS = 4
"""Statements of a nest whose new order is looked for: the search takes more than linear time."""


def across_time(partial: PartialSchedule, target: CpuTarget) -> None:
    """Reschedule outermost loops around sweeps over the same arrays."""
    for outer in _outer_loops(partial):
        if not _sweeps(partial, outer):
            continue
        _in_tiles(
            partial,
            target,
            outer,
            f"every iteration of '{user_name(outer.name)}' sweeps over the same arrays: several of them are done on a "
            f"tile while it is in the cache{_copies(outer)}",
            one_stretch=_counts_by_ones(outer),
        )


def _copies(outer: For) -> str:
    """What to say of double buffers: sweeps that only copy what others have made to where the next one reads it."""
    found = (
        f"'{user_name(stmt.value.array)}' into '{user_name(stmt.array)}'"
        for stmt in statements(outer.body, Store)
        if isinstance(stmt.value, Load) and stmt.value.index == stmt.index
    )
    pairs = " and ".join(dict.fromkeys(found))
    return f", and so is the copy of {pairs} for the next one" if pairs else ""


def on_diagonals(partial: PartialSchedule, target: CpuTarget) -> None:
    """Reschedule nests of loops none of which can be shared among threads."""
    for outer in _outer_loops(partial):
        if not _is_shared(partial, outer):
            why = "every loop must run in order, but tiles on a diagonal are independent"
            _in_tiles(partial, target, outer, why)


def _in_tiles(partial: PartialSchedule, target: CpuTarget, outer: For, why: str, one_stretch: bool = False) -> None:
    """one_stretch: calls with no more sweeps than a tile has keep their loops, which threads share. A diagonal has at
    most one tile for each stretch of sweeps: of one stretch all tiles would run one after the other, on one thread
    (jacobi-2d, 10 sweeps: 1.8 times as long)."""
    with partial.together():
        sizes = tiles(partial, _depth((outer,)), outer.name)
        bytes_above = partial.number(CACHES) * target.l2_bytes
        sweeps_above = sizes[0] if one_stretch and bytes_above else 0
        before = set(loops(partial.kernel))
        nest = "" if len(partial.kernel.body) == 1 else outer.name
        partial.take(Reschedule(Wanted("smart", sizes, wavefront=True), bytes_above, sweeps_above, nest), why)
        if not shared_tiles(partial, before):
            raise NotTaken


def tiles(partial: PartialSchedule, depth: int, outer: str = "") -> tuple[int, ...]:
    """Iterations of the outer loops of a tile, in a nest of three or four loops: all but the innermost. outer: the
    nest's, where there are others."""
    nests = [chain for chain in partial.chains() if not outer or chain[0].name == outer]
    if not nests:
        raise NotTaken
    deepest = max(nests, key=len)
    with partial.in_nest(deepest):
        if depth == 3:
            return partial.number(TIMES), partial.number(ROWS)
        return partial.number(replace(TIMES, default=4)), partial.number(PLANES), partial.number(ROWS)


def shared_tiles(partial: PartialSchedule, before: Collection[str] = ()) -> bool:
    """Whether some loop over tiles needs no order. before: loops that were there before these tiles."""
    facts = partial.present_facts()
    found = (name for name, loop in loops(partial.kernel).items() if isinstance(loop, For) and _has_loop(loop))
    return any(".o" in name and name not in before and facts.loops[name].verdict == "parallel" for name in found)


def _outer_loops(partial: PartialSchedule) -> list[For]:
    """The outermost loops that need their order, and hold what is simple enough; the first of them, where there are
    many."""
    found = [loop for loop in partial.kernel.body if isinstance(loop, For) and _is_simple(loop)]
    return [loop for loop in found if partial.verdict(loop) == "sequential"][:MOST_NESTS]


def _is_simple(outer: For) -> bool:
    inside = list(statements(outer.body))
    simple = all(isinstance(stmt, For | Store) for stmt in inside)
    few = sum(isinstance(stmt, Store) for stmt in inside) <= MOST_STATEMENTS
    return simple and few and _depth((outer,)) in (3, 4)


def _depth(body: Body) -> int:
    """How many loops stand around one another there."""
    return max((1 + _depth(stmt.body) for stmt in body if isinstance(stmt, For)), default=0)


def _counts_by_ones(loop: For) -> bool:
    return isinstance(loop.step, Const) and loop.step.value == 1


def _sweeps(partial: PartialSchedule, outer: For) -> bool:
    """Whether the loop only repeats what stands in it, parallel nests that share their arrays."""
    nests = [stmt for stmt in outer.body if isinstance(stmt, For)]
    repeats = all(not walk.strides.get(outer.name) for walk in partial.walks() if len(walk.node.index) > 1)
    return repeats and bool(nests) and all(partial.verdict(nest) == "parallel" for nest in nests)


def _is_shared(partial: PartialSchedule, outer: For) -> bool:
    """Whether some nest inside can be shared among threads as it is."""
    nests = (stmt for stmt in statements(outer.body, For) if _has_loop(stmt))
    return any(partial.verdict(nest) == "parallel" for nest in nests)


def _has_loop(loop: For) -> bool:
    return any(contains(one, For) for one in bodies(loop))

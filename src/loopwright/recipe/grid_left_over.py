"""Loops of which nothing has become a grid, for the default recipe: what they hold needs its order, or is too little to
be shared out. Each iteration is a thread's, or a chunk of iterations, where only scalars are carried from one to the
next."""

from __future__ import annotations

from loopwright.ir.nodes import For, While
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_conditions import each_in_a_thread, is_free_now
from loopwright.recipe.grid_scans import in_chunks, in_chunks_of_threads
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.extent import around, trip_of


def left_over(partial: PartialSchedule, shared: set[str]) -> list[Chain]:
    """Loops that hold others and are no part of a grid: those around one another that need no order, outermost first,
    where all that stands inside needs its order, perhaps under conditions; and outermost ones that need theirs, which
    may be for scalars only. shared: the loops of grids."""
    found: list[Chain] = []
    for loop in loops(partial.kernel).values():
        if not isinstance(loop, For) or loop.run != "sequential":
            continue
        outer = [stmt for stmt in around(partial.kernel, loop) if isinstance(stmt, For | While)]
        inside = list(statements((loop,), For, While))
        is_apart = shared.isdisjoint(one.name for one in (*outer, *inside)) and len(inside) > 1
        are_long = trip_of(loop) is None or (trip_of(loop) or 0) >= partial.facts.gpu.warp
        if not is_apart or not are_long or not partial.rare.isdisjoint(one.name for one in (*outer, *inside)):
            continue
        if is_free_now(partial, loop):
            if not any(isinstance(stmt, For) and is_free_now(partial, stmt) for stmt in outer):
                found.append(_run_of(partial, loop))
        elif not outer and partial.verdict(loop) == "sequential":
            found.append((loop,))
    return found


def _run_of(partial: PartialSchedule, loop: For) -> Chain:
    """A loop that needs no order, and the next inside it, while each holds nothing else."""
    run = [loop]
    while len(run) < 3 and len(body := run[-1].body) == 1 and isinstance(inner := body[0], For):
        if not is_free_now(partial, inner):
            break
        run.append(inner)
    return tuple(run)


LEFT_OVER = (each_in_a_thread, in_chunks, in_chunks_of_threads)
"""Ways to share them out, the first that can be taken."""

"""The default recipe for a GPU, from facts alone: which loops become blocks and threads.

1. Every nest is made perfect where it can be, and its parallel loops come first: sums stay inside one thread.
2. Of these, the one along which most accesses go by ones is `x`: neighbouring threads then touch neighbouring elements.
3. One loop: 256 threads of a block take 256 iterations. Two: blocks of 8 x 32. A third, outermost: one block for each
   iteration.
4. Triangles are widened to rectangles first, with a test inside.
"""

from __future__ import annotations

from loopwright.analysis.facts import Facts
from loopwright.analysis.strides import Walk
from loopwright.ir.nodes import For, Kernel, Run
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.isolate import isolate
from loopwright.recipe.plan import Chain, Decision, NotTaken, Plan
from loopwright.recipe.recipe import Recipe
from loopwright.recipe.rows import depends
from loopwright.steps.bind import Bind
from loopwright.steps.guard import Guard
from loopwright.steps.reorder import Reorder
from loopwright.steps.split import Split
from loopwright.steps.tile import Tile

LINE, ROWS, COLUMNS = 256, 8, 32
"""Threads of a block: in a row for one loop; rows and columns for two."""

Bound = tuple[str, Run, str]
"""A loop, what it becomes, and why."""


def gpu_recipe(kernel: Kernel, facts: Facts, strict: bool) -> Recipe:
    """What to do with a kernel on a GPU."""
    plan = Plan(kernel, facts, strict, kernel)
    bound: list[Bound] = []
    if not kernel.overlap:
        done: set[str] = set()
        while (chain := next((c for c in plan.chains() if c[-1].name not in done), None)) is not None:
            done.add(chain[-1].name)
            if not any(loop.name in {name for name, _, _ in bound} for loop in chain):
                bound += _shared_out(plan, chain)
    present = plan.present_facts()
    for name, run, why in bound:
        step = Bind(name, run)
        if step.illegal(plan.kernel, present, strict) is None:
            plan.kernel = step.apply(plan.kernel)
            plan.decisions.append(Decision(step, why))
    return Recipe(tuple(plan.decisions), plan.kernel, present)


def _shared_out(plan: Plan, chain: Chain) -> list[Bound]:
    """Restructure one nest for a grid; the loops to bind."""
    free = [loop for loop in chain if plan.verdict(loop) == "parallel"]
    if not free:
        return []
    found: list[Bound] = []
    for attempt in (_perfect, _as_it_is):
        with plan.together():
            found = attempt(plan, chain, free)
        if found:
            return found
    return []


def _perfect(plan: Plan, chain: Chain, free: list[For]) -> list[Bound]:
    """The nest alone, its parallel loops first."""
    inner = chain[-1].name
    x = _along_rows(plan, chain, free)
    outer = [loop for loop in free if loop is not x][:2]
    first = chain.index(free[0])
    why = _why(plan, x)
    places = [loop.name for loop in chain[first:]]
    band = isolate(plan, inner, free[0].name, why)
    if len(band) != len(places):
        raise NotTaken
    names = dict(zip(places, band, strict=True))
    taken = [names[loop.name] for loop in (*outer, x)]
    rest = [names[name] for name in places if names[name] not in taken]
    around = {loop.name: loop for loop in plan.around(names[inner])}
    for position, name in enumerate(taken):
        for other in taken[:position]:
            if depends(around[name], other):
                plan.take(Guard(name, other), f"blocks need bounds that do not depend on '{user_name(other)}'")
    if [*taken, *rest] != [names[name] for name in places]:
        plan.take(Reorder((*taken, *rest)), why)
    return _in_blocks(plan, taken, why)


def _as_it_is(plan: Plan, chain: Chain, free: list[For]) -> list[Bound]:
    """The outermost parallel loop, whatever stands in it."""
    return _in_blocks(plan, [free[0].name], f"iterations of '{user_name(free[0].name)}' need no order")


def _in_blocks(plan: Plan, names: list[str], why: str) -> list[Bound]:
    """Cut loops around one another into blocks."""
    before = set(loops(plan.kernel))
    x = names[-1]
    if len(names) == 1:
        plan.take(Split(x, LINE), why)
    else:
        plan.take(Tile(((names[-2], ROWS), (x, COLUMNS))), why)
    made = [loop.name for loop in plan.around(x) if loop.name not in before]
    runs: tuple[Run, ...] = ("block.x",) if len(made) == 1 else ("block.y", "block.x")
    bound: list[Bound] = [(name, run, why) for name, run in zip(made, runs, strict=True)]
    if len(names) == 3:
        bound.insert(0, (names[0], "block.z", why))
    threads: tuple[Run, ...] = ("thread.x",) if len(made) == 1 else ("thread.y", "thread.x")
    return bound + [(name, run, why) for name, run in zip(names[-len(threads) :], threads, strict=True)]


def _along_rows(plan: Plan, chain: Chain, free: list[For]) -> For:
    """The parallel loop along which most accesses go by ones; the innermost of several."""
    inside = {id(stmt) for stmt in statements(chain[-1].body)}
    accesses = [walk for walk in plan.walks() if id(walk.stmt) in inside]
    return max(reversed(free), key=lambda loop: sum(_goes_by_ones(walk, loop) for walk in accesses))


def _goes_by_ones(walk: Walk, loop: For) -> int:
    return (2 if walk.is_write else 1) if walk.strides.get(loop.name) in (1, -1) else 0


def _why(plan: Plan, x: For) -> str:
    return f"iterations need no order, and neighbours of '{user_name(x.name)}' touch neighbouring elements"

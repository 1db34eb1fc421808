"""How loops run, from facts alone: which ones on several threads, which ones in vector lanes.

1. Going down from the outermost loops, the first loop that needs no order runs on all threads.
2. A loop that only sums into scalars runs in parallel too: each thread has partial results.
3. A loop that sums into array elements would need a copy of the array for each thread: a parallel loop further in
   is better, provided that it is itself a nest and so has work enough to share out each time.
4. A loop that makes a local array larger than a core's own cache would have each thread make one: the loops inside,
   which fill it and read it, are shared out instead.
5. Innermost loops that need no order go into vector lanes; a parallel loop that is innermost gets both.
6. A loop in another one whose work is known, and too little for two threads, is left to the C compiler: what it takes
   to ask for threads would be paid in each iteration of the loop around.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Allocate, Body, Const, For, If, Kernel, Stmt, While
from loopwright.ir.queries import contains
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions
from loopwright.recipe.tunable import Tunable
from loopwright.steps.extent import extent_of, loops_around, most_trips_within
from loopwright.steps.pack import CACHE_BYTES
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.schedule import Schedule
from loopwright.steps.unroll import is_rest
from loopwright.steps.vectorize import Vectorize

LEVEL = Tunable(
    "loop that threads share",
    0,
    (0, 1),
    "the outermost one starts threads once; one further in shares out more evenly, and what is around it stays cached",
    words=("the outermost", "the next one in"),
)
LANES = Tunable(
    "vector lanes", 1, (0, 1), "asked for, or left to the C compiler's judgement", words=("left open", "asked for")
)

LEAST_WORK = 2000
"""Operations: threads share no loop with fewer."""


def marks(
    kernel: Kernel,
    facts: Facts,
    strict: bool,
    level: int = 0,
    lanes: bool = True,
    few: frozenset[str] = frozenset(),
) -> Schedule:
    """The `parallelize` and `vectorize` steps that the facts suggest; each of them is legal. level: how many loops
    that threads could share are passed by, as long as there is another one inside; lanes: whether to vectorize, but
    for loops that run where there are few iterations."""
    if kernel.overlap:
        return ()
    chosen = tuple(_outermost(kernel.body, kernel, facts, strict, level))
    parallel = tuple(Parallelize(name) for name in chosen)
    once = {loop.name for loop in statements(kernel.body, For) if extent_of(loop) == 1}
    vector = (step for step in Vectorize.instances(kernel, facts, strict) if step.loop not in {*chosen, *once, *few})
    return (*parallel, *vector) if lanes else parallel


def _outermost(
    body: Body, kernel: Kernel, facts: Facts, strict: bool, level: int, is_inside: bool = False
) -> list[str]:
    names: list[str] = []
    for stmt in body:
        if (
            isinstance(stmt, For | While)
            and is_inside
            and 0 < _known_work(stmt, _loops_around(kernel, stmt)) < LEAST_WORK
        ):
            continue
        if isinstance(stmt, For) and not _is_front(stmt) and _worth_it(stmt, kernel, facts, strict):
            further_in = level or _makes_much(stmt)
            further = _outermost(stmt.body, kernel, facts, strict, max(0, level - 1), True) if further_in else []
            names += further or [stmt.name]
            continue
        for inner in bodies(stmt):
            names += _outermost(inner, kernel, facts, strict, level, is_inside or isinstance(stmt, For | While))
    return names


def _loops_around(kernel: Kernel, stmt: Stmt) -> tuple[For, ...]:
    return tuple(loops_around(kernel, stmt).values())


def _known_work(stmt: Stmt, around: tuple[For, ...]) -> int:
    """How many operations a statement takes at most, where all its loops run no more than a constant number of times; 0
    where not."""
    own = sum(1 for expr in own_expressions(stmt) for _ in subexpressions(expr)) + 1
    inside = (*around, stmt) if isinstance(stmt, For) else around
    parts = [_known_work(part, inside) for body in bodies(stmt) for part in body]
    trips = most_trips_within(stmt, around) if isinstance(stmt, For) else None if isinstance(stmt, While) else 1
    return 0 if trips is None or 0 in parts else own + trips * sum(parts)


def _makes_much(loop: For) -> bool:
    """Whether a loop of loops makes local arrays that one core's cache does not hold."""
    sizes = [stmt.element.size_bytes * _length(stmt) for stmt in _made_in(loop.body)]
    return sum(sizes) > CACHE_BYTES and _has_loop(loop)


def _made_in(body: Body) -> Iterator[Allocate]:
    for stmt in body:
        if isinstance(stmt, Allocate):
            yield stmt
        elif isinstance(stmt, If):
            yield from _made_in(stmt.then)


def _length(made: Allocate) -> int:
    """How many elements it has; 0 where only the call tells."""
    return prod(int(size.value) if isinstance(size, Const) else 0 for size in made.shape)


def _is_front(loop: For) -> bool:
    """Whether a loop goes from one diagonal of tiles to the next: made where every loop needs its order."""
    return "w" in loop.name.split(".")[1:] and _has_loop(loop)


def _worth_it(loop: For, kernel: Kernel, facts: Facts, strict: bool) -> bool:
    if (
        is_rest(loop)
        or (extent_of(loop) == 1 and not _has_loop(loop))
        or Parallelize(loop.name).illegal(kernel, facts, strict) is not None
    ):
        return False
    if all(reduction.kind == "scalar" for reduction in facts.loops[loop.name].reductions):
        return True
    nests = (s for s in statements(loop.body, For) if facts.loops[s.name].verdict == "parallel")
    return not any(_has_loop(nest) for nest in nests)


def _has_loop(loop: For) -> bool:
    return contains(loop.body, For, While)

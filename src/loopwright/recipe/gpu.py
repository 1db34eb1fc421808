"""The default recipe for a GPU, from facts alone: which loops become blocks and threads.

1. A contraction (a product of matrices and its kin) gets two levels of tiles: blocks through shared memory, and in each
   thread a part of the target in registers.
2. Of every other nest, the outermost loops are taken where all that need no order are among them, and each thread does
   the rest; else it is made perfect where it can be, and its parallel loops come first: sums stay inside one thread.
   Triangles are widened to rectangles, with a test inside.
3. Of these, the one along which neighbouring threads move the least memory is `x`. What goes by ones along another
   loop only is turned in shared memory.
4. One loop: 256 threads of a block take 512 iterations, or 32 threads 32, where each iteration holds loops. Several,
   with nothing but assignments inside: each thread does four rows, or a row in four planes. With sums inside: blocks of
   8 x 32. A third, outermost: one block for each of its iterations.
5. Where calls tell that there are few sums, or few running sums, these are made of partial ones.
6. Running sums: a block has a row, or a chunk of the only one, and its threads go through it round by round.
7. A loop that is left where something is found is searched in chunks (`find`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import Literal

from loopwright.analysis.effort import FOR_GPU, FOR_NEST, TOTAL, anew, is_left
from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import For, Kernel, While
from loopwright.ir.queries import contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops
from loopwright.recipe.bounding_boxes import unbound
from loopwright.recipe.chequered import chequered
from loopwright.recipe.coalescing import accesses_inside, along_x, turned_along
from loopwright.recipe.code_hoisting import hoisted
from loopwright.recipe.code_sinking import CHEAP, expanded, is_narrow, price_of, sunk, unless_narrow
from loopwright.recipe.compactions import compactions
from loopwright.recipe.conditions_inside import conditions_inside
from loopwright.recipe.constant_sizes import with_constant_sizes
from loopwright.recipe.distribution import isolate
from loopwright.recipe.extremes_in_scalars import extremes_in_scalars
from loopwright.recipe.grid_balanced import row_by_row
from loopwright.recipe.grid_blocks import in_blocks, in_boxes
from loopwright.recipe.grid_conditions import CONDITIONAL, is_free_now, is_in_a_thread, with_conditions
from loopwright.recipe.grid_few import few_apart, few_with_sums
from loopwright.recipe.grid_fronts import tiles_of_fronts
from loopwright.recipe.grid_keys import (
    by_key,
    overlapping,
    overlapping_in_few,
    parted_by_kind,
    rows_by_key,
    rows_that_add,
    scattered,
    sums_over_several,
)
from loopwright.recipe.grid_left_over import LEFT_OVER, left_over
from loopwright.recipe.grid_narrow import in_blocks_or_narrow_ones
from loopwright.recipe.grid_panels import in_panels
from loopwright.recipe.grid_parts import LEAST, few_columns, few_sums, few_sums_of_loops
from loopwright.recipe.grid_products import contracted, perfect_run, why_along
from loopwright.recipe.grid_row_nests import SMALL, is_shorter, planes, rows, rows_anyhow
from loopwright.recipe.grid_row_tiles import tiles_of_rows
from loopwright.recipe.grid_rows_of_keys import rows_of_keys
from loopwright.recipe.grid_running import in_chunks_each_round, in_chunks_of_blocks, running_rows
from loopwright.recipe.grid_scans import carried, in_chunks, in_chunks_of_threads
from loopwright.recipe.grid_stages import STAGES, rows_with_stages
from loopwright.recipe.grid_stencils import in_rows_or_short_ones
from loopwright.recipe.grid_sums import few_rows, own_sums_in_scalars, shared_sums
from loopwright.recipe.grid_tables import tables_turned
from loopwright.recipe.grid_tiles import Bound, transposed
from loopwright.recipe.grid_totals import totals
from loopwright.recipe.grid_triangles import rows_of_blocks, triangle
from loopwright.recipe.interchange import depends
from loopwright.recipe.launch_bound import launch_bounds
from loopwright.recipe.loop_fusion import loops_fused
from loopwright.recipe.loop_normalization import counted
from loopwright.recipe.loop_search import searched
from loopwright.recipe.loops_in_turns import in_turns
from loopwright.recipe.loops_outward import loops_outward
from loopwright.recipe.maximal_distribution import products_apart, products_in_totals
from loopwright.recipe.order_of_keys import in_order_of_keys, in_order_that_is_asked_for
from loopwright.recipe.ordered_apart import ordered_apart
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, ReasonedStep, loops_within
from loopwright.recipe.privatisation import with_arrays_of_their_own
from loopwright.recipe.products_in_rows import products_of_all_rows
from loopwright.recipe.ragged_nests import ragged_nests
from loopwright.recipe.recipe import Recipe
from loopwright.recipe.recurrences_apart import recurrences_apart
from loopwright.recipe.rows_apart import rows_apart
from loopwright.recipe.scans_apart import scans_apart
from loopwright.recipe.serial_work import Grid, better_off, each_a_launch, is_little
from loopwright.recipe.short_rows import short_rows
from loopwright.recipe.statements_apart import statements_apart
from loopwright.recipe.sums_apart import sums_apart
from loopwright.recipe.sums_inward import sums_inward
from loopwright.recipe.terms_apart import terms_apart
from loopwright.recipe.totals_apart import totals_apart
from loopwright.recipe.tunable import Choices, Tunable, UnfitError
from loopwright.recipe.wavefronts import in_fronts
from loopwright.steps.bind import Bind
from loopwright.steps.extent import is_point, trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.grids import unrunnable
from loopwright.steps.guard import Guard
from loopwright.steps.reorder import Reorder
from loopwright.steps.schedule import Schedule
from loopwright.steps.sink import Sink, set_before

WAY = Tunable(
    "way to share out the nest",
    0,
    (0, 1, 2, 3),
    "the first that can be taken, or the ones after it",
    leads=True,
    words=("first", "second", "third", "fourth"),
)


def gpu_recipe(
    kernel: Kernel, facts: Facts, strict: bool, choices: Choices | None = None, first: Schedule = ()
) -> Recipe:
    """What to do with a kernel on a GPU. Where the budget of the analysis ends before the recipe does, it begins again
    without versions for few sums, and then with ways that ask little: half of a kernel in tiles and the other half in
    one thread would be slower than no tiles at all. first: legal steps `redirect`, to begin with."""
    found, has_parts = _recipe(kernel, facts, strict, "all", choices, first)
    if choices is not None or is_left(1):
        return found
    if has_parts:
        with anew(FOR_GPU):
            found, _ = _recipe(kernel, facts, strict, "without parts", None, first)
            if is_left(1):
                return found
    with anew(TOTAL):
        return _recipe(kernel, facts, strict, "simple", None, first)[0]


Ways = Literal["all", "without parts", "simple"]


def _recipe(
    kernel: Kernel, facts: Facts, strict: bool, ways: Ways, choices: Choices | None, first: Schedule
) -> tuple[Recipe, bool]:
    """The recipe in these ways, and whether it has versions for few sums, whose partial results many threads find."""
    simple, has_parts = ways == "simple", False
    partial = PartialSchedule(kernel, facts, strict, kernel, choices=choices)
    grids, done = list[Grid](), set[str]()
    in_order_that_is_asked_for(partial, first)
    if not kernel.overlap and not simple:
        for bound in _restructured(partial):
            grids.append(Grid(bound[-1][0].loop, 2, bound))
            done |= loops_within(partial, {step.loop for step, _ in bound})
        if ways == "all":
            sums_apart(partial)
            totals_apart(partial)
            whole = partial.kernel
            few_sums(partial)
            few_sums_of_loops(partial)
            few_columns(partial)  # whose sums have their partial results already
            has_parts = partial.kernel is not whole
    done |= partial.rare
    if not kernel.overlap:
        for nest in partial.chains():
            parted_by_kind(partial, nest)
        for runs, attempts in ((rows_with_stages, STAGES), (with_conditions, CONDITIONAL)):
            for run in [run for run in runs(partial) if done.isdisjoint(loop.name for loop in run)]:
                with partial.in_nest(run):
                    bound = _first_taken(partial, run, list(run), attempts)
                if bound:
                    grids.append(Grid(run[-1].name, 1 + sum(trip_of(loop) is None for loop in run), bound))
                    done |= loops_within(partial, {step.loop for step, _ in bound})
        while (chain := next((c for c in partial.chains() if c[-1].name not in done), None)) is not None:
            done.add(chain[-1].name)
            bound_there = {step.loop for grid in grids for step, _ in grid.bound}
            if not is_in_a_thread(partial, chain) and bound_there.isdisjoint(loop.name for loop in chain):
                before, needs_order = set(loops(partial.kernel)), not any(is_free_now(partial, loop) for loop in chain)
                with partial.in_nest(chain):
                    bound = _shared_out(partial, chain, simple or not is_left(FOR_NEST))
                grids.append(Grid(chain[-1].name, sum(trip_of(loop) is None for loop in chain), bound))
                done |= loops_within(partial, {step.loop for step, _ in bound})
                if needs_order:
                    done |= set(loops(partial.kernel)) - before  # what is left of a sum is not worth a grid
        grids += _left_over(partial, grids)
    grids = [grid for grid in grids if all(step.loop in loops(partial.kernel) for step, _ in grid.bound)]
    tables_turned(partial, (step for grid in grids for step, _ in grid.bound))
    present = partial.present_facts()
    for grid in grids:
        _bind(partial, grid, present)
    alone, after = dict(partial.refusals), partial.kernel
    other = better_off(after, grids, alone, partial.rare) or each_a_launch(after, present, facts, partial.rare)
    launches = () if choices is not None or other else launch_bounds(kernel, after)
    return Recipe(tuple(partial.decisions), after, present, alone, other, launches), has_parts


def _left_over(partial: PartialSchedule, grids: list[Grid]) -> Iterator[Grid]:
    """Grids of loops of which nothing inside has become one."""
    there = loops(partial.kernel)
    shared = loops_within(partial, {step.loop for grid in grids for step, _ in grid.bound if step.loop in there})
    for run in left_over(partial, shared):
        with partial.in_nest(run):
            if not is_little(partial, run) and (bound := _first_taken(partial, run, list(run), LEFT_OVER)):
                yield Grid(run[-1].name, sum(trip_of(loop) is None for loop in run), bound)


def _restructured(partial: PartialSchedule) -> Iterator[list[Bound]]:
    """First of all the moves that look at a kernel as a whole: what they make is for all others what the user wrote.
    What to bind of nests that were given another order."""
    with_constant_sizes(partial)
    short_rows(partial)
    ragged_nests(partial)
    chequered(partial, on_gpu=True)
    counted(partial)
    loops_fused(partial, on_gpu=True)
    in_turns(partial)
    searched(partial)
    hoisted(partial, on_gpu=True)
    loops_outward(partial)
    with_arrays_of_their_own(partial)
    yield from _in_new_order(partial)
    in_order_of_keys(partial)
    extremes_in_scalars(partial)
    conditions_inside(partial)
    carried(partial)
    compactions(partial)
    recurrences_apart(partial)
    scattered(partial)
    rows_apart(partial)
    statements_apart(partial)
    terms_apart(partial)
    scans_apart(partial)
    ordered_apart(partial)
    sums_inward(partial)
    products_of_all_rows(partial)
    products_apart(partial, together=True)
    products_in_totals(partial)
    sunk(partial)


def _in_new_order(partial: PartialSchedule) -> Iterator[list[Bound]]:
    """What to bind where loops that need their order as written have another one. Tiles of fronts come first: a whole
    front at once would be a launch for each."""
    yield from tiles_of_fronts(partial)
    in_fronts(partial)
    yield from in_panels(partial, _as_product)
    yield from tiles_of_rows(partial)


def _bind(partial: PartialSchedule, grid: Grid, present: Facts) -> None:
    """Bind the loops of a nest that can be; none, where what is left of it cannot run."""
    before, count, refused = partial.kernel, len(partial.decisions), ""
    for step, why in grid.bound:
        if (rejection := step.illegal(partial.kernel, present, partial.strict)) is None:
            partial.kernel = step.apply(partial.kernel)
            partial.decisions.append(ReasonedStep(step, why))
        elif partial.choices is not None and not partial.choices.is_usual:
            raise UnfitError(f"'{step}' is not legal there")
        else:
            refused = rejection.reason
    names = [step.loop for step, _ in grid.bound]
    adds_up = any(
        one.kind == "scalar" for name in names if name in present.loops for one in present.loops[name].reductions
    )
    if (refused or adds_up) and partial.kernel is not before:
        rejection = unrunnable(partial.kernel, present, names)
        if rejection is not None:
            partial.kernel = before
            del partial.decisions[count:]
            partial.refusals[grid.inner] = refused or rejection.reason


def _shared_out(partial: PartialSchedule, chain: Chain, simple: bool) -> list[Bound]:
    """Restructure one nest for a grid, or where it is to be simple only reorder it; the loops to bind."""
    free = [loop for loop in chain if is_free_now(partial, loop)]
    free = [loop for loop in free if not is_point(loop)] or free
    free = [loop for loop in free if not is_narrow(partial, loop)] or ([] if _adds_up(partial, chain, free) else free)
    if not simple and is_little(partial, chain):
        return []
    attempts = (SIMPLE if simple else ATTEMPTS) if free else FOR_SUMS
    if partial.choices is None:
        return _first_taken(partial, chain, free, attempts)
    way = partial.number(WAY)
    return _first_taken(partial, chain, free, attempts, way) or (
        _first_taken(partial, chain, free, attempts) if way else []
    )


def _adds_up(partial: PartialSchedule, chain: Chain, free: list[For]) -> bool:
    """Whether a loop around those that need no order adds up, and may be long."""
    around = chain[: chain.index(free[0])] if free else ()
    return any(partial.verdict(loop) == "reduction" and (trip_of(loop) or LEAST) >= LEAST for loop in around)


def _each_a_thread(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A loop that adds up around ones that need no order, beside other statements: a thread for its iterations, as each
    would start a grid otherwise."""
    if not _adds_up(partial, chain, free):
        return []
    return _first_taken(partial, chain, [], FOR_SUMS)


def _first_taken(
    partial: PartialSchedule, chain: Chain, free: list[For], attempts: Sequence[Attempt], skipped: int = 0
) -> list[Bound]:
    """What the first of the attempts that can be taken binds, once so many have been passed by."""
    found: list[Bound] = []
    for attempt in attempts:
        count = len(partial.decisions)
        with partial.together():
            with partial.by_default() if skipped else nullcontext():
                bound = attempt(partial, chain, free)
            if any(isinstance(decision.step, Guard) for decision in partial.decisions[count:]):
                _are_legal(partial, bound)
            if not bound and len(partial.decisions) > count:
                raise NotTaken
            if bound and skipped:
                skipped -= 1
                raise NotTaken
            if bound:
                _can_run(partial, chain, bound)
            found = bound
        if found:
            partial.refusals.pop(chain[-1].name, None)
            return found
    return []


def _can_run(partial: PartialSchedule, chain: Chain, bound: list[Bound]) -> None:
    """Raises NotTaken where the loops, once they are bound, are no grid that can run; UnfitError where numbers that
    were asked for are to blame."""
    kernel = partial.kernel
    for step, _ in bound:
        if isinstance(step, Bind) and step.has_no_threads(kernel):
            raise NotTaken
        kernel = step.apply(kernel)
    if (rejection := unrunnable(kernel, partial.facts, [step.loop for step, _ in bound])) is not None:
        if partial.choices is not None and not partial.choices.is_usual:
            raise UnfitError(rejection.reason)
        partial.refusals[chain[-1].name] = rejection.reason
        raise NotTaken


def _are_legal(partial: PartialSchedule, bound: list[Bound]) -> None:
    """Raises NotTaken where one of the loops cannot be bound: what it has become may be too hard to judge."""
    kernel, facts = partial.kernel, partial.present_facts()
    for step, _ in bound:
        if step.illegal(kernel, facts, partial.strict) is not None:
            raise NotTaken(str(step))
        kernel = step.apply(kernel)


def _as_product(partial: PartialSchedule, chain: Chain) -> list[Bound]:
    """The tiles of a nest that is a product; nothing where it is none, or there is no time to find them."""
    free = [loop for loop in chain if is_free_now(partial, loop)]
    if not free or not is_left(FOR_NEST):
        return []
    with partial.in_nest(chain):
        return _first_taken(partial, chain, free, (contracted,))


def _in_tiles(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A nest of parallel loops with nothing but assignments inside."""
    x = along_x(partial, chain[-1], free)
    first = chain.index(free[0])
    nest = chain[first:]
    is_plain = not contains(nest[-1].body, While)
    is_box = not any(depends(loop, other.name) for loop in nest for other in nest)
    if len(nest) not in (2, 3) or len(free) != len(nest) or not is_plain or not is_box:
        return []
    if first and len(nest) > 1 and _adds_up(partial, chain, free) and chain[first - 1].body == (nest[0],):
        return []  # a thread adds up what is its own: each term would be a launch
    band = isolate(partial, nest[-1].name, nest[0].name, why_along(partial, x))
    if len(band) != len(nest):
        raise NotTaken
    turned = turned_along(accesses_inside(partial, nest[-1]), nest, x)
    row_loop = turned[0] if turned else next(loop for loop in reversed(nest) if loop is not x)
    order = [*(loop for loop in nest if loop is not x and loop is not row_loop), row_loop, x]
    names = dict(zip((loop.name for loop in nest), band, strict=True))
    *others, row, column = (names[loop.name] for loop in order)
    if order != list(nest):
        partial.take(Reorder((*others, row, column)), why_along(partial, x))
    if turned:
        arrays, size = turned[1:]
        around: list[Bound] = [(Bind(name, "block.z"), why_along(partial, x)) for name in others]
        return [*around, *transposed(partial, row, column, arrays, size)]
    return in_rows_or_short_ones(partial, (*others, row, column), why_along(partial, x))


def _inside_out(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The nest alone, with loops that stand around the parallel ones inside them: one grid instead of one each time."""
    first = chain.index(free[0])
    start = first
    while start and _holds_nothing_else(chain[start - 1], chain[start]):
        start -= 1
    if start == first:
        return []
    for outer, inner in pairwise(chain[start:]):
        if set_before(outer, inner) or len(partial.around(inner.name)[-2].body) > 1:
            partial.take(
                Sink(inner.name), f"'{user_name(inner.name)}' may go around '{user_name(outer.name)}' then", anew=True
            )
    chain = partial.around(chain[-1].name)
    free = [loop for loop in chain if loop.name in {one.name for one in free}]
    bound = _alone(partial, chain, free, start)
    if any(partial.verdict(loop) != "reduction" for loop in chain[start:first]):
        _are_legal(partial, bound)  # what needs no order inside may need it outside
    return bound


def _recurrence_apart(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The same where other statements stand before the parallel loop, such as a recurrence of scalars beside one of
    rows: these get a loop of their own."""
    first = chain.index(free[0])
    outer, inner = chain[max(0, first - 1)], chain[first]
    before = outer.body[:-1]
    if not first or outer.body[-1] is not inner or not before or contains(before, For, While):
        return []
    why = f"what stands before '{user_name(inner.name)}' is apart, so that it may go around '{user_name(outer.name)}'"
    partial.take(Fission(outer.name, len(outer.body), kept=True), why, anew=True)
    partial.remember_accesses()  # what is kept may tell how far the inner loop goes
    now = partial.around(chain[-1].name)
    bound = _inside_out(partial, now, [loop for loop in now if loop.name in {one.name for one in free}])
    if not bound:
        raise NotTaken
    return bound


def _holds_nothing_else(outer: For, inner: For) -> bool:
    """Whether there is nothing in a loop but another one, and cheap scalars before it."""
    scalars = set_before(outer, inner)
    return len(outer.body) == len(scalars) + 1 and price_of(scalars) <= CHEAP


def _perfect(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The nest alone, its parallel loops first."""
    return _alone(partial, chain, free, chain.index(free[0]))


def _alone(partial: PartialSchedule, chain: Chain, free: list[For], first: int) -> list[Bound]:
    inner = chain[-1].name
    x = along_x(partial, chain[-1], free)
    outer = _short_ones_last([loop for loop in free if loop is not x][:2], x)
    why = why_along(partial, x)
    places = [loop.name for loop in chain[first:]]
    band = isolate(partial, inner, places[0], why) if len(places) > 1 else (inner,)
    if len(band) != len(places):
        raise NotTaken
    names = dict(zip(places, band, strict=True))
    taken = [names[loop.name] for loop in (*outer, x)]
    rest = [names[name] for name in places if names[name] not in taken]
    unbound(partial, [loop for loop in partial.around(names[inner]) if loop.name in taken])
    if [*taken, *rest] != [names[name] for name in places]:
        partial.take(Reorder((*taken, *rest)), why)
    return in_blocks(partial, taken, why)


def _whole(partial: PartialSchedule, chain: Chain, free: list[For], least: int = 0) -> list[Bound]:
    """A nest in one piece: its outermost loops, if all that are parallel are among them; each thread does all the rest
    for its iterations. least: iterations of a loop that is worth being among them; all are by default."""
    taken = perfect_run(chain, free)
    names = {loop.name for loop in taken}
    inside = {one for other in partial.chains() if taken[0] in other for one in other if one.name not in names}
    if chain[-1] in taken or any(is_free_now(partial, one) and not is_shorter(one, least) for one in inside):
        return []
    return [] if len(taken) > 3 else _outermost(partial, taken)


def _short_ones_last(outer: list[For], x: For) -> list[For]:
    """Two loops around `x` in the order for a grid: one that is short, as `x` is, shares blocks with it, so that what
    the longer one moves is read once for all of a small matrix."""
    trips = [trip_of(loop) for loop in (*outer, x)]
    are_small = len(outer) == 2 and all(one is not None and one < SMALL for one in (trips[0], trips[-1]))
    return outer[::-1] if are_small and (trips[1] or SMALL) >= SMALL else outer


def _outermost(partial: PartialSchedule, taken: list[For]) -> list[Bound]:
    """Up to three loops around one another with nothing between them."""
    x = along_x(partial, taken[-1], taken)
    order = [*_short_ones_last([loop for loop in taken if loop is not x][:2], x), x]
    if len(taken) == 1:
        return in_blocks(partial, [x.name], f"iterations of '{user_name(x.name)}' are independent")
    why = why_along(partial, x)
    unbound(partial, taken)
    if order != taken:
        partial.take(Reorder(tuple(loop.name for loop in order)), why)
    own_sums_in_scalars(partial, order[-1].name)
    return in_blocks_or_narrow_ones(partial, [loop.name for loop in order], why)


def _all_but_short(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The same where short loops that need no order stand inside, as those that fill a window do."""
    return _whole(partial, chain, free, partial.facts.gpu.warp)


def _outer_loops(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The outermost parallel loops with nothing between them, whatever stands in them."""
    taken = perfect_run(chain, free)[:3]
    return _outermost(partial, taken) if len(taken) > 1 else []


def _as_it_is(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The outermost parallel loop, whatever stands in it."""
    return _outermost(partial, free[:1])


def _apart(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The parallel loops without what stands between them, which gets loops of its own."""
    run = perfect_run(chain, free) if len(free) > 1 else []
    if not run or (len(run) > 1 and along_x(partial, chain[-1], free) in run):
        return []  # threads of the outer loops are neighbours already
    before, outer, inner = partial.kernel, free[0], free[-1]
    why = f"with nothing between them, '{user_name(outer.name)}' and '{user_name(inner.name)}' are one grid"
    unless_narrow(partial, outer.name, inner)
    expanded(partial, partial.around(inner.name), outer)
    if partial.kernel is not before:
        partial.begin_again()  # with what scalars have become
    places = [loop.name for loop in chain[chain.index(outer) : chain.index(inner) + 1]]
    band = isolate(partial, inner.name, outer.name, why)
    if partial.kernel is before or len(band) != len(places):
        raise NotTaken
    names = dict(zip(places, band, strict=True))
    now = partial.around(chain[-1].name)
    mine = [loop for loop in now if loop.name in {names[one.name] for one in free}]
    return _perfect(partial, now, mine) if inner is chain[-1] else _all_but_short(partial, now, mine)


def _in_boxes(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Four loops around one another or more that need no order: blocks for two of them, threads for two."""
    taken = perfect_run(chain, free)
    if len(taken) < 4 or any(depends(loop, other.name) for loop in taken for other in taken):
        return []
    x = along_x(partial, taken[-1], taken)
    return in_boxes(partial, [loop.name for loop in taken if loop is not x] + [x.name], why_along(partial, x))


Attempt = Callable[[PartialSchedule, Chain, list[For]], list[Bound]]

ATTEMPTS = (
    in_chunks_of_blocks,
    in_chunks,
    in_chunks_of_threads,
    rows_by_key,
    rows_that_add,
    rows_of_keys,
    contracted,
    _in_tiles,
    row_by_row,
    sums_over_several,
    shared_sums,
    running_rows,
    rows,
    planes,
    few_rows,
    overlapping_in_few,
    few_with_sums,
    _whole,
    _in_boxes,
    overlapping,
    _inside_out,
    _recurrence_apart,
    _each_a_thread,
    triangle,
    _perfect,
    _apart,
    _all_but_short,
    rows_of_blocks,
    few_apart,
    rows_anyhow,
    _outer_loops,
    _as_it_is,
)
"""Ways to give a nest to a grid, the best ones first: the first that can be taken is."""

FOR_SUMS: tuple[Attempt, ...] = (
    in_chunks_of_blocks,
    in_chunks,
    in_chunks_of_threads,
    in_chunks_each_round,
    rows_that_add,
    by_key,
    totals,
)
"""The same for nests in which no loop is free."""

SIMPLE = tuple(attempt for attempt in ATTEMPTS if attempt is not contracted)
"""Those that ask few questions."""

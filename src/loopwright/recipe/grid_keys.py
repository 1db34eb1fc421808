"""Sums by key on a grid, for the default recipe: elements that only data tells are added to, as in a histogram, in the
sums of classes, in what a table of vectors gets back. Any iteration may add to any element, by atomic updates, so all
loops may be shared, also where one of them needs no order but has few iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from loopwright.analysis.reductions import is_told_by_data, may_be_told_by_data
from loopwright.ir.nodes import Body, Const, For, Load, Run, Store, While
from loopwright.ir.queries import arrays_stored, contains, has
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, statements
from loopwright.recipe.coalescing import accesses_inside
from loopwright.recipe.grid_blocks import in_blocks
from loopwright.recipe.grid_rows import (
    SHARING,
    SharedRow,
    in_rows,
    length_of,
    loops_along,
    number_of,
    rows_and_columns,
    version,
)
from loopwright.recipe.grid_sums import bound_inside, shared_sums
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.recipe.tunable import Tunable
from loopwright.steps.bind import Bind
from loopwright.steps.bucket import Bucket
from loopwright.steps.collapse import Collapse
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.promote import Promote
from loopwright.steps.rank import Rank
from loopwright.steps.reorder import Reorder
from loopwright.steps.resolve import Resolve
from loopwright.steps.sink import Sink, set_before
from loopwright.steps.split import Split

KEYS = Tunable("threads that add by key", 512, (128, 256, 512, 1024), "threads that share a copy of what they add to")
KEYS_EACH = Tunable(
    "iterations of a thread that adds by key",
    64,
    (8, 16, 32, 64, 128),
    "a copy in shared memory is worth its while where it is used often",
)
SHORT = 8
"""Elements of a row that one thread adds: then a block can have copies of what they are added to."""
WORTH_IT = 4096
"""Iterations of known number that are worth two grids instead of one thread."""
KEYS_ROWS = Tunable("rows of threads that add by key", 8, (4, 8, 16), "rows of a block where there are two loops")
WARPS = 16
"""The same where each row has as many entries as data tells: few mostly, so that a warp is enough."""
BUSY = 1 << 14
"""Iterations, a thread for each, that keep a large GPU busy."""
HEAVY_EACH = 2
"""Iterations of a thread where these hold loops: these keep a thread busy by themselves."""
SEVERAL, SEVERAL_EACH = 8, 16
"""Iterations that add to so many elements each, as those of corners, mostly add to large arrays, of which a block has
no copies; and iterations of a thread then: few, so that all are busy."""
ACROSS = Tunable("threads along a row that is added by key", 32, (8, 16, 32, 64, 128), SHARING)


def scattered(partial: PartialSchedule) -> None:
    """Loops that need their order only for who writes an element last, where that is known to be shared afterwards."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or not is_outermost(partial, loop) or (trip_of(loop) or WORTH_IT) < WORTH_IT:
            continue
        if not loop.asserted and partial.verdict(loop) in ("sequential", "undecided"):
            _resolved(partial, name)
            if partial.verdict(partial.around(name)[-1]) in ("sequential", "undecided"):
                _ranked(partial, name)
            if partial.verdict(partial.around(name)[-1]) in ("sequential", "undecided"):
                _in_buckets(partial, name)


def _resolved(partial: PartialSchedule, name: str) -> None:
    why = f"'{user_name(name)}' needs its order only for who writes an element last, which all find out at once"
    with partial.together():
        before = set(loops(partial.kernel))
        names = _apart(partial, name, why)
        if names != [name]:
            partial.remember_accesses()  # of what is kept between them
        for one in names:
            partial.take(Resolve(one), why)
        partial.begin_again()
        _need_no_order(partial, [one for one in loops(partial.kernel) if one == name or one not in before])


def _apart(partial: PartialSchedule, name: str, why: str) -> list[str]:
    """The loops that one becomes which writes to several arrays: one for each array. What they write, and where, is
    computed before."""
    loop = loops(partial.kernel)[name]
    writes = [at for at, stmt in enumerate(loop.body) if isinstance(stmt, Store)]
    if len(writes) < 2 or writes != list(range(writes[0], len(loop.body))):
        return [name]
    names = [name] if not writes[0] else [*made(partial, Fission(name, writes[0] + 1, kept=True), why)]
    for _ in writes[1:]:
        names += made(partial, Fission(names[-1], 2), why)
    return names


def _ranked(partial: PartialSchedule, name: str) -> None:
    """Iterations that take numbers from counters, and write where these say."""
    why = f"iterations of '{user_name(name)}' that count in one element are numbered by a sort, all at once"
    with partial.together():
        partial.take(Rank(name), why)
        partial.begin_again()
        if partial.verdict(partial.around(name)[-1]) in ("sequential", "undecided"):
            _resolved(partial, name)
        _need_no_order(partial, [name])


def _in_buckets(partial: PartialSchedule, name: str) -> None:
    """Iterations that meet only in elements that one index selects."""
    why = f"iterations of '{user_name(name)}' meet only in elements that one index selects: sorted, each has its own"
    if partial.allows(step := Bucket(name)):
        partial.take(step, why)
        partial.begin_again()


def _need_no_order(partial: PartialSchedule, names: list[str]) -> None:
    if any(partial.verdict(partial.around(one)[-1]) not in ("parallel", "reduction") for one in names):
        raise NotTaken


def adds_by_key(partial: PartialSchedule, loop: For) -> bool:
    """Whether iterations of a loop meet only in elements that data selects."""
    if partial.verdict(loop) != "reduction":
        return False
    reductions = partial.present_facts().loops[loop.name].reductions
    return all(one.kind == "scatter" and is_told_by_data(loop, one) for one in reductions)


def may_meet_by_key(partial: PartialSchedule, loop: For) -> bool:
    """Whether iterations of a loop meet only in elements some of which data selects."""
    if partial.verdict(loop) != "reduction":
        return False
    reductions = partial.present_facts().loops[loop.name].reductions
    return all(one.kind == "scatter" and may_be_told_by_data(loop, one) for one in reductions)


def by_key(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A nest that adds to elements that only data tells, as a histogram does: blocks of many iterations, so that copies
    of the targets in shared memory are worth their while."""
    loop = next((loop for loop in chain if partial.verdict(loop) == "reduction"), None)
    if loop is None or free:
        return []
    reductions = partial.present_facts().loops[loop.name].reductions
    if any(reduction.kind != "scatter" for reduction in reductions):
        return []
    targets = " and ".join(f"'{user_name(reduction.target)}'" for reduction in reductions)
    why = (
        f"any iteration may add to any element of {targets}: atomic updates, in copies of a block where these are small"
    )
    inner = loop.body[0]
    is_row = len(loop.body) == 1 and isinstance(inner, For) and partial.verdict(inner) == "reduction"
    if is_row and isinstance(inner, For) and _adds_to_its_own(partial, inner, why):
        is_row, loop = False, partial.around(loop.name)[-1]
    if not is_row or not isinstance(inner, For):
        threads = partial.threads(KEYS)
        few = _few_in_blocks(partial, loop) or _few_as_one(partial, loop)
        is_heavy = any((trip_of(one) or SHORT) >= SHORT for one in statements(loop.body, For))
        is_heavy = is_heavy or contains(loop.body, While)
        are_few = not any(is_told_by_data(loop, reduction) for reduction in reductions)
        usual = _each(loop) if are_few else SEVERAL_EACH if _additions(loop.body) >= SEVERAL else KEYS_EACH.default
        each = replace(KEYS_EACH, default=HEAVY_EACH if is_heavy else usual)
        (block,) = made(partial, Split(loop.name, threads * partial.number(each)), why)
        return [*few, *bound_inside(partial, [Bind(block, "block.x")], Bind(loop.name, "thread.x", threads), why)]
    by_data = any(has(end, Load) for end in (inner.lower, inner.upper))
    rows = partial.number(replace(KEYS_ROWS, default=WARPS) if by_data else KEYS_ROWS)
    (block,) = made(partial, Split(loop.name, rows), why)
    around = [Bind(block, "block.x"), _a_row_each(loop, rows)]
    return bound_inside(partial, around, Bind(inner.name, "thread.x", partial.threads(KEYS) // rows), why)


def _adds_to_its_own(partial: PartialSchedule, inner: For, why: str) -> bool:
    """Whether an inner loop also adds to elements that are each iteration's own, which are kept in scalars where that
    can be."""
    own = [one for one in partial.present_facts().loops[inner.name].reductions if one.kind == "element"]
    with partial.together():
        for reduction in own:
            partial.take(Promote(reduction.target, inner.name), why, anew=True)
    return bool(own)


def _few_in_blocks(partial: PartialSchedule, loop: For) -> list[Bound]:
    """In a version for few iterations, which hold a loop that adds up too, a block for each, whose threads share that
    loop; [] where there is no such version."""
    inner = [stmt for stmt in loop.body if contains((stmt,), For, While)]
    if len(inner) != 1 or not isinstance(entry := inner[0], For) or contains(entry.body, For, While):
        return []
    if trip_of(entry) is not None or partial.verdict(entry) != "reduction":
        return []
    if any(one.kind == "element" for one in partial.present_facts().loops[entry.name].reductions):
        return []  # which threads cannot share
    names = version(partial, loop.name, length_of([loop]), BUSY)
    if names is None:
        return []
    threads = partial.threads(KEYS)
    why = f"few '{user_name(loop.name)}': {threads} threads, a block, share '{user_name(entry.name)}' of each"
    return bound_inside(partial, [Bind(names[loop.name], "block.x")], Bind(names[entry.name], "thread.x", threads), why)


def _few_as_one(partial: PartialSchedule, loop: For) -> list[Bound]:
    """In a version for few iterations, which hold a nest that adds too, threads for all of it; [] where there is no
    such version."""
    band = [loop]
    while inner := [stmt for stmt in band[-1].body if contains((stmt,), For, While)]:
        if len(inner) > 1 or inner[0] is not band[-1].body[-1] or not isinstance(entry := inner[0], For):
            return []
        if partial.verdict(entry) != "parallel" and not adds_by_key(partial, entry):
            return []
        band.append(entry)
    if len(band) < 3:
        return []
    why = f"few '{user_name(loop.name)}': threads share what is in them, which adds to elements that only data tells"
    found: list[Bound] = []
    for share in (_all_at_once, _in_one_block):
        with partial.together():
            if (names := version(partial, loop.name, length_of([loop]), BUSY)) is None:
                raise NotTaken
            found = share(partial, [names[one.name] for one in band], why)
        if found:
            break
    return found


def _all_at_once(partial: PartialSchedule, band: Sequence[str], why: str) -> list[Bound]:
    """The iterations of a nest counted in one loop. Raises NotTaken."""
    for outer, inner in pairwise(band):
        if len(loops(partial.kernel)[outer].body) > 1:
            partial.take(Sink(inner), why, anew=True)
    (one,) = made(partial, Collapse(tuple(band)), why, anew=True)
    (block,) = made(partial, Split(one, partial.threads(KEYS)), why, anew=True)
    return bound_inside(partial, [Bind(block, "block.x")], Bind(one, "thread.x", partial.threads(KEYS)), why)


def _in_one_block(partial: PartialSchedule, band: Sequence[str], why: str) -> list[Bound]:
    """A block for each iteration of the outermost loop of a nest, whose threads share the next and the innermost one.
    Raises NotTaken."""
    across = partial.number(ACROSS)
    around = [Bind(band[0], "block.x"), Bind(band[1], "thread.y", partial.threads(KEYS) // across)]
    return bound_inside(partial, around, Bind(band[-1], "thread.x", across), why)


def _each(loop: For) -> int:
    """How many iterations a thread has that adds to a few elements: fewer where each adds to several of them, as the
    work is the same then."""
    each = KEYS_EACH.default
    while each > KEYS_EACH.among[0] and each * _additions(loop.body) > KEYS_EACH.default:
        each //= 2
    return each


def _additions(body: Body) -> int:
    """To how many elements it adds at most, in loops of known length."""
    return sum(
        (trip_of(stmt) or 1) * _additions(stmt.body)
        if isinstance(stmt, For)
        else isinstance(stmt, Store) + sum(map(_additions, bodies(stmt)))
        for stmt in body
    )


def _a_row_each(loop: For, rows: int) -> Bind:
    """Bind the iterations of a part to rows of threads. Where the loop counts down, its bounds do not tell how many."""
    counts_down = isinstance(loop.step, Const) and loop.step.value < 0
    return Bind(loop.name, "thread.y", rows if counts_down else 0)


def rows_by_key(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The same where each iteration adds a row to one that data selects: rows of threads share the iterations, and the
    threads of each go along its row."""
    first = next((at for at, one in enumerate(chain) if one in free or partial.verdict(one) == "reduction"), 0)
    chain = chain[first:]  # the host runs what is around it, such as a loop over time
    loop = chain[0]
    if loop in free or len(chain) < 2 or partial.verdict(loop) != "reduction":
        return []
    reductions = partial.present_facts().loops[loop.name].reductions
    if not all(reduction.kind == "scatter" and is_told_by_data(loop, reduction) for reduction in reductions):
        return []
    chain = _row_first(partial, chain, free)
    loop, free = chain[0], [one for one in chain if one.name in {other.name for other in free}]
    if partial.verdict(chain[1]) == "reduction":
        return _in_a_block_each(partial, chain, free) or by_key(partial, chain, [])
    rows, across = partial.number(KEYS_ROWS), partial.number(ACROSS)
    along = [stmt for stmt in loop.body if isinstance(stmt, For) and stmt in free]
    if chain[1] not in along or any(isinstance(stmt, For | While) for stmt in loop.body if stmt not in along):
        return by_key(partial, chain, [])
    if all((trip_of(stmt) or SHORT) < SHORT for stmt in along):  # most threads of a row would have nothing to do
        return by_key(partial, chain, [])
    why = f"each '{user_name(loop.name)}' adds a row to one that data selects: {across} threads go along it"
    (block,) = made(partial, Split(loop.name, rows), why)
    around = [Bind(block, "block.x"), _a_row_each(loop, rows)]
    bound = bound_inside(partial, around, Bind(along[0].name, "thread.x", across), why)
    return [*bound, *((Bind(other.name, "thread.x", across), why) for other in along[1:])]


def _row_first(partial: PartialSchedule, chain: Chain, free: list[For]) -> Chain:
    """The same nest with the row that is added around the sum for each of its elements: threads then go along the row,
    and each adds a whole sum at once."""
    row = chain[-1]
    sums: list[For] = []
    for loop in chain[-2:0:-1]:
        if (
            loop in free
            or len(loop.body) > 1
            or partial.verdict(loop) != "reduction"
            or not _adds_to_one(partial, loop)
        ):
            break
        sums.insert(0, loop)
    written = [walk.strides.get(row.name) for walk in accesses_inside(partial, row) if walk.is_write]
    if not sums or row not in free or not all(stride in (1, -1) for stride in written):
        return chain
    step = Reorder((row.name, *(loop.name for loop in sums)))
    if not partial.allows(step):
        return chain
    partial.take(step, f"neighbours of '{user_name(row.name)}' touch neighbouring elements, and each adds a whole sum")
    around = partial.around(sums[-1].name)
    return tuple(around[[loop.name for loop in around].index(chain[0].name) :])


def _adds_to_one(partial: PartialSchedule, loop: For) -> bool:
    """Whether all iterations of a loop add to the same element."""
    return all(walk.strides.get(loop.name) == 0 for walk in accesses_inside(partial, loop) if walk.is_write)


def _in_a_block_each(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Where each of the outer iterations has many inner ones, and each of these adds a row."""
    outer, inner, row = chain[0], chain[1], chain[2] if len(chain) > 2 else chain[1]
    if row not in free or len(outer.body) > 1 or inner.body != (row,) or (trip_of(row) or SHORT) < SHORT:
        return []
    across = partial.number(ACROSS)
    rows = min(partial.facts.gpu.threads, partial.threads(KEYS)) // across
    why = f"each '{user_name(inner.name)}' adds a row to one that data selects: {across} threads go along it"
    around = [Bind(outer.name, "block.x"), Bind(inner.name, "thread.y", rows)]
    return bound_inside(partial, around, Bind(row.name, "thread.x", across), why)


def rows_that_add(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows of several loops that threads share, some of which add to elements that all rows have in common, as the
    gradient of a layer does: atomic updates."""
    loop = next((loop for loop in chain if partial.verdict(loop) == "reduction"), None)
    if loop is None or any(one in free for one in chain[: chain.index(loop)]):
        return []
    if any(one.kind != "scatter" for one in partial.present_facts().loops[loop.name].reductions):
        return []
    along = loops_along(partial, loop.body)
    row = SharedRow((loop.name,), tuple(one.name for one in along))
    rows, columns = rows_and_columns(partial, row)
    return in_rows(partial, row, along) if len(along) > 1 and rows > columns else []


def overlapping(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows that are added to places which overlap, as in `o[i + j] += x[i] * h[j]`: where there are many, each thread
    adds some, by atomic updates. Of few rows the elements are shared, as without this."""
    if len(chain) != 2 or free != [chain[-1]] or len(chain[0].body) != 1 or chain[0].name in partial.short:
        return []
    loop = chain[0]
    reductions = partial.present_facts().loops[loop.name].reductions if partial.verdict(loop) == "reduction" else ()
    if not reductions or any(one.kind != "scatter" or is_told_by_data(loop, one) for one in reductions):
        return []
    inside = {id(stmt) for stmt in statements(loop.body)}
    written = [walk.strides for walk in partial.walks() if walk.is_write and id(walk.stmt) in inside]
    if any(strides.get(one.name) == 0 for strides in written for one in chain):
        return []  # each would add to the same place
    if trip_of(loop) is None:
        names = version(partial, loop.name, length_of([loop]), MANY)
        if names is None:
            return []
        partial.short |= set(names.values())
    elif (trip_of(loop) or 0) < MANY:
        return []
    return by_key(partial, chain, [])


def overlapping_in_few(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Few things, each of which is added to by many iterations at places that overlap, as the gradient of an enlarged
    image is: the iterations of all are shared, by atomic updates. Of many such things each is one thread's, as without
    this."""
    run = [loop for loop, other in zip(chain, free, strict=False) if loop is other]
    if not run or any(len(loop.body) > 1 for loop in run):
        return []
    band = _of_places(partial, chain[len(run) :])
    if len(band) < 2 or len(run) + len(band) > 4 or not all((trip_of(loop) or LEAST) >= LEAST for loop in band[-2:]):
        return []
    few, bound = {loop.name: loop.name for loop in (*run, *band)}, list[Bound]()
    trips = [trip_of(loop) for loop in run]
    if None in trips:
        names = version(partial, run[0].name, number_of(partial, run), MANY)
        if names is None:
            return []
        few = names
        partial.short |= set(names.values())
        bound += in_blocks(partial, [loop.name for loop in run], f"with {MANY} and more each has a thread")
    elif prod(trip or 0 for trip in trips) >= MANY:
        return []
    *outer, row, column = (few[loop.name] for loop in (*run, *band))
    rows, across = partial.number(KEYS_ROWS), partial.number(ACROSS)
    why = f"there are few '{user_name(run[-1].name)}', and all threads add to each, by atomic updates"
    (block,) = made(partial, Split(row, rows), why)
    axes: tuple[Run, ...] = ("block.z", "block.y")
    around = [Bind(name, axis) for name, axis in zip(outer, axes[-len(outer) :], strict=True)]
    around += [Bind(block, "block.x"), Bind(row, "thread.y", rows)]
    return [*bound, *bound_inside(partial, around, Bind(column, "thread.x", across), why)]


def sums_over_several(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Sums of columns over several loops, as those of a bias over images, rows and places: where columns fit a block,
    blocks share the iterations of all the loops, with copies of the sums. Else the host would go through the outer
    ones."""
    if not is_over_several(partial, chain, free):
        return []
    band, column, bound = _of_places(partial, _summed(partial, chain)), chain[-1], list[Bound]()
    few = {loop.name: loop.name for loop in (*band, column)}
    if trip_of(column) is None and column.name not in partial.short:
        names = version(partial, band[0].name, length_of([column]), WIDE)
        if names is None:
            return []
        few = names
        bound += shared_sums(partial, partial.around(column.name), [partial.around(column.name)[-1]])
    *outer, row = (few[loop.name] for loop in band)
    rows, across = partial.number(KEYS_ROWS), partial.number(ACROSS)
    why = f"blocks share all iterations around '{user_name(column.name)}', with copies of the sums"
    (block,) = made(partial, Split(row, rows * ROUNDS), why)
    axes: tuple[Run, ...] = ("block.z", "block.y")
    around = [Bind(name, axis) for name, axis in zip(outer[-2:], axes[-len(outer[-2:]) :], strict=True)]
    around += [Bind(block, "block.x"), Bind(row, "thread.y", rows)]
    return [*bound, *bound_inside(partial, around, Bind(few[column.name], "thread.x", across), why)]


def is_over_several(partial: PartialSchedule, chain: Chain, free: list[For]) -> bool:
    """Whether a nest is that: loops around one another that add up, and one inside them along what is side by side."""
    if len(chain) < 3 or free != [chain[-1]] or partial.strict:
        return False
    band = _of_places(partial, _summed(partial, chain))
    is_close = len(band) > 1 and all(len(loop.body) == 1 for loop in band) and band[-1].body == (chain[-1],)
    trip = trip_of(chain[-1])
    if not is_close or contains(chain[-1].body, For, While) or (trip is not None and not SHORT <= trip < WIDE):
        return False
    inside = {id(stmt) for stmt in statements(chain[-1].body)}
    written = [walk for walk in partial.walks() if walk.is_write and id(walk.stmt) in inside]
    return all(walk.strides.get(chain[-1].name) in (1, -1) for walk in written)


def _summed(partial: PartialSchedule, chain: Chain) -> Chain:
    """The loops around the last one, from the first that adds up on."""
    first = next((at for at, loop in enumerate(chain) if partial.verdict(loop) == "reduction"), len(chain))
    return chain[first:-1]


WIDE = 2048
"""Columns from which on each has a thread, and a block no room for copies."""
ROUNDS = 8
"""Rows for each thread of a block."""


def _of_places(partial: PartialSchedule, chain: Chain) -> Chain:
    """The loops from the first on, whose iterations meet in elements that they add to, but for scalars before the
    next."""
    facts, found = partial.present_facts(), list[For]()
    for loop in chain:
        reductions = facts.loops[loop.name].reductions
        is_sum = partial.verdict(loop) == "reduction" and all(one.kind == "scatter" for one in reductions)
        if not is_sum or (found and set_before(found[-1], loop) != found[-1].body[:-1]):
            break
        found.append(loop)
    return tuple(found)


LEAST = 16
"""Iterations of known number that are worth being shared."""
MANY = 1 << 14
"""Rows from which on a GPU is busy with a thread for some of them."""


def parted_by_kind(partial: PartialSchedule, chain: Chain) -> None:
    """Cut a loop that adds to scalars and to elements that data tells in two, of one kind each."""
    _parted_by_target(partial, chain)
    loop = chain[-1]
    if partial.verdict(loop) != "reduction" or len(loop.body) < 2:
        return
    kinds = {reduction.kind for reduction in partial.present_facts().loops[loop.name].reductions}
    if kinds != {"scalar", "scatter"}:
        return
    scatters = [isinstance(stmt, Store) or contains((stmt,), Store) for stmt in loop.body]
    place = next((at for at, other in enumerate(scatters) if other != scatters[0]), 0)
    if place and all(other != scatters[0] for other in scatters[place:]):
        with partial.together():
            partial.take(
                Fission(loop.name, place + 1), "additions to elements that data selects are apart from sums in scalars"
            )


def _parted_by_target(partial: PartialSchedule, chain: Chain) -> None:
    """Cut a loop that adds to elements of several arrays, which data tells, so that a block can have copies of each."""
    loop = next((one for one in chain if partial.verdict(one) == "reduction"), None)
    if loop is None or len(loop.body) < 2:
        return
    reductions = partial.present_facts().loops[loop.name].reductions
    if len(reductions) < 2 or not all(one.kind == "scatter" and is_told_by_data(loop, one) for one in reductions):
        return
    targets = {one.target for one in reductions}
    for place in range(1, len(loop.body)):
        first, rest = (arrays_stored(part) & targets for part in (loop.body[:place], loop.body[place:]))
        if first and rest and not first & rest:
            with partial.together():
                partial.take(
                    Fission(loop.name, place + 1), "a block can have copies of one array that data selects from"
                )
                partial.begin_again()
                return

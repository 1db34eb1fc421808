"""Few long sums on a grid, for the default recipe: sums of a handful of columns or rows, the product of a tall matrix
with itself. One block, or one thread, for each would leave most of a GPU idle, so that the iterations of each sum are
shared out among all of it (split reduction): partial results first, then sums of these.

How many sums there are, calls tell: a nest has versions for few and for many along each loop around the sum. Tiles of
a product, which would be mostly empty where one side is short, are for the version in which both are long.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations, takewhile
from math import prod

from loopwright.ir.nodes import Allocate, Assign, For, Load, Store
from loopwright.ir.queries import has
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, own_expressions, statements, subexpressions
from loopwright.recipe.distribution import isolate
from loopwright.recipe.grid_keys import is_over_several
from loopwright.recipe.grid_rows import SharedRow, is_told, length_of, loops_along, nest_of, rows_and_columns, size_text
from loopwright.recipe.grid_running import goes_along
from loopwright.recipe.grid_scans import level_of
from loopwright.recipe.grid_sums import terms_of_loops, turned
from loopwright.recipe.grid_tiles import OF_MANY, SHORT
from loopwright.recipe.interchange import depends
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, whole
from loopwright.recipe.register_blocking import Roles
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.reduce import Reduce
from loopwright.steps.reorder import Reorder
from loopwright.steps.scan import Scan, is_plain
from loopwright.steps.specialize import LARGE, TIMES, Specialize
from loopwright.steps.swap import Swap

WIDE = 24
"""From which length on both sides of a convolution's result, and what is added up, fill tiles."""
FEW, LANES = 256, 8192
"""Below how many sums along one loop there are few, and how many partial results each of them has then: so many
together keep a large GPU busy, and they are few beside what they add up."""
SOME, SOME_LANES, LANES_OF_COLUMNS = 2048, 128, 512
"""The same for columns, 16 of which have a block each otherwise. Columns of matrices are read row by row, and may be
long: 256 of 200,000 took 619 us in 128 lanes on an H200, and take 186 in 512; 2,000 of 2,000 take the same in both."""
FEW_ROWS, LANES_OF_LOOPS = 64, 4096
"""Below how many rows, whose terms take loops of their own, there are few, and how many partial results each has then:
a thread has several terms only where there are more than that."""
CHUNK = 256
"""Iterations of a partial result of a product one of whose sides is short. On an H200, 512 and 1024 took up to 1.9
times as long for sums of some thousands, and were no faster for others."""
TALL = 1 << 20
"""From how many sums on such a product has tiles enough without parts, which go through memory three times."""
TINY = 16
"""Below which length of a side each of many products is better off without tiles."""
MOST_PARTS = 1 << 16
"""Partial results of all sums together, of which it is known how many they are."""
SUMS = (1 << 16, 1), (1 << 12, 64), (0, 1024)
"""How many partial results each of other sums has, by how many there are at least."""
CHUNKS = 512
"""Chunks of a running sum: a thread goes through each, and through what all of them add up to."""
LONG = 1 << 16
"""From which length on a running sum, or a row of few, is worth being shared among blocks: shorter ones have a block
each."""
STEP_NS, BYTES_PER_NS, STARTS_NS = 130, 4200, 50_000
"""What an iteration of a running sum takes that a thread goes through alone, what a large GPU's memory moves, and what
it takes to start all grids of a sum in chunks and to put the chunks together, as measured on an H200."""
READS, READS_OF_MAPS = 1.5, 3.0
"""How often a running sum in chunks moves what it would move in one go, and one that has a factor, too."""
LONG_COLUMN = 1 << 13
"""From which length on the loops along a column, if columns are few, are worth nests of their own, each of which has to
be started: the 32 threads that share a column otherwise take some 10 ns for each of its elements."""
WIDE_COLUMNS = 2048
"""Columns from which on there are threads enough, one for each."""
PLANES = 64
"""Partial results of each of few planes, a block for each."""
LEAST = 256
"""Iterations of a sum of known length that are worth being shared out."""


def few_sums(partial: PartialSchedule) -> None:
    """Give nests of sums a version for calls in which there are few sums: with partial results. Of several products
    none has versions: each would have four, and all together keep the analysis busy for longer than it may be."""
    written, seen = set(loops(partial.kernel)), set[str]()
    products = [chain[-1].name for chain in partial.chains() if _is_of_products(partial, chain)]
    if len(products) > 1:
        seen |= set(products)
    while (nest := next((c for c in partial.chains() if c[-1].name in written - seen), None)) is not None:
        seen.add(inner := nest[-1].name)
        if not is_outermost(partial, nest[0]):
            continue
        with partial.together():
            seen.add(_in_versions(partial, partial.around(inner)))  # what is cut off meanwhile is looked at afterwards


def few_columns(partial: PartialSchedule) -> None:
    """Give columns of several loops, each of which goes along a column, a version for calls in which there are few: a
    nest for each of the loops, all of whose elements are shared out. Else few blocks have all columns. And few long
    rows, and planes of several nests likewise."""
    for loop in list(loops(partial.kernel).values()):
        if isinstance(loop, For) and len(loop.body) > 1:
            with partial.together():
                _apart(partial, loop)
            if loop in loops(partial.kernel).values():
                with partial.together():
                    _planes_apart(partial, loop)


def few_sums_of_loops(partial: PartialSchedule) -> None:
    """Give rows whose terms take loops of their own, which need their order, a version for calls in which there are few
    rows of many terms: the blocks that have a row each (`few_rows`) would be as few."""
    for name, row in list(loops(partial.kernel).items()):
        if not isinstance(row, For) or not is_outermost(partial, row) or not _is_free(partial, row):
            continue
        entry = terms_of_loops(partial, row)
        if entry is None or all(partial.verdict(loop) != "sequential" for loop in statements(entry.body, For)):
            continue  # what needs no order inside may be shared, too
        with partial.together():
            few = _version(partial, [name, entry.name], [row], FEW_ROWS)
            with suppress(NotTaken):  # where calls do not tell how many terms there are, there may be many
                few = _version(partial, few, [entry], FEW_ROWS)
            _shared_out(partial, few[:-1], few[-1], LANES_OF_LOOPS, has_scalars=True)


def _along(partial: PartialSchedule, each: For) -> list[For]:
    """The loops in the body of one that needs no order, if all are along it. Raises NotTaken."""
    found = [loop for loop in each.body if isinstance(loop, For)]
    if not found or not _is_free(partial, each) or found != loops_along(partial, each.body):
        raise NotTaken
    if any(_is_free(partial, loop) for loop in partial.around(each.name)[:-1]):
        raise NotTaken
    return found


def _each_alone(partial: PartialSchedule, each: str, along: list[str], why: str) -> None:
    """Cut a loop into one for each of the loops in its body. Raises NotTaken."""
    (body,) = (loop.body for loop in partial.around(each) if loop.name == each)
    for name in dict.fromkeys(stmt.name for stmt in body if isinstance(stmt, Assign)):
        partial.take(Expand(name, (each,)), why, anew=True)
    partial.begin_again()
    for name in along:
        isolate(partial, name, partial.around(name)[-2].name, why)
    partial.begin_again()


def _planes_apart(partial: PartialSchedule, each: For) -> None:
    """Raises NotTaken."""
    nests = [nest_of(partial, loop) for loop in _along(partial, each)]
    if len(nests) < 2:
        raise NotTaken
    sums = [partial.verdict(nest[0]) == "reduction" for nest in nests]
    if any(len(nest) < 3 for nest in nests) or not any(sums):
        raise NotTaken
    names = [loop.name for loop in nests[0]]
    copy, *along = _version(partial, [each.name, *(nest[0].name for nest in nests), *names[1:]], [each], FEW)
    inner, along = along[len(nests) :], along[: len(nests)]
    sides = [loop for loop in partial.around(inner[-1]) if loop.name in (along[0], *inner)]
    _version(partial, [copy, *along], sides, LONG_COLUMN, product=True)
    why = f"where there are few '{user_name(each.name)}', their nests keep more of a GPU busy one after the other"
    _each_alone(partial, copy, along, why)
    for name in [name for name, is_sum in zip(along, sums, strict=True) if is_sum]:
        _shared_out(partial, [partial.around(name)[-2].name], name, PLANES)


def _apart(partial: PartialSchedule, each: For) -> None:
    """Raises NotTaken."""
    found = _along(partial, each)
    row = SharedRow((each.name,), tuple(loop.name for loop in found))
    sums = [partial.verdict(loop) == "reduction" for loop in found]
    rows, columns = rows_and_columns(partial, row)
    if not any(sums):
        raise NotTaken
    are_rows = columns <= rows
    if not are_rows and any(len(nest_of(partial, loop)) > 1 for loop in found):
        _over_several(partial, each, found, sums)
        return
    few, least = (FEW_ROWS, LONG) if are_rows else (FEW, LONG_COLUMN)
    if len(found) < 2 or any((trip_of(loop) or least) < least for loop in found):
        raise NotTaken
    if are_rows and (trip_of(each) is not None or any(len(nest_of(partial, loop)) > 1 for loop in found)):
        raise NotTaken
    names = [each.name, *row.shared]
    if are_rows:  # most are short, and have versions of their own
        _version(partial, names, [partial.around(names[1])[-1]], least)
    column, *along = _version(partial, names, [partial.around(each.name)[-1]], few)
    if not are_rows:
        _version(partial, [column, *along], [partial.around(along[0])[-1]], least)
    why = f"where there are few '{user_name(column)}', their loops keep more of a GPU busy one after the other"
    _each_alone(partial, column, along, why)
    for name in [name for name, is_sum in zip(along, sums, strict=True) if is_sum]:
        _shared_out(partial, [partial.around(name)[-2].name], name, LANES)


def _over_several(partial: PartialSchedule, each: For, found: list[For], sums: list[bool]) -> None:
    """The same of columns that go through several loops, as those of a channel through images, rows and places do: the
    sums go around the columns then, and blocks share them (`sums_over_several`). Raises NotTaken."""
    column, *along = _version(partial, [each.name, *(loop.name for loop in found)], [each], WIDE_COLUMNS)
    there = loops(partial.kernel)
    nests = [nest_of(partial, loop) for name in along if isinstance(loop := there[name], For)]
    _version(partial, [column, *along], max(nests, key=len), LONG_COLUMN, product=True)
    why = f"sums of each '{user_name(column)}' over several loops are shared out, and neighbours are side by side"
    _each_alone(partial, column, along, why)
    there = loops(partial.kernel)
    for name in [name for name, is_sum in zip(along, sums, strict=True) if is_sum]:
        loop = there[name]
        assert isinstance(loop, For)
        inner = [loop]
        while len(inner[-1].body) == 1 and isinstance(one := inner[-1].body[0], For):
            inner.append(one)
        own = partial.around(name)[-2].name
        partial.take(Reorder((*(one.name for one in inner), own)), why, anew=True)
        partial.short.add(own)
    partial.begin_again()


def _is_of_products(partial: PartialSchedule, chain: Chain) -> bool:
    """Whether a nest adds up along two loops or more that need no order, and calls tell how long these are."""
    free = [loop for loop in chain if _is_free(partial, loop)]
    adds = any(partial.verdict(loop) == "reduction" for loop in chain)
    return adds and len(free) > 1 and any(trip_of(loop) is None for loop in free)


def _in_versions(partial: PartialSchedule, chain: Chain) -> str:
    """The loop that adds up. Raises NotTaken."""
    free = list(takewhile(lambda loop: _is_free(partial, loop), reversed(chain)))
    if is_over_several(partial, chain, free):
        raise NotTaken
    if free and len(free) < len(chain):
        chain = turned(partial, chain[-len(free) - 1 :])
    outer, entry = _sums(partial, chain)
    in_parts = _in_chunks if partial.verdict(entry) == "sequential" else _shared_out
    if _may_fail(partial, (*outer, entry)[0]) and (in_parts is _shared_out or not is_plain(partial.kernel, entry)):
        raise NotTaken("each access of a partial result would be tested")
    if in_parts is _shared_out and any(has(bound, Load) for bound in own_expressions(entry)):
        raise NotTaken("data say how long a row is: most may be shorter than it takes to share them out")
    names = [loop.name for loop in (*outer, entry)]
    if len(outer) == 1:
        lanes = LANES_OF_COLUMNS if _in_columns(partial, outer[0].name, entry) else SOME_LANES
        rows, length = _worth_chunks(partial, outer[0], entry) if in_parts is _in_chunks else (FEW, LONG)
        with suppress(NotTaken):
            if in_parts is _shared_out and not goes_along(partial, outer[0], entry):
                some = _version(partial, names, outer, SOME)
                names, outer = some, [loop for loop in partial.around(some[-1]) if loop.name in some[:-1]]
        few = _version(partial, names, outer, rows)
        if in_parts is _shared_out and names[-1] != entry.name:
            in_parts(partial, names[:-1], names[-1], lanes)
        if in_parts is _in_chunks:
            with suppress(NotTaken):  # where calls do not tell how long rows are, they may be long
                _version(partial, few, [partial.around(few[-1])[-1]], length)
        in_parts(partial, few[:-1], few[-1], LANES)
        return entry.name
    if in_parts is _shared_out and _is_product(partial, outer[-2].name, outer[-1].name, entry):
        _products(partial, names, outer)
        return entry.name
    if in_parts is _in_chunks and any(depends(inner, loop.name) for loop, inner in combinations(outer, 2)):
        partial.apart |= set(_version(partial, names, outer, LANES, product=True))
        return entry.name
    small = _version(partial, names, outer, SHORT)
    for least, lanes in SUMS:
        here = small
        if least:
            small = _version(partial, here, outer, least, product=True)
            partial.short |= set(small[:-1])
        if lanes > 1 and (small is not here or not least):
            in_parts(partial, here[:-1], here[-1], lanes)
    return entry.name


def _may_fail(partial: PartialSchedule, loop: For) -> bool:
    """Whether an access of a loop is tested as it happens."""
    facts = partial.present_facts()
    accesses: list[Load | Store] = [*expressions(loop.body, Load), *statements(loop.body, Store)]
    return any(bounds.kind == "checked" for one in accesses for bounds in facts.bounds_of(one))


def _worth_chunks(partial: PartialSchedule, row: For, entry: For) -> tuple[int, int]:
    """Below how many running sums, and from which length on, chunks of each take less time. A block for each row, whose
    elements lie side by side, is busy enough; a thread for each column waits for memory in every iteration, so that
    columns have to be many before they keep memory busy (Little's law)."""
    if goes_along(partial, row, entry):
        return FEW, LONG
    inside = {id(stmt) for stmt in statements(entry.body)}
    moved = [walk for walk in partial.walks() if id(walk.stmt) in inside and walk.strides.get(entry.name) != 0]
    times = READS if is_plain(partial.kernel, entry) else READS_OF_MAPS
    rows = STEP_NS * BYTES_PER_NS / (times * sum(walk.size_bytes for walk in moved) or 1)
    return max(FEW, _power_below(rows)), _power_below(2 * times * STARTS_NS / STEP_NS)


def _power_below(number: float) -> int:
    """The greatest power of two that is not greater."""
    return 1 << max(0, int(number).bit_length() - 1)


def _products(partial: PartialSchedule, names: list[str], outer: list[For]) -> None:
    """Versions of a product, or of many, for tiles of several sizes. Raises NotTaken."""
    sides, least = outer[-2:], OF_MANY if len(outer) > 2 else SHORT
    small = _version(partial, names, sides, least)
    partial.sides |= dict.fromkeys(small[-3:-1], least)
    if len(outer) > 2:
        partial.short |= set(_version(partial, small, sides, TINY)[-3:-1])
        return
    with suppress(NotTaken):  # where there are more than that, however many
        tiny = _version(partial, small, outer, FEW, product=True)
        _shared_out(partial, tiny[:-1], tiny[-1], LANES)
        partial.short |= set(tiny[:-1])
        if tiny == small:
            return
    with suppress(NotTaken):
        if len({length_of([side]) for side in sides}) > 1:  # else both are short, and sums few
            small = _version(partial, small, outer, TALL, product=True)
    _shared_out(partial, small[:-1], small[-1], CHUNK, chunks=True)


def wide_windows(partial: PartialSchedule, chain: Chain, roles: Roles) -> None:
    """A version of a convolution for where tiles would be mostly empty: few channels, or a short side of the result. It
    has none; the nest that is given has."""
    names = [loop.name for loop in chain]
    with suppress(NotTaken):
        sides = [loop for loop in chain if loop.name in (roles.rows, roles.vector, roles.depth)]
        found = _version(partial, names, sides, WIDE)
        partial.short |= {found[names.index(name)] for name in (roles.rows, roles.vector)}


def short_sides(partial: PartialSchedule, chain: Chain, roles: Roles) -> None:
    """A version of a nest in which elements decay while they are added to, for where few tiles would have them all:
    such a sum has no partial results, so that only its elements can be shared out."""
    with suppress(NotTaken):
        sides = [loop for loop in chain if loop.name in (roles.rows, roles.vector)]
        names = [loop.name for loop in chain]
        found = _version(partial, names, sides, SHORT)
        partial.short |= {found[names.index(name)] for name in (roles.rows, roles.vector)}


def _version(
    partial: PartialSchedule, names: list[str], sides: list[For], least: int, product: bool = False
) -> list[str]:
    """A copy of a nest for where some of the sides are shorter than that, or where all together have fewer elements:
    its loops, by those of the first version. The same ones where that is always so. Raises NotTaken where it never
    is."""
    trips = [trip for trip in map(trip_of, sides) if trip is not None]
    lengths = [length_of([side]) for side in sides if trip_of(side) is None]
    sizes = [size_text(one) for one in lengths if one is not None and is_told(partial, one)]
    if len(sizes) < len(lengths):
        raise NotTaken
    if product:
        least = -(-least // max(1, prod(trips)))
        sizes = [TIMES.join(sizes)] if sizes else []
    elif any(trip < least for trip in trips):
        return names
    if not sizes:
        if product and least > 1:
            return names
        raise NotTaken
    step = Specialize(tuple(dict.fromkeys(sizes)), LARGE, least, names[0])
    copies = whole(partial, step, f"calls with less than {least} of '{' '.join(sizes)}' are better off in another way")
    if not copies:
        raise NotTaken
    found = [copies[name] for name in names]
    partial.few |= set(found)
    return found


def _sums(partial: PartialSchedule, chain: Chain) -> tuple[list[For], For]:
    """The loops around a sum that need no order, each of which holds nothing but the next, and the loop that adds up.
    Raises NotTaken."""
    *around, entry = chain
    length = trip_of(entry)
    outer = [loop for loop in around if _is_free(partial, loop)]
    is_sum = partial.verdict(entry) == "reduction" or partial.allows(Scan(entry.name, CHUNKS))
    if not is_sum or (length is not None and length < LEAST) or not outer:
        raise NotTaken
    if around[-len(outer) :] != outer or any(len(loop.body) != 1 for loop in outer[:-1]):
        raise NotTaken
    if sum(1 for _ in statements(outer[-1].body, For)) != 1:
        raise NotTaken
    if len(outer) > 2 and not _is_product(partial, outer[-2].name, outer[-1].name, entry):
        raise NotTaken
    return outer, entry


def _in_columns(partial: PartialSchedule, column: str, entry: For) -> bool:
    """Whether what lies side by side along the columns lies rows apart along what is added up."""
    inside = {id(stmt) for stmt in statements(entry.body)}
    walks = [walk.strides for walk in partial.walks() if id(walk.stmt) in inside]
    return any(one.get(column) in (1, -1) and one.get(entry.name) not in (0, 1, -1) for one in walks)


def _is_product(partial: PartialSchedule, row: str, column: str, entry: For) -> bool:
    """Whether what is added up is made of rows of one thing and columns of another."""
    inside = {id(stmt) for stmt in statements(entry.body)}
    walks = [walk for walk in partial.walks() if id(walk.stmt) in inside and walk.strides.get(entry.name) != 0]
    sides = {(walk.strides.get(row) != 0, walk.strides.get(column) != 0) for walk in walks}
    return {(True, False), (False, True)} <= sides


def _is_free(partial: PartialSchedule, loop: For) -> bool:
    found = None if loop.name in partial.turns else partial.proven(loop)
    return found is not None and is_free(loop, found)


def _shared_out(
    partial: PartialSchedule, outer: list[str], entry: str, lanes: int, chunks: bool = False, has_scalars: bool = False
) -> None:
    """Partial results of each sum, and sums of these, in nests of their own. lanes, chunks: see `reduce`; has_scalars:
    whether scalars of a row stay such. Raises NotTaken."""
    parts = (
        f"a partial result for every {lanes} iterations keeps" if chunks else f"{lanes} partial results of each keep"
    )
    why = f"where there are few sums, {parts} more of a GPU busy"
    before, made = set(loops(partial.kernel)), set(_local(partial))
    trips = [trip_of(loop) for loop in partial.around(outer[-1])[-len(outer) :]]
    if not chunks and None not in trips:
        lanes = min(lanes, max(1, _power_below(MOST_PARTS / prod(trip or 1 for trip in trips))))
    partial.take(Reduce(entry, lanes, chunks), why, anew=True)
    lane, merge = (name for name in loops(partial.kernel) if name not in before)
    partial.merges.add(merge)
    for array in [name for name in _local(partial) if name not in made]:
        expand = Expand(array, tuple(outer), innermost=chunks)
        partial.take(expand, f"{why}, for each '{user_name(outer[-1])}'", anew=True)
    if has_scalars:  # which are for what puts the lanes together
        body = partial.around(outer[-1])[-1].body
        for place in range(
            next(at for at, one in enumerate(body, 1) if isinstance(one, For) and one.name == lane), 1, -1
        ):
            partial.take(Swap(outer[-1], place), why, anew=True)
    band = isolate(partial, lane, outer[0], why)
    if chunks:
        partial.take(Reorder((band[-1], *band[:-1])), "every part is a product of its own")
    partial.begin_again()


def _in_chunks(partial: PartialSchedule, outer: list[str], entry: str, lanes: int) -> None:
    """The chunks of a loop that only needs its order for what it adds up, in nests of their own. Raises NotTaken."""
    why = f"where there are few '{user_name(outer[-1])}', {CHUNKS} chunks of each keep more of a GPU busy"
    *_, around, row = partial.around(entry)
    has_totals, made = is_plain(partial.kernel, row), set(_local(partial))
    in_columns = not goes_along(partial, around, row)
    bounds = [part for expr in own_expressions(row) for part in subexpressions(expr, Load)]
    if bounds and not has_totals:
        raise NotTaken("data say how long a row is: most may be shorter than their chunks cost")
    level = level_of(partial, entry, CHUNKS, why)
    partial.rare |= {phase.again for phase in level.phases}
    body = partial.around(outer[-1])[-1].body
    crossing = [stmt.name for stmt in body if isinstance(stmt, Assign)]
    for name in dict.fromkeys([name for name in _local(partial) if name not in made] + crossing):
        expand = Expand(name, tuple(outer), innermost=in_columns and name not in crossing)
        partial.take(expand, f"{why}, for each '{user_name(outer[-1])}'", anew=True)
    # Totals are put together by a block; maps by a thread of each row, which also sees whether they are to be trusted.
    apart = [phase.ahead for phase in level.phases]
    partial.begin_again()
    for loop in (*apart, level.phases[-1].merge if has_totals else level.chunk):
        isolate(partial, loop, partial.around(loop)[-1 - len(outer)].name, why)
    partial.begin_again()


def _local(partial: PartialSchedule) -> list[str]:
    return [stmt.array for stmt in statements(partial.kernel.body, Allocate)]

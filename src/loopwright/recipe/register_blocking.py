"""Blocks in registers: a nest that adds to the same elements again and again (a product of matrices and its kin) keeps
a small block of them in vector registers, while the data it is made from streams by from the caches.

The nest needs three loops: `vector`, along which the target goes by ones; `rows`, in which it moves and some operand
stays; `depth`, in which it stays. Each operand loaded is then used once for every row, or for every column, of the
block. Operands go by ones along `vector` too, or stay; or go by ones along `depth`, and are copied. There may be
several loops of depth in one another, as over a window (a convolution); their order stays. Small windows of constant
size are left to the C compiler, which writes them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from loopwright.analysis.strides import AccessStrides
from loopwright.ir.nodes import Assign, Binary, For, If, Load, Store, Unary
from loopwright.ir.queries import names_in, size_of
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, statements, subexpressions
from loopwright.recipe.distribution import isolate
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, whole
from loopwright.recipe.scalar_expansion import tying
from loopwright.recipe.shape import MOST_TRIPS, short_loops
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.tunable import Constraint, Tunable
from loopwright.steps.complete import Complete
from loopwright.steps.demote import Demote
from loopwright.steps.extent import trip_of
from loopwright.steps.overrun import Overrun
from loopwright.steps.pack import Pack
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.specialize import LARGE, TIMES, Specialize
from loopwright.steps.split import Split
from loopwright.steps.tile import Tile
from loopwright.steps.unroll_and_jam import UnrollAndJam

ROWS = Tunable(
    "rows of a register block",
    6,
    (2, 4, 6, 8),
    "each element loaded for a column is used for so many rows; all sums of a block share the vector registers",
)
COLUMNS = Tunable(
    "vectors of a register block",
    4,
    (1, 2, 3, 4, 6),
    "each element loaded for a row is used for so many vectors side by side; all sums of a block share the registers",
)
DEPTH = Tunable(
    "depth of a register block",
    384,
    (64, 128, 256, 384, 512, 1024),
    "iterations for one visit of a block: what its columns need of them is to fit into the second cache",
)
STRIPS = Tunable(
    "strips of register blocks",
    0,
    (0, 1),
    "blocks go down a strip of columns, or along a strip of rows: what they have in common stays in the cache",
    words=("columns", "rows"),
)
COPIED = Tunable(
    "copy of a strip",
    1,
    (0, 1),
    "the strip of columns that all rows use lies in one piece, in few pages; making it costs as much as a row or two",
    words=("none", "made"),
)
PANEL = Tunable(
    "register blocks of a panel",
    84,
    (0, 21, 42, 84, 168),
    "the rows of so many blocks are copied in the order in which blocks read them, and used for every strip of columns",
)
TOGETHER = Tunable(
    "columns of a window together",
    2,
    (1, 2, 3),
    "a sum that is not kept in a register is loaded and stored once for so many columns",
)
WINDOW = 16
"""Iterations of the inner loops of depth together, as far as one may guess: with several of them it is a window."""

FEW_COLUMNS, FEW_IN_ROW = 4, 96
"""Columns, and iterations in all of a row, with which blocks begin to pay: those have room for many columns."""

MOST_AROUND = 3000
"""Nodes of the outermost statement that a nest stands in, of which its blocks make some 600 more. Each of their steps
looks at all of that statement: of a Kalman filter with eleven products in its loop over time, blocks for every one
took half a minute to find and to compile."""

Strides = Mapping[str, int | None]
"""How far an access moves with each loop around it: see `AccessStrides`."""

FEWEST = 4
IN_REGISTERS = Constraint(
    f"a register block has {FEWEST} to 48 vectors of sums",
    lambda numbers: FEWEST <= numbers[ROWS.name] * numbers[COLUMNS.name] <= 48,
)


@dataclass(frozen=True, slots=True)
class Roles:
    """The loops of a nest by what they do for a block, those of depth outermost first; the array that the block is part
    of, the arrays along whose rows `depth` goes, where `vector` should, those of which all rows use one strip, and
    those of which all columns use the same rows."""

    rows: str
    depths: tuple[str, ...]
    vector: str
    target: str
    element_bytes: int
    across: tuple[str, ...]
    strips: tuple[str, ...]
    panels: tuple[str, ...] = ()

    @property
    def depth(self) -> str:
        """The innermost loop of depth."""
        return self.depths[-1]


def in_registers(partial: PartialSchedule, target: CpuTarget) -> None:
    """Block every nest that gains from it."""
    done: set[str] = set()
    while (chain := next((c for c in partial.chains() if c[-1].name not in done), None)) is not None:
        done |= {chain[-1].name}
        if any(loop.name in partial.few for loop in chain):
            continue  # that version stays as it is
        before = {loop.name for c in partial.chains() for loop in c}
        with partial.together(), partial.in_nest(chain):
            if _nodes_around(partial, chain[-1]) > MOST_AROUND:
                raise NotTaken
            _for_few(partial, chain)
            roles = wanted(partial, partial.around(chain[-1].name))
            _block(partial, roles, partial.around(chain[-1].name), target)
            done |= {loop.name for c in partial.chains() for loop in c} - before
            done |= {roles.rows, *roles.depths, roles.vector}
            continue
        with partial.together(), partial.in_nest(chain):
            _in_lanes(partial, wanted(partial, chain), partial.around(chain[-1].name))
            done |= {loop.name for c in partial.chains() for loop in c} - before


def _nodes_around(partial: PartialSchedule, loop: For) -> int:
    holds = (stmt for stmt in partial.kernel.body if any(one is loop for one in statements((stmt,), For)))
    return size_of(tuple(holds))


def _for_few(partial: PartialSchedule, chain: Chain) -> None:
    """A version of the nest as it is, for few columns. Raises NotTaken where there will be no blocks."""
    found: list[Roles] = []
    with partial.together():
        found.append(wanted(partial, chain))
        raise NotTaken("only asked")
    if not found:
        raise NotTaken
    roles = found[0]
    few = f"blocks of '{user_name(roles.target)}' gain nothing where it has few columns, or each row takes little"
    inside = [loop for loop in chain if loop.name in (roles.rows, roles.vector, *roles.depths)]
    if all(trip_of(loop) is not None for loop in inside if loop.name != roles.rows):
        return  # one knows
    with partial.together():
        numbers = f"{FEW_IN_ROW // FEW_COLUMNS}{TIMES}{roles.vector}", TIMES.join((roles.vector, *roles.depths))
        rest = whole(partial, Specialize(numbers, LARGE, FEW_IN_ROW, inside[0].name), few)
        if not {loop.name for loop in inside} <= set(rest):
            raise NotTaken
        partial.few |= set(rest.values())
        for order in ((roles.rows, roles.vector, *roles.depths), (roles.vector, *roles.depths)):
            with partial.together():  # each sum in a register, where it is in an element
                partial.take(Reorder(tuple(rest[name] for name in order)), few)
                partial.take(Promote(roles.target, rest[roles.depths[0]]), few, anew=True)
                break


def wanted(partial: PartialSchedule, chain: Chain) -> Roles:
    """What the loops do for a block, with sums in elements of an array where they were in scalars. Raises NotTaken."""
    short = set(short_loops(chain))
    roles = _any_roles(partial, chain)
    in_scalars = roles is None and len(chain) > 2
    if in_scalars and (scalars := tying(partial, chain[-1])):
        for name in scalars:
            partial.take(Demote(name), f"what '{user_name(name)}' adds up can be added side by side in elements")
        roles = _any_roles(partial, partial.around(chain[-1].name))
    if roles is None or (short.issuperset(roles.depths) and (in_scalars or len(roles.depths) > 1)):
        raise NotTaken
    return roles


def _any_roles(partial: PartialSchedule, chain: Chain) -> Roles | None:
    """With a window, or with another part of the target's own array, as in a triangular system."""
    return roles_of(partial, chain, windows=True) or roles_of(partial, chain, own=True)


def roles_of(partial: PartialSchedule, chain: Chain, windows: bool = False, own: bool = False) -> Roles | None:
    """What the loops of a nest do for a block; None where it is no such nest. windows: an operand may also go along
    with a loop, as a window does. own: it may be another part of the target's array, as in a factorisation, and a test
    may choose among the elements of the target, as one of a triangle made a square does."""
    body = chain[-1].body
    test = body[0] if own and len(body) == 1 and isinstance(body[0], If) and not body[0].otherwise else None
    inside = list(statements(test.then if test else body))
    if len(chain) < 3 or not inside or not isinstance(store := inside[-1], Store):
        return None
    if not all(isinstance(stmt, Assign) for stmt in inside[:-1]) or tying(partial, chain[-1]):
        return None
    numbers = {id(stmt) for stmt in inside}
    accesses = [walk for walk in partial.walks() if id(walk.stmt) in numbers]
    mine = [walk for walk in accesses if walk.array == store.array and not (own and walk.node.index != store.index)]
    operands = [walk for walk in accesses if walk not in mine]
    if any(walk.node.index != store.index for walk in mine) or len(mine) < 2:
        return None
    named = store.array, store.value.type.size_bytes
    found = roles_among(chain, [walk.strides for walk in mine], operands, named, windows, own)
    chosen = names_in(test.condition) if test else set[str]()
    if found is None or (test and any(subexpressions(test.condition, Load))):
        return None
    return found if chosen <= {found.rows, found.vector} else None


def roles_among(
    chain: Chain,
    mine: Sequence[Strides],
    operands: Sequence[AccessStrides],
    target: tuple[str, int],
    windows: bool = False,
    own: bool = False,
) -> Roles | None:
    """The same for a sum alone. mine: how the element moves that it is in; target: the name of its array, and the bytes
    of an element."""
    if not operands:
        return None
    depth = next((loop for loop in reversed(chain) if not _moves(mine, loop)), None)
    vector = next((loop for loop in reversed(chain) if all(one.get(loop.name) == 1 for one in mine)), None)
    deep = [loop for loop in chain if not _moves(mine, loop)]
    going = deep if windows else []
    if depth is None or vector is None or not _are_shared(operands, vector, going):
        return None
    outer = [loop for loop in chain if loop is not vector]
    sides = [loop for loop in reversed(outer) if _moves(mine, loop) and _are_shared(operands, loop, going)]
    rows = next((loop for loop in sides if not _go_with(operands, loop, vector)), None) if own else None
    rows = rows or next(iter(sides), None)
    far = [walk for walk in operands if walk.strides.get(vector.name) not in (0, 1)]
    if rows is None or any(walk.strides.get(depth.name) != 1 or walk.strides.get(rows.name) != 0 for walk in far):
        return None
    across = tuple(dict.fromkeys(walk.array for walk in far))
    along = (walk for walk in operands if walk.strides.get(vector.name) == 1 and walk.strides.get(rows.name) == 0)
    strips = tuple(dict.fromkeys(walk.array for walk in along if walk.strides.get(depth.name) != 0))
    still = (walk for walk in operands if walk.strides.get(vector.name) == 0 and walk.strides.get(rows.name) != 0)
    panels = tuple(dict.fromkeys(walk.array for walk in still if walk.strides.get(depth.name) != 0))
    within = chain[min(chain.index(one) for one in (rows, depth, vector)) :]
    depths = tuple(loop.name for loop in within if loop in deep)
    useful = {name for name in depths if any(walk.strides.get(name) != 0 for walk in operands)}
    if len(depths) > 1 and ((across and not own) or useful != set(depths)):
        return None  # a loop in which nothing moves repeats the others: their data is in the cache already
    return Roles(rows.name, depths, vector.name, *target, across, strips, panels)


def _moves(mine: Sequence[Strides], loop: For) -> bool:
    return any(one.get(loop.name) != 0 for one in mine)


def _go_with(operands: Sequence[AccessStrides], loop: For, other: For) -> bool:
    """Whether an operand moves along both loops, so that each of their iterations uses other elements."""
    return any(walk.strides.get(loop.name) != 0 != walk.strides.get(other.name) for walk in operands)


def _are_shared(operands: Sequence[AccessStrides], loop: For, deep: list[For]) -> bool:
    """Whether iterations of a loop use the same elements of an operand: those where it stays, or those of a window that
    goes along with the loop (`a[i + di]`)."""
    strides = [(walk.strides.get(loop.name), walk) for walk in operands]
    return any(here == 0 or here in [walk.strides.get(one.name) for one in deep] for here, walk in strides)


def _block(partial: PartialSchedule, roles: Roles, chain: Chain, target: CpuTarget) -> None:
    known = {loop.name: trip_of(loop) for loop in chain}
    rows, columns = _shape(partial, target, roles, known)
    depths = " and ".join(f"'{user_name(name)}'" for name in roles.depths)
    why = (
        f"each element of '{user_name(roles.target)}' is added to in every iteration of {depths}: "
        f"blocks of {rows} x {columns} of them stay in registers meanwhile"
    )
    places = [loop.name for loop in partial.around(chain[-1].name)]
    outermost = places[min(places.index(name) for name in (roles.rows, *roles.depths, roles.vector))]
    band = isolate(partial, chain[-1].name, outermost, why)
    if len(band) != 2 + len(roles.depths):
        raise NotTaken
    renamed = dict(zip(places[-len(band) :], band, strict=True))
    row, vector = renamed[roles.rows], renamed[roles.vector]
    deep = tuple(renamed[name] for name in roles.depths)
    sizes = (partial.number(DEPTH), rows, columns)
    if len(deep) == 1:
        _tile(partial, band, (deep[0], row, vector), sizes, why)
        _copy_panels(partial, roles, row, vector)
    else:
        _tile_window(partial, band, deep, (row, vector), sizes, why)
    for array in roles.across:
        along = (
            f"'{user_name(vector)}' goes down columns of '{user_name(array)}': in a copy of a block it goes along rows"
        )
        partial.take(Pack(array, partial.around(vector)[-4].name, fill=vector), along)
        partial.trust_copies()
    if len(deep) == 1 and partial.number(COPIED):
        for array in roles.strips:
            same = f"all rows use the same columns of '{user_name(array)}': a copy of them lies in one piece"
            with partial.together():
                _copy(partial, Pack(array, partial.around(vector)[-4].name, fill=vector), same)
    tests = f"a whole block of {rows} x {columns} is unrolled, without tests"
    rest = whole(partial, Specialize((row, vector)), tests)
    anew = roles.target not in {array.name for array in partial.written.arrays}
    partial.take(Promote(roles.target, deep[0]), why, anew=anew)
    if len(deep) == 1 and {row, vector, deep[0]} <= set(rest):
        names = (rest[row], rest[vector], rest[deep[0]])
        _row_by_row(partial, roles.target, *_last_columns(partial, roles.target, *names, anew), anew)


def _copy_panels(partial: PartialSchedule, roles: Roles, row: str, vector: str) -> None:
    """What all strips of columns use of the rows of some blocks, block by block in one piece: a block reads it from end
    to end, and what is computed of it and of nothing else that changes is computed once, not once for each strip."""
    count = partial.number(PANEL)
    if not count or partial.number(STRIPS):
        return
    for array in roles.panels:
        same = (
            f"all columns use the same rows of '{user_name(array)}': a copy of those of {count} blocks lies in the "
            "order in which they are read"
        )
        with partial.together():
            outer = [loop.name for loop in partial.around(vector)]
            at = outer.index(row) - 2
            if array == roles.panels[0]:
                partial.take(Split(outer[at], count), same)
                stretches = partial.around(outer[at])[-2].name
                partial.take(Reorder((stretches, outer[at - 1], outer[at])), same)
            _copy(partial, Pack(array, outer[at - 1], fill=row, blocks=outer[at]), same)


def _copy(partial: PartialSchedule, pack: Pack, why: str) -> None:
    """Copy elements, or what is computed of each and of nothing else that changes: once, not for each use."""
    computed = replace(pack, computed=True)
    parts = expressions(partial.around(pack.loop)[-1].body, Binary, Unary)
    is_computed = any({load.array for load in subexpressions(part, Load)} == {pack.array} for part in parts)
    partial.take(computed if is_computed and partial.allows(computed) else pack, why)
    partial.trust_copies()


def _last_columns(
    partial: PartialSchedule, target: str, row: str, vector: str, depth: str, anew: bool
) -> tuple[str, str, str]:
    """The columns that are left over, for whole rows of a block: computed as if there were a whole block of them, as
    there is in copies of strips. What is left then: the names of the loops over the other rows. (Fewer of them at a
    time would waste less; gcc then shares out registers worse in the loop over whole blocks, by a fifth.)"""
    why = f"where fewer columns of '{user_name(target)}' are left, a whole block is computed, and part of it kept"
    with partial.together():
        rest = whole(partial, Specialize((row,)), why)
        partial.take(Complete((vector,)), why)
        partial.take(Promote(target, depth), why, anew=anew)
        partial.take(Overrun(vector), why)
        partial.trust_copies()
        return (rest[row], rest[vector], rest[depth])
    return (row, vector, depth)


def _row_by_row(partial: PartialSchedule, target: str, row: str, vector: str, depth: str, anew: bool) -> None:
    """The rows that are left over: each stays in registers by itself."""
    why = f"a row of '{user_name(target)}' that is in no whole block stays in registers by itself"
    with partial.together():
        partial.take(Reorder((row, depth)), why)
        partial.take(Specialize((vector,)), why)
        partial.take(Promote(target, depth), why, anew=anew)


def _in_lanes(partial: PartialSchedule, roles: Roles, chain: Chain) -> None:
    """The sums of a window side by side in lanes, where they cannot be kept in registers: what a window holds may be
    tested before each of its rows (`frame[size * i + k]`). An element is loaded and stored once for several columns."""
    places = [loop.name for loop in chain]
    order = (*(name for name in places if name in roles.depths), roles.vector)
    if len(roles.depths) == 1 or chain[-1].name != roles.depth:
        raise NotTaken
    why = (
        f"each element of '{user_name(roles.target)}' is added to in every iteration of '{user_name(roles.depth)}': "
        f"neighbouring ones along '{user_name(roles.vector)}' are added to side by side"
    )
    band = isolate(partial, chain[-1].name, places[min(places.index(name) for name in order)], why)
    renamed = dict(zip(places[-len(band) :], band, strict=True))
    last = [renamed[name] for name in order]
    partial.take(Reorder((*(name for name in band if name not in last), *last)), why)
    together = partial.number(TOGETHER)
    if together > 1:
        partial.take(UnrollAndJam(renamed[roles.depth], together), why)


def _tile(
    partial: PartialSchedule, band: tuple[str, ...], order: tuple[str, str, str], sizes: tuple[int, int, int], why: str
) -> None:
    """Blocks of the three loops: a strip of columns stays while rows go by. The bounds of `row` and `vector` may depend
    on one another."""
    depth, row, vector = order
    if _depends_on_depth(partial, band, (depth,), (row, vector)):
        raise NotTaken
    is_triangle = _depend_on_one_another(partial, row, vector)
    wanted = (depth, vector, row) if is_triangle else order
    if band != wanted:
        partial.take(Reorder(wanted), why)
    length = dict(zip(order, sizes, strict=True))
    before = {loop.name for loop in partial.around(wanted[-1])}
    partial.take(Tile(tuple((name, length[name]) for name in wanted)), why)
    if is_triangle:
        partial.take(Reorder((row, vector)), why)
    else:
        outer = [loop.name for loop in partial.around(vector) if loop.name not in before]
        if not partial.number(STRIPS):
            partial.take(Reorder((outer[0], outer[2], outer[1])), why)


def _tile_window(
    partial: PartialSchedule,
    band: tuple[str, ...],
    deep: tuple[str, ...],
    block: tuple[str, str],
    sizes: tuple[int, int, int],
    why: str,
) -> None:  # fmt: skip
    """The same with several loops of depth, all of which are done in one visit of a block, but for the outermost one:
    it goes in stretches, as if those inside it were some ten iterations long."""
    if _depends_on_depth(partial, band, deep, block) or _depend_on_one_another(partial, *block):
        raise NotTaken
    depth, *lengths = sizes
    stretch = max(1, depth // WINDOW)
    if band != (*deep, *block):
        partial.take(Reorder((*deep, *block)), why)
    before = {loop.name for loop in partial.around(block[-1])}
    partial.take(Tile(tuple(zip(block, lengths, strict=True))), why)
    partial.take(Split(deep[0], stretch), why)
    stretches, *outer = [loop.name for loop in partial.around(block[-1]) if loop.name not in before]
    if not partial.number(STRIPS):
        outer.reverse()
    partial.take(Reorder((stretches, *outer, *deep)), why)


def _depends_on_depth(
    partial: PartialSchedule, band: tuple[str, ...], deep: tuple[str, ...], block: tuple[str, str]
) -> bool:
    loops = {loop.name: loop for loop in partial.around(band[-1])}
    pairs = [(one, other) for one in deep for other in block]
    return any(depends(loops[one], other) or depends(loops[other], one) for one, other in pairs)


def _depend_on_one_another(partial: PartialSchedule, row: str, vector: str) -> bool:
    chain = {loop.name: loop for stmt in (row, vector) for loop in partial.around(stmt)}
    return depends(chain[row], vector) or depends(chain[vector], row)


def _shape(
    partial: PartialSchedule, target: CpuTarget, roles: Roles, known: Mapping[str, int | None]
) -> tuple[int, int]:
    """Rows and columns of a block: by default as large as the registers hold, with room for the operands, and no larger
    than loops of a `known` number of iterations fill. Raises NotTaken where those leave most of a block empty: the C
    compiler keeps so few elements in registers by itself."""
    lanes = max(1, target.vector_bytes // roles.element_bytes)
    most_rows, most_vectors = (6, 4) if target.registers >= 32 else (6, 2)
    if target.registers < 32 and _depend_on_one_another(partial, roles.rows, roles.vector):
        # Each strip of a triangle's columns reads the rows anew, mostly from the last cache: wider strips do so less.
        most_rows, most_vectors = 4, 3
    row, column = known[roles.rows], known[roles.vector]
    most_rows = most_rows if row is None else min(most_rows, row)
    most_vectors = most_vectors if column is None else min(most_vectors, -(-column // lanes))
    is_empty = column is not None and 2 * column < most_vectors * lanes
    is_small = row is not None and column is not None and row * column <= MOST_TRIPS
    if is_empty or is_small or most_rows * most_vectors < FEWEST:
        raise NotTaken
    rows = partial.number(replace(ROWS, default=most_rows))
    vectors = partial.number(replace(COLUMNS, default=most_vectors))
    partial.require(IN_REGISTERS)
    return rows, max(2, vectors * lanes)

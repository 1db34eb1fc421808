"""Tiles of a grid, for the default recipe: contractions in registers behind shared memory, and transpositions through
shared memory.

Each function restructures one nest and gives the loops to bind with the number of threads; it raises NotTaken where a
step is not legal. Tiles of a contraction that are not whole are filled up with zeros, and what is computed of these is
thrown away; other stretches that are not whole run in loops of their own, without registers and shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product as cartesian
from math import prod

from loopwright.ir.gpu_target import GpuTarget
from loopwright.ir.nodes import Allocate, Binary, Cast, Const, Expr, For, Load, Run, Stmt, Store, Var
from loopwright.ir.queries import arrays_made, names_in
from loopwright.ir.types import FLOAT64, INT8, INT32, INT64, UINT8
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements, subexpressions
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, made, whole
from loopwright.recipe.register_blocking import Roles
from loopwright.recipe.tunable import Constraint, Tunable
from loopwright.steps.balance import Balance
from loopwright.steps.bind import Bind
from loopwright.steps.complete import Complete
from loopwright.steps.overrun import Overrun
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.skew import Skew
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split
from loopwright.steps.stage import ACCESSES, Stage
from loopwright.steps.tile import Tile
from loopwright.steps.vectorize import Vectorize

SHORT, OF_MANY = 512, 96
"""Below which length of a side the usual tiles of a product are too few for a GPU; those of many, mostly empty."""


@dataclass(frozen=True, slots=True)
class Product:
    """Of a contraction: `rows` x `columns` of the target and `depth` of what is added up, for one block of `y` x `x`
    threads. Each thread has groups of `high` x `broad` neighbours, as many as there are, spread over the tile: then
    neighbouring threads read neighbouring groups from shared memory, whatever the number of groups is. double: the
    next tiles arrive while these are used; pad: elements that nobody uses at the end of a row in shared memory."""

    rows: int
    columns: int
    depth: int
    y: int
    x: int
    high: int
    broad: int
    double: bool = False
    pad: int = 4

    @property
    def numbers(self) -> dict[str, int]:
        """By the names of their tunables."""
        values = self.rows, self.columns, self.depth, self.y, self.x, self.high, self.broad
        tunables = TILE_ROWS, TILE_COLUMNS, TILE_DEPTH, THREADS_DOWN, THREADS_ACROSS, HIGH, BROAD
        return {one.name: value for one, value in zip(tunables, values, strict=True)}


TILE_WHY = "a large tile is read less often; a small one leaves more blocks, and more of them at once"
THREAD_WHY = "sums that a thread keeps in registers: many use each operand more often; few leave more threads at once"
TILE_ROWS = Tunable("rows of a tile", 128, (32, 64, 128), TILE_WHY)
TILE_COLUMNS = Tunable("columns of a tile", 128, (32, 64, 128), TILE_WHY)
TILE_DEPTH = Tunable("depth of a tile", 16, (8, 16, 32), "shared memory against barriers")
THREADS_DOWN = Tunable("threads down a tile", 8, (8, 16, 32), THREAD_WHY)
THREADS_ACROSS = Tunable("threads across a tile", 16, (4, 8, 16, 32), THREAD_WHY)
HIGH = Tunable("neighbouring rows of a thread", 4, (2, 4), "groups that are read from shared memory at once")
BROAD = Tunable("neighbouring columns of a thread", 4, (2, 4), "groups that are read from shared memory at once")
STAGED = Tunable(
    "shared memory", 1, (0, 1), "threads of a block share tiles, or rely on the caches", words=("not used", "used")
)
DOUBLE = Tunable(
    "two tiles of each operand",
    1,
    (0, 1),
    "the next ones arrive while these are used; twice the shared memory",
    words=("no", "yes"),
)
WIDE = Tunable(
    "wide copies into shared memory", 1, (0, 1), "several elements at once, where they are aligned", words=("no", "yes")
)

BLOCKS: dict[int, Product] = {
    4: Product(128, 128, 16, 8, 16, 4, 4, double=True),
    8: Product(128, 64, 8, 16, 8, 2, 2, double=True, pad=1),
}
"""By the size of an element."""
OF_SHORT_SIDES: dict[int, dict[int, Product]] = {
    SHORT: {4: Product(64, 64, 16, 8, 16, 4, 4, double=True), 8: Product(64, 64, 8, 16, 8, 2, 2, double=True, pad=1)},
    OF_MANY: {4: Product(32, 32, 32, 8, 8, 4, 4), 8: Product(32, 32, 16, 8, 8, 2, 2, pad=1)},
}
"""The same by the length below which one side of the target is: large tiles would be mostly empty, or too few."""
BY_MATRIX_UNITS: dict[int, Product] = dict.fromkeys((0, SHORT), Product(64, 64, 16, 16, 4, 2, 2, double=True))
"""The same of float64 where warps multiply matrices: threads and groups as codegen/tensor_cores.py asks for. With the
pad, lanes that read at once, some along the depth and some along a side, read from different banks."""
OF_BYTES = {side: replace(tile, depth=32) for side, tile in BY_MATRIX_UNITS.items()}
"""The same of bytes, of which a warp adds up 32 products at once."""

TURNED = (
    Tunable("rows of a turned tile", 32, (16, 32, 64), "rows of one array are columns of the other"),
    Tunable("columns of a turned tile", 64, (32, 64, 128), "rows of one array are columns of the other"),
    Tunable("columns of threads that turn", 32, (16, 32), "neighbours copy neighbouring elements"),
    Tunable("rows of threads that turn", 8, (4, 8, 16), "fewer threads copy more elements each"),
)

PAD = {1: 4, 2: 2, 4: 4, 8: 1}
"""Unused elements at the end of a row in shared memory that is read along columns, by the size of an element."""

Bound = tuple[Bind | Balance | Vectorize, str]
"""A loop to bind, to run in wide accesses, or rows to balance, and why."""


def usual_tile(partial: PartialSchedule, roles: Roles, depth: For) -> Product:
    """The tile of a product, whatever its operands are. depth: the innermost loop, with what is done in it."""
    side = SHORT if len(roles.depths) > 1 else partial.side_of(roles.rows)  # of images, rows are short
    if side in BY_MATRIX_UNITS and partial.facts.gpu.matrix_units:
        if _multiplies_bytes(depth.body[-1]):
            return OF_BYTES[side]
        if not partial.strict and _multiplies(depth.body[-1]):
            return BY_MATRIX_UNITS[side]
    return OF_SHORT_SIDES.get(side, BLOCKS)[roles.element_bytes]


def _multiplies(stmt: Stmt) -> bool:
    """Whether a statement adds products of float64."""
    value = stmt.value if isinstance(stmt, Store) else None
    while isinstance(value, Binary) and value.op in ("add", "sub") and value.type == FLOAT64:
        if isinstance(value.left, Binary) and value.left.op == "mul":
            return True
        value = value.right if isinstance(value.right, Binary) else value.left
        if isinstance(value, Binary) and value.op == "mul":
            return True
    return False


def _multiplies_bytes(stmt: Stmt) -> bool:
    """Whether a statement adds products of two bytes each to integers."""
    value = stmt.value if isinstance(stmt, Store) else None
    if not isinstance(value, Binary) or value.op != "add" or value.type not in (INT32, INT64):
        return False
    sides = [_converted(side) for side in (value.left, value.right)]
    products = [one for one in sides if isinstance(one, Binary) and one.op == "mul" and one.type in (INT32, INT64)]
    factors = [_converted(factor) for one in products for factor in (one.left, one.right)]
    return len(factors) == 2 and all(isinstance(one, Load) and one.type in (INT8, UINT8) for one in factors)


def _converted(expr: Expr) -> Expr:
    """What a number was before it was converted."""
    while isinstance(expr, Cast):
        expr = expr.operand
    return expr


def _product(partial: PartialSchedule, roles: Roles, usual: Product) -> tuple[Product, bool, bool]:
    """The numbers of a contraction; whether to use shared memory, and wide copies into it."""
    element_bytes, usual = roles.element_bytes, _largest(partial, roles, usual)
    tile = Product(
        rows=partial.number(replace(TILE_ROWS, default=usual.rows)),
        columns=partial.number(replace(TILE_COLUMNS, default=usual.columns)),
        depth=partial.number(replace(TILE_DEPTH, default=usual.depth)),
        y=partial.number(replace(THREADS_DOWN, default=usual.y)),
        x=partial.number(replace(THREADS_ACROSS, default=usual.x)),
        high=partial.number(replace(HIGH, default=usual.high)),
        broad=partial.number(replace(BROAD, default=usual.broad)),
        double=bool(partial.number(replace(DOUBLE, default=int(usual.double)))),
        pad=usual.pad,
    )
    staged, wide = bool(partial.number(STAGED)), bool(partial.number(WIDE))
    gpu = partial.facts.gpu
    own_warps, in_shared = _own_warps(gpu), _in_shared(element_bytes, gpu.shared_bytes)
    partial.require(WHOLE_GROUPS, own_warps, STAGED_ONLY, _in_a_thread(element_bytes), in_shared)
    return tile, staged, wide


def _largest(partial: PartialSchedule, roles: Roles, usual: Product) -> Product:
    """The usual tile, or the largest part of it for which a block has the threads and the shared memory. Raises
    NotTaken."""
    gpu = partial.facts.gpu
    operands = _loops_of_operands(partial, roles)
    constraints = WHOLE_GROUPS, _own_warps(gpu), _in_a_thread(roles.element_bytes)

    def fits(tile: Product) -> bool:
        in_shared = _shared_bytes(operands, roles, tile, gpu) <= gpu.shared_bytes
        return in_shared and (bool(gpu.copies) or not tile.double) and all(c.holds(tile.numbers) for c in constraints)

    if fits(usual):
        return usual
    if any({roles.rows, roles.vector} <= used and roles.depth not in used for used in operands):
        raise NotTaken("an operand has an element for each sum: a tile of it is used once, a smaller one gains nothing")
    sizes = (
        [value for value in (*tunable.among, most) if value <= most]
        for tunable, most in ((TILE_ROWS, usual.rows), (TILE_COLUMNS, usual.columns), (TILE_DEPTH, usual.depth))
    )
    others = (
        replace(usual, rows=rows, columns=columns, depth=depth, y=y, x=x, double=double)
        for rows, columns, depth, y, x in cartesian(*sizes, THREADS_DOWN.among, THREADS_ACROSS.among)
        for double in (False, usual.double)
    )
    block = usual.y, usual.x
    found = max(
        filter(fits, others),
        key=lambda one: (
            one.rows * one.columns,
            one.depth,
            one.double,
            -abs(one.y * one.x - prod(block)),
            (one.y, one.x) == block,
            one.rows,
            one.y,
        ),
        default=None,
    )
    if found is None:
        raise NotTaken("no tile of a product fits")
    return found


WHOLE_GROUPS = Constraint(
    "a tile is a whole number of groups for each thread",
    lambda n: (
        n[TILE_ROWS.name] % (n[THREADS_DOWN.name] * n[HIGH.name]) == 0
        and n[TILE_COLUMNS.name] % (n[THREADS_ACROSS.name] * n[BROAD.name]) == 0
    ),
)
STAGED_ONLY = Constraint(
    "without shared memory there are no second tiles and no copies",
    lambda n: bool(n[STAGED.name]) or (not n[DOUBLE.name] and n[WIDE.name] == WIDE.default),
)
LEAST_SUMS, MOST_SUM_REGISTERS = 4, 128
"""Sums of a thread, and registers of 4 bytes for them: there are 255, and operands and addresses need some."""


def _own_warps(gpu: GpuTarget) -> Constraint:
    def holds(n: Mapping[str, int]) -> bool:
        threads = n[THREADS_DOWN.name] * n[THREADS_ACROSS.name]
        return threads % gpu.warp == 0 and threads <= gpu.threads

    return Constraint(f"a block has whole warps of threads, at most {gpu.threads}", holds)


def _in_a_thread(element_bytes: int) -> Constraint:
    def holds(n: Mapping[str, int]) -> bool:
        sums = n[TILE_ROWS.name] // n[THREADS_DOWN.name] * (n[TILE_COLUMNS.name] // n[THREADS_ACROSS.name])
        return sums >= LEAST_SUMS and sums * element_bytes <= MOST_SUM_REGISTERS * 4

    return Constraint(f"a thread keeps {LEAST_SUMS} sums or more, in at most {MOST_SUM_REGISTERS} registers", holds)


def _in_shared(element_bytes: int, most: int) -> Constraint:
    def holds(n: Mapping[str, int]) -> bool:
        rows = n[TILE_ROWS.name] + n[TILE_COLUMNS.name] + 2 * PAD[element_bytes]
        total = rows * n[TILE_DEPTH.name] * element_bytes * (1 + n[DOUBLE.name])
        return not n[STAGED.name] or total <= most

    return Constraint(f"the tiles of a block fit into {most} bytes of shared memory", holds)


def contraction(
    partial: PartialSchedule, band: tuple[str, ...], roles: Roles, usual: Product, whole_rows: bool = False
) -> list[Bound]:
    """Blocks of the target stay in registers, tiles of the operands go through shared memory. band: the loops of a
    perfect nest; roles: what they do, by their names there; usual: the tile, where it fits; whole_rows: one block has
    all columns of a tile of rows."""
    row, column, depth = roles.rows, roles.vector, roles.depth
    window = roles.depths[:-1]
    tile, is_staged, is_wide = _product(partial, roles, usual)
    gpu, operands = partial.facts.gpu, _loops_of_operands(partial, roles)
    if tile.double and (not gpu.copies or _shared_bytes(operands, roles, tile, gpu) > gpu.shared_bytes):
        tile = replace(tile, double=False)
    why = (
        f"each element of '{user_name(roles.target)}' is added to in every iteration of '{user_name(depth)}': a thread "
        f"keeps {tile.rows // tile.y} x {tile.columns // tile.x} of them in registers, a block of {tile.x} x {tile.y} "
        "threads shares what they are made of"
    )
    if band != (*window, row, column, depth):
        partial.take(Reorder((*window, row, column, depth)), why)
    sizes = ((row, tile.rows), (column, tile.columns), (depth, tile.depth))
    row_block, column_block, depth_block = made(partial, Tile(sizes), why)
    edges: dict[str, str] = {}
    if is_staged:
        partial.take(Complete((row, column)), "what lies beyond the ends is computed too, and not kept")
    else:
        edges = whole(partial, Specialize((row, column)), "whole blocks without tests")
    row_thread, rows = spread(partial, row, tile.rows, tile.y, tile.high, why)
    column_thread, columns = spread(partial, column, tile.columns, tile.x, tile.broad, why)
    partial.take(Reorder((depth_block, row_thread, column_thread, depth, *rows, *columns)), why)
    if window:
        partial.take(Reorder((row_block, column_block, *window, depth_block)), why)
    copies, is_filled = _kept(partial, Promote(roles.target, (*window, depth_block)[0], whole=True), why)
    partial.begin_again()  # many steps are to come: what the copies touch is known then, and other nests are left out
    bound: list[tuple[str, Run, int]] = [(row_block, "block.y", 0), (column_block, "block.x", 0)]
    if whole_rows:
        bound = [(row_block, "block.x", 0)]
    # Before there are other copies: to judge an order takes the longer, the more there is.
    for first, second in zip(copies[::2], copies[1::2], strict=True):
        outer, firsts = spread(partial, first, tile.rows, tile.y, tile.high, why)
        inner, seconds = spread(partial, second, tile.columns, tile.x, tile.broad, why)
        partial.take(Reorder((outer, inner, *firsts, *seconds)), why)
        bound += [(outer, "thread.y", 0), (inner, "thread.x", 0)]
    if is_staged:
        _operands_staged(partial, roles, (depth_block, row_thread), tile, is_wide)
        partial.take(Overrun(columns[-1]), "nothing reads what is computed beyond the ends")
    rest = whole(partial, Specialize((depth,)), "whole tiles without tests")
    bound += [(row_thread, "thread.y", 0), (column_thread, "thread.x", 0)]
    bound += [(rest[row_thread], "thread.y", 0), (rest[column_thread], "thread.x", 0)] if rest else []
    bound += [(edges[row], "thread.y", tile.y), (edges[column], "thread.x", tile.x)] if edges else []
    # Of copies with a test there are two each way: the whole ones come first.
    each = 4 if is_staged else 2
    copied = copies[3::each] if is_filled else copies[1::each]
    return bound_to(bound, why) + [(Vectorize(second), why) for second in copied if is_wide]


def _operands_staged(
    partial: PartialSchedule, roles: Roles, loops: tuple[str, str], tile: Product, is_wide: bool
) -> None:
    """Tiles of all operands in shared memory. loops: over tiles of the depth, and the first one inside. Raises
    NotTaken."""
    gpu, bytes_ = partial.facts.gpu, roles.element_bytes
    depth_block, first = loops
    before = _local_bytes(partial)
    along = [walk for walk in partial.walks() if walk.strides.get(roles.depth) in (1, -1)]
    along_depth = {(walk.array, walk.node.index) for walk in along}
    there = _operands(partial, first)
    sizes = {walk.array: walk.node.type.size_bytes for walk in partial.walks() if isinstance(walk.node, Load)}
    stay = [one for one in there if not any(roles.depth in names_in(axis) for axis in one[1])]
    for array, _ in stay:  # the same tile for the whole depth, as of means
        _staged(partial, array, depth_block, (tile.x, tile.y), 1, bytes_, replace(tile, double=False))
    for array, index in (one for one in there if one not in stay):
        # What arrives by itself lies in shared memory as it comes: rows along the depth become columns one by one.
        wide = 1 if not is_wide or (tile.double and (array, index) in along_depth) else gpu.widest // bytes_
        wide = wide if wide * sizes.get(array, bytes_) in ACCESSES else 1  # what is converted may be too narrow
        _staged(partial, array, first, (tile.x, tile.y), wide, bytes_, tile)
    if _local_bytes(partial) - before > gpu.shared_bytes:
        raise NotTaken


def _kept(partial: PartialSchedule, promote: Promote, why: str) -> tuple[tuple[str, ...], bool]:
    """The loops that copy the elements of a block to registers and back; whether they begin with a constant instead."""
    with suppress(NotTaken):
        return made(partial, replace(promote, filled=True), why), True
    return made(partial, promote, why), False


def spread(
    partial: PartialSchedule, loop: str, whole: int, threads: int, group: int, why: str
) -> tuple[str, tuple[str, ...]]:
    """Cut a loop over a tile among threads, into groups of neighbours: the loop over threads, and those in a thread."""
    if threads * group == whole:
        (thread,) = made(partial, Split(loop, group), why)
        return thread, (loop,)
    (groups,) = made(partial, Split(loop, threads * group), why)
    (thread,) = made(partial, Split(loop, group), why)
    (thread,) = made(partial, Skew(groups, thread, -1), why)
    return thread, (groups, loop)


def transposed(
    partial: PartialSchedule, row: str, column: str, arrays: tuple[str, ...], element_bytes: int
) -> list[Bound]:
    """Tiles of arrays that are read along `row`, where results go along `column`, by way of shared memory."""
    gpu = partial.facts.gpu
    usual = _largest_turned(gpu, element_bytes * len(arrays), PAD[element_bytes])
    tall, wide, x, y = (partial.number(replace(one, default=size)) for one, size in zip(TURNED, usual, strict=True))
    in_shared = _turned_in_shared(element_bytes, len(arrays), gpu.shared_bytes)
    partial.require(threads_fit(gpu, TURNED[2].name, TURNED[3].name), in_shared)
    names = " and ".join(f"'{user_name(array)}'" for array in arrays)
    why = f"{names} goes by ones along '{user_name(row)}', not '{user_name(column)}': shared memory turns tiles of it"
    row_block, column_block = made(partial, Tile(((row, tall), (column, wide))), why)
    edges = whole(partial, Specialize((row, column)), "whole tiles without tests")
    bound: list[tuple[str, Run, int]] = [(row_block, "block.y", 0), (column_block, "block.x", 0)]
    for array in arrays:
        _staged(partial, array, row, (x, y), 1, element_bytes)
    bound += [(row, "thread.y", y), (column, "thread.x", x)]
    bound += [(edges[row], "thread.y", y), (edges[column], "thread.x", x)] if edges else []
    return bound_to(bound, why)


def _largest_turned(gpu: GpuTarget, element_bytes: int, pad: int) -> tuple[int, int, int, int]:
    """The usual numbers of a turned tile, or the largest parts of them that fit. element_bytes: of all arrays."""
    tall, wide, x, y = (one.default for one in TURNED)
    while tall * (wide + pad) * element_bytes > gpu.shared_bytes and wide > 1:
        tall, wide = (tall, wide // 2) if wide > tall else (tall // 2, wide)
    while x * y > gpu.threads and y > 1:
        y //= 2
    return tall, wide, x, y


def _turned_in_shared(element_bytes: int, arrays: int, most: int) -> Constraint:
    def holds(n: Mapping[str, int]) -> bool:
        return n[TURNED[0].name] * (n[TURNED[1].name] + PAD[element_bytes]) * element_bytes * arrays <= most

    return Constraint(f"the turned tiles of a block fit into {most} bytes of shared memory", holds)


def threads_fit(gpu: GpuTarget, *names: str) -> Constraint:
    """The product of these numbers is a number of threads that a block can have, in whole warps."""
    text = " x ".join(f"'{name}'" for name in names)

    def holds(numbers: Mapping[str, int]) -> bool:
        total = prod(numbers[name] for name in names)
        return gpu.warp <= total <= gpu.threads and total % gpu.warp == 0

    return Constraint(f"{text} is {gpu.warp} to {gpu.threads} threads, in whole warps of {gpu.warp}", holds)


def _staged(
    partial: PartialSchedule,
    array: str,
    loop: str,
    size: tuple[int, int],
    wide: int,
    element_bytes: int,
    tile: Product | None = None,
) -> None:
    """A tile of an array in shared memory before a loop. Rows that are read along columns are padded; wide accesses of
    them need pads of their own width."""
    why = f"the threads of a block share a tile of '{user_name(array)}'"
    pad = PAD[element_bytes] if tile is None else tile.pad
    pad = max(pad, wide) if wide > 1 else pad
    double = tile is not None and tile.double
    partial.take(Stage(array, loop, *size, pad=pad, wide=wide, fill=tile is not None, double=double), why)


def _local_bytes(partial: PartialSchedule) -> int:
    """The size of all local arrays of constant sizes."""
    found = list(statements(partial.kernel.body, Allocate))
    shapes = [[int(size.value) if isinstance(size, Const) else 0 for size in one.shape] for one in found]
    return sum(prod(shape) * one.element.size_bytes for one, shape in zip(found, shapes, strict=True))


def _operands(partial: PartialSchedule, loop: str) -> list[tuple[str, tuple[Expr, ...]]]:
    """The arrays that a loop reads, once for each index, without the elements that it adds to (which are in a local
    array in the end)."""
    tiles = arrays_made((partial.around(loop)[0],))
    body = _loop(partial, loop).body
    targets = {(stmt.array, stmt.index) for stmt in statements(body, Store)}
    read = ((one.array, one.index) for one in expressions(body, Load) if one.array not in tiles)
    return list(dict.fromkeys(one for one in read if one not in targets))


def _loops_of_operands(partial: PartialSchedule, roles: Roles) -> list[set[str]]:
    """Along which loops the tile of each operand goes, of which there may be more than two."""
    found = _operands(partial, roles.depth)
    return [{part.name for axis in index for part in subexpressions(axis, Var)} for _, index in found]


def _shared_bytes(operands: list[set[str]], roles: Roles, tile: Product, gpu: GpuTarget) -> int:
    """The size of the tiles of all operands."""
    sizes = {roles.rows: tile.rows, roles.vector: tile.columns, roles.depth: tile.depth}
    pad, total = max(tile.pad, gpu.widest // roles.element_bytes), 0
    for used in operands:
        *others, longest = sorted(sizes[name] for name in used if name in sizes) or [0]
        total += prod(others) * (longest + pad)
    return total * roles.element_bytes * (1 + tile.double)


def _loop(partial: PartialSchedule, name: str) -> For:
    loop = loops(partial.kernel)[name]
    assert isinstance(loop, For)
    return loop


def bound_to(found: list[tuple[str, Run, int]], why: str) -> list[Bound]:
    """The loops to bind, each with the number of its threads (0: as many as it has iterations)."""
    return [(Bind(name, run, threads), why) for name, run, threads in found]

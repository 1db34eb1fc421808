"""Tiles of a grid, for the default recipe: contractions in registers behind shared memory, rows of a stencil in one
thread, and transpositions through shared memory.

Each function restructures one nest and gives the loops to bind with the number of threads; it raises NotTaken where a
step is not legal. Stretches that are not whole run in loops of their own, without registers and shared memory.
"""

from __future__ import annotations

from loopwright.ir.nodes import Body, For, If, Load, Run
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements
from loopwright.recipe.blocks import Roles
from loopwright.recipe.plan import NotTaken, Plan
from loopwright.steps.balance import Balance
from loopwright.steps.bind import Bind
from loopwright.steps.pack import Pack
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split
from loopwright.steps.step import Step
from loopwright.steps.tile import Tile

BLOCKS: dict[int, tuple[int, int, int, int, int]] = {4: (64, 128, 32, 16, 4), 8: (128, 64, 16, 8, 4)}
"""By the size of an element: rows, columns and depth of a block's tile, rows and columns of a thread's."""

ROWS = 4
"""Neighbouring rows that one thread does: what it has loaded for one is used for the next."""

PLANES = (2, 4, 32)
"""Planes, rows and columns of a block, where there are three loops."""

PAD = {4: 4, 8: 1}
"""Unused elements at the end of a row in shared memory, by the size of an element."""

Bound = tuple[Bind | Balance, str]
"""A loop to bind, or rows to balance, and why."""


def contraction(plan: Plan, band: tuple[str, ...], roles: Roles) -> list[Bound]:
    """Blocks of the target stay in registers, tiles of the operands go through shared memory. band: the three loops of
    a perfect nest; roles: what they do, by their names there."""
    row, column, depth = roles.rows, roles.vector, roles.depth
    tall, wide, deep, high, broad = BLOCKS[roles.element_bytes]
    y, x = tall // high, wide // broad
    why = (
        f"each element of '{user_name(roles.target)}' is added to in every iteration of '{user_name(depth)}': a thread "
        f"keeps {high} x {broad} of them in registers, a block of {x} x {y} threads shares what they are made of"
    )
    if band != (row, column, depth):
        plan.take(Reorder((row, column, depth)), why)
    row_block, column_block, depth_block = _made(plan, Tile(((row, tall), (column, wide), (depth, deep))), why)
    edges = _whole(plan, Specialize((row, column)), "whole blocks without tests")
    (row_thread,) = _made(plan, Split(row, high), why)
    (column_thread,) = _made(plan, Split(column, broad), why)
    plan.take(Reorder((depth_block, row_thread, column_thread, depth, row, column)), why)
    copies = _made(plan, Promote(roles.target, depth_block, whole=True), why)
    rest = _whole(plan, Specialize((depth,)), "whole tiles without tests")
    bound: list[tuple[str, Run, int]] = [(row_block, "block.y", 0), (column_block, "block.x", 0)]
    for array in _operands(plan, row_thread, roles.target):
        bound += _staged(plan, array, row_thread, (x, y), PAD[roles.element_bytes])
    for first, second in zip(copies[::2], copies[1::2], strict=True):
        (outer,), (inner,) = _made(plan, Split(first, high), why), _made(plan, Split(second, broad), why)
        plan.take(Reorder((outer, inner, first, second)), why)
        bound += [(outer, "thread.y", 0), (inner, "thread.x", 0)]
    bound += [(row_thread, "thread.y", 0), (column_thread, "thread.x", 0)]
    bound += [(rest[row_thread], "thread.y", 0), (rest[column_thread], "thread.x", 0)] if rest else []
    bound += [(edges[row], "thread.y", y), (edges[column], "thread.x", x)] if edges else []
    return _bound(bound, why)


def in_rows(plan: Plan, row: str, column: str, threads: int, why: str) -> list[Bound]:
    """Blocks of one row of threads, each of which does several rows."""
    row_block, column_block = _made(plan, Tile(((row, ROWS), (column, threads))), why)
    edges = _whole(plan, Specialize((row, column)), "whole blocks without tests")
    plan.take(Reorder((column, row)), f"a thread does {ROWS} rows: what it has loaded for one is used for the next")
    bound: list[tuple[str, Run, int]] = [(row_block, "block.y", 0), (column_block, "block.x", 0)]
    bound += [(column, "thread.x", 0)]
    bound += [(edges[column], "thread.x", 0)] if edges else []
    return _bound(bound, why)


def in_planes(plan: Plan, band: tuple[str, str, str], why: str) -> list[Bound]:
    """Three loops around one another: each thread does one element in several planes."""
    plane, row, column = band
    made = _made(plan, Tile(tuple(zip(band, PLANES, strict=True))), why)
    edges = _whole(plan, Specialize(band), "whole blocks without tests")
    plan.take(Reorder((row, column, plane)), f"a thread does {PLANES[0]} planes: what it loads for one serves the next")
    bound: list[tuple[str, Run, int]] = list(zip(made, ("block.z", "block.y", "block.x"), (0, 0, 0), strict=True))
    for one in (row, column):
        run: Run = "thread.y" if one == row else "thread.x"
        bound += [(one, run, 0), *([(edges[one], run, 0)] if edges else [])]
    return _bound(bound, why)


def transposed(plan: Plan, row: str, column: str, arrays: tuple[str, ...], element_bytes: int) -> list[Bound]:
    """Tiles of arrays that are read along `row`, where results go along `column`, by way of shared memory."""
    tall, wide, x, y = 32, 64, 32, 8
    names = " and ".join(f"'{user_name(array)}'" for array in arrays)
    why = f"{names} goes by ones along '{user_name(row)}', not '{user_name(column)}': shared memory turns tiles of it"
    row_block, column_block = _made(plan, Tile(((row, tall), (column, wide))), why)
    edges = _whole(plan, Specialize((row, column)), "whole tiles without tests")
    bound: list[tuple[str, Run, int]] = [(row_block, "block.y", 0), (column_block, "block.x", 0)]
    for array in arrays:
        bound += _staged(plan, array, row, (x, y), PAD[element_bytes])
    bound += [(row, "thread.y", y), (column, "thread.x", x)]
    bound += [(edges[row], "thread.y", y), (edges[column], "thread.x", x)] if edges else []
    return _bound(bound, why)


def _staged(plan: Plan, array: str, loop: str, size: tuple[int, int], pad: int) -> list[tuple[str, Run, int]]:
    """A tile of an array in shared memory before a loop; threads along x copy along its rows."""
    x, y = size
    why = f"the threads of a block share a tile of '{user_name(array)}'"
    copies = _made(plan, Pack(array, loop, pad=pad), why)
    if len(copies) != 2:
        raise NotTaken
    inside = {id(stmt) for name in copies for stmt in statements((_loop(plan, name),))}
    walk = next(w for w in plan.walks() if id(w.stmt) in inside and w.array == array)
    along = next((name for name in copies if walk.strides.get(name) == 1), copies[1])
    return [(name, "thread.x", x) if name == along else (name, "thread.y", y) for name in copies]


def _operands(plan: Plan, loop: str, target: str) -> list[str]:
    """The arrays that a loop reads, other than its target (which is in a local array by then)."""
    own = {array.name for array in plan.written.arrays}
    read = (part.array for part in expressions(_loop(plan, loop).body) if isinstance(part, Load))
    return [array for array in dict.fromkeys(read) if array != target and array in own]


def _made(plan: Plan, step: Step, why: str) -> tuple[str, ...]:
    """Take a step; the names of the loops that it made, in the order of the text."""
    before = set(loops(plan.kernel))
    plan.take(step, why)
    return tuple(name for name in loops(plan.kernel) if name not in before)


def _whole(plan: Plan, step: Specialize, why: str) -> dict[str, str]:
    """Take the step; for each loop that has a copy now, for stretches that are not whole, the copy's name."""
    made = set(_made(plan, step, why))
    for stmt in statements(plan.kernel.body):
        if isinstance(stmt, If):
            names, copies = _names(stmt.then), _names(stmt.otherwise)
            if copies and set(copies) == made and len(names) == len(copies):
                return dict(zip(names, copies, strict=True))
    return {}


def _names(body: Body) -> list[str]:
    return [stmt.name for stmt in statements(body) if isinstance(stmt, For)]


def _loop(plan: Plan, name: str) -> For:
    loop = loops(plan.kernel)[name]
    assert isinstance(loop, For)
    return loop


def _bound(found: list[tuple[str, Run, int]], why: str) -> list[Bound]:
    return [(Bind(name, run, threads), why) for name, run, threads in found]

"""Blocks in registers: a nest that adds to the same elements again and again (a product of matrices and its kin) keeps
a small block of them in vector registers, while the data it is made from streams by from the caches.

The nest needs three loops: `vector`, the innermost, along which every access goes by ones or stays; `rows`, in which
the target moves and some operand stays; `depth`, in which the target stays. Each operand loaded is then used once for
every row, or for every column, of the block.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.analysis.strides import Walk
from loopwright.ir.nodes import For, Store
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements
from loopwright.recipe.isolate import isolate
from loopwright.recipe.plan import Chain, NotTaken, Plan
from loopwright.recipe.rows import depends
from loopwright.recipe.target import Target
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.specialize import Specialize
from loopwright.steps.tile import Tile

DEPTH = 256
"""Iterations of `depth` for one visit of a block: what the block's columns need of them fits into the second cache."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The loops of a nest by what they do for a block, and the array that the block is part of."""

    rows: str
    depth: str
    vector: str
    target: str
    element_bytes: int


def in_registers(plan: Plan, target: Target) -> None:
    """Block every nest that gains from it."""
    done: set[str] = set()
    while (chain := next((c for c in plan.chains() if c[-1].name not in done), None)) is not None:
        done |= {chain[-1].name}
        roles = _roles(plan, chain)
        if roles is not None:
            before = {loop.name for c in plan.chains() for loop in c}
            with plan.together():
                _block(plan, roles, target)
            done |= {loop.name for c in plan.chains() for loop in c} - before


def _roles(plan: Plan, chain: Chain) -> Roles | None:
    if len(chain) < 3:
        return None
    vector = chain[-1]
    stores = list(statements(vector.body))
    if len(stores) != 1 or not isinstance(store := stores[0], Store):
        return None
    accesses = [walk for walk in plan.walks() if walk.stmt is store]
    mine = [walk for walk in accesses if walk.array == store.array]
    operands = [walk for walk in accesses if walk.array != store.array]
    if any(walk.node.index != store.index for walk in mine) or len(mine) < 2 or not operands:
        return None
    if any(walk.strides.get(vector.name) not in (0, 1) for walk in accesses) or not _moves(mine, vector):
        return None
    outer = chain[:-1]
    depth = next((loop for loop in reversed(outer) if not _moves(mine, loop)), None)
    rows = next((loop for loop in reversed(outer) if _moves(mine, loop) and _stays_for_some(operands, loop)), None)
    if depth is None or rows is None or not _stays_for_some(operands, vector):
        return None
    return Roles(rows.name, depth.name, vector.name, store.array, store.value.type.size_bytes)


def _moves(accesses: list[Walk], loop: For) -> bool:
    return any(walk.strides.get(loop.name) != 0 for walk in accesses)


def _stays_for_some(operands: list[Walk], loop: For) -> bool:
    return any(walk.strides.get(loop.name) == 0 for walk in operands)


def _block(plan: Plan, roles: Roles, target: Target) -> None:
    rows, columns = _shape(target, roles.element_bytes)
    why = (
        f"each element of '{user_name(roles.target)}' is added to in every iteration of '{user_name(roles.depth)}': "
        f"blocks of {rows} x {columns} of them stay in registers meanwhile"
    )
    chain = plan.around(roles.vector)
    places = [loop.name for loop in chain]
    outermost = places[min(places.index(roles.rows), places.index(roles.depth))]
    band = isolate(plan, roles.vector, outermost, why)
    renamed = dict(zip(places[-len(band) :], band, strict=True))
    depth, row, vector = (renamed[name] for name in (roles.depth, roles.rows, roles.vector))
    if len(band) != 3:
        raise NotTaken
    loops = {loop.name: loop for loop in plan.around(vector)}
    if any(depends(loops[one], other) for one in (depth, row, vector) for other in (depth, row, vector)):
        raise NotTaken
    if band != (depth, row, vector):
        plan.take(Reorder((depth, row, vector)), why)
    before = {loop.name for loop in plan.around(vector)}
    plan.take(Tile(((depth, DEPTH), (row, rows), (vector, columns))), why)
    outer = [loop.name for loop in plan.around(vector) if loop.name not in before]
    plan.take(Reorder((outer[0], outer[2], outer[1])), why)
    plan.take(Specialize((row, vector)), f"a whole block of {rows} x {columns} is written out without tests")
    plan.take(Promote(roles.target, depth), why)


def _shape(target: Target, element_bytes: int) -> tuple[int, int]:
    """Rows and columns of a block: as large as the registers hold, with room for the operands."""
    lanes = max(1, target.vector_bytes // element_bytes)
    return (6, 4 * lanes) if target.registers >= 32 else (4, 3 * lanes)

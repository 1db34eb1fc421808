"""How many threads a block of a grid has, and how they share out loops and local arrays."""

from __future__ import annotations

from math import prod

from loopwright.analysis.ownership import Owned, shares
from loopwright.ir.gpu_target import AXES, GpuTarget
from loopwright.ir.nodes import Allocate, Body, Const, For, Kernel, Load, Run, Stmt, Store
from loopwright.ir.walk import expressions, statements
from loopwright.steps.extent import extent_of
from loopwright.steps.nest import step_of

BLOCKS: tuple[Run, ...] = ("block.x", "block.y", "block.z")
THREADS: tuple[Run, ...] = ("thread.x", "thread.y", "thread.z")

BlockSize = tuple[int, int, int]


def block_size(body: Body) -> BlockSize:
    """Threads of a block along x, y and z."""
    size = dict.fromkeys(THREADS, 1)
    for stmt in statements(body, For):
        if stmt.run in THREADS:
            size[stmt.run] = max(size[stmt.run], sharing_of(stmt))
    x, y, z = size.values()
    return x, y, z


def sharing_of(loop: For) -> int:
    """Among how many threads the iterations of a loop are shared out."""
    extent = loop.threads or extent_of(loop)
    assert extent  # `bind` sees to it
    return loop.threads or -(-extent // step_of(loop))


def band_of(loop: For) -> list[For]:
    """A loop over threads and those perfectly nested in it."""
    band = [loop]
    while len(band[-1].body) == 1 and isinstance(inner := band[-1].body[0], For) and inner.run in THREADS:
        band.append(inner)
    return band


def has_threads(stmt: Stmt) -> bool:
    """Whether a loop over threads is among a statement and what is inside it."""
    return any(isinstance(inner, For) and inner.run in THREADS for inner in statements((stmt,)))


# ---- local arrays -----------------------------------------------------------------------------------------------


def constant_size(stmt: Allocate, most_bytes: int) -> int | None:
    """How many elements a local array has, if that is known and they fit; None otherwise."""
    count = 1
    for size in stmt.shape:
        if not isinstance(size, Const) or size.value < 0:
            return None
        count *= int(size.value)
    return count if count * stmt.element.size_bytes <= most_bytes else None


def owned(kernel: Kernel, stmt: Allocate, size: BlockSize, gpu: GpuTarget) -> Owned | None:
    """How the threads of a block own the elements of an array, None where they share them."""
    if stmt.fill is not None or constant_size(stmt, 2**30) is None or (found := shares(kernel, stmt.array)) is None:
        return None
    runs = {share.run for share in found if share is not None}
    if any(count > 1 and f"thread.{axis}" not in runs for axis, count in zip(AXES, size, strict=True)):
        return None
    nests = (one for one in statements(kernel.body, For) if one.run in runs)
    for loop in nests:
        uses = any(one.array == stmt.array for one in statements(loop.body, Store)) or any(
            part.array == stmt.array for part in expressions(loop.body, Load)
        )
        if uses and sharing_of(loop) * step_of(loop) < (extent_of(loop) or 2**62):
            return None  # a thread would come back for another part
    return found if prod(own_sizes(stmt, found)) * stmt.element.size_bytes <= gpu.own_bytes else None


def own_sizes(stmt: Allocate, found: Owned) -> list[int]:
    """How many elements of a local array of constant sizes each thread has, along each axis."""
    sizes: list[int] = []
    for share, size in zip(found, stmt.shape, strict=True):
        assert isinstance(size, Const)
        whole = int(size.value)
        rounds = -(-whole // share.period) if share is not None and share.period else 1
        sizes.append(whole if share is None else share.size * rounds)
    return sizes

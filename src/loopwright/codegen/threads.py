"""How many threads a block of a grid has, and how they share out loops and local arrays."""

from __future__ import annotations

from loopwright.analysis.ownership import OwnedRange
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.ir.gpu_target import AXES
from loopwright.ir.nodes import Allocate, Body, Const, For, Stmt
from loopwright.ir.walk import statements
from loopwright.steps.bind import THREADS
from loopwright.steps.extent import extent_of
from loopwright.steps.nest import step_of


def block_size(body: Body) -> tuple[int, int, int]:
    """Threads of a block along x, y and z. Raises NotOnGpu."""
    size = {f"thread.{axis}": 1 for axis in AXES}
    for stmt in statements(body):
        if isinstance(stmt, For) and stmt.run in THREADS:
            size[stmt.run] = max(size[stmt.run], sharing_of(stmt))
    x, y, z = size.values()
    if x * y * z > 1024:
        raise NotOnGpu(f"a block would have {x} x {y} x {z} threads: 1024 are the most")
    return x, y, z


def sharing_of(loop: For) -> int:
    """Among how many threads the iterations of a loop are shared out."""
    if loop.threads:
        return loop.threads
    extent = extent_of(loop)
    if not extent:
        raise NotOnGpu(f"'{loop.name}' is bound to threads, but has no constant number of iterations")
    return -(-extent // step_of(loop))


def band_of(loop: For) -> list[For]:
    """A loop over threads and those perfectly nested in it."""
    band = [loop]
    while len(band[-1].body) == 1 and isinstance(inner := band[-1].body[0], For) and inner.run in THREADS:
        band.append(inner)
    return band


def own_sizes(stmt: Allocate, found: tuple[OwnedRange | None, ...]) -> list[int]:
    """How many elements of a local array of constant sizes each thread has, along each axis."""
    sizes: list[int] = []
    for share, size in zip(found, stmt.shape, strict=True):
        assert isinstance(size, Const)
        whole = int(size.value)
        rounds = -(-whole // share.period) if share is not None and share.period else 1
        sizes.append(whole if share is None else share.size * rounds)
    return sizes


def has_threads(stmt: Stmt) -> bool:
    """Whether a loop over threads is among a statement and what is inside it."""
    return any(isinstance(inner, For) and inner.run in THREADS for inner in statements((stmt,)))

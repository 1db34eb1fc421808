"""How many threads a block of a grid has, and how they share out loops and local arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from loopwright.analysis.ownership import OwnedRange, shares
from loopwright.codegen.function import Writer
from loopwright.codegen.gpu_writer import AXES, OWN_BYTES, NotOnGpu, constant_size
from loopwright.codegen.lowered import InRegisters, Lowering
from loopwright.ir.nodes import Allocate, Body, Const, For, Kernel, Stmt
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored
from loopwright.ir.walk import bodies, statements
from loopwright.steps.bind import BLOCKS, THREADS
from loopwright.steps.extent import extent_of
from loopwright.steps.nest import step_of


@dataclass(frozen=True, slots=True)
class Together:
    """A statement that `size` threads run together: those of a block, of one of its columns, or of a team of lanes,
    which is `inside` an iteration of other loops over threads."""

    stmt: Stmt
    size: tuple[int, int, int]
    inside: bool


@dataclass(frozen=True, slots=True)
class BoundNest:
    """loop: the outermost one; blocks: those over blocks; body: what a block does; size: its threads along x, y, z."""

    loop: For
    blocks: tuple[For, ...]
    body: Body
    size: tuple[int, int, int]

    @classmethod
    def of(cls, loop: For) -> BoundNest:
        """That of a loop that is bound. Raises NotOnGpu."""
        blocks: list[For] = []
        body: Body = (loop,)
        while len(body) == 1 and isinstance(body[0], For) and body[0].run in BLOCKS:
            blocks.append(body[0])
            body = body[0].body
        return cls(loop, tuple(blocks), body, block_size(body))

    def together(self) -> Iterator[Together]:
        """What the threads of a block run together, in the order of the text."""
        return _together(self.body, self.size, False)

    @property
    def local(self) -> set[str]:
        """The arrays that are not in global memory."""
        return arrays_made(self.body)

    def registers(self, before: Lowering) -> set[str]:
        """The arrays that are no memory: those of a single thread, and those whose elements have an owner each."""
        shared = {one.stmt.array for one in self.together() if isinstance(one.stmt, Allocate)}
        return self.local - shared | {one.name for one in before.every(InRegisters)}


def _together(body: Body, size: tuple[int, int, int], inside: bool) -> Iterator[Together]:
    if size == (1, 1, 1):
        return
    for stmt in body:
        yield Together(stmt, size, inside)
        if isinstance(stmt, For) and stmt.run in THREADS:
            within = band_of(stmt)[-1].body
            if any(map(has_threads, within)):
                columns = runs_of(within) == {"thread.y"}
                yield from _together(within, (1, size[1], 1) if columns else (size[0], 1, 1), not columns)
        elif has_threads(stmt):
            for part in bodies(stmt):
                yield from _together(part, size, inside)


def runs_of(body: Body) -> set[str]:
    """The kinds of loops over threads inside."""
    return {loop.run for loop in statements(body, For) if loop.run in THREADS}


def block_size(body: Body) -> tuple[int, int, int]:
    """Threads of a block along x, y and z. Raises NotOnGpu."""
    size = {f"thread.{axis}": 1 for axis in AXES}
    for loop in statements(body, For):
        if loop.run in THREADS:
            size[loop.run] = max(size[loop.run], sharing_of(loop))
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


def rounds_of_threads(band: Sequence[For]) -> int:
    """How many iterations each thread has at most; many, where that is not known."""
    return prod(max(1, (extent_of(loop) or 2**32) // (step_of(loop) * sharing_of(loop))) for loop in band)


def in_registers(nest: BoundNest, before: Lowering, w: Writer) -> Iterator[InRegisters]:
    """The local arrays of a block whose elements each belong to one thread, and are few."""
    for one in nest.together():
        if isinstance(stmt := one.stmt, Allocate) and (found := _owned(stmt, one.size, w.kernel)) is not None:
            yield InRegisters(nest.loop.name, stmt.array, found)


def _owned(stmt: Allocate, size: tuple[int, int, int], kernel: Kernel) -> tuple[OwnedRange | None, ...] | None:
    """How threads own the elements of an array, None where they share them. size: how many threads."""
    found = shares(kernel, stmt.array)
    if found is None or stmt.fill is not None or constant_size(stmt, 2**30) is None:
        return None
    runs = {share.run for share in found if share is not None}
    if any(count > 1 and f"thread.{axis}" not in runs for axis, count in zip(AXES, size, strict=True)):
        return None
    for loop in statements(kernel.body, For):
        uses = loop.run in runs and stmt.array in arrays_stored(loop.body) | arrays_loaded(loop.body)
        if uses and sharing_of(loop) * step_of(loop) < (extent_of(loop) or 2**62):
            return None  # a thread would come back for another part
    return found if prod(own_sizes(stmt, found)) * stmt.element.size_bytes <= OWN_BYTES else None


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
    return bool(runs_of((stmt,)))

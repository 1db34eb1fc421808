"""A nest of bound loops: which loops are over blocks, what a block does, and what its threads run together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.lowered import InRegisters, Lowering
from loopwright.ir.nodes import Allocate, Body, For, Stmt
from loopwright.ir.queries import arrays_made
from loopwright.ir.walk import bodies, statements
from loopwright.steps.extent import extent_of
from loopwright.steps.grids import taken_apart
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS, band_of, block_size, has_threads, owned, sharing_of


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
        """That of a loop that is bound."""
        blocks, body = taken_apart(loop)
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


def rounds_of_threads(band: Sequence[For]) -> int:
    """How many iterations each thread has at most; many, where that is not known."""
    return prod(max(1, (extent_of(loop) or 2**32) // (step_of(loop) * sharing_of(loop))) for loop in band)


def in_registers(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[InRegisters]:
    """The local arrays of a block whose elements each belong to one thread, and are few."""
    for one in nest.together():
        if (
            isinstance(stmt := one.stmt, Allocate)
            and (found := owned(given.kernel, stmt, one.size, given.facts.gpu)) is not None
        ):
            yield InRegisters(nest.loop.name, stmt.array, found)

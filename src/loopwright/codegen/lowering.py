"""The lowering passes of a grid: one straight line from a nest of bound loops to all that its text needs to have
decided. A pass reads the nest and what the passes before it have decided, and adds decisions (codegen/lowered.py). It
may be left out: the text is then simpler, and means the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

from loopwright.codegen.async_copies import async_copies
from loopwright.codegen.bound_nest import BoundNest, in_registers
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.double_buffering import double_buffered
from loopwright.codegen.full_tiles import full_tiles
from loopwright.codegen.lowered import Lowering, LoweringDecision
from loopwright.codegen.row_entries import merge_paths
from loopwright.codegen.scatter import atomic_updates, privatised_updates, updates_ahead
from loopwright.codegen.software_pipeline import software_pipelines
from loopwright.codegen.tensor_cores import tensor_products
from loopwright.codegen.updates_in_registers import updates_at_the_end, updates_in_registers
from loopwright.codegen.vector_accesses import vector_accesses


@dataclass(frozen=True, slots=True)
class LoweringPass:
    """why: the reason for its place."""

    name: str
    decide: Callable[[BoundNest, Lowering, CodegenInput], Iterator[LoweringDecision]]
    why: str


PASSES = (
    LoweringPass("registers", in_registers, "first: what a thread keeps is in no memory that later passes speak of"),
    LoweringPass("updates in registers", updates_in_registers, "then: an array with no other updates needs no copies"),
    LoweringPass("updates at the end", updates_at_the_end, "of those that are left, also where they are privatised"),
    LoweringPass("privatised updates", privatised_updates, "of what several threads update, in shared memory"),
    LoweringPass("updates ahead", updates_ahead, "the same, whether privatised or not"),
    LoweringPass("double buffering", double_buffered, "then: it tells which copies are made ahead"),
    LoweringPass("tensor cores", tensor_products, "of sums in registers, and operands in shared memory"),
    LoweringPass("vector accesses", vector_accesses, "of arrays in memory, and of no copies that are made ahead"),
    LoweringPass("asynchronous copies", async_copies, "of the copies that are made ahead"),
    LoweringPass("software pipeline", software_pipelines, "of loops all of whose copies are asynchronous"),
    LoweringPass("merge path", merge_paths, "anywhere: of balanced loops, which no other pass says anything of"),
    LoweringPass("full tiles", full_tiles, "last: it gathers the tests that all others have left in the text"),
)


def lower(nest: BoundNest, given: CodegenInput) -> Lowering:
    """All decisions of a nest. What must be atomic is no choice, and stands before all. Raises NotOnGpu."""
    first = Lowering(tuple(atomic_updates(nest, given)))
    return reduce(lambda before, one: Lowering((*before.decisions, *one.decide(nest, before, given))), PASSES, first)

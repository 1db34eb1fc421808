"""Sorting iterations by keys of 8 bits on a GPU: `sorted` loops. Three kernels do it, whose text is in loopwright.cuh:

1. `counts`: how often each key is among the iterations of a block, in a table with a row for each key.
2. `sums`: in each row of the table, what the blocks before have; how often each key is in all.
3. `places`: each block puts its iterations behind those of lesser keys, and those of the same key in blocks before.

Iterations with the same key keep their order, so that the result is the same in every run, and neighbours stay as near
to one another as they can (one pass of a least-significant-digit radix sort; Merrill and Grimshaw, 2011). Within a warp
the lanes with one key are found by ballots over its bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.codegen.function import Function
from loopwright.codegen.gpu_writer import GpuWriter, NotOnGpu
from loopwright.ir.code import SharedArray
from loopwright.ir.nodes import For
from loopwright.steps.redirect import sorted_keys

CLASSES = 256
THREADS, WARP = 256, 32
"""Of a block and of a warp: a thread for each class."""
WARPS = THREADS // WARP
ROUNDS = 8
"""Iterations that each thread looks at, so that a block has 2048."""
ITEMS = THREADS * ROUNDS


def write_sorted(loop: For, w: GpuWriter) -> None:
    """The kernels of a sorted loop, and their start. Raises NotOnGpu where warps have another size."""
    if w.facts.gpu.warp != WARP:
        raise NotOnGpu(f"iterations are sorted by warps of {WARP} threads")
    found = sorted_keys(loop)
    keys, totals, order = (w.arrays[name].pointer for name in (found.keys, found.begins, found.order))
    w.types |= {"lw_items": "int64_t", "lw_blocks": "int64_t", "lw_table": "LW_GLOBAL(int64_t)"}
    sums = SharedArray("lw_sums", "int64_t", WARPS)
    with w.block():
        w.line(f"const int64_t lw_items = {w.text(found.length)}, lw_blocks = (lw_items - 1) / {ITEMS} + 1;")
        with w.branch("lw_items > 0"):
            _table(loop, w)
            made = _Kernels(loop, w)
            seen = SharedArray("lw_seen", "int32_t", CLASSES)
            made.start("counts", "lw_blocks", (keys, "lw_table", "lw_items", "lw_blocks"), (seen,))
            made.start("sums", f"{CLASSES}", ("lw_table", totals, "lw_blocks"), (sums,))
            shared = (SharedArray("lw_mine", "int32_t", WARPS * CLASSES), SharedArray("lw_begins", "int64_t", CLASSES))
            given = (keys, "lw_table", totals, order, "lw_items", "lw_blocks")
            made.start("places", "lw_blocks", given, (*shared, sums))
    w.parallel.append(loop.name)


@dataclass(frozen=True, slots=True)
class _Kernels:
    loop: For
    w: GpuWriter

    def start(self, what: str, blocks: str, given: Sequence[str], shared: tuple[SharedArray, ...]) -> None:
        """A kernel that calls a function of loopwright.cuh with these, and then with what it has in shared memory; and
        its start, with so many blocks."""
        w = self.w
        part = Function(w.names.fresh(f"lw_{what}_{w.names.of(self.loop.name)}"), on_device=True)
        part.asks = False  # what a thread does is little, and next to constant
        with w.on_device(part):
            names = [*map(w.use, given), *(one.name for one in shared)]
            w.line(f"lw_sort_{what}<{ROUNDS}>({', '.join(names)});")
        w.finish_kernel(part, THREADS, (self.loop,), shared)
        own = {name: name for name in ("lw_table", "lw_items", "lw_blocks")}
        most = w.facts.gpu.blocks_along[0]
        with w.block():
            w.fail(w.site("memory", "", 0, self.loop.at), blocks, condition=f"{blocks} > {most}")
            w.start(part, (blocks, "1", "1"), (THREADS, 1, 1), own)


def _table(loop: For, w: GpuWriter) -> None:
    """Lines for the memory of the table: kept for the next time, given back at the end of the call."""
    gpu = w.use("gpu")
    memory, room = w.declare(w.fresh("lw_counts", "char *")), w.declare(w.fresh("lw_room", "int64_t"))
    site = w.site("memory", "", 0, loop.at)
    w.line(f"const int64_t lw_wanted = {8 * CLASSES} * lw_blocks;")
    with w.branch(f"{room} < lw_wanted"):
        w.only(memory, f"gpu->release({gpu}, {memory});")
        w.line(f"{memory} = gpu->allocate({gpu}, lw_wanted), {room} = {memory} ? lw_wanted : 0;")
        w.fail(site, "lw_wanted", condition=f"!{memory}")
    if memory not in w.function.buffers:
        w.function.buffers.append(memory)
    w.line(f"char *lw_table = {memory};")

"""Updates of any elements by many threads at once (histograms, sums by key): atomic operations, and where threads of a
block do many of them, in a copy that the block has in shared memory, which it adds to the array in the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from loopwright.analysis.facts import Reduction
from loopwright.analysis.reductions import identity
from loopwright.codegen.c_text import literal
from loopwright.codegen.gpu_writer import GpuWriter, NotOnGpu
from loopwright.codegen.thread_reduction import number_in_block
from loopwright.ir.nodes import For
from loopwright.steps.bind import ATOMIC

COPY_BYTES = 32 * 1024  # of a block's copy: six blocks of a multiprocessor still fit
ROUNDS = 8  # so many iterations of each thread are worth a copy


def scattered(loops: Iterable[For], w: GpuWriter) -> Mapping[str, Reduction]:
    """The arrays whose elements these loops, bound to blocks or threads, all update."""
    found = {
        reduction.target: reduction
        for loop in loops
        for reduction in w.facts.loops[loop.name].reductions
        if reduction.kind != "scalar"
    }
    for name in found:
        if w.arrays[name].bytes:
            raise NotOnGpu(f"elements of '{name}' lie in records: they cannot be updated by several threads at once")
    return found


def in_copy(names: Iterable[str], rounds: int, w: GpuWriter) -> str | None:
    """The array of these that a block should have a copy of, if there is one."""
    if rounds < ROUNDS:
        return None
    fitting = [name for name in names if w.arrays[name].layout == "C" and w.arrays[name].on_device]
    return fitting[0] if len(fitting) == 1 else None


@contextmanager
def copied(name: str, size: tuple[int, int, int], shared: list[str], w: GpuWriter) -> Iterator[None]:
    """Lines around a nest that the threads of a block share: within, it updates a copy of the array."""
    array, op = w.arrays[name], w.scattered[name].op
    threads, number = prod(size), number_in_block(size)
    copy = w.fresh("lw_copy", array.pointer_type)
    most = COPY_BYTES // array.element.size_bytes
    shared.append(f"LW_SHARED({array.memory_type}, {copy}, {most});")
    w.function.scoped.add(copy)
    start = identity(op, array.element)
    none = literal(start.value, array.element)
    each = f"for (int lw_i = {number}; lw_i < (int)({count_of(name, w)}); lw_i += {threads})"
    w.line("__syncthreads();")  # an iteration before may still be adding its copy up
    w.line(f"{each} {copy}[lw_i] = {none};")
    w.line("__syncthreads();")
    w.arrays[name] = replace(array, pointer=copy)
    yield
    w.arrays[name] = array
    w.line("__syncthreads();")
    w.line(f"{each} {{")
    w.line(f"  const {array.memory_type} lw_mine = {copy}[lw_i];")
    w.line(f"  if (lw_mine != {none}) {ATOMIC[op]}(LW_ADDRESS({w.use(array.pointer)}, lw_i), lw_mine);")
    w.line("}")


def count_of(name: str, w: GpuWriter) -> str:
    """C text of the number of an array's elements."""
    return " * ".join(w.size(name, axis) for axis in range(w.arrays[name].rank)) or "1"


def fits(name: str, w: GpuWriter) -> str:
    """C text: whether a block's copy has room for all elements."""
    return f"{count_of(name, w)} <= {COPY_BYTES // w.arrays[name].element.size_bytes}"

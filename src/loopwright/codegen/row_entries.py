"""What the threads of a block compute for the entries that are theirs, each thread for several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loopwright.analysis.facts import Reduction
from loopwright.analysis.reductions import combined, identity
from loopwright.analysis.row_pointers import stages
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.c_text import MEMORY_TYPE, VALUE_TYPE, literal
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.interleave import Iteration, about, read_ahead
from loopwright.codegen.lowered import Lowering, MergePath, Within
from loopwright.codegen.statements import write_body
from loopwright.ir.nodes import For, Var
from loopwright.ir.types import INT64, Scalar
from loopwright.steps.balance import rows_each

AHEAD = 4
"""Entries that a thread works on at once: more need more registers, and then fewer threads run at a time."""


def merge_paths(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[MergePath]:
    """How rows are looked up and entries read, of a loop whose entries blocks share."""
    row = nest.loop
    if row.run == "balanced":
        entry = next(stmt for stmt in row.body if isinstance(stmt, For) and stmt.run == "entries")
        each = entry.threads // row.threads
        ahead = next(count for count in range(min(AHEAD, each), 0, -1) if each % count == 0)
        targets = frozenset(one.target for one in given.facts.loops[entry.name].reductions)
        tested = tuple(sorted(_along(entry, targets)))
        yield MergePath(row.name, rows_each(row.threads, given.facts.gpu), ahead, tested)


def _along(entry: For, targets: frozenset[str]) -> frozenset[Within]:
    """The arrays, and axes of them, in which each entry reads the element with its own number."""
    return frozenset(
        (load.array, axis, entry.name)
        for stage in stages(entry.body, targets)[0]
        for load in stage.loads
        for axis, index in enumerate(load.index)
        if index == Var(entry.name, INT64)
    )


@dataclass(frozen=True, slots=True)
class Sum:
    """One reduction over entries. number: tells its C names from those of others."""

    reduction: Reduction
    type: Scalar
    number: int

    @property
    def ctype(self) -> str:
        return VALUE_TYPE[self.type.name]

    @property
    def memory_type(self) -> str:
        return MEMORY_TYPE[self.type.name]

    @property
    def nothing(self) -> str:
        """C text of the value that changes nothing."""
        return literal(identity(self.reduction.op, self.type).value, self.type)

    @property
    def values(self) -> str:
        """The shared array of what entries add, and then of what rows come to."""
        return f"lw_values_{self.number}"

    def named(self, what: str) -> str:
        """A C name of its own."""
        return f"lw_{what}_{self.number}"

    def both(self, first: str, second: str, w: GpuWriter) -> str:
        """C text of two partial results, given as C names, in one; the first is the one of earlier entries."""
        outer = w.function.renamed
        w.function.renamed = outer | {"lw.first": first, "lw.second": second}
        text = w.text(combined(self.reduction.op, Var("lw.first", self.type), Var("lw.second", self.type)))
        w.function.renamed = outer
        return text


def write_terms(
    entry: For, sums: Sequence[Sum], ahead: int, threads: int, value: Callable[[Sum, str], str], w: GpuWriter
) -> None:
    """Put what each entry adds to the sums into shared memory: `value` gives the C text of the element for a place.
    There are lw_count entries, of which a thread does `ahead` at once, and the first of them is lw_from."""
    items = [Iteration(number, {entry.name: f"lw_entry_{number}"}) for number in range(ahead)]
    with w.loop(f"int lw_part = 0; lw_part < lw_count; lw_part += {threads * ahead}", entry.name):
        for item in items:
            place = f"lw_place_{item.number}"
            w.line(f"const int {place} = lw_part + {item.number * threads} + (int)threadIdx.x;")
            # Threads that have no entry left do the last one again: no branch holds the loads of the others up.
            near = "(lw_int)" if w.within else ""
            w.line(f"const int64_t lw_entry_{item.number} = {near}lw_from + LW_MIN(int, {place}, lw_count - 1);")
        rest = read_ahead(entry.body, items, w, frozenset(one.reduction.target for one in sums), along=entry.name)
        for item in items:
            for one in sums:
                item.renamed[one.reduction.target] = name = f"{one.named('term')}_{item.number}"
                w.line(f"{one.ctype} {name} = {one.nothing};")
            with about(item, w):
                write_body(rest, w)
            for one in sums:
                name = item.renamed[one.reduction.target]
                w.only(f"lw_place_{item.number} < lw_count", f"{value(one, f'lw_place_{item.number}')} = {name};")

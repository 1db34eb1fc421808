"""The step `balance`: blocks of a GPU take equal parts of the entries of rows, however long the rows are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.row_pointers import NotRows, row_nest
from loopwright.ir.gpu_target import GpuTarget
from loopwright.ir.nodes import Checked, For, Kernel, Load
from loopwright.ir.queries import has, names_assigned, types_assigned
from loopwright.ir.types import Scalar
from loopwright.ir.walk import loops, own_expressions
from loopwright.steps.extent import around, marked
from loopwright.steps.grammar import From1
from loopwright.steps.nest import left_early, missing, overlapping, running, the_loop, without_arrays
from loopwright.steps.step import Rejection, Step, order_needed

THREADS = 256
"""Of a block, where the step does not say how many."""

ROWS_EACH, MOST_ROWS = 4, 2048
"""Rows of a thread that looks where blocks begin, as so many pairs of bounds are under way at once; rows of its block,
whose shared memory has room for where all of them begin and end."""


@dataclass(frozen=True, slots=True)
class Balance(Step):
    """On a GPU, give each block an equal part of rows and their entries together, whatever the rows: where the entries
    of a row begin where those of the row before end, all of them stand in one line, which can be cut anywhere.
    `balance i k 2048 256`, for blocks of 256 threads, or just `balance i k 2048`. `balance i k 1024`:

    var s: int64
    for i in 0 .. n:
        s = 0
        for k in int64(a[i]) .. int64(a[i + 1]):
            s = s + int64(c[k, 0])
        b[i] = float64(s)
    ->
    var s: int64
    for i in 0 .. n balanced 256:
        s = 0
        for k in int64(a[i]) .. int64(a[i + 1]) entries 1024:
            s = s + int64(c[k, 0])
        b[i] = float64(s)
    """

    name: ClassVar[str] = "balance"
    grammar: ClassVar[str] = "LOOP INNER ENTRIES [THREADS]"
    loop: str
    inner: str
    entries: From1
    threads: From1 = THREADS

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop, self.inner)) or overlapping(kernel)) is not None:
            return rejection
        row, entry = the_loop(kernel, self.loop), the_loop(kernel, self.inner)
        try:
            row_nest(row, entry)
        except NotRows as why:
            return Rejection(str(why))
        return (
            _out_of_place(kernel, row)
            or _needs_order(row, entry, facts, strict)
            or _sizes(entry, facts, self.entries, self.threads)
        )

    def apply(self, kernel: Kernel) -> Kernel:
        return running(
            kernel,
            {self.loop: "balanced", self.inner: "entries"},
            {self.loop: self.threads, self.inner: self.entries},
        )

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        found = loops(kernel)
        return (cls(outer, inner, 2048) for outer in found for inner in found if outer != inner)


def _out_of_place(kernel: Kernel, row: For) -> Rejection | None:
    if (rejection := marked((row,))) is not None:
        return rejection
    for outer in around(kernel, row):
        if isinstance(outer, For) and outer.run != "sequential":
            return Rejection(f"'{outer.name}' around it is marked {outer.run} already")
    if any(has(bound, Load, Checked) for bound in own_expressions(row)):
        return Rejection(f"the bounds of '{row.name}' are read from an array: the host does not know them")
    if (rejection := left_early(row)) is not None:
        return rejection
    return None


def _needs_order(row: For, entry: For, facts: Facts, strict: bool) -> Rejection | None:
    rows, entries = facts.loops[row.name], facts.loops[entry.name]
    if rows.verdict == "reduction":
        targets = ", ".join(f"'{reduction.target}'" for reduction in rows.reductions)
        return Rejection(f"the iterations of '{row.name}' all add to {targets}")
    if entries.verdict != "reduction" or any(
        reduction.kind != "scalar" or reduction.by for reduction in entries.reductions
    ):
        reason = f": {entries.reason}" if entries.verdict in ("sequential", "undecided") else ""
        return Rejection(f"'{entry.name}' is no reduction into scalars{reason}")
    for loop, asserted in ((rows, row.asserted), (entries, False)):
        if (rejection := order_needed(loop, asserted, strict)) is not None:
            return rejection
        if loop.last:
            return Rejection(f"the value of '{loop.last[0]}' after its last iteration is needed")
    return without_arrays((*rows.private, *entries.private), names_assigned(row.body))


def _sizes(entry: For, facts: Facts, entries: int, threads: int) -> Rejection | None:
    gpu = facts.gpu
    if threads % gpu.warp or threads > gpu.threads:
        return Rejection(f"a block has whole warps of {gpu.warp} threads, {gpu.threads} threads at most: not {threads}")
    if entries % threads:
        return Rejection(f"{entries} entries are no multiple of the {threads} threads of a block")
    scalars = types_assigned(entry.body)
    types = [scalars[reduction.target] for reduction in facts.loops[entry.name].reductions]
    for what, needed in (
        (f"{entries} entries", shared_bytes(types, entries, threads, gpu.warp)),
        (f"the rows of {threads} threads", bytes_of_rows(threads)),
    ):
        if needed > gpu.shared_bytes:
            most = f"{gpu.shared_bytes} are the most"
            return Rejection(f"a block would need {needed} bytes of shared memory for {what}: {most}")
    return None


def spreads(entries: int, threads: int) -> bool:
    """Whether the values of entries lie spread in shared memory (lw_slot): threads that go along a stretch of 4, 8, 16
    each would be in one another's way."""
    return entries // threads % 4 == 0


def slots(entries: int, threads: int) -> int:
    """How many elements the array of these values has."""
    return entries + entries // 8 if spreads(entries, threads) else entries


def shared_bytes(types: Sequence[Scalar], entries: int, threads: int, warp: int) -> int:
    """What a block needs: of each sum (of these types) a value for every entry and every warp; where each row ends; and
    whether one ends within a warp. Every array begins at a multiple of 16 bytes."""
    warps, room = threads // warp, slots(entries, threads)
    sizes = [count * type_.size_bytes for type_ in types for count in (room, warps)] + [2 * entries, 4 * warps]
    return sum(-(-size // 16) * 16 for size in sizes)


def bytes_of_rows(rows: int) -> int:
    """What a block needs that looks where blocks begin in so many rows: their numbers, and in which blocks they begin
    and end."""
    return -(-4 * (rows + 1) // 16) * 16 + 16 * rows


def rows_each(threads: int, gpu: GpuTarget) -> int:
    """How many rows a thread of such a block has."""
    found = min(ROWS_EACH, MOST_ROWS // threads)
    return next(each for each in range(found, 0, -1) if each == 1 or bytes_of_rows(each * threads) <= gpu.shared_bytes)

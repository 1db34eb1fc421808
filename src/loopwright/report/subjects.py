"""What a report is about, read from a store: each kernel on each machine with its measurements."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopwright.cost.front import PARETO, JudgedCandidates, fronts_of
from loopwright.profile.arithmetic_rate import ARITHMETIC
from loopwright.profile.history import Cell
from loopwright.profile.measurement import Measurement
from loopwright.profile.memory_rate import LIMITS, MEMORY
from loopwright.profile.records import ANY, OPERATIONS, ChoiceRecord, FittedTable, KernelName, MachineName
from loopwright.profile.store import ProfileStore, Tally
from loopwright.report.stored_timelines import StoredCall, stored_calls

MOST_SUBJECTS = 40
"""Kernels on machines that have a section of their own: those that were measured last."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel on a machine. fronts: what was judged without running. choices: what calls chose last, by shape. cells:
    the rows with all their batches. flop_per_iteration, float32_share of these, copy_bytes_per_s of the machine's
    memory, and peak_flop_per_s of its cores with float64 and float32: 0 where they are not known."""

    kernel: KernelName
    machine: MachineName
    rows: tuple[Measurement, ...]
    fronts: tuple[JudgedCandidates, ...]
    choices: tuple[ChoiceRecord, ...]
    cells: tuple[Cell, ...] = ()
    flop_per_iteration: float = 0.0
    copy_bytes_per_s: float = 0.0
    float32_share: float = 0.0
    peak_flop_per_s: float = 0.0
    peak_float32_per_s: float = 0.0

    @property
    def newest(self) -> float:
        """When it was measured last, in seconds since 1970."""
        return max((row.made_at for row in self.rows), default=0.0)


@dataclass(frozen=True, slots=True)
class Contents:
    """tallies: of everything, by the kernel's name. told: those that have a section. shared: the last calls that
    several devices shared, the last one first."""

    tallies: tuple[Tally, ...]
    told: tuple[Tally, ...]
    shared: tuple[StoredCall, ...] = ()


def contents(store: ProfileStore, kernel: str = "") -> Contents:
    """Of a store, or of the kernels of one name (or whose fingerprint begins so). Raises StoreError."""
    tallies = tuple(
        tally
        for tally in store.tallies()
        if not kernel or tally.kernel.name == kernel or tally.kernel.fingerprint.startswith(kernel)
    )
    latest = heapq.nlargest(MOST_SUBJECTS, tallies, key=lambda one: (one.newest, one.kernel.name, key_of(one)))
    chosen = {key_of(one) for one in latest}
    shared = tuple(
        one for one in stored_calls(store) if not kernel or one.name == kernel or one.kernel.startswith(kernel)
    )
    return Contents(tallies, tuple(one for one in tallies if key_of(one) in chosen), shared)


def key_of(tally: Tally) -> tuple[str, str]:
    """Fingerprints of the kernel and the machine."""
    return tally.kernel.fingerprint, tally.machine.fingerprint


def subjects(store: ProfileStore, told: Sequence[Tally]) -> Iterator[tuple[KernelName, tuple[Subject, ...]]]:
    """Kernel by kernel, in the order of their names: one subject for each machine. Raises StoreError."""
    of_kernel: dict[str, list[Tally]] = {}
    for tally in told:
        of_kernel.setdefault(tally.kernel.fingerprint, []).append(tally)
    for fingerprint, tallies in of_kernel.items():
        yield tallies[0].kernel, tuple(_subject(store, fingerprint, one) for one in tallies)


def _subject(store: ProfileStore, kernel: str, tally: Tally) -> Subject:
    machine = tally.machine.fingerprint
    fronts = fronts_of(store.tables(PARETO, machine), kernel)
    rows = store.of_kernel(kernel, machine)
    operations = store.table(OPERATIONS, ANY, kernel)
    flop, float32 = (number_in(operations, name) for name in ("flop_per_iteration", "float32_share"))
    rate = number_in(store.table(LIMITS, machine, MEMORY), "bytes_per_s")
    choices, cells = store.choices(kernel, machine), store.cells(kernel, machine)
    arithmetic = store.table(LIMITS, machine, ARITHMETIC)
    peak = number_in(arithmetic, "flop_per_s")
    peak32 = number_in(arithmetic, "float32_flop_per_s") or 2 * peak
    return Subject(tally.kernel, tally.machine, rows, fronts, choices, cells, flop, rate, float32, peak, peak32)


def number_in(table: FittedTable | None, name: str) -> float:
    """What a table says under a name; 0 where that is no number."""
    found = table.content.get(name) if table is not None and isinstance(table.content, dict) else None
    return float(found) if isinstance(found, int | float) and 0 <= found < math.inf else 0.0


def pairs(found: Sequence[Subject]) -> tuple[tuple[Subject, Subject], ...]:
    """Each GPU with the processor beside it, where both were measured; of several alike the one measured last."""
    made: list[tuple[Subject, Subject]] = []
    for gpu in found:
        identity = gpu.machine.identity
        if identity is None or identity.kind not in ("cuda", "simulated"):
            continue
        beside = [
            one
            for one in found
            if one.machine.identity
            and one.machine.identity.kind == "cpu"
            and one.machine.identity.name == identity.host
        ]
        if beside:
            made.append((max(beside, key=lambda one: (one.newest, one.machine.fingerprint)), gpu))
    return tuple(made)

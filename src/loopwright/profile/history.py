"""What is kept of repeated measurements: the last few of each kind, from which one Measurement is concluded.

A `Cell` is all that is known of one variant under one shape on one machine. Cells merge like sets: in any order, any
number of times, with the same result, so that a file may be imported twice and two stores merged either way.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import NamedTuple, get_args

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import OUTCOMES, CacheState, Measurement, Outcome, Source, Work

KEPT = 8
"""How many batches a cell keeps: the last ones. Enough that one of them cannot steer the median of their times, and few
enough that a machine which has become slower is believed after four."""

REASON_LENGTH = 500
MOST_RUNS = 1 << 48
SIZES = range(-(1 << 63), 1 << 64)
"""What a length or a number of the caller may be: whatever fits into 64 bits."""
CACHE_STATES: tuple[CacheState, ...] = get_args(CacheState)
SOURCES: tuple[Source, ...] = get_args(Source)


class Batch(NamedTuple):
    """Runs that were measured together. In order of time, then of the rest, so that there is one order for all."""

    made_at: float
    outcome: Outcome
    time_ns: float
    spread: float
    runs: int
    reason: str


@dataclass(frozen=True, slots=True)
class Cell:
    """All that is kept of one variant under one shape on one machine; batches: at most KEPT, the newest last."""

    kernel: str
    machine: str
    variant: Variant
    shape: Shape
    cache: CacheState
    source: Source
    work: Work
    batches: tuple[Batch, ...]


def cell_of(measurement: Measurement) -> Cell:
    """A cell of one batch. Raises ValueError for what nobody can have measured, which says what."""
    m = measurement
    reason = m.reason if len(m.reason) <= REASON_LENGTH else m.reason[: REASON_LENGTH - 3] + "..."
    reason = reason.encode(errors="replace").decode()  # half a character, as in names of files, cannot be written
    batch = Batch(float(m.made_at), m.outcome, float(m.time_ns), float(m.spread), index(m.runs), reason)
    work = Work(*map(float, _amounts(m.work)))
    shape = Shape(tuple(map(index, m.shape.sizes)), tuple(map(float, m.shape.features)))
    fault = _fault_of_names(m) or _fault_of_numbers(batch, work, shape)
    if fault:
        raise ValueError(f"this cannot have been measured: {fault} is wanted")
    return Cell(m.kernel, m.machine, m.variant, shape, m.cache, m.source, work, (batch,))


def _fault_of_names(m: Measurement) -> str:
    for name, value, allowed in (
        ("outcome", m.outcome, OUTCOMES),
        ("cache", m.cache, CACHE_STATES),
        ("source", m.source, SOURCES),
    ):
        if value not in allowed:
            return f"{name} is {value!r}, and one of {', '.join(allowed)}"
    return "" if m.kernel else "the fingerprint of the kernel is '', and a text"


def _fault_of_numbers(batch: Batch, work: Work, shape: Shape) -> str:
    if not all(map(math.isfinite, (*shape.features, batch.made_at))):
        return f"features are {shape.features}, made_at is {batch.made_at}, and finite numbers"
    if not all(size in SIZES for size in shape.sizes):
        return f"sizes are {shape.sizes!s:.60}, and whole numbers of 64 bits"
    if not 0 <= batch.runs < MOST_RUNS:
        return f"runs is {batch.runs}, and a number from 0 on"
    for value in (batch.time_ns, batch.spread, *_amounts(work)):
        if not 0 <= value < math.inf:
            return f"time_ns is {batch.time_ns}, spread {batch.spread}, the work {work}, and finite numbers from 0 on"
    return ""


def merged(one: Cell, other: Cell) -> Cell:
    """The cell of both, which are of the same variant, shape and machine."""
    kept = sorted({*one.batches, *other.batches}, key=lambda batch: (batch.outcome == "wrong", batch))[-KEPT:]
    work = max(one.work, other.work, key=_amounts)  # what is known beats zeros
    return replace(one, work=work, batches=tuple(sorted(kept)))


def concluded(cell: Cell) -> Measurement:
    """One measurement for all batches. A wrong result is never forgotten in favour of a later right one; otherwise the
    last outcome counts. The time is the median of the batches with that outcome."""
    last = cell.batches[-1]
    decisive = next((batch for batch in reversed(cell.batches) if batch.outcome == "wrong"), last)
    same = [batch for batch in cell.batches if batch.outcome == decisive.outcome]
    times = [batch.time_ns for batch in same]
    return Measurement(
        kernel=cell.kernel,
        machine=cell.machine,
        variant=cell.variant,
        shape=cell.shape,
        work=cell.work,
        outcome=decisive.outcome,
        time_ns=statistics.median(times),
        spread=max(statistics.median([batch.spread for batch in same]), _spread(times)),
        runs=sum(batch.runs for batch in same),
        cache=cell.cache,
        source=cell.source,
        made_at=last.made_at,
        reason=decisive.reason,
    )


def pooled(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Measurements of real calls, which come one by one, as one for each variant, shape and outcome; the others as they
    are."""
    calls: dict[Measurement, list[Measurement]] = defaultdict(list)
    rest: list[Measurement] = []
    for m in measurements:
        if m.source == "call":
            kind = replace(m, time_ns=0.0, spread=0.0, runs=0, made_at=0.0, reason="", work=Work())
            calls[kind].append(m)
        else:
            rest.append(m)
    return [*map(_pool, calls.values()), *rest]


def _pool(calls: Sequence[Measurement]) -> Measurement:
    if len(calls) == 1:
        return calls[0]
    times = [m.time_ns for m in calls]
    spread = max(statistics.median([m.spread for m in calls]), _spread(times))
    last = max(calls, key=lambda m: m.made_at)
    return replace(last, time_ns=statistics.median(times), spread=spread, runs=sum(m.runs for m in calls))


def _spread(times: Sequence[float]) -> float:
    """Half the distance of the quartiles, over the median."""
    middle = statistics.median(times)
    if len(times) < 2 or not middle:
        return 0.0
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return (high - low) / 2 / middle


def _amounts(work: Work) -> tuple[float, ...]:
    return (
        work.iterations, work.units, work.depth, work.footprint_bytes, work.inputs_bytes, work.outputs_bytes,
    )  # fmt: skip

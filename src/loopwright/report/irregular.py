"""`IrregularReport`: what data decides about the iterations of a kernel's loops in one call, and what that costs the
warps of a GPU: as iterations stand, sorted by their keys, and at the very least. Frozen values with a text; the numbers
are exact, and come from what the inspector of each loop has found (`analysis/path_inspector.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loopwright.analysis.path_inspector import PathInspector
from loopwright.analysis.path_vectors import ArrayReference, PathEntry
from loopwright.cost.divergence import (
    divergence_ratio,
    least_loop_cost,
    least_transactions,
    loop_cost,
    transactions,
)
from loopwright.report.words import count, percent


@dataclass(frozen=True, slots=True)
class Mapped:
    """A measure as iterations stand, in the order of their keys, and the least that any order (or, of references, any
    layout) comes to."""

    found: float
    sorted: float
    least: float


@dataclass(frozen=True, slots=True)
class EntryReport:
    """A branch or inner loop that data decides. mean, most: of 1 and 0 for a branch, of iterations for a loop; cost: of
    a loop, the iterations that all warps go through; both None where the entry is left out, as `reason` says."""

    kind: str
    text: str
    line: int
    mean: float | None = None
    most: int | None = None
    cost: Mapped | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceReport:
    """An access. arrays: those that decide its subscripts. sectors: of 32 bytes, that all warps touch with it, None
    where it is left out, as `reason` says."""

    text: str
    line: int
    is_write: bool
    arrays: tuple[str, ...]
    sectors: Mapped | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IrregularLoop:
    """One loop. diverging: the part of the warps that diverge; None where nothing is known of its paths. versions: of
    the arrays that its paths depend on, where these are such as say when they may have been written. reason: why
    nothing was measured."""

    loop: str
    line: int
    iterations: int = 0
    diverging: Mapped | None = None
    entries: tuple[EntryReport, ...] = ()
    references: tuple[ReferenceReport, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IrregularReport:
    """What `kernel.irregular` returns; its text is what `loopwright show --irregular` prints."""

    kernel: str
    loops: tuple[IrregularLoop, ...]

    def __str__(self) -> str:
        lines = [line for loop in self.loops for line in _lines(loop)]
        return "\n".join(lines or ["no loop's iterations can run in any order"])


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """Where the elements of an array lie: bytes from one to the next along each axis, and of each of them."""

    strides: tuple[int, ...]
    width: int


def measured(
    found: PathInspector, rows: NDArray[Any], line: int, places: Mapping[str, ArrayPlace], versions: Mapping[str, str]
) -> IrregularLoop:
    """What the rows that an inspector has found come to. places: of the arrays whose strides are known; versions: of
    all arrays."""
    vector, columns = found.vector, iter(range(found.columns))
    entries = {entry: next(columns) for entry in vector.known}
    index = {id(one): tuple(next(columns) for _ in one.index) for one in vector.references}
    paths = rows[:, : len(entries)]
    order = np.argsort(rows[:, -1], kind="stable") if found.has_key else np.arange(len(rows))
    least = 0.0 if len(np.unique(paths, axis=0)) <= 1 else _least_diverging(paths)
    diverging = Mapped(divergence_ratio(paths), divergence_ratio(paths[order]), least) if entries else None
    return IrregularLoop(
        vector.loop,
        line,
        len(rows),
        diverging,
        tuple(_entry(entry, rows, entries.get(entry), order) for entry in vector.entries),
        tuple(
            _reference(one, rows[:, list(index[id(one)])], order, places.get(one.array)) for one in vector.references
        ),
        tuple((array, versions.get(array, "unknown")) for array in sorted(vector.arrays)),
    )


def _least_diverging(paths: NDArray[Any]) -> float:
    """Sorted by whole path vectors: a bound that is met but for one warp at each border, as the smallest number of
    diverging warps is hard to find (Zhang's thesis, section 3.4)."""
    return divergence_ratio(paths[np.lexsort(paths.T[::-1])])


def _entry(entry: PathEntry, rows: NDArray[Any], column: int | None, order: NDArray[Any]) -> EntryReport:
    line = entry.at.line if entry.at is not None else 0
    if column is None:
        return EntryReport(entry.kind, entry.text, line, reason=entry.reason)
    values = rows[:, column]
    mean, most = (float(values.mean()), int(values.max())) if len(values) else (0.0, 0)
    cost = Mapped(loop_cost(values), loop_cost(values[order]), least_loop_cost(values))
    return EntryReport(entry.kind, entry.text, line, mean, most, cost if entry.kind == "trips" else None)


def _reference(
    one: ArrayReference, index: NDArray[Any], order: NDArray[Any], place: ArrayPlace | None
) -> ReferenceReport:
    line, arrays = one.at.line if one.at is not None else 0, tuple(sorted(one.arrays))
    if one.reason or place is None:
        reason = one.reason or "where its elements lie is not known"
        return ReferenceReport(one.text, line, one.is_write, arrays, reason=reason)
    addresses = (index * np.array(place.strides, np.int64)).sum(axis=1)
    addresses -= min(int(addresses.min(initial=0)), 0)
    addresses[(index < 0).any(axis=1)] = -1
    found, then = (transactions(each, place.width) for each in (addresses, addresses[order]))
    return ReferenceReport(
        one.text, line, one.is_write, arrays, Mapped(found, then, least_transactions(addresses, place.width))
    )


# ---- as text ----------------------------------------------------------------------------------------------------


def _lines(loop: IrregularLoop) -> Iterator[str]:
    head = f"loop {loop.loop} (line {loop.line})"
    if loop.reason:
        yield f"{head}: {loop.reason}"
        return
    yield f"{head}: {count(loop.iterations, 'iteration')}"
    if loop.diverging is not None:
        yield f"  warps that diverge: {_shares(loop.diverging)}"
    for entry in loop.entries:
        yield f"  line {entry.line}  {'branch' if entry.kind == 'branch' else 'loop'}  {entry.text}: {_decided(entry)}"
    for one in loop.references:
        if one.sectors is not None or one.arrays:
            verb = "writes" if one.is_write else "reads"
            yield f"  line {one.line}  {verb}  {one.text}: {_touched(one)}"
    if loop.versions:
        known = [f"{array} {version}" for array, version in loop.versions]
        yield f"  its paths depend on arrays, at version: {', '.join(known)}"


def _shares(one: Mapped) -> str:
    return f"{percent(one.found)}; sorted {percent(one.sorted)}; at least {percent(one.least)}"


def _decided(entry: EntryReport) -> str:
    if entry.reason:
        return f"not known before: {entry.reason}"
    assert entry.mean is not None
    if entry.cost is None:
        return f"taken by {percent(entry.mean)}"
    cost = f"{entry.cost.found:.0f} for all warps; sorted {entry.cost.sorted:.0f}; at least {entry.cost.least:.0f}"
    return f"{entry.mean:.3g} iterations on average, {entry.most} at most; {cost}"


def _touched(one: ReferenceReport) -> str:
    if one.sectors is None:
        return f"not known before: {one.reason}"
    by = f", which {', '.join(one.arrays)} decide{'s' if len(one.arrays) == 1 else ''}" if one.arrays else ""
    found, then, least = (f"{value:.0f}" for value in (one.sectors.found, one.sectors.sorted, one.sectors.least))
    return f"{found} sectors{by}; sorted {then}; at least {least}"

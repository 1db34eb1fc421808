"""Ranking tables: the time per iteration of one variant. On a GPU by the number of blocks of the grid, each row linear
in the sequential parameter (Dollinger 2015, section 4.4.3); on a CPU by the number of threads and the bytes they work
on (Pradelle's tables, section 4.2, with the working set added, as small ones run from caches)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from loopwright.profile.line import Line
from loopwright.profile.sequential import SequentialFit, fit_sequential
from loopwright.profile.stride import Failure, Walk, adaptive, interpolated
from loopwright.profile.text import from_text, rows, to_text

GPU_KIND = "GPU ranking table"
CPU_KIND = "CPU ranking table"


@dataclass(frozen=True, slots=True)
class GpuRow:
    """blocks: of the whole grid, as grids of the same number of blocks take the same time. line: from the sequential
    parameter to ns per iteration."""

    blocks: int
    line: Line


@dataclass(frozen=True, slots=True)
class GpuRanking:
    """rows: blocks ascending, from 1 on; one at least, or ValueError is raised."""

    rows: tuple[GpuRow, ...]

    def __post_init__(self) -> None:
        if not self.rows or self.rows[0].blocks < 1 or any(a.blocks >= b.blocks for a, b in pairwise(self.rows)):
            raise ValueError("a ranking table has one row at least, and its blocks ascend from 1 on")

    def ns_per_iteration(self, blocks: float, sequential: float) -> float:
        """Between rows along a straight line; the nearest row's value outside of them, as the curve is level at its
        right end. Not below 0: lines that fall are not followed through the floor."""
        above = min(max(bisect_left(self.rows, blocks, key=_blocks), 1), max(len(self.rows) - 1, 1))
        around = self.rows[above - 1 : above + 1]
        return interpolated(tuple((row.blocks, max(row.line.at(sequential), 0.0)) for row in around), blocks)

    def covers(self, blocks: float) -> bool:
        """Whether a grid of this many blocks lies between rows."""
        return self.rows[0].blocks <= blocks <= self.rows[-1].blocks

    def __str__(self) -> str:
        return to_text(GPU_KIND, {"rows": [[row.blocks, row.line.slope, row.line.intercept] for row in self.rows]})

    @classmethod
    def parse(cls, text: str) -> GpuRanking:
        """Raises ValueError where this is no table's text."""
        found = rows(from_text(GPU_KIND, text).get("rows"), 3)
        return cls(tuple(GpuRow(int(blocks), Line(slope, intercept)) for blocks, slope, intercept in found))


@dataclass(frozen=True, slots=True)
class CpuRow:
    """points: bytes of the working set, ascending, and wall time over the iterations of all threads, in ns."""

    threads: int
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class CpuRanking:
    """rows: threads ascending, from 1 on; one at least, each with one point at least, or ValueError is raised."""

    rows: tuple[CpuRow, ...]

    def __post_init__(self) -> None:
        if not self.rows or self.rows[0].threads < 1 or any(a.threads >= b.threads for a, b in pairwise(self.rows)):
            raise ValueError("a ranking table has one row at least, and its threads ascend from 1 on")
        for row in self.rows:
            if not row.points or any(a[0] >= b[0] for a, b in pairwise(row.points)) or row.points[0][0] < 1:
                raise ValueError("a row has one point at least, and its bytes ascend from 1 or more")

    def ns_per_iteration(self, threads: float, working_set_bytes: float = 0.0) -> float:
        """Wall time over all threads' iterations. Between points along straight lines over the logarithm of the bytes,
        between rows over the number of threads; the nearest outside."""
        values = tuple((row.threads, _over_logarithm(row.points, working_set_bytes)) for row in self.rows)
        return interpolated(values, threads)

    def __str__(self) -> str:
        found = [[row.threads, size, ns] for row in self.rows for size, ns in row.points]
        return to_text(CPU_KIND, {"rows": found})

    @classmethod
    def parse(cls, text: str) -> CpuRanking:
        """Raises ValueError where this is no table's text."""
        by_threads: dict[int, list[tuple[int, float]]] = {}
        for threads, size, ns in rows(from_text(CPU_KIND, text).get("rows"), 3):
            by_threads.setdefault(int(threads), []).append((int(size), ns))
        return cls(tuple(CpuRow(threads, tuple(points)) for threads, points in by_threads.items()))


def _blocks(row: GpuRow) -> int:
    return row.blocks


def _over_logarithm(points: tuple[tuple[int, float], ...], size: float) -> float:
    if size <= points[0][0]:
        return points[0][1]
    if size >= points[-1][0]:
        return points[-1][1]
    for (a, before), (b, after) in pairwise(points):
        if size <= b:
            return before + (after - before) * math.log(size / a) / math.log(b / a)
    return points[-1][1]


@dataclass(frozen=True, slots=True)
class Sequential:
    """Which values of the sequential parameter are measured at each grid size."""

    first: int
    stride: int
    last: int


def measure_gpu_ranking(
    measure: Callable[[int, int], float | Failure], last: int, sequential: Sequential, most: int = 1000
) -> GpuRanking | Failure:
    """measure: from blocks and the sequential parameter to ns per iteration. The walk over the blocks is by what the
    line says in the middle of the parameter's values, so that noise of single measurements is out of it already.
    Failure: the first one, where nothing could be measured."""
    fits: dict[int, SequentialFit] = {}
    middle = (sequential.first + sequential.last) / 2

    def at(blocks: int) -> float | Failure:
        fit = fit_sequential(lambda value: measure(blocks, value), sequential.first, sequential.stride, sequential.last)
        if isinstance(fit, Failure):
            return fit
        fits[blocks] = fit
        return fit.line.at(min(middle, fit.points[-1][0]))

    walk: Walk = adaptive(at, 1, last, most)
    if not walk.points:
        return walk.failures[0][1] if walk.failures else Failure("no measurement was allowed")
    return GpuRanking(tuple(GpuRow(blocks, fits[blocks].line) for blocks, _ in walk.points))


def measure_cpu_ranking(
    measure: Callable[[int, int], float | Failure], threads: tuple[int, ...], first_bytes: int, last_bytes: int
) -> CpuRanking | Failure:
    """measure: from threads and bytes of the working set to ns per iteration. Each row doubles the working set from
    first_bytes to last_bytes, which belongs to it too. Failure: the first one, where nothing could be measured."""
    found: list[CpuRow] = []
    failed: Failure | None = None
    for count in sorted(set(threads)):
        points: list[tuple[int, float]] = []
        for size in _doubled(first_bytes, last_bytes):
            value = measure(count, size)
            if not isinstance(value, Failure) and not (math.isfinite(value) and value > 0):
                value = Failure(f"measured {value}, which is no time")
            if isinstance(value, Failure):
                failed = failed or value
            else:
                points.append((size, value))
        if points:
            found.append(CpuRow(count, tuple(points)))
    return CpuRanking(tuple(found)) if found else failed or Failure("no number of threads was given")


def _doubled(first: int, last: int) -> list[int]:
    if not 1 <= first <= last:
        raise ValueError(f"a working set grows from 1 byte or more, not from {first} to {last}")
    sizes = [first]
    while sizes[-1] * 2 < last:
        sizes.append(sizes[-1] * 2)
    return sizes if sizes[-1] == last else [*sizes, last]

"""What a part of a parallel region computes and moves, from the product's own analyses: how often its statements run,
the boxes of arrays that it needs and writes, and how many threads its grid has. No array has to have elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from benchmarks.virtual_gpus import NS, Rates
from loopwright.analysis.frequency import ASSUMED_TRIPS, Frequencies, frequencies
from loopwright.analysis.trace import Access, traced
from loopwright.compiler import Analysed
from loopwright.cost.call_shape import shape_of
from loopwright.cost.operations import value_operations
from loopwright.ir.nodes import Assign, Body, For, Kernel, Stmt, Store
from loopwright.ir.types import FLOAT64
from loopwright.ir.walk import bodies, statements
from loopwright.memory.array_copies import ArrayCopies
from loopwright.memory.placing import values_of
from loopwright.memory.region_call import RegionCode
from loopwright.steps.threads import BLOCKS, THREADS, sharing_of


@dataclass(frozen=True, slots=True)
class Work:
    """Instructions as `Rates` has them; bytes that come from memory or go there; threads, 0 where data decide."""

    float32: float = 0.0
    float64: float = 0.0
    special: float = 0.0
    special64: float = 0.0
    bytes: float = 0.0
    threads: float = 0.0

    def takes_ns(self, rates: Rates) -> float:
        """The longer of computing and moving, on as much of the GPU as there are threads for."""
        computes = self.float32 / rates.float32 + self.float64 / rates.float64
        computes += self.special / rates.special + self.special64 / rates.special64
        part = min(1.0, self.threads / rates.full_threads) if self.threads else 1.0
        return NS * max(computes, self.bytes / rates.memory) / part


@dataclass(frozen=True, slots=True)
class RegionWork:
    """One region. analysed: for a GPU; first: the position of its first iteration among what it is given; trips: of
    loops whose iterations only data tell. threads: of grids for so many
    iterations, as far as anybody has asked: to walk through tiled loops takes long."""

    analysed: Analysed
    code: RegionCode
    rates: Rates
    first: int
    trips: float
    threads: dict[tuple[int, ...], float] = field(default_factory=dict)

    def of(self, everything: Sequence[Any]) -> Work:
        """Of a part. everything: arguments, numbers and arrays, as the region is given them."""
        kernel = self.analysed.written
        sizes = shape_of(kernel, everything).sizes
        found = frequencies(kernel, sizes)
        often = {id(stmt): times for stmt, times in _times(kernel.body, found, self.trips)}
        work = Work()
        for stmt in statements(kernel.body):
            operations, times = value_operations(stmt), often[id(stmt)]
            wide = isinstance(stmt, Assign | Store) and stmt.value.type == FLOAT64
            arithmetic, special = operations.arithmetic * times, operations.special * times
            if wide:
                work = replace(work, float64=work.float64 + arithmetic, special64=work.special64 + special)
            else:
                work = replace(work, float32=work.float32 + arithmetic, special=work.special + special)
        return replace(work, bytes=self._bytes(kernel, everything, often), threads=self._threads(sizes))

    def _threads(self, sizes: Mapping[str, int]) -> float:
        """Of parts that are as long, wherever they begin."""
        first, last = f"v{self.first}", f"v{self.first + 1}"
        key = (sizes[last] - sizes[first], *(size for name, size in sizes.items() if name not in (first, last)))
        if key not in self.threads:
            self.threads[key] = threads_of(self.analysed.recipe.kernel, sizes)
        return self.threads[key]

    def _bytes(self, kernel: Kernel, everything: Sequence[Any], often: Mapping[int, float]) -> float:
        """Each element of the boxes once; where data decide about places, once for each time, and in sectors where
        neighbours are of no use and the array is larger than the cache."""
        places = {param.name: param.argument for param in kernel.arrays}
        by_data: dict[int, float] = {}
        for access in traced(kernel).accesses:
            position = places.get(access.array)
            if position is None or not _is_by_data(access):
                continue
            array = everything[position]
            anywhere = any(symbol.loose for form in access.index for symbol in form.symbols)
            fits = array.nbytes <= self.rates.cache_bytes
            each = 0 if anywhere and fits else self.rates.sector_bytes if anywhere else array.itemsize
            least = self._boxes(position, everything) if anywhere and fits else 0.0
            by_data[position] = max(by_data.get(position, 0.0), each * often[id(access.stmt)], least)
        return sum(by_data.values()) + sum(
            self._boxes(position, everything) for position in self.code.reach if position not in by_data
        )

    def _boxes(self, position: int, everything: Sequence[Any]) -> float:
        array, reach = everything[position], self.code.reach.get(position)
        if reach is None:  # each device has its own
            return float(array.nbytes)
        if not isinstance(array, np.ndarray):
            return 0.0
        values, copies = values_of(everything), ArrayCopies(array)
        found = [copies.box_of(reach, "needed", values)]
        if position in self.code.written:
            found.append(copies.box_of(reach, "written", values))
        return float(sum(prod(map(len, box)) for box in found if box is not None) * array.itemsize)


def _is_by_data(access: Access) -> bool:
    return any(symbol.data or symbol.loose for form in access.index for symbol in form.symbols)


def _times(body: Body, found: Frequencies, trips: float, scale: float = 1.0) -> Iterator[tuple[Stmt, float]]:
    """How often each statement runs. Loops whose number of iterations is not known have so many."""
    for stmt in body:
        yield stmt, found.statements.get(id(stmt), 0.0) * scale
        unknown = isinstance(stmt, For) and stmt.name in found.assumed and stmt.name not in found.lengths
        for inner in bodies(stmt):
            yield from _times(inner, found, trips, scale * trips / ASSUMED_TRIPS if unknown else scale)


def threads_of(scheduled: Kernel, sizes: Mapping[str, int]) -> float:
    """Of the largest grid of a region; 0 where no loop is bound, as where data decide who does what."""
    found = frequencies(scheduled, sizes)
    return max((_of_grid(grid, found) for grid in _outermost(scheduled.body)), default=0.0)


def _outermost(body: Body) -> list[For]:
    """The grids: bound loops that stand in no other one."""
    grids: list[For] = []
    for stmt in body:
        if isinstance(stmt, For) and stmt.run in (*BLOCKS, *THREADS):
            grids.append(stmt)
        else:
            grids += [one for inner in bodies(stmt) for one in _outermost(inner)]
    return grids


def _of_grid(grid: For, found: Frequencies) -> float:
    """Threads of one launch: the most blocks and threads along each axis."""
    along = dict.fromkeys((*BLOCKS, *THREADS), 1.0)
    for stmt in statements((grid,), For):
        trips = found.trips(stmt.name)
        if stmt.run in BLOCKS:
            along[stmt.run] = max(along[stmt.run], trips)
        elif stmt.run in THREADS:
            along[stmt.run] = max(along[stmt.run], min(trips, float(sharing_of(stmt))))
    return prod(along.values()) if found.iterations.get(grid.name) else 0.0

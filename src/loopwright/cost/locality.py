"""Cycles that it takes to move the data of a nest between the caches of a core and memory, from the footprints of its
loops.

A cache that holds what one iteration of a loop touches keeps what the next one touches too: such a loop fetches what it
touches as a whole, once. A loop of whose iterations each one is too large fetches what they fetch, again and again. So
the data that comes into a cache is told by the loops from the outside to the inside, for each cache by itself. What
accesses touch are boxes: as far as their indices go between the bounds of the loops, in whole lines of 64 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from loopwright.analysis.facts import Facts
from loopwright.analysis.frequency import Frequencies
from loopwright.analysis.integers import Interval, KnownIntegers, interval_of
from loopwright.cost.cpu_cycles import share_of
from loopwright.ir.nodes import Allocate, Assign, Body, For, Kernel, Load, Stmt, Store
from loopwright.ir.walk import bodies, own_expressions, subexpressions
from loopwright.recipe.target import CpuTarget

LINE = 64
L2, L3, MEMORY = 32.0, 12.0, 6.0
"""Bytes per cycle: into the first cache of a core, into its second, and from memory. The last is for one core alone;
several together get up to `CHANNELS` times as much."""
CHANNELS = 4
FILLED = 0.75
"""The part of a cache that data can count on: conflicts, and other data, take the rest."""


def cycles_to_move(
    kernel: Kernel, facts: Facts, target: CpuTarget, threads: int, found: Frequencies, sizes: Mapping[str, int]
) -> float:
    """Of the slowest thread, for the whole call."""
    total = 0.0
    for capacity, rate in (
        (target.l1_bytes, L2),
        (target.l2_bytes, L3),
        (target.l3_bytes / threads, MEMORY * min(1.0, CHANNELS / threads)),
    ):
        moved = _Moved(found, facts, threads, FILLED * capacity, _elements(kernel))
        total += moved.body(kernel.body, KnownIntegers.of(kernel, sizes), 1.0) / rate
    return total


def _elements(kernel: Kernel) -> dict[str, tuple[int, str]]:
    """Bytes of the elements of each array, and its layout."""
    found: dict[str, tuple[int, str]] = {p.name: (p.element.size_bytes, p.layout) for p in kernel.arrays}
    return found | {result.name: (result.element.size_bytes, "C") for result in kernel.results}


@dataclass(frozen=True, slots=True)
class _Box:
    """What one access touches. sides: the interval of each index; None where data decides."""

    array: str
    sides: tuple[Interval | None, ...]
    times: float


@dataclass(slots=True)
class _Moved:
    """Bytes that come into a cache of so many bytes."""

    found: Frequencies
    facts: Facts
    threads: int
    capacity: float
    elements: dict[str, tuple[int, str]]

    def body(self, body: Body, values: KnownIntegers, share: float) -> float:
        """For all the times that a body runs in a call, each statement by itself."""
        return sum(self._statement(stmt, values, share) for stmt in body)

    def _statement(self, stmt: Stmt, values: KnownIntegers, share: float) -> float:
        if isinstance(stmt, For):
            return self._loop(stmt, values, share)
        self._enter(stmt, values)
        times = self.found.statements.get(id(stmt), 0.0) * share
        return sum(
            (self.body(below, values, share) for below in bodies(stmt)), times * self._bytes((stmt,), values, {})
        )

    def _loop(self, loop: For, values: KnownIntegers, share: float) -> float:
        entries = self.found.entries.get(loop.name, 0.0)
        iterations = self.found.iterations.get(loop.name, 0.0)
        if not iterations:
            return 0.0
        if loop.run == "parallel" and share == 1.0:
            share = share_of(loop, self.facts, self.threads, self.found)
        turns = values.turns(loop)
        values.numbers[loop.name] = turns[len(turns) // 2] if turns else None
        once = self._bytes(loop.body, values, {})
        if once > self.capacity:
            return self.body(loop.body, values, share)
        between = {loop.name: (min(turns[0], turns[-1]), max(turns[0], turns[-1]))} if turns else {}
        whole = self._bytes(loop.body, values, between, iterations / entries)
        return share * min(entries * whole, iterations * once)

    def _enter(self, stmt: Stmt, values: KnownIntegers) -> None:
        match stmt:
            case Assign():
                values.assign(stmt)
            case Allocate():
                values.allocate(stmt)
                self.elements[stmt.array] = stmt.element.size_bytes, "C"

    # ---- footprints

    def _bytes(self, body: Body, values: KnownIntegers, between: Mapping[str, Interval], times: float = 1.0) -> float:
        """What all of a body touches while loops around it stand at these values, or go between these. times: how often
        it runs then."""
        return self._of_boxes(self._boxes(body, values, dict(between), times), values)

    def _of_boxes(self, found: Iterable[_Box], values: KnownIntegers) -> float:
        boxes: dict[str, list[_Box]] = {}
        for box in found:
            boxes.setdefault(box.array, []).append(box)
        return sum(self._of_array(array, some, values) for array, some in boxes.items())

    def _boxes(self, body: Body, values: KnownIntegers, between: dict[str, Interval], times: float) -> Iterator[_Box]:
        for stmt in body:
            yield from _own_boxes(stmt, values, between, times)
            if isinstance(stmt, For):
                span = _span(stmt, values, between)
                inside = between if span is None else {**between, stmt.name: span}
                if span is None or span[0] <= span[1]:
                    yield from self._boxes(stmt.body, values, inside, times * max(1.0, self.found.trips(stmt.name)))
            elif isinstance(stmt, Assign):
                known = None if stmt.value.type.is_float else interval_of(stmt.value, values, between)
                if known is not None:
                    between[stmt.name] = known
            else:
                self._enter(stmt, values)
                for below in bodies(stmt):
                    yield from self._boxes(below, values, between, times)

    def _of_array(self, array: str, boxes: list[_Box], values: KnownIntegers) -> float:
        """Of one array: the box around all, or the sum of those of each access, whichever is less."""
        apart = sum(self._of_box(array, box.sides, box.times, values) for box in dict.fromkeys(boxes))
        if any(None in box.sides for box in boxes):
            return apart
        sides = [
            [side for side in axis if side is not None] for axis in zip(*(box.sides for box in boxes), strict=True)
        ]
        hull = tuple((min(low for low, _ in axis), max(high for _, high in axis)) for axis in sides)
        return min(apart, self._of_box(array, hull, sum(box.times for box in boxes), values))

    def _of_box(self, array: str, sides: tuple[Interval | None, ...], times: float, values: KnownIntegers) -> float:
        element, layout = self.elements.get(array, (8, "C"))
        extents: list[float] = []
        for axis, side in enumerate(sides):
            size = values.sizes.get((array, axis))
            extent = float(side[1] - side[0] + 1) if side is not None else float(size or times)
            extents.append(min(extent, float(size)) if size is not None else extent)
        if None in sides:  # no more than a line each time
            return min(prod(extents) * element, times * LINE)
        along = 0 if layout in ("F", "first") else len(extents) - 1
        if not extents or layout == "strided":
            return prod(extents) * LINE
        row = -(-extents[along] * element // LINE) * LINE
        return row * prod(extent for axis, extent in enumerate(extents) if axis != along)


def _own_boxes(stmt: Stmt, values: KnownIntegers, between: Mapping[str, Interval], times: float) -> Iterator[_Box]:
    """What the statement itself touches, without those inside it."""
    nodes = [part for expr in own_expressions(stmt) for part in subexpressions(expr, Load)]
    for node in (*nodes, *((stmt,) if isinstance(stmt, Store) else ())):
        yield _Box(node.array, tuple(interval_of(index, values, between) for index in node.index), times)


def _span(loop: For, values: KnownIntegers, between: Mapping[str, Interval]) -> Interval | None:
    """The least and the greatest value of a loop's variable; None where data decides."""
    lower, upper, step = (interval_of(bound, values, between) for bound in (loop.lower, loop.upper, loop.step))
    if lower is None or upper is None or step is None:
        return None
    return (lower[0], upper[1] - 1) if step[0] > 0 else (upper[0] + 1, lower[1])

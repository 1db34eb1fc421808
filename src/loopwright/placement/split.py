"""One loop on several devices at once: how many iterations each of them gets, from what they are predicted to take.

It owns the sizes of the parts. It runs, measures and remembers nothing: the same functions give the same parts, however
they were found (`choice/division.py` makes them from measured calls). Parts lie one behind the other in the order of
the devices, so that each device has one box, and all of them together are all iterations, each exactly once.

The algorithm is Dollinger's (2015, 5.3.3, Algorithm 5.3): begin with equal parts; then up to 15 times make each part
larger or smaller by how far its time is from the mean of all, and leave out devices whose part is below 10 % of the
largest. What is printed there is corrected here. Every step is registered with the times of its own sizes, not with
those of the sizes before. Each device by itself is registered too, so that the result is never predicted to be slower
than the best of them. What counts is the longest time of all that was registered, because on a curve like a saw the
steps go back and forth and the last is no better than another. Parts are in iterations of the innermost loop where
`count` says how many there are, so that a triangle is not cut in the middle. And where the steps have not found a
balance, one more division is made: the longest time is bisected, and each device takes what it can do within it, which
is the best there is wherever more iterations never take less time.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LEAST = 0.10
"""A device whose part is below this of the largest is left out (Dollinger 2015, 5.3.3)."""
STEPS = 15
BALANCED = 0.005
"""Steps end where the devices' times differ by no more than this part of the longest."""
BISECTIONS = 14
TINY_NS = 1e-9

Time = Callable[[range], float]
"""The nanoseconds that a device is predicted to take for some iterations, all that it has to wait for included."""
Count = Callable[[range], float]
"""How many iterations of the innermost loop some iterations of the outermost one are."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A division that was looked at: consecutive parts, one for each device, and what each takes; 0 for an empty one.
    why: how it came about, in words."""

    parts: tuple[range, ...]
    times_ns: tuple[float, ...]
    why: str

    @property
    def makespan_ns(self) -> float:
        """From the start of all devices to the end of the last."""
        return max(self.times_ns, default=0.0)

    @property
    def imbalance(self) -> float:
        """The part of the makespan in which the device that ends first has nothing to do: 0 where all end together, and
        where there is one device. Devices without iterations do not count."""
        busy = [time for part, time in zip(self.parts, self.times_ns, strict=True) if part]
        shortest, longest = min(busy, default=0.0), max(busy, default=0.0)
        return 1 - shortest / longest if shortest < longest else 0.0

    @property
    def devices(self) -> tuple[int, ...]:
        """Those that have anything to do."""
        return tuple(index for index, part in enumerate(self.parts) if part)


@dataclass(frozen=True, slots=True)
class Partitioning(Registered):
    """The division to take. steps: all that were compared, in the order in which they were, for `explain`."""

    steps: tuple[Registered, ...] = ()


def partition(
    iterations: range,
    times: Sequence[Time],
    *,
    count: Count | None = None,
    least: float = LEAST,
    steps: int = STEPS,
    multiple: int = 1,
) -> Partitioning:
    """Divide `iterations` so that all devices end together: the division with the shortest predicted makespan.

    times: one function for each device. What it says of no iterations is not asked; a time that is negative or no
    number counts as infinite. count: needed where iterations differ, as in a triangle; it has to be additive. All are
    alike where it is None. least: devices whose part would be below it, of the largest part, are left out; 0 keeps all.
    multiple: parts begin at multiples of it, from the first iteration on, so that tiles and blocks stay whole; with
    fewer iterations than two devices need for it, at halves of it, and so on. Between equals, fewer devices win.
    Raises ValueError without devices, for a `least` outside [0, 1], and for `multiple` or `steps` below 1."""
    if not times:
        raise ValueError("iterations are divided among one device at least")
    if not 0 <= least <= 1 or multiple < 1 or steps < 1:
        raise ValueError(f"least = {least} must lie in [0, 1], multiple = {multiple} and steps = {steps} above 0")
    domain = _Domain.of(iterations, count, multiple, len(times))
    if not iterations:
        empty = (domain.between(0, 0),) * len(times)
        return Partitioning(empty, (0.0,) * len(times), "there are no iterations")
    board = _Board(domain, times)
    for device in range(len(times)):
        board.register([domain.units * (one >= device) for one in range(len(times))], f"device {device} alone")
    if len(times) > 1 and domain.units > 1:
        _approach(board, least, steps)
    best = min(board.registered, key=lambda one: (one.makespan_ns, len(one.devices)))
    return Partitioning(best.parts, best.times_ns, best.why, tuple(board.registered))


def equal_parts(iterations: range, count: Count | None, multiple: int, devices: int) -> tuple[range, ...]:
    """Parts of as much work each, as far as whole units allow: see `partition`."""
    domain = _Domain.of(iterations, count, multiple, devices)
    ends = domain.cut([1.0] * devices)
    return tuple(map(domain.between, [0, *ends[:-1]], ends))


@dataclass(frozen=True, slots=True)
class _Domain:
    """Iterations that may be cut between units only."""

    iterations: range
    count: Count | None
    unit: int
    units: int

    @classmethod
    def of(cls, iterations: range, count: Count | None, multiple: int, devices: int) -> _Domain:
        unit = multiple
        while unit > 1 and len(iterations) // unit < devices:
            unit //= 2
        domain = cls(iterations, count, unit, -(-len(iterations) // unit))
        # a nest whose innermost loop never runs has iterations all the same
        return cls(iterations, None, unit, domain.units) if count is not None and not domain.before(-1) > 0 else domain

    def between(self, first: int, last: int) -> range:
        """Iterations from one unit to another."""
        return self.iterations[first * self.unit : last * self.unit]

    def before(self, unit: int) -> float:
        """How much work there is before a unit; all there is, for -1."""
        part = self.iterations[: unit * self.unit] if unit >= 0 else self.iterations
        return float(len(part) if self.count is None else self.count(part))

    def cut(self, weights: Sequence[float]) -> list[int]:
        """The unit at which each part ends, so that work is as close to the weights as whole units allow."""
        whole, total = sum(weights), self.before(-1)
        ends: list[int] = []
        reached = 0.0
        for weight in weights:
            reached += weight
            ends.append(self._nearest(total * min(1.0, reached / whole)))
        last = max(index for index, weight in enumerate(weights) if weight > 0)
        return [end if index < last else self.units for index, end in enumerate(ends)]

    def _nearest(self, work: float) -> int:
        if self.count is None:
            return min(self.units, math.floor(work / self.unit + 0.5))
        found = bisect_left(range(self.units + 1), work, key=self.before)
        if found and found <= self.units and work - self.before(found - 1) < self.before(found) - work:
            return found - 1
        return min(found, self.units)


class _Board:
    """All divisions that were looked at."""

    def __init__(self, domain: _Domain, times: Sequence[Time]) -> None:
        self.domain = domain
        self.devices = len(times)
        self.registered: list[Registered] = []
        self._times = times

    def register(self, ends: Sequence[int], why: str) -> Registered:
        """A division by the units at which its parts end. Each device is asked about its own part."""
        parts = self.parts(ends)
        found = Registered(parts, tuple(self.time(index, part) for index, part in enumerate(parts)), why)
        self.registered.append(found)
        return found

    def parts(self, ends: Sequence[int]) -> tuple[range, ...]:
        """The iterations of each device."""
        return tuple(map(self.domain.between, [0, *ends[:-1]], ends))

    def time(self, device: int, part: range) -> float:
        """0 for an empty part, infinite for what is no time."""
        time = float(self._times[device](part)) if part else 0.0
        return time if time >= 0 else math.inf

    def alone(self, device: int) -> float:
        """What a device takes for everything."""
        return self.registered[device].makespan_ns


def _approach(board: _Board, least: float, steps: int) -> None:
    """Register the steps from equal parts to equal times, then the bisection where they do not get there."""
    fastest = sorted(range(board.devices), key=board.alone)[: board.domain.units]
    weights = [float(device in fastest) for device in range(board.devices)]
    seen: set[tuple[range, ...]] = set()
    for step in range(steps):
        weights = _without_small(weights, least)
        alive = sum(weight > 0 for weight in weights)
        if alive < 2:
            return
        ends = board.domain.cut(weights)
        if board.parts(ends) in seen:
            break
        found = board.register(ends, f"step {step + 1}" if step else "step 1: equal parts")
        seen.add(found.parts)
        if len(found.devices) == alive and found.imbalance <= BALANCED:
            return
        weights = _corrected(weights, found)
    _bisect(board, [index for index, weight in enumerate(weights) if weight > 0], least)


def _corrected(weights: Sequence[float], found: Registered) -> list[float]:
    """Each part times the mean of all times over its own. One without a time is halved: a smaller one may fit into the
    device's memory. One that rounding has left empty stays out."""
    finite = [max(time, TINY_NS) for part, time in zip(found.parts, found.times_ns, strict=True) if part]
    finite = [time for time in finite if time < math.inf]
    mean = sum(finite) / len(finite) if finite else 1.0
    scales = (
        (mean / max(time, TINY_NS) if time < math.inf else 0.5) if part else 0.0
        for part, time in zip(found.parts, found.times_ns, strict=True)
    )
    return [weight * scale for weight, scale in zip(weights, scales, strict=True)]


def _without_small(weights: Sequence[float], least: float) -> list[float]:
    largest = max(weights)
    return [weight if weight > 0 and weight >= least * largest else 0.0 for weight in weights]


def _bisect(board: _Board, alive: Sequence[int], least: float) -> None:
    """Register the division with the shortest makespan in which each device takes, one after the other, as many
    iterations as it can do within it. Those that get too little are left out, and it is done again."""
    while len(alive) > 1:
        ends = _shortest(board, alive)
        if ends is None:
            return
        work = [board.domain.before(end) for end in ends]
        work = [after - before for before, after in zip([0.0, *work[:-1]], work, strict=True)]
        parts = board.parts(ends)
        kept = [device for device in alive if parts[device] and work[device] >= least * max(work)]
        if len(kept) == len(alive):
            board.register(ends, "the longest time bisected")
            return
        alive = kept


def _shortest(board: _Board, alive: Sequence[int]) -> list[int] | None:
    """Where the parts end in the division with the shortest makespan; None where what is registered is as good."""
    low, most, ends = 0.0, min(one.makespan_ns for one in board.registered), None
    if not 0 < most < math.inf:
        return None
    for _ in range(BISECTIONS):
        middle = (low + most) / 2
        tried = _within(board, alive, middle)
        if tried is None:
            low = middle
        else:
            ends, most = tried, middle
        if most - low <= BALANCED * most:
            break
    return ends


def _within(board: _Board, alive: Sequence[int], most_ns: float) -> list[int] | None:
    """Where the parts end if nobody may take longer; None where that leaves iterations over."""
    domain, ends = board.domain, [0]
    for device in range(board.devices):
        start = ends[-1]
        more = range(start + 1, domain.units + 1) if device in alive else range(0)

        def too_long(end: int, device: int = device, start: int = start) -> bool:
            return board.time(device, domain.between(start, end)) > most_ns

        ends.append(start + bisect_left(more, True, key=too_long))
    return ends[1:] if ends[-1] == domain.units else None

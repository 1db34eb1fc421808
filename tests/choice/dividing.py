"""Devices in virtual time that do what a Division says: for its tests, and to look at what it does by hand."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from loopwright.choice.division import Assignment, Division
from loopwright.devices.simulated import Curve, Noise, Simulated
from loopwright.placement.guided import Guided

Count = Callable[[range], float]


@dataclass
class Served:
    """A call that was made. done: the iterations of each device, in the order in which it did them."""

    assignment: Assignment
    busy_ns: list[float]
    done: list[list[int]]
    total_ns: float
    exact_ns: float = 0.0

    @property
    def iterations(self) -> list[int]:
        """All that were done, by whomever."""
        return sorted(chain.from_iterable(self.done))

    @property
    def imbalance(self) -> float:
        busy = [time for time, part in zip(self.busy_ns, self.done, strict=True) if part]
        return 1 - min(busy) / max(busy)


@dataclass
class Devices:
    """curves: of each device, over the work of a part. Each device has its own noise, and all have one clock.
    start_ns, each_ns: what a call takes in which nobody is busy, and for each device that takes part.
    dies: a device, with the call in which it does, after half of what it has to do. cold: how many times as long the
    first call takes."""

    curves: Sequence[Curve]
    noise: Noise = field(default_factory=Noise)
    seed: int = 0
    count: Count | None = None
    start_ns: float = 0.0
    each_ns: float = 0.0
    dies: tuple[int, int] | None = None
    cold: float = 1.0
    tell_chunks: bool = True
    calls: list[Served] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._devices = [Simulated({0: one}, self.noise, self.seed * 97 + k) for k, one in enumerate(self.curves)]

    @property
    def now_ns(self) -> int:
        return self._devices[0].clock.now_ns

    def work(self, part: range) -> float:
        return float(len(part) if self.count is None else self.count(part))

    def best_alone(self, iterations: range) -> float:
        """What the fastest device takes for everything now, without noise."""
        return min(device.exact_ns(0, (round(self.work(iterations)),)) for device in self._devices)

    def serve(self, division: Division) -> Served:
        """Make one call, and tell the division of it."""
        decided, now = division.decide(), self.now_ns
        run = {"guided": self._guided, "race": self._race}.get(decided.kind, self._split)
        served = Served(decided, [0.0] * len(self.curves), [[] for _ in self.curves], 0.0)
        exact = self.exact_ns(decided)
        chunks = run(division, served)
        served.exact_ns = exact if decided.kind == "split" or decided.kind == "single" else served.total_ns
        served.total_ns += self.start_ns + self.each_ns * len(decided.devices)
        for device in self._devices:
            device.clock.advance(now + round(served.total_ns) - device.clock.now_ns)
        told = chunks if decided.kind == "guided" and self.tell_chunks else None
        division.measured(decided, served.busy_ns, [len(one) for one in served.done], served.total_ns, told)
        self.calls.append(served)
        return served

    def _dying(self, device: int) -> bool:
        return self.dies == (device, len(self.calls))

    def _time(self, device: int, part: range, at_ns: float) -> float:
        """With its noise, without moving the clock that all share."""
        one = self._devices[device]
        curve, clock = one.curves[0], one.clock
        now = clock.now_ns
        one.curves = {0: lambda sizes, _: curve(sizes, round(at_ns))}
        took = one.run(0, (round(self.work(part)),))
        one.curves, clock.now_ns = {0: curve}, now
        return took * (self.cold if not self.calls else 1.0)

    def exact_ns(self, assignment: Assignment) -> float:
        """What a division takes now, without noise; of a guided call what it would take in the best case."""
        if not assignment.devices:
            return 0.0
        whole = (round(self.work(assignment.parts[assignment.devices[0]])),)
        if assignment.kind == "guided":
            return 1 / sum(1 / device.exact_ns(0, whole) for device in self._devices)
        return max(
            device.exact_ns(0, (round(self.work(part)),)) if part else 0.0
            for device, part in zip(self._devices, assignment.parts, strict=True)
        )

    def _split(self, division: Division, served: Served) -> None:
        left: list[int] = []
        for device, part in enumerate(served.assignment.parts):
            if not part:
                continue
            took = self._time(device, part, self.now_ns)
            kept = len(part)
            if self._dying(device):
                kept //= 2
                left += part[kept:]
                division.failed(device, "it died")
            served.busy_ns[device] = took * kept / len(part)
            served.done[device] += part[:kept]
        served.total_ns = max(served.busy_ns)
        if left:
            other = next(k for k in range(len(self.curves)) if k not in division.failures)
            again = self._time(other, range(left[0], left[-1] + 1), self.now_ns)
            served.busy_ns[other] += again
            served.done[other] += left
            served.total_ns += again

    def _race(self, division: Division, served: Served) -> None:
        racing = served.assignment.devices
        times = {device: self._time(device, division.iterations, self.now_ns) for device in racing}
        winner = min(times, key=lambda device: times[device])
        served.total_ns = times[winner]
        for device in racing:
            served.busy_ns[device] = served.total_ns
        served.done[winner] += division.iterations

    def _guided(self, division: Division, served: Served) -> list[int]:
        devices = served.assignment.devices
        guided = Guided(division.iterations, devices=len(devices), count=self.count)
        waiting = [(float(self.now_ns), device) for device in devices]
        rates: dict[int, float | None] = {}
        ends, asked = float(self.now_ns), list(devices)
        while waiting or guided.left:
            if not waiting:
                waiting = [(ends, device) for device in asked if device not in division.failures]
            now, device = heapq.heappop(waiting)
            part = guided.take(device, rates.get(device))
            if part is None:
                continue
            took = self._time(device, part, now)
            if self._dying(device):
                guided.give_back(part)
                division.failed(device, "it died")
                continue
            rates[device] = self.work(part) / took
            served.busy_ns[device] += took
            served.done[device] += part
            ends = max(ends, now + took)
            heapq.heappush(waiting, (now + took, device))
        served.total_ns = ends - self.now_ns
        return [guided.chunks(device) for device in range(len(self.curves))]

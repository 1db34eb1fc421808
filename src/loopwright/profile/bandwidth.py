"""How long copies between host and device take: one table for each direction and kind of host memory, piecewise affine
in the bytes (Dollinger 2015, section 4.4.2). Times are kept, not bandwidths: a copy of nothing has no bandwidth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from loopwright.profile.stride import Measure, NoMeasurement, StrideWalk, doubling, interpolated
from loopwright.profile.text import from_text, rows, to_text

Direction = Literal["to device", "to host"]
MemoryKind = Literal["pageable", "pinned"]

KIND = "bandwidth table"


@dataclass(frozen=True, slots=True)
class BandwidthTable:
    """points: bytes and nanoseconds, bytes ascending. Raises ValueError where there is none, where bytes do not ascend
    or are below 1, or a time is not above 0."""

    direction: Direction
    memory: MemoryKind
    points: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        if self.direction not in get_args(Direction) or self.memory not in get_args(MemoryKind):
            raise ValueError(f"there is no table of copies {self.direction!r} in {self.memory!r} memory")
        if not self.points or self.points[0][0] < 1 or any(a >= b for (a, _), (b, _) in pairwise(self.points)):
            raise ValueError("a bandwidth table has one point at least, and its bytes ascend from 1 or more")
        if not all(0 < ns < float("inf") for _, ns in self.points):
            raise ValueError("a bandwidth table's times are above 0 and finite")

    def time_ns(self, size_bytes: float) -> float:
        """Of one copy. 0 for no bytes, as nothing is copied then; as long as the smallest copy below it; beyond the
        largest, on along the slope between the last two points (at their bandwidth, where they do not climb)."""
        if size_bytes <= 0:
            return 0.0
        last, last_ns = self.points[-1]
        if size_bytes <= last:
            return interpolated(self.points, size_bytes)
        slope = last_ns / last
        if len(self.points) > 1:
            before, before_ns = self.points[-2]
            climb = (last_ns - before_ns) / (last - before)
            slope = climb if climb > 0 else slope
        return last_ns + slope * (size_bytes - last)

    def __str__(self) -> str:
        points = [list(point) for point in self.points]
        return to_text(KIND, {"direction": self.direction, "memory": self.memory, "points": points})

    @classmethod
    def parse(cls, text: str) -> BandwidthTable:
        """Raises ValueError where this is no table's text."""
        fields = from_text(KIND, text)
        points = tuple((int(size), ns) for size, ns in rows(fields.get("points"), 2))
        return cls(fields.get("direction", ""), fields.get("memory", ""), points)


@dataclass(frozen=True, slots=True)
class Bus:
    """Copies of a call to a device and back, by its tables: one piece each way. Raises ValueError for tables of the
    wrong direction."""

    to_device: BandwidthTable
    to_host: BandwidthTable

    def __post_init__(self) -> None:
        if (self.to_device.direction, self.to_host.direction) != ("to device", "to host"):
            raise ValueError("a bus has a table to the device and one to the host, in this order")

    def time_ns(self, to_device_bytes: float, to_host_bytes: float) -> float:
        """Of both directions, one after the other."""
        return self.to_device.time_ns(to_device_bytes) + self.to_host.time_ns(to_host_bytes)


def measure_bandwidth(
    measure: Measure, direction: Direction, memory: MemoryKind, last: int, most: int = 400
) -> BandwidthTable | NoMeasurement:
    """A table of copies from 1 byte to `last`. measure: from bytes to nanoseconds. Failure: the first one, where
    nothing could be measured."""
    walk: StrideWalk = doubling(measure, 1, last, most)
    if not walk.points:
        return walk.failures[0][1] if walk.failures else NoMeasurement("no measurement was allowed")
    return BandwidthTable(direction, memory, walk.points)

"""Who takes part in a call that devices share, what each of them is asked for, and what they tell of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from loopwright.devices.gpu import Gpu, Timer
from loopwright.ir.plan import Box
from loopwright.memory.array_copies import Copy
from loopwright.memory.region_call import RegionProgram
from loopwright.runtime.gpu_region import GpuRegion


class Event(NamedTuple):
    """What a device did in a call, and when, in nanoseconds of time.perf_counter_ns. what: `computes`, `copies` or
    `fails`; part: which iterations; size_bytes: of what was copied, from `source` to `target`."""

    device: str
    what: str
    started_ns: int
    ended_ns: int
    part: range = range(0)
    size_bytes: int = 0
    source: str = ""
    target: str = ""


@dataclass(slots=True, eq=False)
class Participant:
    """A device that takes part. gpu: None for the CPU. busy_ns, done: how
    long it has worked in this call, and how many iterations it has done; failure: why it does no more. stands_in: gives
    regions, by their numbers, for a GPU that is simulated."""

    name: str
    program: RegionProgram
    gpu: Gpu | None = None
    threads: int = 1
    busy_ns: int = 0
    done: int = 0
    failure: Exception | None = None
    regions: dict[int, GpuRegion] = field(default_factory=dict)
    stands_in: Callable[[int], GpuRegion] | None = None


class PartSource(Protocol):
    """Says who does what of a region."""

    def fixed(self, number: int, iterations: range) -> Sequence[range] | None:
        """One part for each member, in their order, maybe an empty one; None where each takes the next one when it has
        done one. Called once at the beginning of each region."""

    def take(self, member: int, rate: float | None) -> range | None:
        """The next part of the region for a member; None where nothing is left for it. rate: iterations in a
        nanosecond, None where it has done none."""

    def left(self) -> Sequence[range]:
        """What nobody has taken."""


class Overlap(Exception):
    """A part writes what another device writes too."""


Reached = Sequence[tuple[int, Box | None, Box | None, Box | None]]
"""What a part of a region touches, needs and writes of arrays, by position."""

Boxes = dict[tuple[object, ...], Reached]
"""The same of many parts, by the number of the region and all numbers of the host."""

MOST_BOXES = 4096


class Piece(NamedTuple):
    """Some iterations of a region, ready to be done by a member: copies that bring what they need, and what they write,
    by position."""

    part: range
    copies: Sequence[Copy]
    written: Sequence[tuple[int, Box]]


class Launched(NamedTuple):
    """A part that a GPU was asked for. left, failed: where that went wrong."""

    member: Participant
    number: int
    part: range
    begun: int
    timer: Timer | None
    left: list[range]
    failed: Failed | None


class Failed(Exception):
    """A part has ended with an error, which is the call's if no earlier iteration has one."""

    def __init__(self, part: range, error: Exception) -> None:
        super().__init__()
        self.part, self.error = part, error

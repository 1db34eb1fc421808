"""Regions that GPUs were asked for, and nobody has waited for yet: each GPU goes on to the next one when those that it
shares elements with have come so far, and the host goes on meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from loopwright.devices.gpu import Timer
from loopwright.errors import DeviceError
from loopwright.runtime.gpu_region import GpuRegion
from loopwright.runtime.participants import Event, Participant
from loopwright.runtime.region_plans import RegionPlan

TIMED = 3
"""So many parts of each region are timed for each member: the others take as long."""


class CopiedBytes(NamedTuple):
    """What an exchange brings from one device to another."""

    source: str
    target: str
    size_bytes: int


class PlannedStep(NamedTuple):
    """A planned region of one call. exchange: what brings each GPU what it needs; starts: who starts what."""

    exchange: Callable[[], None]
    copied: Sequence[CopiedBytes]
    starts: Sequence[tuple[Participant, range, GpuRegion]]


@dataclass(slots=True)
class PartsAsked:
    """All parts of one region that a member was asked for."""

    member: Participant
    region: GpuRegion
    first: range
    count: int = 0
    iterations: int = 0


class UnderWay:
    """The parts of one call."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int], PartsAsked] = {}
        self._timed: list[tuple[str, int, range, int, Timer]] = []
        self._counts: dict[tuple[str, int], int] = {}
        self._steps: dict[tuple[RegionPlan | None, RegionPlan], PlannedStep] = {}
        self._exchanged: list[tuple[PlannedStep, int, int]] = []
        self._last: RegionPlan | None = None

    def __bool__(self) -> bool:
        return bool(self._parts)

    def order(self, plan: RegionPlan) -> frozenset[tuple[int, int]]:
        """Who has to wait for whom before the next region: who copies for what the other one writes, and who was
        copied from, as it may write there again, until that is done."""
        return plan.order if self._last is None else plan.order | {(b, a) for a, b in self._last.order}

    def step(self, plan: RegionPlan, make: Callable[[], PlannedStep | None]) -> PlannedStep | None:
        """The next region: what was made for it when it came after the same one before."""
        key = self._last, plan
        found = self._steps.get(key)
        if found is None and (found := make()) is not None:
            self._steps[key] = found
        return found

    def forget(self) -> None:
        """A GPU is lost, or has other memory: nothing that was made before is good."""
        self._steps.clear()

    def exchange(self, step: PlannedStep) -> None:
        """Bring each GPU what it needs. Raises ExchangeFailed."""
        begun = time.perf_counter_ns()
        step.exchange()
        if step.copied:
            self._exchanged.append((step, begun, time.perf_counter_ns()))

    def is_timed(self, member: Participant, number: int) -> bool:
        """Whether the next part of a region for a member is to be timed."""
        key = member.name, number
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key] <= TIMED

    def add(self, number: int, start: tuple[Participant, range, GpuRegion], begun: int, timer: Timer | None) -> None:
        """A part is under way, too."""
        member, part, region = start
        key = member.name, number
        known = self._parts.get(key)
        if known is None:
            known = self._parts[key] = PartsAsked(member, region, part)
        known.count += 1
        known.iterations += len(part)
        if timer is not None:
            self._timed.append((member.name, number, part, begun, timer))

    def over(self, plan: RegionPlan) -> None:
        """All of a region is under way."""
        self._last = plan

    def settle(self, note: Callable[[Event], None]) -> tuple[range, Exception] | None:
        """Wait for all of them; the error of the earliest one that went wrong. Raises DeviceError where a GPU is
        lost."""
        self._note_copies(note)
        parts, self._parts, self._last = self._parts, {}, None
        timed, self._timed = self._timed, []
        errors: list[tuple[range, Exception]] = []
        times: dict[tuple[str, int], list[int]] = {}
        lost: DeviceError | None = None
        for one in parts.values():
            try:
                wrong = one.region.check()
            except DeviceError as error:
                lost = lost or error
                one.member.failure = error
                continue
            if wrong is not None:
                errors.append((one.first, wrong))
        for name, number, part, begun, timer in timed if lost is None else ():
            if spent_ns := timer.finished_ns():
                times.setdefault((name, number), []).append(spent_ns)
                note(Event(name, "computes", begun, begun + spent_ns, part))
        for key, one in parts.items():
            known = times.get(key, [])
            one.member.busy_ns += one.count * sum(known) // max(1, len(known))
            one.member.done += one.iterations
        if lost is not None:
            raise lost
        return min(errors, key=lambda one: one[0].start, default=None)

    def _note_copies(self, note: Callable[[Event], None]) -> None:
        """While the GPUs are at work."""
        exchanged, self._exchanged = self._exchanged, []
        for step, begun, ended in exchanged:
            for source, target, size_bytes in step.copied:
                note(Event(target, "copies", begun, ended, range(0), size_bytes, source, target))

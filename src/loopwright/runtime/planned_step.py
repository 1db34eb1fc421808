"""A planned region with its arrays where they are: what GPUs exchange before it, and its parts, each ready to be
started. It outlasts a call: the next one with arrays that are there too starts the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from loopwright.devices.gpu import Gpu, Timer
from loopwright.devices.peers import PartsTogether
from loopwright.errors import DeviceError
from loopwright.runtime.gpu_region import GpuRegion


class CopiedBytes(NamedTuple):
    """What an exchange brings from one device to another."""

    source: str
    target: str
    size_bytes: int


class PlannedStart(NamedTuple):
    """A part. place: which member starts it."""

    place: int
    part: range
    gpu: Gpu
    region: GpuRegion


@dataclass(frozen=True, eq=False, slots=True)
class PlannedStep:
    """Of region `number`. exchange: what brings each GPU what it needs; starts: who starts what. together: what starts
    all of them, None where each is started by itself."""

    number: int
    exchange: Callable[[], None]
    copied: Sequence[CopiedBytes]
    starts: Sequence[PlannedStart]
    together: PartsTogether | None

    @staticmethod
    def of(
        number: int, exchange: Callable[[], None], copied: Sequence[CopiedBytes], starts: Sequence[PlannedStart]
    ) -> PlannedStep:
        """With what starts its parts in as little time as GPUs allow."""
        together = starts[0].gpu.together([(one.gpu, one.region.part) for one in starts])
        return PlannedStep(number, exchange, copied, starts, together)

    def start(
        self, everything: Callable[[PlannedStart], Sequence[object]], timers: Sequence[Timer]
    ) -> list[tuple[PlannedStart, Exception]]:
        """Start all parts, whichever fails, without waiting: those that have failed, and how. everything: what a part
        is given; timers: one for each part, or none."""
        if self.together is None:
            return self._one_by_one(everything, timers)
        failed: list[tuple[PlannedStart, Exception]] = []
        for one in self.starts:
            try:
                error = one.region.ready(everything(one))
            except DeviceError as lost:
                error = lost
            if error is not None:
                failed.append((one, error))
        if failed:  # those that could be started are, each by itself
            left = [one for one in self.starts if all(one is not other for other, _ in failed)]
            return failed + self._each(left, everything, {})
        return [
            (one, error)
            for one in map(self.starts.__getitem__, self.together.start(timers))
            if (error := _end_of(one.region, failed=True)) is not None
        ]

    def wait(self) -> list[tuple[PlannedStart, Exception]]:
        """Wait for all parts: how those ended that went wrong."""
        suspect = range(len(self.starts)) if self.together is None else self.together.wait()
        return [
            (one, error)
            for place, one in enumerate(self.starts)
            if (place in suspect or one.region.hides_failures) and (error := _end_of(one.region)) is not None
        ]

    def _one_by_one(
        self, everything: Callable[[PlannedStart], Sequence[object]], timers: Sequence[Timer]
    ) -> list[tuple[PlannedStart, Exception]]:
        timed = {id(one): timer for one, timer in zip(self.starts, timers, strict=False)}
        return self._each(self.starts, everything, timed)

    def _each(
        self,
        starts: Sequence[PlannedStart],
        everything: Callable[[PlannedStart], Sequence[object]],
        timed: dict[int, Timer],
    ) -> list[tuple[PlannedStart, Exception]]:
        failed: list[tuple[PlannedStart, Exception]] = []
        for one in starts:
            try:
                if (timer := timed.get(id(one))) is None:
                    error = one.region.start(everything(one), waits=False)
                else:
                    with timer:
                        error = one.region.start(everything(one), waits=False)
            except DeviceError as lost:
                error = lost
            if error is not None:
                failed.append((one, error))
        return failed


def _end_of(region: GpuRegion, failed: bool = False) -> Exception | None:
    """How a part ended; a DeviceError where its GPU is lost."""
    try:
        return region.check(failed=True) if failed else region.check()
    except DeviceError as lost:
        return lost

"""Regions that GPUs were asked for, and nobody has waited for yet: each GPU goes on to the next one when those that it
shares elements with have come so far, and the host goes on meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence

from loopwright.devices.gpu import Timer
from loopwright.errors import DeviceError
from loopwright.runtime.participants import Event, Participant
from loopwright.runtime.planned_step import PlannedStep
from loopwright.runtime.region_plans import RegionPlan

TIMED = 3
"""So many parts of each region are timed for each member: the others take as long."""


class UnderWay:
    """The parts of one call. is_timed: whether somebody asks how long they take."""

    def __init__(self, members: Sequence[Participant] = (), is_timed: bool = True) -> None:
        self._members, self.is_timed = members, is_timed
        self._asked: Counter[PlannedStep] = Counter()
        self._timed: list[tuple[PlannedStep, int, Sequence[Timer]]] = []
        self._counts: Counter[int] = Counter()
        self._steps: dict[tuple[RegionPlan | None, RegionPlan], PlannedStep] = {}
        self._exchanged: list[tuple[PlannedStep, int, int]] = []
        self.last: RegionPlan | None = None

    def __bool__(self) -> bool:
        return bool(self._asked)

    def order(self, plan: RegionPlan) -> frozenset[tuple[int, int]]:
        """Who has to wait for whom before the next region: who copies for what the other one writes, and who was
        copied from, as it may write there again, until that is done."""
        return plan.order if self.last is None else plan.order | {(b, a) for a, b in self.last.order}

    def step(self, plan: RegionPlan, make: Callable[[], PlannedStep | None]) -> PlannedStep | None:
        """The next region: what was made for it when it came after the same one before."""
        key = self.last, plan
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
        if step.copied and self.is_timed:
            self._exchanged.append((step, begun, time.perf_counter_ns()))

    def times(self, number: int) -> bool:
        """Whether the next parts of a region are to be timed."""
        if not self.is_timed or self._counts[number] >= TIMED:
            return False
        self._counts[number] += 1
        return True

    def add(self, step: PlannedStep, begun: int, timers: Sequence[Timer]) -> None:
        """The parts of a step are under way, too."""
        self._asked[step] += 1
        if timers:
            self._timed.append((step, begun, timers))

    def over(self, plan: RegionPlan) -> None:
        """All of a region is under way."""
        self.last = plan

    def settle(self, note: Callable[[Event], None]) -> tuple[range, Exception] | None:
        """Wait for all of them; the error of the earliest one that went wrong. Raises DeviceError where a GPU is
        lost."""
        self._note_copies(note)
        asked, self._asked, self.last = self._asked, Counter(), None
        timed, self._timed = self._timed, []
        errors: list[tuple[range, Exception]] = []
        lost: DeviceError | None = None
        for step in _last_of(asked):
            for one, error in step.wait():
                if isinstance(error, DeviceError):
                    lost = lost or error
                    self._members[one.place].failure = error
                else:
                    errors.append((one.part, error))
        if lost is None:
            self._note_times(timed, asked, note)
        for step, count in asked.items():
            for one in step.starts:
                self._members[one.place].done += count * len(one.part)
        if lost is not None:
            raise lost
        return min(errors, key=lambda one: one[0].start, default=None)

    def _note_times(
        self,
        timed: Sequence[tuple[PlannedStep, int, Sequence[Timer]]],
        asked: Counter[PlannedStep],
        note: Callable[[Event], None],
    ) -> None:
        """What parts took: those that were timed, and all as long as these."""
        times: dict[tuple[int, int], list[int]] = {}
        for step, begun, timers in timed:
            for one, timer in zip(step.starts, timers, strict=True):
                if spent_ns := timer.finished_ns():
                    times.setdefault((step.number, one.place), []).append(spent_ns)
                    name = self._members[one.place].name
                    note(Event(name, "computes", begun, begun + spent_ns, one.part))
        for step, count in asked.items():
            for one in step.starts:
                known = times.get((step.number, one.place), [])
                self._members[one.place].busy_ns += count * sum(known) // max(1, len(known))

    def _note_copies(self, note: Callable[[Event], None]) -> None:
        """While the GPUs are at work."""
        exchanged, self._exchanged = self._exchanged, []
        for step, begun, ended in exchanged:
            for source, target, size_bytes in step.copied:
                note(Event(target, "copies", begun, ended, range(0), size_bytes, source, target))


def _last_of(asked: Counter[PlannedStep]) -> list[PlannedStep]:
    """Of steps, the last ones first, those that each start something that no later one starts: who has waited for these
    has waited for all."""
    found: list[PlannedStep] = []
    known: set[tuple[int, int]] = set()
    for step in reversed(asked):
        mine = {(step.number, one.place) for one in step.starts}
        if not mine <= known:
            found.append(step)
            known |= mine
    return found

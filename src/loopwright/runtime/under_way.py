"""Parts of regions that GPUs were asked for, and nobody has waited for yet: what a GPU does in the next region comes
after what all of them have done in this one, and the host goes on meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from loopwright.errors import DeviceError
from loopwright.runtime.participants import Event, Launched, Participant

TIMED = 3
"""So many parts of each region are timed for each member: the others take as long."""


class UnderWay:
    """The parts of one call."""

    def __init__(self) -> None:
        self._parts: list[Launched] = []
        self._marks: list[tuple[Participant, int]] = []
        self._counts: dict[tuple[str, int], int] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    def order(self) -> None:
        """From now on what GPUs are asked for comes after what the others were asked for before."""
        for member, mark in self._marks:
            assert member.gpu is not None
            member.gpu.wait("work", mark)
        self._marks.clear()

    def is_timed(self, member: Participant, number: int) -> bool:
        """Whether the next part of a region for a member is to be timed."""
        key = member.name, number
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key] <= TIMED

    def add(self, parts: Sequence[Launched]) -> None:
        """These are under way, too."""
        self._parts += parts
        gpus = [(one.member, one.member.gpu) for one in parts if one.member.gpu is not None]
        if len(gpus) < 3:
            self._marks += [(other, gpu.mark("work")) for one, gpu in gpus for other, _ in gpus if other is not one]
            return
        _, first = gpus[0]  # it waits for all, and all wait for it: far fewer marks than one for each pair
        for _, gpu in gpus[1:]:
            first.wait("work", gpu.mark("work"))
        self._marks += [(other, first.mark("work")) for other, _ in gpus[1:]]

    def settle(self, note: Callable[[Event], None]) -> tuple[range, Exception] | None:
        """Wait for all of them; the error of the earliest one that went wrong. Raises DeviceError where a GPU is
        lost."""
        with suppress(DeviceError):
            self.order()  # marks are to be used
        parts, self._parts = self._parts, []
        errors: list[tuple[range, Exception]] = []
        waited: set[tuple[str, int]] = set()
        times: dict[tuple[str, int], list[int]] = {}
        lost: DeviceError | None = None
        for one in parts:
            key = one.member.name, one.number
            if key not in waited:
                waited.add(key)
                try:
                    wrong = one.member.regions[one.number].check()
                except DeviceError as error:
                    lost = lost or error
                    one.member.failure = error
                    continue
                if wrong is not None:
                    errors.append((one.part, wrong))
            if one.timer is not None and (spent_ns := one.timer.finished_ns()):
                times.setdefault(key, []).append(spent_ns)
                note(Event(one.member.name, "computes", one.begun, one.begun + spent_ns, one.part))
        for one in parts:
            known = times.get((one.member.name, one.number), [])
            one.member.busy_ns += sum(known) // max(1, len(known))
            one.member.done += len(one.part)
        if lost is not None:
            raise lost
        return min(errors, key=lambda one: one[0].start, default=None)

"""How GPUs are started on a region of a call whose arrays are on GPUs: what they exchange before, and kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext

from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.memory.array_copies import Copy, peer_copies
from loopwright.runtime.gpu_region import GpuRegion
from loopwright.runtime.participants import Event, Launched, Participant
from loopwright.runtime.region_plans import RegionPlan
from loopwright.runtime.shared_arrays import SharedArrays
from loopwright.runtime.under_way import CopiedBytes, PlannedStep, UnderWay


class RegionStarts:
    """Of one call. events: what happens is noted there."""

    def __init__(self, members: Sequence[Participant], arrays: SharedArrays, events: list[Event]) -> None:
        self._members, self._arrays, self._events = members, arrays, events
        self._waits: dict[int, bool] = {}
        self.under_way = UnderWay()

    def has_to_wait(self, number: int) -> bool:
        """Whether a region may end with an error, or is all that there is: a part that is lost is done again then; or
        its parts add up."""
        if number not in self._waits:
            codes = [member.program.codes[number] for member in self._members]
            self._waits[number] = len(self._arrays.program.codes) == 1 or any(
                one is None or one.ends_early or one.partial for one in codes
            )
        return self._waits[number]

    def begin(
        self, step: PlannedStep, number: int, waits: bool
    ) -> tuple[list[tuple[Participant, range, DeviceError]], list[tuple[range, Exception]]]:
        """Start the parts of a region, all of them before one is waited for: those whose GPU has failed, and errors of
        the user's program that are known."""
        lost: list[tuple[Participant, range, DeviceError]] = []
        wrong: list[tuple[range, Exception]] = []
        begun: list[tuple[Launched, GpuRegion]] = []
        for start in step.starts:
            member, part, region = start
            now = time.perf_counter_ns()
            timer = _gpu(member).timer() if waits or self.under_way.is_timed(member, number) else None
            try:
                for position, copies in self._arrays.partial.of(member, part).items():
                    region.put(position, copies.placed[member.name], copies.array)
                with timer or nullcontext():
                    error = region.start(self._arrays.everything_of(member, part), waits=False)
                if error is not None:
                    wrong.append((part, error))
                elif waits:
                    begun.append((Launched(member, number, part, now, timer, [], None), region))
                else:
                    self.under_way.add(number, start, now, timer)
            except DeviceError as failed:
                lost.append((member, part, failed))
        for one, region in begun:
            try:
                error = region.check()
                if error is not None:
                    wrong.append((one.part, error))
                else:
                    self.note_end(one)
            except DeviceError as failed:
                lost.append((one.member, one.part, failed))
        return lost, wrong

    def step(self, plan: RegionPlan) -> PlannedStep | None:
        """What is asked of GPUs for a region. None where that cannot be."""
        by_name = {member.name: member for member in self._members}
        order = self.under_way.order(plan)
        there = self._arrays.copies
        copies: list[Copy] = []
        starts: list[tuple[Participant, range, GpuRegion]] = []
        for place, part, touched, some in plan.parts:
            member = self._members[place]
            assert member.gpu is not None
            try:
                for position in touched:
                    there[position].room(member.name, member.gpu)
            except DeviceMemoryError as error:
                member.failure = error
                return None
            copies += [Copy(there[position], source, member.name, box) for position, source, box in some]
            starts.append((member, part, self.region(member, plan.number, part)))
        pulled = [
            peer
            for copy in copies
            for peer in peer_copies(copy, _gpu(by_name[copy.source]), _gpu(by_name[copy.target]))
        ]
        pairs = [(_gpu(self._members[a]), _gpu(self._members[b])) for a, b in sorted(order)]
        exchange = _gpu(starts[0][0]).exchange(pairs, pulled)
        copied = [CopiedBytes(copy.source, copy.target, copy.size_bytes) for copy in copies]
        return None if exchange is None else PlannedStep(exchange, copied, starts)

    def note_end(self, one: Launched) -> None:
        """A part is done."""
        member = one.member
        spent_ns = (one.timer.finished_ns() if one.timer is not None else None) or 0
        member.busy_ns += spent_ns
        member.done += len(one.part)
        self._events.append(Event(member.name, "computes", one.begun, one.begun + spent_ns, one.part))

    def region(self, member: Participant, number: int, part: range) -> GpuRegion:
        """A region on a GPU, where its arrays are."""
        code = member.program.codes[number]
        assert code is not None
        if number not in member.regions:
            key = member.name, number, self._arrays.made_shapes
            known = self._arrays.known.regions
            if key not in known:
                known[key] = GpuRegion(code.executable, self._arrays.everything_of(member, part), member.threads)
            member.regions[number] = known[key]
        region = member.regions[number]
        for position, copies in self._arrays.arrays(code):
            region.put(position, copies.placed.get(member.name), copies.array)
        for position, copies in self._arrays.partial.of(member, part).items():
            region.put(position, copies.placed[member.name], copies.array)
        return region


def _gpu(member: Participant) -> Gpu:
    assert member.gpu is not None
    return member.gpu

"""How GPUs are started on a region of a call whose arrays are on GPUs: what they exchange before, and kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.memory.array_copies import Copy, peer_copies
from loopwright.runtime.gpu_region import GpuRegion
from loopwright.runtime.participants import Event, Launched, Participant
from loopwright.runtime.planned_step import CopiedBytes, PlannedStart, PlannedStep
from loopwright.runtime.region_plans import RegionPlan
from loopwright.runtime.shared_arrays import SharedArrays
from loopwright.runtime.under_way import UnderWay


class RegionStarts:
    """Of one call. events: what happens is noted there; is_timed: whether somebody asks how long parts take."""

    def __init__(
        self, members: Sequence[Participant], arrays: SharedArrays, events: list[Event], is_timed: bool = True
    ) -> None:
        self._members, self._arrays, self._events = members, arrays, events
        self._waits: dict[int, bool] = {}
        self.under_way = UnderWay(members, is_timed)

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
        self, step: PlannedStep, waits: bool
    ) -> tuple[list[tuple[Participant, range, DeviceError]], list[tuple[range, Exception]]]:
        """Start the parts of a region, all of them before one is waited for: those whose GPU has failed, and errors of
        the user's program that are known."""
        under_way, begun = self.under_way, time.perf_counter_ns()
        times = under_way.is_timed if waits else under_way.times(step.number)
        timers = [one.gpu.timer() for one in step.starts] if times else []
        self._put_partial(step)
        failed = step.start(self._everything_of(step), timers)
        begun_parts = {one.place for one in step.starts}.difference(one.place for one, _ in failed)
        if not waits and not failed:
            under_way.add(step, begun, timers)
        else:
            failed += [end for end in step.wait() if end[0].place in begun_parts]
            wrong = {one.place for one, _ in failed}
            for k, one in enumerate(step.starts):
                timer = timers[k] if timers else None
                if one.place not in wrong:
                    self.note_end(Launched(self._members[one.place], step.number, one.part, begun, timer, [], None))
        lost = [(self._members[one.place], one.part, error) for one, error in failed if isinstance(error, DeviceError)]
        return lost, [(one.part, error) for one, error in failed if not isinstance(error, DeviceError)]

    def _put_partial(self, step: PlannedStep) -> None:
        for one in step.starts:
            name = self._members[one.place].name
            for position, copies in self._arrays.partial.of(name, one.part).items():
                one.region.put(position, copies.placed[name], copies.array)

    def _everything_of(self, step: PlannedStep) -> Callable[[PlannedStart], Sequence[object]]:
        """What parts are given: whoever starts them together has the first and the last iteration of each already."""
        if step.together is None:
            return lambda one: self._arrays.everything_of(self._members[one.place], one.part)
        return lambda one: self._arrays.everything

    def step(self, plan: RegionPlan) -> PlannedStep | None:
        """What is asked of GPUs for a region: the same as in a call before with arrays that were there. None where that
        cannot be."""
        there = self._arrays.copies
        where: list[object] = [self.under_way.last, plan]
        for place, _, touched, _ in plan.parts:
            member = self._members[place]
            try:
                for position in touched:
                    placed = there[position].room(member.name, _gpu(member))
                    where += (placed.address, placed.strides)
            except DeviceMemoryError as error:
                member.failure = error
                return None
        known, key = self._arrays.known, tuple(where)
        return known.steps.get(key) or known.keep_step(key, self._made(plan))

    def _made(self, plan: RegionPlan) -> PlannedStep | None:
        there = self._arrays.copies
        by_name = {member.name: member for member in self._members}
        copies = [
            Copy(there[position], source, self._members[place].name, box)
            for place, _, _, some in plan.parts
            for position, source, box in some
        ]
        pulled = [
            peer
            for copy in copies
            for peer in peer_copies(copy, _gpu(by_name[copy.source]), _gpu(by_name[copy.target]))
        ]
        order = self.under_way.order(plan)
        pairs = [(_gpu(self._members[a]), _gpu(self._members[b])) for a, b in sorted(order)]
        exchange = _gpu(self._members[plan.parts[0].place]).exchange(pairs, pulled)
        if exchange is None:
            return None
        starts = [
            PlannedStart(place, part, _gpu(self._members[place]), self._own_region(self._members[place], plan, part))
            for place, part, _, _ in plan.parts
        ]
        copied = [CopiedBytes(copy.source, copy.target, copy.size_bytes) for copy in copies]
        return PlannedStep.of(plan.number, exchange, copied, starts)

    def _own_region(self, member: Participant, plan: RegionPlan, part: range) -> GpuRegion:
        """A region that always starts this part, where its arrays are now."""
        if member.stands_in is not None:
            return member.stands_in(plan.number)
        code = member.program.codes[plan.number]
        assert code is not None
        last = member.program.first + member.program.numbers - 1
        everything = self._arrays.everything_of(member, part)
        made = GpuRegion(code.executable, everything, member.threads, fixed=(last - 1, last))
        for position, copies in self._arrays.arrays(code):
            made.put(position, copies.placed.get(member.name), copies.array)
        return made

    def note_end(self, one: Launched) -> None:
        """A part is done."""
        member = one.member
        member.done += len(one.part)
        if one.timer is None:
            return
        spent_ns = one.timer.finished_ns() or 0
        member.busy_ns += spent_ns
        self._events.append(Event(member.name, "computes", one.begun, one.begun + spent_ns, one.part))

    def region(self, member: Participant, number: int, part: range) -> GpuRegion:
        """A region on a GPU, where its arrays are."""
        if member.stands_in is not None:
            member.regions[number] = member.stands_in(number)
            return member.regions[number]
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
        for position, copies in self._arrays.partial.of(member.name, part).items():
            region.put(position, copies.placed[member.name], copies.array)
        return region


def _gpu(member: Participant) -> Gpu:
    assert member.gpu is not None
    return member.gpu

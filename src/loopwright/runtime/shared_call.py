"""One call that several devices share: each does a part of the iterations of every parallel region, on the host or on a
GPU, with the copies that its part needs. Who does which part is said by `PartSource`.

In a region nobody needs an element that another one writes, or it would be no parallel one; so all that a part needs is
as it was before the region, and who has the newest elements changes at the end of it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from loopwright.config import current
from loopwright.devices.base import Entry
from loopwright.devices.gpu import Gpu
from loopwright.devices.launcher import load_launcher
from loopwright.devices.peers import ExchangeFailed
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.memory.array_copies import HOST, ArrayCopies, Copy, make
from loopwright.memory.placing import give_back
from loopwright.runtime.part_sources import even_parts
from loopwright.runtime.participants import (
    Event,
    Failed,
    Launched,
    Overlap,
    Participant,
    PartSource,
    Piece,
)
from loopwright.runtime.pools import finishing, working
from loopwright.runtime.region_plans import RegionPlan, RegionPlans
from loopwright.runtime.region_starts import RegionStarts
from loopwright.runtime.shared_arrays import SharedArrays

PART_BYTES = 64 << 20
"""What a GPU's part copies at least before it is cut: while one piece computes, the next one is copied."""

MOST_PIECES = 12

DEPTH = 2
"""So many pieces of a GPU are under way at once."""

TRIED = 8
"""Into so many parts a region is cut to see whether parts write what lies apart."""


class SharedCall:
    """See Performs. members: who takes part; host: who does what only the host can, one of them or not. arguments: all
    of them; copies: by position, of the arrays among them that are not only on the host; others: GPUs that take no
    part, and have some of those; is_timed: whether what they take is asked for."""

    def __init__(
        self, members: Sequence[Participant], host: Participant, arguments: Sequence[object], parts: PartSource,
        copies: dict[int, ArrayCopies], others: Mapping[str, Gpu] = MappingProxyType({}),
        known: RegionPlans | None = None, own: Sequence[ArrayCopies] = (), is_timed: bool = True,
    ) -> None:  # fmt: skip
        self.members, self.host, self.parts, self.arguments = members, host, parts, tuple(arguments)
        self.events: list[Event] = []
        self.started_ns = 0
        self.longest: tuple[int, range, Sequence[object]] = 0, range(0), ()
        self._program = host.program
        self._gpus = {member.name: member.gpu for member in members if member.gpu is not None} | dict(others)
        self._arrays = SharedArrays(host.program, copies, own, RegionPlans() if known is None else known)
        self._starts = RegionStarts(members, self._arrays, self.events, is_timed)
        self._under_way = self._starts.under_way
        self._entries: dict[int, Entry] = {}
        self._coming_home: dict[range, str] = {}  # parts of the present region whose results are copied to the host

    def run(self) -> object:
        """Make the call: what it returns. Raises what a call raises, after everybody has stopped."""
        self.started_ns = time.perf_counter_ns()
        for gpu in list(self._gpus.values())[:1]:
            with suppress(DeviceError):  # who is lost says so when it is asked for something
                gpu.meet(list(self._gpus.values()))
        try:
            try:
                result = self._program.run(self.arguments, self)
                self._settle()
            except Exception:
                with suppress(Exception):
                    self._settle()
                with suppress(DeviceError):
                    self._bring_home()
                raise
            self._bring_home()
            return result
        finally:
            self.give_back()

    def give_back(self) -> None:
        """Give back what arrays have of GPUs' memory for this call."""
        for copies in self._arrays.own:
            self._give_back(copies)
        self._without_partial()

    def _give_back(self, copies: ArrayCopies) -> None:
        for place, placed in copies.placed.items():
            with suppress(DeviceError):
                give_back([placed], self._gpus[place])

    # ---- regions ------------------------------------------------------------------------------------------------

    def region(
        self, number: int, iterations: range | None, numbers: Sequence[object], made: Sequence[Any]
    ) -> Sequence[Mapping[int, Any]]:
        """See Performs."""
        self._arrays.enter((*self.arguments, *numbers, 0, 0, *(0 if one is None else one for one in made)))
        self._coming_home = {}
        if iterations is None:
            self._settle()
            self._by_one(self.host, number, range(1))
        elif iterations:
            if len(iterations) > len(self.longest[1]):
                self.longest = number, iterations, self._arrays.everything
            self._shared(number, iterations)
            return self._put_together(number)
        return ()

    def _put_together(self, number: int) -> Sequence[Mapping[int, Any]]:
        """A region is over: its arrays of which there were several are one. The totals of its parts, in their order."""
        code = self.host.program.codes[number]
        if code is None or not code.partial:
            return ()
        partial = self._arrays.partial
        for member in self.members:
            try:
                self._bring_partial(member)
            except DeviceError as error:
                parts = self._given_up(member, error, partial.parts_of(member))
                if code.written:
                    raise self._gone() from error
                for part in parts:
                    self._by_one(self.host, number, part)
        for position, several in partial.updated().items():
            array, update = self._arrays.at(position), code.partial[position].update
            assert update is not None
            self._copy(self.host, list(array.wanted(HOST, array.whole)), "down")
            for copies in several:
                update(array.array, copies.array)
            array.wrote(HOST, array.whole)
        found = [{position: one.array for position, one in totals.items()} for totals in partial.totals()]
        self._without_partial()
        return found

    def _bring_partial(self, member: Participant) -> None:
        self._copy(member, self._arrays.partial.homeward(member), "down")
        self._arrays.partial.are_home(member)

    def _shared(self, number: int, iterations: range) -> None:
        fixed = self.parts.fixed(number, iterations)
        if fixed is not None and self._planned(number, fixed):
            return
        self._settle()
        if not self._arrays.are_apart(self.members, number, even_parts(iterations, TRIED) if fixed is None else fixed):
            self._by_one(self._first(number), number, iterations)
            return
        self._arrays.sure = fixed is not None
        futures: list[Future[list[range]]] = []
        host: tuple[Participant, Iterator[range]] | None = None
        launched: list[Launched] = []
        for place, member in enumerate(self.members):
            if fixed is not None and not fixed[place]:
                continue
            if fixed is not None and self._arrays.is_there(member, number, fixed[place]):
                if self._arrays.waits_inside(member, number):
                    futures.append(working.submit(self._asked_and_awaited, member, number, fixed[place]))
                else:
                    launched.append(self._launched(member, number, fixed[place]))
                continue
            pieces = self._taken(place, member) if fixed is None else self._cut(member, number, fixed[place])
            if member.gpu is None:
                host = member, pieces
            else:
                futures.append(working.submit(self._on_gpu, member, number, pieces))
        errors: list[tuple[range, Exception]] = []
        left: list[range] = []
        try:
            if host is not None:
                left += self._on_host(host[0], number, host[1])
        except Failed as failed:
            errors.append((failed.part, failed.error))
        finally:  # whatever comes: nobody works on when this returns
            waits: list[Callable[[], list[range]]] = [partial(self._awaited, one) for one in launched]
            for wait in (*waits, *(future.result for future in futures)):
                try:
                    left += wait()
                except Failed as failed:
                    errors.append((failed.part, failed.error))
            self._arrays.written_by(self._arrays.writing)
        if errors:
            raise min(errors, key=lambda one: one[0].start)[1]
        left += self.parts.left() if fixed is None else []
        for part in left:
            self._by_one(self.host, number, part)

    def _planned(self, number: int, fixed: Sequence[range]) -> bool:
        """Do a region whose arrays are all on GPUs. If nothing depends on how it ends, nobody waits for it: as long as
        one GPU has work, no other one is asked. False, and nothing is done, where that cannot be."""
        plan = self._arrays.plan(self.members, number, fixed)
        if plan is None:
            return False
        waits = self._starts.has_to_wait(number)
        if waits:
            self._settle()
        if not self._have_partial(plan):
            return False
        step = self._under_way.step(plan, lambda: self._starts.step(plan))
        if step is None:
            self._without_partial()
            return False
        try:
            self._under_way.exchange(step)
        except ExchangeFailed as failed:
            member = next(one for one in self.members if one.gpu is failed.gpu)
            self._given_up(member, failed.error, [])
            return False
        lost, wrong = self._starts.begin(step, waits)
        if lost:
            self._lost_of(plan, lost)
        else:
            self._arrays.become(plan)
            self._under_way.over(plan)
        if lost or wrong or waits:
            self._settle()
        if wrong:
            raise min(wrong, key=lambda one: one[0].start)[1]
        for _, part, _ in lost:
            self._by_one(self.host, number, part)
        return True

    def _have_partial(self, plan: RegionPlan) -> bool:
        """Give the parts of a region the arrays of which there are several. Whether there is room for them."""
        partial, everything = self._arrays.partial, self._arrays.everything
        for place, part, _, _ in plan.parts:
            member = self.members[place]
            code = member.program.codes[plan.number]
            try:
                if code is not None and code.partial:
                    self._copy(member, partial.add(member, part, partial.made(member, code, everything)), "work")
            except DeviceError as error:
                if isinstance(error, DeviceMemoryError):
                    member.failure = error
                else:
                    self._given_up(member, error, [])
                self._without_partial()
                return False
        return True

    def _without_partial(self) -> None:
        """Of no array there are several any more."""
        self._arrays.partial.give_back(self._gpus)

    def _lost_of(self, plan: RegionPlan, lost: Sequence[tuple[Participant, range, DeviceError]]) -> None:
        """Of a planned region some parts were not begun: who has what now."""
        for place, part, _, _ in plan.parts:
            self._arrays.prepared(self.members[place], plan.number, part, with_room=False)
        for member, _, error in lost:
            if isinstance(error, DeviceMemoryError):
                member.failure = error
                self._arrays.partial.forget(member)  # some of it may have run
            else:
                self._given_up(member, error, [])
        self._arrays.written_by(self._arrays.writing)

    def _settle(self) -> None:
        """Wait for what is under way. Raises what it ended with."""
        if not self._under_way:
            return
        try:
            wrong = self._under_way.settle(self.events.append)
        except DeviceError as error:
            for member in self.members:
                if member.failure is not None:
                    self._given_up(member, error, [])
            raise self._gone() from error
        if wrong is not None:
            raise wrong[1]

    def _taken(self, place: int, member: Participant) -> Iterator[range]:
        started = time.perf_counter_ns()
        done = member.done
        while True:
            rate = (member.done - done) / max(1, time.perf_counter_ns() - started)
            part = self.parts.take(place, rate or None)
            if part is None:
                return
            yield part

    def _cut(self, member: Participant, number: int, part: range) -> Iterator[range]:
        """A part in pieces, where a GPU copies so much that one piece should compute while the next is copied."""
        code = member.program.codes[number]
        if member.gpu is None or code is None or not part:
            return iter([part] if part else [])
        moved = 0
        with self._arrays.lock:
            there = dict(self._arrays.arrays(code))
            for position, _, needed, _ in self._arrays.reached(member, number, part):
                missing = there[position].valid[member.name].missing(needed) if needed is not None else []
                moved += sum(Copy(there[position], HOST, HOST, one).size_bytes for one in missing)
        return iter(even_parts(part, max(1, min(MOST_PIECES, moved // PART_BYTES))))

    def _first(self, number: int) -> Participant:
        """Who does a region that nobody can share."""
        able = [one for one in self.members if one.program.codes[number] is not None and one.failure is None]
        return able[0] if able else self.host

    def _by_one(self, member: Participant, number: int, part: range) -> None:
        self._arrays.writing = []
        try:
            if member.gpu is None:
                self._on_host(member, number, iter([part]))
            else:
                for left in self._on_gpu(member, number, self._cut(member, number, part)):
                    if self.host.gpu is not None:
                        raise Failed(left, member.failure or self._gone())
                    self._on_host(self.host, number, iter([left]))
        except Failed as failed:
            raise failed.error from None
        finally:
            self._arrays.written_by(self._arrays.writing)

    # ---- doing it ---------------------------------------------------------------------------------------------------

    def _on_host(self, member: Participant, number: int, parts: Iterator[range]) -> list[range]:
        """Do parts one after the other; what another one has to do. Raises Failed."""
        started = time.perf_counter_ns()
        left: list[range] = []
        try:
            for part in parts:
                try:
                    piece = self._arrays.prepared(member, number, part)
                except Overlap:
                    left.append(part)
                    continue
                except LookupError:
                    raise Failed(part, self._gone()) from None
                self._copy(member, piece.copies, "down")
                begun = time.perf_counter_ns()
                try:
                    self._entry(member, number).run(self._arrays.everything_of(member, part))
                except Exception as error:
                    raise Failed(part, error) from None
                self._note(member, "computes", begun, part)
                member.done += len(part)
        finally:
            member.busy_ns += time.perf_counter_ns() - started
        return left

    def _on_gpu(self, member: Participant, number: int, parts: Iterator[range]) -> list[range]:
        """The same on a GPU: one piece computes while others are copied."""
        started = time.perf_counter_ns()
        left: list[range] = []
        done: list[range] = []
        under_way: deque[tuple[range, Future[None]]] = deque()
        code, gpu = member.program.codes[number], member.gpu
        assert gpu is not None
        try:
            for part in parts:
                if member.failure is not None or code is None:
                    left.append(part)
                    continue
                try:
                    piece = self._arrays.prepared(member, number, part)
                    done.append(part)
                    under_way.append((part, self._started(member, number, piece)))
                    while len(under_way) > DEPTH - 1:
                        self._ended(member, under_way)
                except Overlap:
                    left.append(part)
                except LookupError:
                    raise Failed(part, self._gone()) from None
                except DeviceError as error:
                    if isinstance(error, DeviceMemoryError) and part not in done:
                        member.failure = error  # before anything was asked for
                        self._arrays.partial.forget(member, part)
                    else:
                        left += self._given_up(member, error, self._to_be_redone(done, under_way, error))
                    left += [] if part in done else [part]
            try:
                while under_way:
                    self._ended(member, under_way)
                if member.failure is None and done:
                    wrong = member.regions[number].check()
                    if wrong is not None:
                        raise Failed(done[-1], wrong)
            except DeviceError as error:
                left += self._given_up(member, error, self._to_be_redone(done, under_way, error))
        finally:
            for _, future in under_way:
                with suppress(DeviceError):
                    future.result()
            member.busy_ns += time.perf_counter_ns() - started
        return left

    def _to_be_redone(
        self, done: Sequence[range], under_way: deque[tuple[range, Future[None]]], error: DeviceError
    ) -> list[range]:
        """Of the parts that a GPU was asked for before it was lost, those of which the host has nothing. Raises Failed
        where it has some of one: to do that again could add to an element twice."""
        for _, future in under_way:
            with suppress(DeviceError):
                future.result()
        under_way.clear()
        for part in done:
            if self._coming_home.get(part) == "begun":
                told = f"a GPU failed while its results were copied to the host: {error}"
                raise Failed(part, DeviceError(told))
        return [part for part in done if part not in self._coming_home]

    def _launched(self, member: Participant, number: int, part: range, is_timed: bool = True) -> Launched:
        """Ask a GPU for a part, without waiting for it."""
        begun = time.perf_counter_ns()
        left: list[range] = []
        failed: Failed | None = None
        assert member.gpu is not None
        timer = member.gpu.timer() if is_timed else None
        try:
            piece = self._arrays.prepared(member, number, part)
            self._copy(member, piece.copies, "work")
            with timer or nullcontext():
                self._start(member, number, part, waits=False)  # the others begin meanwhile
        except Failed as one:
            failed = one
        except Overlap:
            left = [part]
        except LookupError:
            failed = Failed(part, self._gone())
        except DeviceMemoryError as error:
            member.failure, left = error, [part]
            self._arrays.partial.forget(member)  # some of it may have run
        except DeviceError as error:
            left = [*self._given_up(member, error, []), part]
        return Launched(member, number, part, begun, timer, left, failed)

    def _awaited(self, one: Launched) -> list[range]:
        """Wait for it; what another one has to do. Raises Failed."""
        member = one.member
        if one.failed is not None:
            raise one.failed
        if one.left:
            return one.left
        try:
            wrong = member.regions[one.number].check()
        except DeviceError as error:
            return [*self._given_up(member, error, []), one.part]
        if wrong is not None:
            raise Failed(one.part, wrong)
        self._starts.note_end(one)
        return []

    def _asked_and_awaited(self, member: Participant, number: int, part: range) -> list[range]:
        """Both, of a part whose code waits in the middle. What another one has to do."""
        left = self._awaited(self._launched(member, number, part))
        if not left:
            with suppress(DeviceError):  # who needs it asks again
                self._bring_partial(member)
        return left

    def _start(self, member: Participant, number: int, part: range, waits: bool = True) -> None:
        """Start the kernels of a part, whose arrays are there. waits: see GpuRegion. Raises DeviceError, Failed."""
        error = self._starts.region(member, number, part).start(self._arrays.everything_of(member, part), waits)
        if error is not None:
            raise Failed(part, error)

    def _started(self, member: Participant, number: int, piece: Piece) -> Future[None]:
        """Copies and kernels of a piece are asked for. Raises DeviceError, Failed."""
        gpu = member.gpu
        assert gpu is not None
        gpu.wait("up", gpu.mark("work"))
        self._copy(member, piece.copies, "up")
        gpu.wait("work", gpu.mark("up"))
        begun = time.perf_counter_ns()
        self._start(member, number, piece.part)
        mark = gpu.mark("work")
        return finishing.submit(self._finish, member, number, piece, mark, begun)

    def _finish(self, member: Participant, number: int, piece: Piece, mark: int, begun: int) -> None:
        """Wait for a piece, and bring back what nobody writes again."""
        gpu = member.gpu
        assert gpu is not None
        gpu.wait("down", mark)
        gpu.settle("down")
        self._note(member, "computes", begun, piece.part)
        last, code = self._program.last[number], member.program.codes[number]
        if member.failure is not None or (code is not None and code.partial):
            return  # its part is done by others, or would be should it be lost: what it adds is still to come
        written = [(self._arrays.copies[position], position, box) for position, box in piece.written]
        if any(copies.home != HOST or position not in last for copies, position, _ in written):
            return
        self._coming_home[piece.part] = "begun"
        for copies, _, box in written:
            self._copy(member, [Copy(copies, member.name, HOST, box)], "down")
        with self._arrays.lock:
            for copies, _, box in written:
                copies.early.append(box)
        self._coming_home[piece.part] = "there"

    def _ended(self, member: Participant, under_way: deque[tuple[range, Future[None]]]) -> None:
        part, future = under_way.popleft()
        future.result()
        member.done += len(part)

    def _given_up(self, member: Participant, error: DeviceError, parts: Sequence[range]) -> list[range]:
        """A GPU is lost, with all that it has written in this region: what others have to do."""
        now = time.perf_counter_ns()
        self.events.append(Event(member.name, "fails", now, now))
        self._under_way.forget()
        with self._arrays.lock:
            for copies in self._arrays.copies.values():
                copies.lost(member.name)
            self._arrays.partial.forget(member)
            member.failure, member.done = error, max(0, member.done - sum(map(len, parts)))
            self._arrays.writing = [  # what has come home before is the host's
                (self.host if writer is member else writer, position, box)
                for writer, position, box in self._arrays.writing
                if writer is not member or box in self._arrays.copies[position].early
            ]
        return list(parts)

    def _bring_home(self) -> None:
        """What the caller sees is the newest. Raises DeviceError."""
        copies: list[Copy] = []
        try:
            for one in self._arrays.copies.values():
                copies += one.homeward()
        except LookupError:
            raise self._gone() from None
        to_host = [copy for copy in copies if copy.target == HOST]
        by_member = [(member, [c for c in to_host if c.source == member.name]) for member in self.members]
        futures = [finishing.submit(self._copy, member, some, "down") for member, some in by_member if some]
        self._copy(self.host, [copy for copy in copies if copy.target != HOST], "work")
        for future in futures:
            future.result()

    # ---- small things -------------------------------------------------------------------------------------------

    def _gone(self) -> DeviceError:
        lost = next((one.failure for one in self.members if one.failure is not None), None)
        return DeviceError(f"a GPU failed in the middle of a call, and what only it had computed is lost: {lost}")

    def _copy(self, member: Participant, copies: Sequence[Copy], queue: Any) -> None:
        for copy in copies:
            begun = time.perf_counter_ns()
            make(copy, self._gpus, queue)
            ended, moved = time.perf_counter_ns(), (range(0), copy.size_bytes, copy.source, copy.target)
            self.events.append(Event(member.name, "copies", begun, ended, *moved))

    def _note(self, member: Participant, what: str, begun: int, part: range = range(0)) -> None:
        self.events.append(Event(member.name, what, begun, time.perf_counter_ns(), part))

    def _entry(self, member: Participant, number: int) -> Entry:
        if number not in self._entries:
            code = member.program.codes[number]
            assert code is not None
            executable = code.executable
            self._entries[number] = load_launcher(current()).launcher.Entry(
                entry=executable.entry,
                guard=executable.guard,
                threads=member.threads,
                parallel=bool(executable.program.parallel),
                returns=0,
                values=(),
                constants=(),
                fresh=None,
                fail=executable.failure,
                guard_failed=_beyond,
                payload=executable,
            )
        return self._entries[number]


def _beyond(arguments: object, originals: object) -> object:
    """The guard of the whole kernel held, so it is a number of the host's that fails."""
    raise OverflowError("a loop counts further than 2**48, which devices cannot share")

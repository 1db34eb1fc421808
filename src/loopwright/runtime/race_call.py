"""One call that several devices make at once, each all of it; the first that is done wins, and the others stop.

The CPU works in the caller's arrays, GPUs in copies of their own. What a GPU needs of arrays that the call writes it
has before the CPU begins, and a GPU that has won writes over all that the CPU may have written, once that has stopped:
when the call is over, the caller's arrays are what one device has made of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress

import numpy as np

from loopwright.memory.array_copies import ArrayCopies
from loopwright.placement.race import Race
from loopwright.runtime.participants import Event, Participant
from loopwright.runtime.pools import working
from loopwright.runtime.shared_call import SharedCall

SLICE_NS = 1_000_000
"""How long one slice of iterations should take: a device that has lost stops at the end of one."""

FIRST = 1 / 64
"""The part of all iterations that a CPU's first slice has, of which nothing is known."""

GPU_FIRST = 1 / 8
"""The same of a GPU, which takes as long for few iterations as for many."""

HARDLY_LONGER = 1.5
"""A slice of a GPU that takes no more than so many times as long as one of half its size did not fill the GPU."""


class Stopped(Exception):
    """Another device has won."""


class SliceParts:
    """See PartSource: slices of a region for one device, one after the other, until it is to stop. Raises Stopped
    then."""

    def __init__(self, should_stop: Callable[[], bool], on_gpu: bool = False) -> None:
        self._should_stop, self._on_gpu = should_stop, on_gpu
        self._asked_ns = self._size = self._before_ns = 0
        self._left = range(0)
        self._whole = 1
        self.ranges: list[range] = []

    def fixed(self, number: int, iterations: range) -> None:
        """See PartSource."""
        self.ranges.append(iterations)
        self._left, self._whole = iterations, len(iterations)
        self._size = self._before_ns = 0

    def take(self, member: int, rate: float | None) -> range | None:
        """See PartSource."""
        if self._should_stop():
            raise Stopped
        size = self._whole * FIRST if rate is None else rate * SLICE_NS
        size = max(1, min(len(self._left), round(self._gpu_size() if self._on_gpu else size)))
        part, self._left = self._left[:size], self._left[size:]
        return part or None

    def _gpu_size(self) -> float:
        """Twice as many as before, while these take hardly longer than half of them did, or less than a slice may."""
        now_ns = time.perf_counter_ns()
        took_ns, self._asked_ns = now_ns - self._asked_ns, now_ns
        if not self._size:
            self._size = max(1, round(self._whole * GPU_FIRST))
            return self._size
        if took_ns < SLICE_NS or not self._before_ns or took_ns < HARDLY_LONGER * self._before_ns:
            self._size *= 2
        self._before_ns = took_ns
        return self._size

    def left(self) -> Sequence[range]:
        """Nothing: it has done all, or it has stopped."""
        return ()


class RaceCall:
    """The members race, a CPU in this thread. arguments: all of them, with arrays of the host. events: what they did;
    won_ns, ended_ns: when the first was done, and when all had stopped."""

    def __init__(self, members: Sequence[Participant], arguments: Sequence[object]) -> None:
        self.members, self.arguments = members, tuple(arguments)
        self.race = Race([member.name for member in members])
        self.events: list[Event] = []
        self.started_ns = self.won_ns = self.ended_ns = 0
        self._results: dict[int, object] = {}

    def run(self) -> object:
        """Make the call: what it returns. Raises what a call raises, after everybody has stopped."""
        self.started_ns = time.perf_counter_ns()
        gpus = [k for k, member in enumerate(self.members) if member.gpu is not None]
        cpus = [k for k, member in enumerate(self.members) if member.gpu is None]
        ready = [Future[None]() for _ in gpus]
        futures = [working.submit(self._on_gpu, k, one) for k, one in zip(gpus, ready, strict=True)]
        try:
            for one in ready if cpus else ():
                one.result()
            for k in cpus:
                self._attempt(k, {})
        except BaseException:
            self.race.cancel()
            raise
        finally:
            for future in futures:
                future.result()
            self.ended_ns = time.perf_counter_ns()
        return self._results[self.race.result()]

    def _on_gpu(self, place: int, ready: Future[None]) -> None:
        """In a thread of its own. ready: told when the caller's arrays may be written."""
        copies: dict[int, ArrayCopies] = {}
        try:
            try:
                self._early(self.members[place], copies)
            finally:
                ready.set_result(None)
        except Exception as error:  # the others go on
            self.race.failed(place, error)
        else:
            self._attempt(place, copies)

    def _early(self, member: Participant, found: dict[int, ArrayCopies]) -> None:
        """What a GPU needs of arrays that the call writes is on its way, and the host's are not looked at again."""
        codes = [code for code in member.program.codes if code is not None]
        ends_early = any(code.ends_early for code in codes)
        written = {position for code in codes for position in code.written}
        needed = {position for code in codes for position, reach in code.reach.items() if reach.needed is not None}
        call = SharedCall([member], member, self.arguments, SliceParts(lambda: False), {})
        try:
            for position in sorted(written if ends_early else written & needed):
                if position < len(self.arguments) and isinstance(self.arguments[position], np.ndarray):
                    found[position] = call.brought(member, position)
        except BaseException:
            call.give_back()
            raise

    def _attempt(self, place: int, copies: dict[int, ArrayCopies]) -> None:
        """One device makes the call, until another one has."""
        member = self.members[place]
        parts = SliceParts(lambda: self.race.should_stop(place), member.gpu is not None)
        call = SharedCall([member], member, self.arguments, parts, copies, own=tuple(copies.values()))
        try:
            self._results[place] = call.run(lambda: self._wins(place))
        except Stopped:
            self.race.stopped(place)
        except BaseException as error:  # ctrl-C too: who has won waits for all others
            with suppress(RuntimeError):  # it has won, and could not bring home what it made
                self.race.failed(place, error)
            if self.race.winner == place or not isinstance(error, Exception):
                raise
        finally:
            self.events += call.events

    def _wins(self, place: int) -> bool:
        if not self.race.finished(place):
            return False
        self.won_ns = time.perf_counter_ns()
        self.race.ended()  # nobody writes to the caller's arrays any more
        return True

"""One call that several devices make at once, each all of it, with the code that it would run alone. The first that is
done wins, and the others stop.

The CPU works in the caller's arrays, in this thread; GPUs work in copies of their own. A GPU that has to read what the
CPU writes has a copy of it before the CPU begins, and one that has won writes over all that the CPU may have written,
once that has stopped: when the call is over, the caller's arrays are what one device has made of them. Nobody waits for
a GPU that has lost: it touches nothing but its own memory then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import NamedTuple

from loopwright.devices.by_ctypes import CallEnded, EndableEntry
from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError
from loopwright.memory.call_in_steps import CallInSteps, GivenUp
from loopwright.memory.gpu_call import NoRoom
from loopwright.memory.offload import OffloadEntry
from loopwright.placement.race import Race
from loopwright.runtime.execute import CallArguments
from loopwright.runtime.participants import Event
from loopwright.runtime.pools import working


class NotReady(DeviceError):
    """A device could not take part this time."""


class Entrant(NamedTuple):
    """A device that takes part. starts_ns: after the beginning of the call. cpu: its code, None for a GPU. gpu: of a
    GPU; code: gives what it runs, None where it cannot make such a call; it may wait for a compiler. holds: whether the
    CPU has to wait until this GPU has read what the CPU writes; its code is there then."""

    name: str
    starts_ns: float
    cpu: EndableEntry | None = None
    gpu: Gpu | None = None
    code: Callable[[], OffloadEntry | None] = lambda: None
    holds: bool = False


@dataclass(slots=True)
class _Running:
    """What is known of one that takes part. has_read: it reads no arrays any more that the CPU writes. is_away: it
    does not touch the caller's arrays, now or later, unless it wins. ticket: of its call, 0 while there is none.
    began_ns, ended_ns: 0 where it did not come to that; late_ns: of these, what compilers took."""

    has_read: Flag = field(default_factory=Flag)
    is_away: Flag = field(default_factory=Flag)
    ticket: int = 0
    began_ns: int = 0
    ended_ns: int = 0
    late_ns: int = 0


class RaceCall:
    """call: with arrays of the host. A CPU is first among the entrants, if there is one. won_ns, stopped_ns: when the
    first was done, and when nobody else touched the caller's arrays any more; events: what devices did. losers: threads
    of GPUs that may still be waiting for their kernels to end."""

    def __init__(self, entrants: Sequence[Entrant], call: CallArguments) -> None:
        self.entrants, self.call = entrants, call
        self.race = Race([one.name for one in entrants])
        self.events: list[Event] = []
        self.running = [_Running() for _ in entrants]
        self.started_ns = self.won_ns = self.stopped_ns = 0
        self.losers: list[Future[None]] = []
        self._results: dict[int, object] = {}
        self._begins = threading.Lock()
        for one in self.running:
            one.is_away.set()

    def run(self) -> object:
        """Make the call: what it returns. Raises what a call raises, once nobody touches the caller's arrays."""
        self.started_ns = time.perf_counter_ns()
        if self.entrants[0].cpu is not None:
            self.entrants[0].cpu.renew()
        futures = {k: working.submit(self._on_gpu, k) for k, one in enumerate(self.entrants) if one.gpu is not None}
        self.losers = list(futures.values())
        try:
            if self.entrants[0].cpu is not None:
                self._on_cpu(self.entrants[0].cpu)
                if self.race.states[0] == "failed" and not self._any_has_begun():
                    raise self.race.errors[0][1]
            self.race.decided()
        except BaseException:
            self.race.cancel()
            raise
        finally:
            winner = self.race.winner
            for k in futures:
                if k != winner:
                    self._end(k)
            if winner in futures:
                futures[winner].result()
            else:
                self._wait_for_gpus(None)
        return self._results[self.race.result()]

    @property
    def stop_delay_ns(self) -> int:
        """How long a winner waited until no other device touched the caller's arrays."""
        return max(0, self.stopped_ns - self.won_ns) if self.won_ns else 0

    # ---- the CPU ----------------------------------------------------------------------------------------------------

    def _on_cpu(self, entry: EndableEntry) -> None:
        mine = self.running[0]
        others = range(1, len(self.entrants))
        self.race.waited(
            lambda: self.race.winner is not None or all(self.race.states[k] != "running" for k in others),
            self._left_s(0) if others else 0.0,
        )
        for k in others:
            if self.entrants[k].holds:
                self.running[k].has_read.wait()
        if self.race.should_stop(0):
            self.race.stopped(0)
            return
        mine.began_ns = time.perf_counter_ns()
        try:
            self._results[0] = entry.run(self.call.arguments, self.call.given)
        except CallEnded:
            self._note(0)
            self.race.stopped(0)
        except BaseException as error:
            self._note(0)
            self.race.failed(0, error)
            if not isinstance(error, Exception):
                raise
        else:
            self._note(0)
            if self.race.finished(0):
                self.won_ns = mine.ended_ns

    # ---- a GPU ------------------------------------------------------------------------------------------------------

    def _on_gpu(self, place: int) -> None:
        """In a thread of its own."""
        mine, entrant = self.running[place], self.entrants[place]
        try:
            if self.race.waited(lambda: self._is_decided(place), self._left_s(place)):
                raise GivenUp
            entry = entrant.code()
            if entry is None:
                raise DeviceError("it cannot make such a call")
            with self._begins:
                if self._is_decided(place):
                    raise GivenUp
                mine.began_ns = time.perf_counter_ns()
                mine.is_away.clear()
            self._compute(place, entry)
        except GivenUp:
            self._give_up(place)
        except NoRoom as full:
            self.race.failed(place, full.error)
        except Exception as error:  # the others go on
            with suppress(RuntimeError):  # it has won, and could not bring home what it made
                self.race.failed(place, error)
            if self.race.winner == place:
                raise
        finally:
            mine.has_read.set()
            mine.is_away.set()

    def _compute(self, place: int, entry: OffloadEntry) -> None:
        mine, gpu = self.running[place], self.entrants[place].gpu
        assert gpu is not None
        with entry.payload.lock, gpu.one_call() as ticket:
            late_ns = gpu.late_ns
            call = CallInSteps(entry, self.call.arguments, self.call.given, lambda: self._is_decided(place))
            try:
                call.place()
                call.send(written_too=True)
                mine.has_read.set()
                call.send(written_too=False)
                mine.ticket = ticket
                mine.is_away.set()
                call.compute()
                mine.late_ns = gpu.late_ns - late_ns
                if not self.race.finished(place):
                    raise GivenUp
                self.won_ns = time.perf_counter_ns()
                self._stop_others(place)
                begun = time.perf_counter_ns()
                self._results[place] = call.bring_back()
                self.events.append(Event(self.entrants[place].name, "copies", begun, time.perf_counter_ns()))
            finally:
                self._note(place)
                call.give_back()

    def _is_decided(self, place: int) -> bool:
        """Whether this GPU need not go on: somebody has won, or the CPU has failed before this one has begun."""
        early = self.running[place].began_ns == 0 and self.entrants[0].cpu is not None
        return self.race.should_stop(place) or (early and self.race.states[0] == "failed")

    def _give_up(self, place: int) -> None:
        if self.race.should_stop(place):
            with suppress(RuntimeError):  # it was too late
                self.race.stopped(place)
        else:
            self.race.failed(place, NotReady("the CPU has failed"))

    def _stop_others(self, place: int) -> None:
        """It has won: until nobody else touches the caller's arrays."""
        cpu = self.entrants[0].cpu
        if cpu is not None:
            cpu.end()
            self.race.waited(lambda: self.race.states[0] != "running")
        self._wait_for_gpus(place)

    def _wait_for_gpus(self, winner: int | None) -> None:
        with self._begins:
            pass  # who begins from now on knows that it is over
        for k, one in enumerate(self.entrants):
            if k != winner and one.gpu is not None:
                self.running[k].is_away.wait()
        self.stopped_ns = time.perf_counter_ns()

    def _any_has_begun(self) -> bool:
        with self._begins:
            return any(one.began_ns for one in self.running[1:])

    def _end(self, place: int) -> None:
        """Kernels of a GPU that has lost end early."""
        ticket, gpu = self.running[place].ticket, self.entrants[place].gpu
        if ticket and gpu is not None and self.race.states[place] == "running":
            with suppress(DeviceError):
                gpu.end_call(ticket)

    # ---- small things -----------------------------------------------------------------------------------------------

    def _left_s(self, place: int) -> float:
        passed = time.perf_counter_ns() - self.started_ns
        return max(0.0, self.entrants[place].starts_ns - passed) / 1e9

    def _note(self, place: int) -> None:
        mine = self.running[place]
        mine.ended_ns = time.perf_counter_ns()
        self.events.append(Event(self.entrants[place].name, "computes", mine.began_ns, mine.ended_ns))

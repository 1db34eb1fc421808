"""Who takes part in the calls of one kind that devices race for (`plan="race"`), and what was learned of them: which
code each device has, what its calls took, and what it takes at least and at most for a shape that it never had.

The CPU has its code first. That of a GPU is made in another thread, once the CPU has been at work for a while: calls
that are short never need it.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from loopwright.devices.by_ctypes import EndableEntry
from loopwright.devices.gpu import Gpu
from loopwright.ir.signature import Shape
from loopwright.memory.call_in_steps import copied_bytes
from loopwright.memory.offload import OffloadEntry
from loopwright.placement.line_up import CLEARLY, DECIDED, SHORT_NS, LineUp, TimeBounds, line_up
from loopwright.profile.measurement import Work
from loopwright.profile.work_form import WorkForm
from loopwright.runtime.pools import working
from loopwright.runtime.race_call import Entrant, NotReady

BUS_BYTES_PER_NS = 60.0, 6.0
"""What copies of the host's arrays reach at most and at least, each way."""

GPU_LEAST_NS, GPU_MOST_NS = 150_000.0, 2_000_000.0
"""What a call on a GPU takes for copies of nothing and a few kernels: PolyBench's least took 0.7 ms on an H200."""

GPU_PER_NS = 2e4, 50.0
"""Innermost iterations that a GPU does in a nanosecond at most, and at least, all together."""

CPU_PER_NS = 64.0, 0.25
"""The same of one core at most (of narrow types, in the widest vectors), and of all at least."""

CPU_LEAST_NS, CPU_MOST_NS = 2_000.0, 50_000.0

CPU_USUAL = 10_000.0, 1.5, 4.0
"""What is expected of a CPU: nanoseconds for a call, and innermost iterations of a core in a nanosecond: of each of
many cores, and of one where the outermost loops are sequential. These and those of GPU_USUAL are near the middle of
what PolyBench's kernels took on 16 cores of a Xeon and on an H200; single ones are off by a factor of ten."""

GPU_USUAL = 700_000.0, 16.0, 1000.0, 50.0
"""What is expected of a GPU: nanoseconds for a call, bytes that are copied and innermost iterations in a nanosecond,
and the latter where the outermost loops are sequential."""

OTHER_SHAPE = 2.0
"""A device that was measured with another shape takes so many times longer or shorter at most than by that."""

MOST_SHAPES = 256
"""For how many shapes of calls is kept what they have to do, and what they took."""

LOOKS = 64
"""After so many calls without more ado one is measured."""

TOO_LATE = 16
"""After so many calls that were over before another device had begun, as on a machine that is busy, or in which none
would have been worth the wait, nothing more is expected of others: they had their code."""

READY_NS = 1e8
"""How long the CPU is at work in a call before a GPU's code is made meanwhile. That takes about a second of a core, and
what the caller does next, such as compiling another kernel, shares the interpreter with it."""


@dataclass(slots=True)
class Racing:
    """cpu: its code. gpus: those that may take part, by name; code_of: makes a GPU's code, and waits for a compiler;
    form: what a call has to do, None where nobody can say; it may take as long as an analysis. threads: of the CPU."""

    cpu: EndableEntry
    gpus: Mapping[str, Gpu]
    code_of: Callable[[str], OffloadEntry | None]
    form: Callable[[], WorkForm | None]
    threads: int = 1
    took_ns: dict[Shape, dict[int, float]] = field(default_factory=dict)
    serves: dict[Shape, int] = field(default_factory=dict)
    _copied: dict[tuple[str, Shape], tuple[int, int, int]] = field(default_factory=dict)
    _works: dict[Shape, Work] = field(default_factory=dict)
    _made: dict[str, Future[OffloadEntry | None]] = field(default_factory=dict)
    _form: Future[WorkForm | None] | None = None
    _alone: Counter[Shape] = field(default_factory=Counter)
    _calls: int = 0
    _quick_calls: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all devices; the CPU first."""
        return ("cpu", *self.gpus)

    def ask(self, name: str) -> Future[OffloadEntry | None]:
        """The code of a GPU, which is being made from now on."""
        with self._lock:
            if name not in self._made:
                self._made[name] = working.submit(self.code_of, name)
            return self._made[name]

    def code(self, name: str) -> OffloadEntry | None:
        """The code of a GPU, if it is there."""
        made = self._made.get(name)
        return made.result() if made is not None and made.done() and made.exception() is None else None

    def is_asked(self, name: str) -> bool:
        """Whether the code of a GPU is there, or is being made."""
        return name in self._made

    def work(self, shape: Shape) -> Work | None:
        """What a call has to do; None where nobody knows, or not yet."""
        if (known := self._works.get(shape)) is not None:
            return known
        form = self._form
        if form is None or not form.done() or form.exception() is not None or (told := form.result()) is None:
            return None
        found = told.at(shape)
        if not found.iterations:
            return None
        if len(self._works) >= MOST_SHAPES:
            self._works.clear()
        self._works[shape] = found
        return found

    def copied(self, name: str, shape: Shape, arguments: tuple[object, ...]) -> tuple[int, int, int] | None:
        """See copied_bytes; None where there is no code yet."""
        if (known := self._copied.get((name, shape))) is not None:
            return known
        if (code := self.code(name)) is None:
            return None
        if len(self._copied) >= MOST_SHAPES:
            self._copied.clear()
        found = self._copied[name, shape] = copied_bytes(code, arguments)
        return found

    def is_quick(self, shape: Shape) -> bool:
        """Whether the CPU makes such a call without more ado: it serves, or the call is so short that no GPU is
        expected to make it in less time. Now and then a call goes the long way, which measures it."""
        if shape in self.took_ns:
            if self.serves.get(shape) != 0:
                return False
            self._quick_calls += 1
            return self._quick_calls % LOOKS != 0
        work = self.work(shape)
        return work is not None and self._cpu(work).expected_ns < min(SHORT_NS, GPU_USUAL[0])

    def was_quick(self, shape: Shape, took_ns: int) -> None:
        """A call without more ado took so long."""
        self._calls += 1
        if shape not in self.took_ns and took_ns > GPU_LEAST_NS:
            self.measured(shape, 0, took_ns)

    def learn(self) -> None:
        """Find out how much calls have to do, in another thread."""
        with self._lock:
            if self._form is None:
                self._form = working.submit(self.form)

    def measured(self, shape: Shape, place: int, took_ns: float) -> None:
        """A device has made a call."""
        if shape not in self.took_ns and len(self.took_ns) >= MOST_SHAPES:
            self.took_ns.clear()
            self.serves.clear()
            self._alone.clear()
        times = self.took_ns.setdefault(shape, {})
        times[place] = min(took_ns, times.get(place, math.inf))

    def bounds(self, shape: Shape, arguments: tuple[object, ...]) -> list[TimeBounds]:
        """What each device takes for such a call."""
        known, work = self.took_ns.get(shape, {}), self.work(shape)
        found: list[TimeBounds] = []
        for place, name in enumerate(self.names):
            if place in known:
                found.append(TimeBounds(known[place], known[place], known[place]))
                continue
            one = self._cpu(work) if place == 0 else self._gpu(name, shape, work, arguments)
            found.append(self._elsewhere(place, shape, work) or one)
        return found

    def line_up(self, shape: Shape, arguments: tuple[object, ...], failed: Collection[int] = ()) -> LineUp:
        """Who takes part in such a call. failed: devices that do not."""
        bounds = [
            TimeBounds(math.inf, math.inf) if place in failed else one
            for place, one in enumerate(self.bounds(shape, arguments))
        ]
        held = [0.0] * len(bounds)
        for place, name in enumerate(self.names[1:], 1):
            if bounds[0].expected_ns >= SHORT_NS and (copied := self.copied(name, shape, arguments)) is not None:
                written = copied[0]
                held[place] = GPU_LEAST_NS + 2 * written / BUS_BYTES_PER_NS[0] if written else 0.0
        return line_up(bounds, held, self.names)

    def entrants(self, found: LineUp, shape: Shape, arguments: tuple[object, ...]) -> list[Entrant]:
        """The same as devices that race. A GPU whose code is not there yet does not hold the CPU: it takes part if the
        CPU writes nothing that it has to read."""
        entrants: list[Entrant] = []
        for place, start in enumerate(found.starts_ns):
            if start is None:
                continue
            if place == 0:
                entrants.append(Entrant("cpu", start, cpu=self.cpu))
                continue
            name = self.names[place]
            code, copied = self.code(name), self.copied(name, shape, arguments)
            start = max(start, READY_NS) if code is None else start
            holds = copied is not None and copied[0] > 0
            made = self._waiting_code(name, holds, shape, arguments)
            entrants.append(Entrant(name, start, gpu=self.gpus[name], code=made, holds=holds))
        return entrants

    def _waiting_code(
        self, name: str, holds: bool, shape: Shape, arguments: tuple[object, ...]
    ) -> Callable[[], OffloadEntry | None]:
        def code() -> OffloadEntry | None:
            entry = self.ask(name).result()
            copied = self.copied(name, shape, arguments)
            if entry is not None and not holds and copied is not None and copied[0]:
                raise NotReady("its code was made when the CPU had begun to write what it has to read")
            return entry

        return code

    def decided(self, shape: Shape, arguments: tuple[object, ...], able: Sequence[int]) -> int | None:
        """The device that serves from now on; None where another one may be faster, and has a chance yet. What may tell
        that is made from the second call on: how much calls have to do, then code."""
        self._calls += 1
        times = self.took_ns.get(shape, {})
        best = min((place for place in times if place in able), key=lambda place: times[place], default=None)
        if best is None:
            return None
        bounds = self.bounds(shape, arguments)
        others = [place for place in able if place not in times and _may_beat(bounds[place], times[best])]
        if others and self._calls < 2:
            return None
        if others and self.work(shape) is None:
            self.learn()
            if self._form is None or not self._form.done():
                return None
        for place in others:
            if place and self.code(self.names[place]) is None:
                self.ask(self.names[place])
        if others and all(place == 0 or self.code(self.names[place]) is not None for place in others):
            self._alone[shape] += 1
        if others and self._alone[shape] < TOO_LATE:
            return None
        self.serves[shape] = best
        return best

    # ---- what devices take ------------------------------------------------------------------------------------------

    def _cpu(self, work: Work | None) -> TimeBounds:
        if work is None:
            return TimeBounds(CPU_LEAST_NS)
        together = max(CPU_USUAL[1] * min(self.threads, work.units), CPU_USUAL[2])
        return TimeBounds(
            CPU_LEAST_NS + work.iterations / (CPU_PER_NS[0] * self.threads),
            CPU_MOST_NS + work.iterations / CPU_PER_NS[1],
            CPU_USUAL[0] + work.iterations / together,
        )

    def _gpu(self, name: str, shape: Shape, work: Work | None, arguments: tuple[object, ...]) -> TimeBounds:
        copied = self.copied(name, shape, arguments)
        if copied is not None:
            moved = float(sum(copied))
        elif work is not None:
            moved = work.inputs_bytes + work.outputs_bytes
        else:
            return TimeBounds(GPU_LEAST_NS)
        least, most = GPU_LEAST_NS + moved / BUS_BYTES_PER_NS[0], GPU_MOST_NS + moved / BUS_BYTES_PER_NS[1]
        if work is None:
            return TimeBounds(least)
        usual = GPU_USUAL[0] + moved / GPU_USUAL[1] + work.iterations / GPU_USUAL[2 if work.units > 1 else 3]
        return TimeBounds(least + work.iterations / GPU_PER_NS[0], most + work.iterations / GPU_PER_NS[1], usual)

    def _elsewhere(self, place: int, shape: Shape, work: Work | None) -> TimeBounds | None:
        """By what it took for the shape that is the most alike; None where it was not measured."""
        found: list[tuple[float, float]] = []
        for other, times in self.took_ns.items():
            theirs = self.work(other)
            if place in times and work is not None and theirs is not None:
                found.append((work.iterations / theirs.iterations, times[place]))
        if not found:
            return None
        ratio, took_ns = min(found, key=lambda one: abs(math.log(one[0])))
        least, most = sorted((took_ns, took_ns * ratio))  # between a time that is fixed and one in proportion
        return TimeBounds(least / OTHER_SHAPE, most * OTHER_SHAPE, math.sqrt(least * most))


def _may_beat(one: TimeBounds, least_ns: float) -> bool:
    """Whether a device that was not measured may be faster than that: not where it is expected to be far from it."""
    return one.low_ns < DECIDED * least_ns and not CLEARLY * least_ns < one.expected_ns < math.inf

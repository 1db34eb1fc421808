"""Who does which part of a loop, for one kind of call with one shape, learned from call to call.

It owns what is decided and what was learned; it runs nothing. `decide` says what the next call is to do and `measured`
what came of it. In between any number of other calls may be decided.

1. The first call is guided: whoever is free gets the next chunk (`placement/guided.py`), which is near the best there
   is without knowing anything, and says how fast each device is. Under `plan="race"` it is a race, and the winner
   serves from then on. Where all devices are predicted, the first call is divided by that.
2. Each call makes the devices' curves better (`device_curve.py`), and `placement/split.py` divides the iterations by
   them. A device that is left out by what one call says gets one more.
3. A division that is new is tried where it is predicted to be better than the best that is known by a margin, 1 % at
   first. It was measured then, so the curves know it. Each time such a trial turns out worse, the margin doubles: on a
   curve like a saw, calls do not go back and forth. A device that moves makes the margin small again.
4. A device by itself that is predicted to take hardly longer is tried once: what it takes for everything is mostly told
   by small parts only. What is measured to be best stays.
5. Devices that are alike, as several GPUs of one model, get equal parts, until calls say that these take them times
   that differ: what a few calls say of each by chance would leave one out, or give it more than the others.
6. What nobody is busy with in a call, such as asking for parts and for what they exchange, takes the longer the more
   devices there are. Where half of those that are alike are predicted to be faster, with larger parts and less of that,
   they are tried, and half of these.
7. Where devices were left out, they get something to do again at long intervals: after 16 calls, then after twice as
   many. So a device that had other things to do is found when it has none.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Literal

from loopwright.choice.device_curve import DeviceCurve
from loopwright.errors import DeviceError
from loopwright.placement.split import LEAST, Count, Partitioning, Registered, Time, equal_parts, partition

AsPlanned = Literal["auto", "single", "split", "race"]
Kind = Literal["guided", "split", "single", "race"]

MARGIN = 0.01
"""What a division that was not measured has to be better by."""
MOST_MARGIN = 0.16
TRIED = 0.15
"""A device that is predicted to take no more than this longer by itself is tried once: more than LEAST, or that would
mostly be those that have got no part anyway."""
RISKED = 1.5
"""It is not where it would take this many times as long if none of its time is a fixed one."""
CONSIDERED = 8
"""So many divisions that were measured are compared."""
AGAIN = 16
"""After so many calls in which a device had nothing to do, it gets a part again, if one costs nothing. Then after twice
as many, and so on."""
SOON = 4
"""The same after a device has moved by a leap: two calls that went wrong by chance look like one."""
RARELY = 64
"""After more calls than this, it gets a chunk whatever it costs."""
MOST_AGAIN, MOST_REST = 4096, 15
"""While nothing changes, the curves are asked only every so many calls."""
RESTS = 8
"""Curves are asked after one more call than before for each so many calls, so that what is gained by few iterations
more here or there does not cost more than that."""
ALARM = 0.08
"""A part that takes longer or shorter than before by this, as a logarithm, has them asked at once."""
SLOWER = 0.2
"""A winner that becomes slower than this, as a logarithm, has to race again."""
HELD = 2
"""A division is measured again so many times where a device took longer or shorter than before, until that is clear."""
SLACK = 0.05
"""Parts of whole iterations are below LEAST by this at most where they were not to be."""
FEW = 2
"""With fewer iterations for each device, devices are measured one after the other."""
STAYS = 0.005
"""What served before is left only for what is better by more than this."""
PROVEN = 2
"""A device is left out for good by what so many calls say of it."""
EVEN = 0.1
"""Devices that are alike are not, after all, where the shortest of equal parts takes so much less than the longest."""
GROWN, GROWS = 3, 1.15
"""A device is left out after it was given larger parts so many times, each larger than the last by this factor."""

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a call is to do. parts: one range for each device; of a guided call and a race all iterations for each that
    takes part, and no iterations for the others. why: in words. predicted_ns: None where nothing is."""

    kind: Kind
    parts: tuple[range, ...]
    why: str
    predicted_ns: float | None = None

    @property
    def devices(self) -> tuple[int, ...]:
        """Who takes part."""
        return tuple(index for index, part in enumerate(self.parts) if part)


@dataclass(slots=True)
class _Trial:
    """A division that was not measured before, and what the best that was known is expected to take."""

    sizes: Sizes
    known_ns: float


@dataclass(slots=True)
class _Learned:
    """All that calls have taught. known: divisions that were measured, the latest last. alone: devices that were tried
    by themselves. grown: how often a device got a larger part before it was left out. idle: calls since a device that
    is left out had something to do. last: the division that was decided last, and `held` times in a row because a
    device is in doubt. equal: what devices that are alike took for equal parts, lately. waits: how long nobody was busy
    in calls of so many devices. calls: since a device has moved by a leap. calm: how often in a row because nothing was
    worth a trial; the next `rest` calls do the same without
    asking."""

    curves: list[DeviceCurve]
    known: list[Sizes] = field(default_factory=list)
    alone: set[int] = field(default_factory=set)
    trials: list[_Trial] = field(default_factory=list)
    margin: float = MARGIN
    guided: deque[float] = field(default_factory=lambda: deque(maxlen=3))
    guided_calls: int = 0
    grown: dict[int, int] = field(default_factory=dict)
    waits: dict[int, deque[float]] = field(default_factory=dict)
    idle: int = 0
    again: int = AGAIN
    winner: int | None = None
    last: Assignment | None = None
    held: int = 0
    calls: int = 0
    calm: int = 0
    rest: int = 0
    equal: deque[Sequence[float]] = field(default_factory=lambda: deque(maxlen=5))


class Division:
    """The division of one kind of call. Safe for threads.

    devices: their names, in the order in which they get parts. count: how much work some iterations are, where that
    differs from one to the next. multiple: parts begin at multiples of it. plan: 'auto' lets the best of all serve,
    'single' the best device, 'split' the best division among several, 'race' the one that wins the first call.
    predicted: what each device is predicted to take, where anybody knows. models: what each device is; those that are
    the same are alike. Raises ValueError without devices, and where the predictions are not as many."""

    def __init__(
        self,
        devices: Sequence[str],
        iterations: range,
        *,
        count: Count | None = None,
        multiple: int = 1,
        plan: AsPlanned = "auto",
        predicted: Sequence[Time | None] | None = None,
        models: Sequence[str] = (),
    ) -> None:
        if not devices or (predicted is not None and len(predicted) != len(devices)):
            raise ValueError(f"{len(devices)} devices with {len(predicted or ())} predictions: one each, one at least")
        self.devices = tuple(devices)
        self.iterations = iterations
        self.plan = plan
        self.failures: dict[int, str] = {}
        self._count = count
        self._multiple = multiple
        self._predicted = tuple(predicted) if predicted is not None else (None,) * len(devices)
        self._models = tuple(models)
        self._lock = threading.Lock()
        self._equals: dict[int, Sizes] = {}
        self._learned = self._nothing()

    def decide(self) -> Assignment:
        """What the next call is to do. Raises DeviceError where all devices have failed."""
        with self._lock:
            alive = self._alive()
            if not alive:
                told = "; ".join(f"{self.devices[device]}: {why}" for device, why in self.failures.items())
                raise DeviceError(f"no device is left to run this call\n  {told}")
            if len(alive) == 1 or not self.iterations:
                return self._single(alive[0], "the only device" if len(alive) == 1 else "there are no iterations")
            if self.plan == "race":
                return self._raced(alive)
            if self.plan == "single" or len(self.iterations) == 1:
                return self._best_alone(alive)
            return self._divided(alive)

    def alone(self, device: int, why: str) -> Assignment:
        """A call that one device makes, whatever is known of it."""
        whole = self.iterations
        return Assignment("single", tuple(whole if k == device else whole[:0] for k in range(len(self.devices))), why)

    def measured(
        self,
        decision: Assignment,
        busy_ns: Sequence[float],
        done: Sequence[int],
        total_ns: float,
        chunks: Sequence[int] | None = None,
    ) -> None:
        """What came of a call. busy_ns: how long each device had something to do, copies and all. done: how many
        iterations each has done. chunks: of a guided call, in how many each device did its iterations: what a chunk
        costs before it begins is told apart from what iterations cost. Raises ValueError where one of them is not one
        number for each device."""
        told = [busy_ns, done, *([chunks] if chunks is not None else [])]
        if any(len(one) != len(self.devices) for one in told):
            raise ValueError(f"what {len(self.devices)} devices did is told with as many numbers, not {told}")
        with self._lock:
            learned = self._learned
            learned.calls += 1
            alive = all(device not in self.failures for device in decision.devices)
            jumps = sum(curve.jumps for curve in learned.curves)
            self._note(decision, busy_ns, done, chunks)
            if sum(curve.jumps for curve in learned.curves) > jumps:
                learned.margin, learned.again, learned.calls = MARGIN, SOON, 0
                learned.alone.clear()
                learned.grown.clear()
                learned.guided.clear()
                learned.equal.clear()
            used = {device for device in range(len(done)) if done[device]}
            learned.idle = 0 if len(used) == len(self.devices) - len(self.failures) else learned.idle + 1
            if decision.kind == "guided":
                learned.guided_calls += 1
                if alive and total_ns > 0:
                    learned.guided.append(total_ns)
            elif decision.kind == "race":
                learned.winner = max(used, key=lambda device: done[device], default=None)
            elif alive:
                self._judge(decision, max(busy_ns), total_ns)
                if tuple(map(len, decision.parts)) == self._equal(self._alive()):
                    learned.equal.append([busy_ns[device] for device in sorted(used)])

    def failed(self, device: int, why: str) -> None:
        """A device that must not be used again; why, in words. Before `measured` is told of the call it failed in."""
        with self._lock:
            self.failures.setdefault(device, why)
            learned = self._learned
            learned.known = [sizes for sizes in learned.known if not sizes[device]]
            learned.trials = [trial for trial in learned.trials if not trial.sizes[device]]
            learned.guided.clear()
            learned.margin, learned.last = MARGIN, None
            if learned.winner == device:
                learned.winner = None

    def serve(self, device: int) -> None:
        """A device makes the calls from now on that would be a race."""
        with self._lock:
            self._learned.winner = None if device in self.failures else device

    def forget(self) -> None:
        """Begin anew, with all devices."""
        with self._lock:
            self.failures.clear()
            self._learned = self._nothing()

    def times(self) -> list[Time]:
        """What each device is predicted to take for a part, in nanoseconds."""
        return [partial(self._time, device) for device in range(len(self.devices))]

    def lines(self) -> list[str]:
        """What is known of each device, a line for each, for `explain`."""
        with self._lock:
            return [
                f"{name}: {f'failed, {self.failures[device]}' if device in self.failures else curve}"
                for device, (name, curve) in enumerate(zip(self.devices, self._learned.curves, strict=True))
            ]

    def foreseen(self) -> Assignment:
        """What `decide` would say now: nothing is decided, and nothing changes. Raises DeviceError as `decide` does."""
        return self._twin().decide()

    def alternatives(self) -> list[Assignment]:
        """Each device that serves by itself, and the division that is the most even: what a call is expected to take
        that way, None where that is not known. For `explain`; nothing changes."""
        return self._twin()._alternatives()

    def _twin(self) -> Division:
        """Another one that has learned the same."""
        plan, count, predicted = self.plan, self._count, self._predicted
        twin = Division(
            self.devices, self.iterations, count=count, multiple=self._multiple, plan=plan, predicted=predicted,
            models=self._models,
        )  # fmt: skip
        with self._lock:
            twin._learned, twin.failures = deepcopy(self._learned), dict(self.failures)
        return twin

    def _alternatives(self) -> list[Assignment]:
        alive = self._alive()
        known = [device for device in alive if self._learned.curves[device].known]
        found = [(self._alone(device), f"{self.devices[device]} alone") for device in alive]
        if len(known) > 1 and self.plan in ("auto", "split"):
            sizes, _ = self._partition(known, least=0.0)
            found += [(sizes, "parts for all")] if sum(size > 0 for size in sizes) > 1 else []
        return [self._assignment(sizes, why) for sizes, why in found]

    # ---- learning -------------------------------------------------------------------------------------------

    def _nothing(self) -> _Learned:
        return _Learned([DeviceCurve(prior) for prior in self._predicted])

    def _work(self, part: range) -> float:
        if not part:
            return 0.0
        return float(len(part) if self._count is None else self._count(part)) or float(len(part))

    def _note(
        self, decision: Assignment, busy_ns: Sequence[float], done: Sequence[int], chunks: Sequence[int] | None
    ) -> None:
        """Add to the curves what devices did. What was not done as decided, because a device failed, counts less."""
        for device, curve in enumerate(self._learned.curves):
            if device in self.failures or done[device] <= 0 or busy_ns[device] <= 0:
                continue
            part = decision.parts[device]
            if decision.kind == "guided" or done[device] != len(part):
                part = self._likely_part(device, done)
                pieces = chunks[device] if chunks is not None else 1
                curve.add(self._work(part), part, busy_ns[device], pieces, 0.5 if chunks is not None else 0.3)
            else:
                off = curve.add(self._work(part), part, busy_ns[device])
                if abs(off) > ALARM:
                    self._learned.rest = 0
                if decision.kind == "single" and self.plan == "race" and off > SLOWER and curve.jumps:
                    self._learned.winner = None

    def _likely_part(self, device: int, done: Sequence[int]) -> range:
        """The iterations that a device has done in chunks: device 0 from the low end, the others behind it."""
        first = sum(done[:device])
        return self.iterations[first : first + done[device]]

    def _judge(self, decision: Assignment, busy_ns: float, total_ns: float) -> None:
        """A division was measured: remember it, and double the margin where it was a trial that failed."""
        learned = self._learned
        sizes = tuple(map(len, decision.parts))
        waits = learned.waits.setdefault(len(decision.devices), deque(maxlen=5))
        waits.append(max(0.0, total_ns - busy_ns))
        if len(decision.devices) == 1:
            learned.alone.add(decision.devices[0])
        if sizes in learned.known:
            learned.known.remove(sizes)
        if self._worth_it(decision.parts):
            learned.known.append(sizes)
        for trial in [one for one in learned.trials if one.sizes == sizes]:
            learned.trials.remove(trial)
            if total_ns > trial.known_ns:
                learned.margin = min(MOST_MARGIN, 2 * learned.margin)
        if len(learned.known) > CONSIDERED:
            learned.known.remove(max(learned.known[:-1], key=self._value))

    def _worth_it(self, parts: Sequence[range]) -> bool:
        """Whether no device had so little to do that it is to be left out: it only had it to see how fast it is."""
        work = [self._work(part) for part in parts if part]
        return self.plan == "split" or not work or min(work) >= LEAST * max(work) * (1 - SLACK)

    # ---- deciding -------------------------------------------------------------------------------------------

    def _time(self, device: int, part: range) -> float:
        return self._learned.curves[device].at(self._work(part), part)

    def _value(self, sizes: Sizes) -> float:
        """What a division is expected to take, with what nobody is busy."""
        times = [self._time(device, part) for device, part in enumerate(self._parts(sizes))]
        return max(times) + self._wait(sum(size > 0 for size in sizes))

    def _wait(self, devices: int) -> float:
        """How long nobody is busy where so many take part; in proportion to what is known of another number."""
        waits = self._learned.waits
        several = [known for known in waits if known > 1]
        if devices in waits:
            return median(waits[devices])
        if devices < 2 or not several:
            return 0.0
        near = min(several, key=lambda known: abs(known - devices))
        return median(waits[near]) * devices / near

    def _parts(self, sizes: Sizes) -> tuple[range, ...]:
        reached, parts = 0, []
        for size in sizes:
            parts.append(self.iterations[reached : reached + size])
            reached += size
        return tuple(parts)

    def _alive(self) -> list[int]:
        return [device for device in range(len(self.devices)) if device not in self.failures]

    def _alone(self, device: int) -> Sizes:
        return tuple(len(self.iterations) * (one == device) for one in range(len(self.devices)))

    def _single(self, device: int, why: str) -> Assignment:
        return self._assignment(self._alone(device), f"{self.devices[device]}: {why}")

    def _assignment(self, sizes: Sizes, why: str) -> Assignment:
        kind: Kind = "split" if sum(size > 0 for size in sizes) > 1 else "single"
        value = self._value(sizes)
        found = Assignment(kind, self._parts(sizes), why, value if value < math.inf else None)
        learned = self._learned
        if learned.last is not None and learned.last.parts != found.parts:
            learned.calm = learned.rest = 0
        learned.last = found
        return found

    def _all_of(self, kind: Kind, devices: Sequence[int], why: str) -> Assignment:
        parts = [self.iterations if one in devices else self.iterations[:0] for one in range(len(self.devices))]
        return Assignment(kind, tuple(parts), why)

    def _raced(self, alive: Sequence[int]) -> Assignment:
        winner = self._learned.winner
        if winner is None:
            return self._all_of("race", alive, "all devices race: which is the fastest is not known")
        return self._single(winner, "it has won the race")

    def _best_alone(self, alive: Sequence[int]) -> Assignment:
        learned = self._learned
        for device in alive:
            if not learned.curves[device].known:
                return self._single(device, "not measured yet")
        best = min(alive, key=lambda device: self._value(self._alone(device)))
        near = self._value(self._alone(best)) * (1 + TRIED)
        for device in alive:
            if device not in learned.alone and self._value(self._alone(device)) <= near:
                return self._single(device, "about as fast as the fastest: tried once")
        return self._single(best, "the fastest")

    def _divided(self, alive: Sequence[int]) -> Assignment:
        """Guided while devices are unknown; else what is known to be best, or what is worth a trial."""
        learned = self._learned
        if learned.rest > 0 and learned.idle < learned.again and learned.last is not None:
            learned.rest -= 1
            return learned.last
        usable = [device for device in alive if learned.curves[device].known]
        doubtful = learned.last is not None and any(learned.curves[one].doubtful for one in learned.last.devices)
        if doubtful and learned.last is not None and learned.held < HELD:
            learned.held += 1
            return learned.last
        learned.held = 0
        unknown = next((device for device in alive if device not in usable), None)
        if unknown is not None and len(self.iterations) < FEW * len(alive):
            return self._single(unknown, "not measured yet, and there are too few iterations to give out chunks")
        if unknown is not None and learned.guided_calls < PROVEN:
            names = ", ".join(self.devices[device] for device in alive if device not in usable)
            return self._all_of("guided", alive, f"nothing is known of {names}: each free device takes the next chunk")
        usable = usable or list(alive)
        new, why = self._partition(usable)
        for device in usable:
            if not new[device] and self.plan != "split":
                larger = self._larger_part(device, usable, new)
                if larger is not None:
                    return larger
                if learned.curves[device].calls == 1 and learned.guided_calls < PROVEN:
                    return self._all_of("guided", alive, f"one call says too little about {self.devices[device]}")
        if learned.idle >= learned.again and self.plan != "split":
            look = self._look_again(usable, new)
            if look is not None:
                return look
        return self._best(usable, *self._fewer(usable, new, why))

    def _fewer(self, usable: Sequence[int], new: Sizes, why: str) -> tuple[Sizes, str]:
        """Equal parts for half of the devices that are alike, or half of these, where that is predicted to be
        faster."""
        if self.plan == "split" or new != self._equal(usable):
            return new, why
        count = len(usable) // 2
        while count > 1 and (fewer := self._equal(usable[:count])) and self._value(fewer) < self._value(new):
            new, why = fewer, f"the devices are alike: equal parts for {count} of them"
            count //= 2
        return new, why

    def _look_again(self, usable: Sequence[int], new: Sizes) -> Assignment | None:
        """Give work to devices that had none for long: as much as costs nothing, and now and then more than that."""
        learned = self._learned
        leapt = learned.again == SOON
        learned.idle, learned.rest, learned.again = 0, 0, min(MOST_AGAIN, 2 * learned.again)
        for device in usable:
            if not new[device]:
                found = self._costless(device, usable, new, sure=not leapt)
                if found is not None:
                    return self._assignment(found, f"to see whether {self.devices[device]} is still as slow")
        if learned.again > RARELY:
            return self._all_of("guided", self._alive(), "to see whether devices without a part are still as slow")
        return None

    def _costless(
        self, device: int, usable: Sequence[int], new: Sizes, grows: float = 0.0, sure: bool = True
    ) -> Sizes | None:
        """The largest part that a device is sure to do while the others do the rest, by the most that it has done in
        less time, as if each iteration took as long. None where it has done nothing in that time, unless that need not
        be sure, and where the part would not be `grows` times as large."""
        value = self._value(new)
        curve = self._learned.curves[device]
        done, took_ns = curve.largest(value / max(1.0, grows))
        told = bool(done) and not grows
        if not done and not sure:
            done, took_ns = curve.largest(math.inf)
        if not done or not value < math.inf:
            return None

        def slowest(part: range) -> float:
            return max(took_ns / done * self._work(part), self._time(device, part) if told else 0.0)

        sizes, _ = self._partition(
            usable, [slowest if other == device else partial(self._time, other) for other in usable], least=0.0
        )
        return sizes if sizes[device] and self._work(self._parts(sizes)[device]) >= grows * done else None

    def _larger_part(self, device: int, usable: Sequence[int], new: Sizes) -> Assignment | None:
        """What a device that is to be left out does before it is: so much more than it ever did that it tells whether
        most of its time is a fixed one. None where that is known."""
        learned = self._learned
        if learned.grown.get(device, 0) >= GROWN:
            return None
        sizes = self._costless(device, usable, new, GROWS)
        if sizes is None:
            return None
        learned.grown[device] = learned.grown.get(device, 0) + 1
        return self._assignment(sizes, f"{self.devices[device]} gets a larger part, to tell its fixed time")

    def _partition(
        self, usable: Sequence[int], times: Sequence[Time] | None = None, least: float = LEAST
    ) -> tuple[Sizes, str]:
        """How many iterations the curves, or `times`, give to each device, and how that came about."""
        if times is None and least and self._are_even() and (equal := self._equal(usable)):
            return equal, "the devices are alike: equal parts"
        times = times if times is not None else [partial(self._time, device) for device in usable]
        split = self.plan == "split"
        least = 0.0 if split else least
        found: Registered = partition(self.iterations, times, count=self._count, multiple=self._multiple, least=least)
        if split and isinstance(found, Partitioning):
            several = [one for one in found.steps if len(one.devices) > 1]
            found = min(several, key=lambda one: one.makespan_ns, default=found)
        given = dict(zip(usable, found.parts, strict=True))
        return tuple(len(given.get(device, ())) for device in range(len(self.devices))), found.why

    def _are_even(self) -> bool:
        """Whether devices that are alike took about the same time for equal parts, as far as anybody knows."""
        calls = [one for one in self._learned.equal if len(one) == len(self._learned.equal[-1])]
        if len(calls) <= PROVEN:
            return True
        times = [median(call[device] for call in calls) for device in range(len(calls[-1]))]
        return min(times) >= (1 - EVEN) * max(times)

    def _equal(self, usable: Sequence[int]) -> Sizes | None:
        """Parts of as much work; None where devices are not alike."""
        models = {self._models[device] for device in usable} if self._models else set()
        count = len(self.iterations) // self._multiple
        if len(models) != 1 or len(usable) < 2 or count < len(usable):
            return None
        sizes = self._equal_sizes(len(usable))
        parts = dict(zip(usable, sizes, strict=True))
        return tuple(parts.get(device, 0) for device in range(len(self.devices)))

    def _equal_sizes(self, devices: int) -> Sizes:
        if devices not in self._equals:
            if self._count is None:
                count = len(self.iterations) // self._multiple
                ends = [self._multiple * (count * k // devices) for k in range(devices)] + [len(self.iterations)]
                self._equals[devices] = tuple(b - a for a, b in pairwise(ends))
            else:
                self._equals[devices] = tuple(
                    map(len, equal_parts(self.iterations, self._count, self._multiple, devices))
                )
        return self._equals[devices]

    def _best(self, usable: Sequence[int], new: Sizes, why: str) -> Assignment:
        """What was measured to be best, a division that is better by the margin, or a device that is tried alone."""
        learned = self._learned
        known = min(learned.known, key=self._value, default=None)
        known_ns = self._value(known) if known is not None else math.inf
        if learned.known and self._value(learned.known[-1]) <= known_ns * (1 + STAYS):
            known = learned.known[-1]
        new_ns = self._value(new)
        if self.plan != "split":
            near = min(known_ns, new_ns) * (1 + TRIED)
            for device in usable:
                alone = self._alone(device)
                if device in learned.alone or alone == new or self._value(alone) > near:
                    continue
                if self._at_most(device) <= RISKED * near:
                    return self._tried(alone, known_ns, f"{self.devices[device]} alone may be as fast: tried once")
        if known is None or new_ns * (1 + learned.margin) < known_ns:
            return self._tried(new, known_ns, why)
        if learned.guided_calls > 1 and learned.guided and median(learned.guided) * (1 + MARGIN) < known_ns:
            return self._all_of("guided", usable, "chunks for each free device were faster than any division")
        learned.calm += 1
        learned.rest = min(MOST_REST, max(learned.calm, learned.calls // RESTS))
        return self._assignment(known, "the best that was measured")

    def _at_most(self, device: int) -> float:
        """What it takes for everything if each iteration takes as long as those that it has done."""
        curve = self._learned.curves[device]
        done, took_ns = curve.largest(math.inf)
        return took_ns / done * self._work(self.iterations) if done else self._value(self._alone(device))

    def _tried(self, sizes: Sizes, known_ns: float, why: str) -> Assignment:
        if known_ns < math.inf and sizes not in self._learned.known:
            self._learned.trials = [*self._learned.trials[-7:], _Trial(sizes, known_ns)]
        return self._assignment(sizes, why)

"""A device in virtual time: what each variant takes is scripted, and nothing runs. For tests of all that decides.

It owns the virtual clock, curves of time against size, noise by seed and candidates that fail. It knows no kernels and
no schedules: a variant is any name, a call is its sizes. The same seed and the same calls give the same times.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Curve = Callable[[tuple[int, ...], int], float]
"""From the sizes of a call and the virtual time (ns) to the nanoseconds that it takes without noise."""

Fault = Literal["wrong", "crashed", "timeout", "memory", "refused"]


@dataclass(slots=True)
class VirtualClock:
    """now_ns advances only when somebody says so."""

    now_ns: int = 0

    def advance(self, by_ns: int) -> None:
        """Raises ValueError where time would run backwards."""
        if by_ns < 0:
            raise ValueError(f"time does not run backwards, by {-by_ns} ns")
        self.now_ns += by_ns

    def seconds(self) -> float:
        """Since the virtual 1970."""
        return self.now_ns / 1e9


@dataclass(frozen=True, slots=True)
class Noise:
    """What is not in the curve. spread: standard deviation of the logarithm of a time. outliers: the part of all calls
    that takes `outlier_factor` times as long. slow_mode: the part that takes `slow_factor` as long (bimodal timings).
    first_call: the factor of a variant's first call with these sizes (cold caches, new pages)."""

    spread: float = 0.0
    outliers: float = 0.0
    outlier_factor: float = 5.0
    slow_mode: float = 0.0
    slow_factor: float = 1.4
    first_call: float = 1.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a candidate run on copies: 'ok' or the fault, its times, what all of it took."""

    outcome: Literal["ok"] | Fault
    times_ns: tuple[int, ...]
    spent_ns: int


@dataclass(slots=True)
class Simulated:
    """A device, or several, whose variants take what `curves` say. faults: of candidates that fail when they are tried.
    compile_ns: what making a candidate takes before its first run."""

    curves: Mapping[Hashable, Curve]
    noise: Noise = Noise()
    seed: int = 0
    faults: Mapping[Hashable, Fault] = field(default_factory=dict)
    compile_ns: int = 0
    clock: VirtualClock = field(default_factory=VirtualClock)
    calls: dict[Hashable, int] = field(default_factory=dict)
    _random: random.Random = field(init=False)
    _seen: set[Hashable] = field(init=False, default_factory=set)
    _made: set[Hashable] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def run(self, variant: Hashable, sizes: tuple[int, ...]) -> int:
        """Serve a call: the nanoseconds it took, by which the clock has advanced. Raises RuntimeError for a candidate
        that fails: no call may ever be served by one. Raises KeyError for a variant without a curve."""
        if variant in self.faults:
            raise RuntimeError(f"a call was served by '{variant}', which is {self.faults[variant]}")
        self.calls[variant] = self.calls.get(variant, 0) + 1
        return self._timed(variant, sizes)

    def attempt(self, variant: Hashable, sizes: tuple[int, ...], limit_ns: int, runs: int = 3) -> Attempt:
        """Try a candidate on copies, for `limit_ns` at most: one run is compared with the reference, `runs` are
        timed."""
        started = self.clock.now_ns
        deadline = started + limit_ns
        fault = self.faults.get(variant)
        make_ns = 0 if variant in self._made else self.compile_ns
        if make_ns > limit_ns:
            return self._given_up(deadline, started)
        self.clock.advance(make_ns)
        self._made.add(variant)
        if fault == "timeout":
            return self._given_up(deadline, started)
        if fault in ("crashed", "memory", "refused"):
            return Attempt(fault, (), self.clock.now_ns - started)
        times = []
        for _ in range(1 if fault else runs + 1):
            if self.curves[variant](sizes, self.clock.now_ns) > deadline - self.clock.now_ns:
                return self._given_up(deadline, started)
            times.append(min(self._timed(variant, sizes, deadline - self.clock.now_ns), limit_ns))
        if fault:
            return Attempt(fault, (), self.clock.now_ns - started)
        return Attempt("ok", tuple(times[1:]), self.clock.now_ns - started)

    def exact_ns(self, variant: Hashable, sizes: tuple[int, ...]) -> float:
        """What a call would take now without noise."""
        return self.curves[variant](sizes, self.clock.now_ns)

    def _given_up(self, deadline: int, started: int) -> Attempt:
        self.clock.advance(deadline - self.clock.now_ns)
        return Attempt("timeout", (), deadline - started)

    def _timed(self, variant: Hashable, sizes: tuple[int, ...], at_most: int | None = None) -> int:
        time_ns = self.curves[variant](sizes, self.clock.now_ns) * self._factor((variant, sizes))
        whole = max(1, round(time_ns))
        whole = whole if at_most is None else min(whole, at_most)
        self.clock.advance(whole)
        return whole

    def _factor(self, call: Hashable) -> float:
        """Every call draws as many random numbers, so that one kind of noise does not change another."""
        noise, draw = self.noise, self._random
        factor = math.exp(draw.gauss(0.0, 1.0) * noise.spread)
        outlier, slow = draw.random() < noise.outliers, draw.random() < noise.slow_mode
        factor *= noise.outlier_factor if outlier else noise.slow_factor if slow else 1.0
        if call not in self._seen:
            self._seen.add(call)
            factor *= noise.first_call
        return factor


# ---- curves -------------------------------------------------------------------------------------------------------


def linear(ns_per_iteration: float, overhead_ns: float = 0.0) -> Curve:
    """A fixed cost and a cost per iteration; the iterations are the product of the sizes."""
    return lambda sizes, _: overhead_ns + ns_per_iteration * math.prod(sizes)


def sawtooth(ns_per_wave: float, wave: int, overhead_ns: float = 0.0) -> Curve:
    """Blocks run in waves of `wave` at once, and a wave that is not full takes as long as a full one: per iteration the
    time falls and jumps. (Dollinger 2015, 4.3.3)"""
    return lambda sizes, _: overhead_ns + ns_per_wave * -(-math.prod(sizes) // wave)


def slowed(curve: Curve, factor: float, from_ns: int, until_ns: float = math.inf) -> Curve:
    """`factor` times `curve` from one virtual time until another."""
    return lambda sizes, now: curve(sizes, now) * (factor if from_ns <= now < until_ns else 1.0)


def drifting(curve: Curve, factor: float, from_ns: int, until_ns: int) -> Curve:
    """`curve` that gets slower bit by bit, until it takes `factor` times as long at `until_ns` and from then on."""

    def drifted(sizes: tuple[int, ...], now: int) -> float:
        part = min(1.0, max(0.0, (now - from_ns) / (until_ns - from_ns)))
        return curve(sizes, now) * math.exp(part * math.log(factor))

    return drifted

"""The times of one variant under one shape: what it takes now, and whether that has moved.

It owns the running estimate. It knows neither other variants nor what is concluded. What is expected of it, the
prediction, is handed in as a logarithm.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from loopwright.choice.drift import THRESHOLD, Cusum, Reference

WINDOW = 15
"""The latest calls whose median is the estimate: seven outliers among them cannot steer it."""

TRUSTED = 5
"""So many calls say more than an experiment, or than what was known before the variant's time moved."""

_LEAST_ERROR = 0.01


def _own() -> Cusum:
    """Twice the threshold of what all shapes of a variant add up to: where all of them move, that is found first."""
    return Cusum(2 * THRESHOLD)


@dataclass(slots=True)
class Estimate:
    """time_ns: of a call now. error: the half-width in which it is expected, as a part. runs: how many it is from."""

    time_ns: float
    error: float
    runs: int


@dataclass(slots=True)
class CallSeries:
    """calls: served. due: when so many were, the next measurement is worth keeping. last_at: when the last was made.
    best_ns: the shortest median there ever was, 0 before the first. expected: the logarithm of the prediction."""

    calls: int = 0
    due: int = 1
    last_at: float = 0.0
    expected: float = math.nan
    best_ns: float = 0.0
    reference: Reference = field(default_factory=Reference)
    cusum: Cusum = field(default_factory=_own)
    _window: deque[int] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _before: Estimate | None = None
    _trials: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _trials_spread: float = 0.0

    def add(self, times_ns: Sequence[int]) -> None:
        """Calls that were served."""
        before = self.calls
        self.calls += len(times_ns)
        self._window.extend(times_ns[-WINDOW:])
        if before // WINDOW < self.calls // WINDOW and self.trusted():
            self._note(median(self._window))

    def expect(self, logarithm: float) -> None:
        """The prediction, now or anew."""
        if not math.isnan(self.expected):
            self.reference.expect(self.expected - logarithm)
        self.expected = logarithm

    def told(self, estimate: Estimate) -> None:
        """What a store says; anything seen since says it better."""
        self._before = estimate
        self._note(estimate.time_ns)

    def tried(self, times_ns: Sequence[float], spread: float) -> None:
        """What an experiment says; calls since the last move say it better. spread: of calls of this kernel, as
        `latest` gives it: a few runs may agree by chance."""
        self._trials.extend(times_ns)
        self._trials_spread = spread
        self._note(median(self._trials))

    def estimate(self) -> Estimate | None:
        """None where too little is known."""
        if self.trusted():
            return estimate_of(self._window)
        if not self._trials:
            return self._before
        tried = estimate_of(self._trials)
        return Estimate(tried.time_ns, max(tried.error, error_of(self._trials_spread, tried.runs)), tried.runs)

    def trusted(self) -> bool:
        """Whether the calls since the last move say what it takes."""
        return len(self._window) >= TRUSTED

    def latest(self) -> tuple[float, float, int]:
        """Of the latest calls since the last move: median, half the distance of the quartiles over it, how many. All 0
        where there were none."""
        return (median(self._window), _spread(self._window), len(self._window)) if self._window else (0.0, 0.0, 0)

    def moved(self, by: float) -> None:
        """From now on its times are e^by as long: the calls before count no more, but as far as they tell this one."""
        before = self.estimate()
        if self.reference.ready:  # some of the latest calls may have moved already
            time_ns = math.exp(self.expected + self.reference.level + by)
            self._before = Estimate(time_ns, 0.05, WINDOW)
        elif before is not None:
            self._before = Estimate(before.time_ns * math.exp(by), max(before.error, 0.05), before.runs)
        self._window.clear()
        self.due = self.calls + TRUSTED
        self.settled(by)

    def settled(self, by: float) -> None:
        """Its times are known to lie e^by away from where they did; the window already holds such ones."""
        self._trials.clear()
        self.reference.moved(by)
        self.cusum.clear()

    def _note(self, time_ns: float) -> None:
        self.best_ns = min(self.best_ns, time_ns) if self.best_ns else time_ns


def estimate_of(times_ns: Collection[float]) -> Estimate:
    """Of one experiment, or of some calls. Raises ValueError without any times."""
    if not times_ns:
        raise ValueError("what has run has one time at least")
    return Estimate(median(times_ns), error_of(_spread(times_ns), len(times_ns)), len(times_ns))


def error_of(spread: float, runs: int) -> float:
    """Twice the standard error of a median of `runs`, from half the distance of their quartiles as a part of it: 1.25 *
    (spread / 0.674) / sqrt(runs)."""
    return max(_LEAST_ERROR, 3.7 * spread / math.sqrt(max(1, runs)))


def _spread(times_ns: Collection[float]) -> float:
    if len(times_ns) < 2:
        return 0.0
    low, middle, high = quantiles(times_ns, n=4, method="inclusive")
    return (high - low) / 2 / middle if middle > 0 else 0.0

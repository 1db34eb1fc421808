"""Has a stream of logarithms of times moved? A sequential test, call by call: no timer, no window to wait for.

`Reference` learns where a stream lies and how wide it is; `Cusum` adds up by how much values leave it (Page 1954, in
the two-sided form, with clipped values so that outliers cannot steer). Values are natural logarithms of time over
expected time: 0.05 is about 5 %. It knows neither variants nor shapes.

The numbers. A value enters as z = (value - mean) / scale, clipped to +-CLIP = 3; a sum gains |z| - ALLOWANCE = 0.5 per
call, is never below 0, and raises the alarm above THRESHOLD = 12. `scale` is the stream's own standard deviation, never
under NARROWEST = 0.1: moves of less than 5 % are not looked for, so that a mean known from 16 calls is exact enough.
Steady: with normal noise as wide as `scale`, the worst case, one alarm in 500,000 calls (Siegmund's approximation
(e^(2kb) - 2kb - 1) / (2 k^2) with b = h + 1.166, halved for two sides); where noise is 3 %, the floor makes it k = 1.7,
h = 40 in units of the noise, and no alarm is to be expected at all. An outlier adds 2.5 at most and is forgotten after
five calls: at 1 % of outliers, five of them within a dozen calls come once in 10^7.
Moved by 1.5: 2.5 per call, 5 calls. By 1.2: 1.3 per call, 10 calls. By 1.1: 0.45 per call, 27 calls. In bimodal
timings, 30 % of them 1.4 times as long, the scale is 0.2: 1.5 takes some 13 calls, 1.2 some 120.
tests/decide/test_drift.py measures these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

CALIBRATION = 16
"""The calls whose median is the first reference."""
LEARNED = 128
"""After so many the reference stays, or a slow drift would drag it along."""
WIDEST = math.log(1.5)
"""How far from the reference a value counts when mean and scale are learned."""
NARROWEST = 0.1
CLIP = 3.0
ALLOWANCE = 0.5
THRESHOLD = 12.0
STEPS = 32
"""Of a longer batch, means of so many equal parts are looked at: the cost of a batch is bounded."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Values against a reference. standardised: how many scales each is off, `off` by how much. near: relative to the
    centre, those far off moved nearer. Each stands for `part` values."""

    standardised: list[float]
    off: list[float]
    near: list[float]
    part: int


@dataclass(slots=True)
class Reference:
    """Where a stream lies while nothing happens. `calibrate` first, then `look` and `learn`."""

    count: int = 0
    _first: list[float] = field(default_factory=list)
    _centre: float = 0.0
    _mean: float = 0.0
    _squares: float = 0.0

    @property
    def ready(self) -> bool:
        """Whether it has seen enough to say anything."""
        return self.count >= CALIBRATION

    @property
    def level(self) -> float:
        """The mean of the values, those far off moved nearer. Of no meaning until it is `ready`."""
        return self._centre + self._mean

    @property
    def scale(self) -> float:
        """The standard deviation, larger while few values are known."""
        spread = math.sqrt(self._squares / max(1, self.count - 1))
        return max(NARROWEST, spread * (1 + 2 / math.sqrt(self.count)))

    def calibrate(self, values: Sequence[float]) -> int:
        """Take what is still needed from the front of `values`; returns how many that were."""
        if self.ready:
            return 0
        taken = values[: CALIBRATION - len(self._first)]
        self._first.extend(taken)
        if len(self._first) == CALIBRATION:
            self._centre = median(self._first)
            for value in self._first:
                self._add(_within(value - self._centre, WIDEST), 1)
            self._first.clear()
        return len(taken)

    def look(self, values: Sequence[float]) -> Looked:
        """`values` against the reference. It must be `ready`."""
        centre, level, part = self._centre, self.level, 1
        if len(values) <= STEPS:
            near = [_within(value - centre, WIDEST) for value in values]
            off = [value - level for value in values]
        else:
            part = -(-len(values) // STEPS)
            rows = len(values) // part  # what does not fill one, less than a part, is left out
            parts = np.asarray(values[: rows * part]).reshape(rows, part) - centre
            near = np.clip(parts, -WIDEST, WIDEST).mean(axis=1).tolist()
            off = (np.median(parts, axis=1) - self._mean).tolist()
        mean, scale = self._mean, self.scale
        return Looked([(one - mean) / scale for one in near], off, near, part)

    def learn(self, looked: Looked) -> None:
        """Take these values as lying where the stream lies."""
        for one in looked.near:
            if self.count >= LEARNED:
                return
            self._add(one, looked.part)

    def expect(self, by: float) -> None:
        """All values, those already learned from too, now come out larger by so much: the expectation has changed."""
        self._centre += by
        self._first = [value + by for value in self._first]

    def moved(self, by: float) -> None:
        """The stream is known to have moved. From here the level is learned anew."""
        self.expect(by)
        if self.count > CALIBRATION:
            self._squares *= CALIBRATION / self.count
            self.count = CALIBRATION

    def _add(self, one: float, part: int) -> None:
        """Welford's update. The mean of a part spreads less than a value does."""
        self.count += 1
        off = one - self._mean
        self._mean += off / self.count
        self._squares += off * (one - self._mean) * part


@dataclass(slots=True)
class _Sum:
    """Of what lies on one side. since: by how much values are off, the latest since it left 0."""

    total: float = 0.0
    since: list[float] = field(default_factory=list)

    def add(self, inside: float, off: float) -> None:
        self.total += inside - ALLOWANCE
        if self.total > 0:
            if len(self.since) >= STEPS:
                del self.since[0]
            self.since.append(off)
        else:
            self.clear()

    def clear(self) -> None:
        self.total = 0.0
        self.since.clear()


@dataclass(slots=True)
class Cusum:
    """Two sums, of what lies above and of what lies below."""

    threshold: float = THRESHOLD
    _above: _Sum = field(default_factory=_Sum)
    _below: _Sum = field(default_factory=_Sum)

    def add(self, standardised: Sequence[float], off: Sequence[float]) -> float | None:
        """By how much the stream has moved, where it has: the median of `off`, by how much each value is off, since it
        began. The sums begin anew then, and the values that follow are not looked at. None where all is steady."""
        for z, value in zip(standardised, off, strict=True):
            inside = _within(z, CLIP)
            self._above.add(inside, value)
            self._below.add(-inside, value)
            for one in (self._above, self._below):
                if one.total > self.threshold:
                    by = median(one.since)
                    self.clear()
                    return by
        return None

    def clear(self) -> None:
        """Begin anew."""
        self._above.clear()
        self._below.clear()


@dataclass(slots=True)
class Drift:
    """A stream with its own Reference and Cusum."""

    cusum: Cusum = field(default_factory=Cusum)
    reference: Reference = field(default_factory=Reference)

    def add(self, values: Sequence[float]) -> float | None:
        """By how much the stream has moved, where it has: call `moved` with it. None while it is steady, and while the
        reference is not ready."""
        values = values[self.reference.calibrate(values) :]
        if not values:
            return None
        looked = self.reference.look(values)
        by = self.cusum.add(looked.standardised, looked.off)
        if by is None:
            self.reference.learn(looked)
        return by

    def moved(self, by: float) -> None:
        """Begin anew around the level that has moved by so much."""
        self.reference.moved(by)
        self.cusum.clear()


def _within(value: float, most: float) -> float:
    return most if value > most else -most if value < -most else value

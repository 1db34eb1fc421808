"""What one device takes for a part of a loop, learned from calls: a fixed time, a time per iteration, and how far that
is off near the parts that were measured.

It owns the measurements of one device for one kind of call. It knows neither other devices nor what is decided. Times
are compared as logarithms, and lines are those of the least absolute error, so that one call that took five times as
long does not steer anything.

A device whose times move (another program began, a clock went down) is followed: `moves` adds up by how much parts that
are measured again differ from what they took before, a part of it at once and the rest as soon as calls agree.
What was measured before then counts as if it had moved as well, so that a part that is not run now is not remembered as
fast because it was measured in better times.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from loopwright.placement.split import Time

WINDOW = 10
"""The latest calls, of which a line is made."""
ANCHORS = 4
"""So many older ones are kept too: those that lie farthest from the rest."""
FADING = 0.85
"""A call counts this much of the one after it."""
SAME = 0.01
"""Parts that differ by less than this are the same part."""
NEAR = 0.04
"""Parts that differ by less than this are off the line by as much."""
TOLD = 0.1
"""Parts that differ by more than this tell a line."""
MOVED, LEAPT = 0.08, 0.25
"""Three calls that are all off by more than this, to one side, say that the device has moved; two that are off by more
than the second number do."""
LOUD, QUIET = 3.0, 15
"""And by more than so many times the median by which that many calls were apart."""
ENOUGH = 4
"""With so many calls, a new part that is off by more than the second number counts as one of the two."""
LATEST = 3
"""So many calls, the latest, say what a part took before."""
FOLLOWED = 0.3
AT_ONCE = 0.03
"""Of what one call is off, the part by which all are taken to have moved, and the most it may be."""
MIDDLE = 0.4
"""Of the times of one part, this quantile stands for all. What goes wrong in a call makes it longer: a little below the
median, two such calls among four do not count yet."""
WRONG = 0.4
"""A call that is off a line by more than this, as a logarithm, counts no more than one that is off by as much: one
that went wrong far from all others does not turn the line."""
DOUBTED = 0.25
"""One call that is off the line by more than this, as a logarithm, is not believed before there is another."""
REACH = 0.25
"""Beyond the parts that were measured, by how much of it a line is no longer corrected."""
STAYS = 0.005
"""By how much a line has to fit better, as a mean logarithm, for all of a time to be fixed and not none of it."""

Floats = NDArray[np.float64]

_SHARES: Floats = np.concatenate([np.linspace(0, 0.9, 19), [0.93, 0.96, 0.98]])


@dataclass(slots=True)
class _Seen:
    """One call. part: of the loop, for `prior`. log: of its nanoseconds. moves: what the device's were at that time."""

    work: float
    part: range
    log: float
    chunks: int
    weight: float
    moves: float
    age: int = 0


@dataclass(slots=True)
class DeviceCurve:
    """prior: what is predicted without a call. moves: the logarithm of how many times as long as at first the device
    takes now. jumps: how often calls agreed that it had moved."""

    prior: Time | None = None
    moves: float = 0.0
    jumps: int = 0
    _seen: list[_Seen] = field(default_factory=list)
    _off: list[tuple[float, _Seen]] = field(default_factory=list)
    _clusters: list[tuple[float, float]] = field(default_factory=list)
    _fixed_ns: float = 0.0
    _each_ns: float = 0.0
    _offs: deque[float] = field(default_factory=lambda: deque(maxlen=QUIET))
    _again: bool = False
    _as_prior: float | None = None
    _stale: bool = True

    @property
    def calls(self) -> int:
        """How many measurements are kept."""
        return len(self._seen)

    @property
    def known(self) -> bool:
        """Whether it can say anything."""
        return bool(self._seen) or self.prior is not None

    def add(self, work: float, part: range, time_ns: float, chunks: int = 1, weight: float = 1.0) -> float:
        """A measurement: `work` iterations in `chunks` pieces took `time_ns`. Returns by how much, as a logarithm, the
        same part took longer than before; 0 where it is a new one. A time or work of 0 says nothing and is left out."""
        if not (0 < time_ns < math.inf and work > 0):
            return 0.0
        now = _Seen(work, part, math.log(time_ns), max(1, chunks), weight, self.moves)
        doubted = [one for _, one in self._off]
        same = [one for one in self._seen if one.chunks == now.chunks and _apart(one.work, work) <= SAME]
        same = [one for one in same if not any(one is other for other in doubted)][-LATEST:]
        off = now.log - median(self._log(one) for one in same) if same else 0.0
        if same:
            self._follow(off, now)
            self._offs.append(max(-LEAPT, min(LEAPT, off)))
        elif weight == 1 and len(self._seen) >= ENOUGH:
            self._on_new_part(now.log - math.log(max(self.at(work, part), 1e-9)), now)
        self._again = bool(same) and bool(self._off)
        for one in self._seen:
            one.age += 1
        self._seen.append(now)
        self._forget()
        self._stale = True
        return off

    def at(self, work: float, part: range) -> float:
        """The nanoseconds that it is expected to take for `work` iterations, of this part, now. 0 for no work; infinite
        where nothing is known."""
        if work <= 0:
            return 0.0
        if not self._seen:
            return self.prior(part) if self.prior is not None else math.inf
        if self._stale:
            self._fit()
        return self._line(work, part) * math.exp(self._correction(work))

    def measured(self, work: float) -> int:
        """How many calls with so much work, in one piece, are known."""
        return sum(one.chunks == 1 and one.weight == 1 and _apart(one.work, work) <= SAME for one in self._seen)

    @property
    def line(self) -> tuple[float, float]:
        """The nanoseconds that any part takes and those of each iteration; 0 of both without a call."""
        if self._stale and self._seen:
            self._fit()
        return self._fixed_ns, self._each_ns

    @property
    def doubtful(self) -> bool:
        """Whether the last call was off by so much that the same part is to be measured again, before it is believed
        that the device has moved, or that it has not."""
        return self._again

    def largest(self, within_ns: float) -> tuple[float, float]:
        """The most work that it has done at once within some time, and the nanoseconds which that takes now; 0 where
        there is none. Of chunks, the mean."""
        found = [(one.work / one.chunks, math.exp(self._log(one)) / one.chunks) for one in self._seen]
        return max((one for one in found if one[1] <= within_ns), default=(0.0, 0.0))

    def __str__(self) -> str:
        if not self._seen:
            return "predicted only" if self.prior is not None else "not measured"
        fixed_ns, each_ns = self.line
        calls = f"{self.calls} call{'s' * (self.calls > 1)}"
        if self._as_prior is not None:
            return f"{math.exp(self._as_prior):.2f} times as long as predicted, from {calls}"
        each = f"{each_ns:.0f}" if each_ns >= 1000 else f"{each_ns:.4g}"
        return f"{fixed_ns / 1e3:.4g} us and {each} ns for each iteration, from {calls}"

    # ---- moves ----------------------------------------------------------------------------------------------

    def _log(self, one: _Seen) -> float:
        return one.log + self.moves - one.moves

    def _follow(self, off: float, now: _Seen) -> None:
        """Take the device to have moved a little, or all the way where calls agree that it has."""
        if abs(off) <= self._limit(MOVED):
            self._off = []
        elif self._agreed(off, now):
            return
        self._bit_by_bit(off, now)

    def _limit(self, least: float) -> float:
        """What is far off: more than calls with the same part are apart anyway."""
        if len(self._offs) < 3:
            return least
        middle = median(self._offs)
        return max(least, LOUD * median(abs(one - middle) for one in self._offs))

    def _on_new_part(self, off: float, now: _Seen) -> None:
        """What a part says that was not measured before: a leap where it is far off, because lines are never exact; the
        rest only where a part like it was measured."""
        if abs(off) > self._limit(LEAPT):
            self._agreed(off, now)
        elif any(_apart(one.work, now.work) <= NEAR for one in self._seen):
            self._bit_by_bit(off, now)

    def _bit_by_bit(self, off: float, now: _Seen) -> None:
        self.moves += max(-AT_ONCE, min(AT_ONCE, FOLLOWED * off))
        now.moves = self.moves

    def _agreed(self, off: float, now: _Seen) -> bool:
        """Whether the latest calls agree that the device has moved; all before them count as moved from then on."""
        self._off = [*(self._off if self._off and self._off[-1][0] * off > 0 else []), (off, now)]
        if len(self._off) < 3 and sum(abs(one) > self._limit(LEAPT) for one, _ in self._off) < 2:
            return False
        self.moves = self._off[0][1].moves + median(one for one, _ in self._off)
        for _, one in self._off:
            one.moves = self.moves
        self.jumps += 1
        self._off = []
        return True

    def _forget(self) -> None:
        """Keep the latest, and of those before them the few that lie farthest apart. What counts less than a call goes
        as soon as calls tell a line."""
        whole = [one.work for one in self._seen if one.weight == 1]
        if len(whole) > 1 and _apart(min(whole), max(whole)) > TOLD:
            self._seen = [one for one in self._seen if one.weight == 1]
        while len(self._seen) > WINDOW + ANCHORS:
            latest = [one.work for one in self._seen[-WINDOW:]]
            old = self._seen[:-WINDOW]

            def alone(one: _Seen, old: Sequence[_Seen] = old, latest: Sequence[float] = latest) -> float:
                others = [*latest, *(other.work for other in old if other is not one)]
                return min(_apart(one.work, work) for work in others)

            works = [one.work for one in self._seen]  # mostly the oldest has others like it
            again = next((one for one in old if works.count(one.work) > 1), None)
            self._seen.remove(again or min(old, key=lambda one: (alone(one), -one.age)))

    # ---- the line -------------------------------------------------------------------------------------------

    def _fit(self) -> None:
        """The share of the time that is fixed is tried out; the level of the line is a weighted median each time."""
        self._stale = False
        seen = self._seen
        work = np.array([one.work for one in seen])
        chunks = np.array([float(one.chunks) for one in seen])
        logs = np.array([self._log(one) for one in seen])
        weights = np.array([max(0.2, FADING**one.age) * one.weight for one in seen])
        largest = float(work.max())
        before = self._fixed_ns / (self._fixed_ns + self._each_ns * largest) if self._each_ns else 0.0
        shares = np.sort(np.append(_SHARES, before))
        for _ in range(2):
            levels, errors = _levels(shares, work / largest, chunks, logs, weights)
            best = int(np.argmin(errors + STAYS * np.abs(shares - before)))
            share, level = float(shares[best]), float(levels[best])
            step = (shares[min(best + 1, len(shares) - 1)] - shares[max(best - 1, 0)]) / 2
            shares = np.clip(np.linspace(share - step, share + step, 13), 0, _SHARES[-1])
        self._fixed_ns = math.exp(level) * share
        self._each_ns = math.exp(level) * (1 - share) / largest
        self._as_prior = self._prior_level(logs, weights, float(errors[best]))
        off = np.array([self._log(one) - math.log(self._line(one.work, one.part, one.chunks)) for one in seen])
        self._clusters = _clusters(work, off, weights, chunks)

    def _prior_level(self, logs: Floats, weights: Floats, error: float) -> float | None:
        """By how much `prior` is off everywhere, where it says more than a line does."""
        if self.prior is None:
            return None
        told = np.array([self.prior(one.part) for one in self._seen])
        if any(one.chunks > 1 for one in self._seen) or not (np.isfinite(told).all() and (told > 0).all()):
            return None
        level = _weighted(logs - np.log(told), weights)
        own = float(np.average(np.abs(logs - np.log(told) - level), weights=weights))
        return level if own <= error + STAYS or len(self._seen) < 2 else None

    def _line(self, work: float, part: range, chunks: int = 1) -> float:
        if self._as_prior is not None and self.prior is not None:
            told = self.prior(part)
            if 0 < told < math.inf:
                return told * math.exp(self._as_prior)
        return self._fixed_ns * chunks + self._each_ns * work

    def _correction(self, work: float) -> float:
        """By how much the line is off there: between parts that were measured in proportion, beyond them less with each
        step."""
        found = self._clusters
        if not found:
            return 0.0
        for (low, below), (high, above) in pairwise(found):
            if low <= work <= high:
                return below + (above - below) * (work - low) / (high - low)
        end, off = found[0] if work < found[0][0] else found[-1]
        return off * max(0.0, 1 - _apart(work, end) / REACH)


def _levels(shares: Floats, work: Floats, chunks: Floats, logs: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """For each share of a time that may be fixed: the logarithm of the level that fits best, and how far calls are off
    it, in the mean."""
    off = logs - np.log(shares[:, None] * chunks + (1 - shares[:, None]) * work)
    order = np.argsort(off, axis=1, kind="stable")
    sums = np.cumsum(weights[order], axis=1)
    middle = np.argmax(sums >= sums[:, -1:] * MIDDLE, axis=1)
    levels = np.take_along_axis(off, np.take_along_axis(order, middle[:, None], axis=1), axis=1)
    return levels[:, 0], (np.minimum(np.abs(off - levels), WRONG) * weights).sum(axis=1) / weights.sum()


def _clusters(work: Floats, off: Floats, weights: Floats, chunks: Floats) -> list[tuple[float, float]]:
    """Neighbouring parts as one: how much work they are and by how much the line is off. Chunks tell nothing of parts
    in one piece, and a call by itself nothing that is hard to believe."""
    order = [index for index in np.argsort(work, kind="stable").tolist() if chunks[index] == 1]
    found: list[tuple[float, float]] = []
    while order:
        near = [index for index in order if _apart(work[order[0]], work[index]) <= NEAR]
        order = order[len(near) :]
        by = _weighted(off[near], weights[near])
        if len(near) > 1 or abs(by) <= DOUBTED:
            found.append((_weighted(work[near], weights[near]), by))
    return found


def _weighted(values: Floats, weights: Floats) -> float:
    """The value below which MIDDLE of the weight lies."""
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    return float(values[order[int(np.argmax(sums >= sums[-1] * MIDDLE))]])


def _apart(one: float, other: float) -> float:
    return abs(one - other) / max(one, other)

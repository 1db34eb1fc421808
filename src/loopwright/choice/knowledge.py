"""What is known of the times of a kernel's variants, over all shapes: estimates, the bias of predictions, and whether
times have moved. It decides nothing.

Where the times of one variant have moved, its code has not changed, so its device is taken to have: all estimates of
that device move along. For the other variants that is in doubt until they are measured; what is found then counts for
all of them that are still in doubt.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, pstdev

import numpy as np

from loopwright.choice.drift import Cusum, Drift
from loopwright.choice.series import TRUSTED, CallSeries, Estimate
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.estimates import LIMITS, MEASURED, Estimates, Floats, estimates_of
from loopwright.predict.prediction import Prediction
from loopwright.profile.measurement import Measurement, Work

Predict = Callable[[Shape, Work], Sequence[Prediction]]
"""Of all variants, in their order; best as Estimates."""

MOST_SHAPES = 4096
"""The oldest of more is forgotten: a kernel called with ever new sizes must not fill the memory."""

SHARED = 0.05
"""Within this (logarithm) a variant that is measured agrees with what was believed of it."""

_LEVELS, _FEW, _AGREE = 31, 32, 3


@dataclass(slots=True)
class Calls:
    """What is known under one shape. predictions, series: by the index of the variant. previous: the variant chosen
    last. doubtful: by how much other variants are believed to have moved because one has, under this shape only."""

    work: Work
    predictions: Estimates
    series: dict[int, CallSeries] = field(default_factory=dict)
    previous: int | None = None
    doubtful: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class Learned:
    """Of one variant, over all shapes. levels: log(measured / predicted) of shapes that it was measured under; first:
    of first calls. offset: by how much it has moved, or is believed to, since the first of them. together: the
    standardised values of all shapes. fresh: of first calls, where all shapes are new. doubtful: by how much it is
    believed to have moved because another has. measured_at_ns: the time spent in the kernel when it last ran. patience:
    how many times its expected cost an experiment needs at least."""

    levels: deque[float] = field(default_factory=lambda: deque(maxlen=_LEVELS))
    first: deque[float] = field(default_factory=lambda: deque(maxlen=_LEVELS))
    together: Cusum = field(default_factory=Cusum)
    fresh: Drift = field(default_factory=Drift)
    offset: float = 0.0
    doubtful: float = 0.0
    measured_at_ns: int = 0
    patience: float = 1.0

    def bias(self) -> float | None:
        """The logarithm of what its predictions have to be multiplied by; None where nothing is known."""
        if self.levels:
            return median(self.levels)
        return median(self.first) if len(self.first) >= TRUSTED else None

    def moved(self, by: float) -> None:
        """Its times are e^by as long from now on."""
        for values in (self.levels, self.first):
            moved = [value + by for value in values]
            values.clear()
            values.extend(moved)
        self.offset += by
        self.together.clear()
        self.fresh.moved(by)


class Biases:
    """What to multiply the predictions of each variant by: its own bias; else that of the others of its device, as it
    was before any of them moved, and what this one is believed to have moved by."""

    def __init__(self) -> None:
        self._devices: tuple[str, ...] = ()
        self._own = self._offsets = np.zeros(0)
        self._factors: Floats | None = None

    def extend(self, variants: Sequence[Variant]) -> None:
        """All variants, more of them than before."""
        self._devices, before, self._factors = tuple(one.device for one in variants), self._own.size, None
        self._own = np.concatenate([self._own, np.full(len(variants) - before, math.nan)])
        self._offsets = np.concatenate([self._offsets, np.zeros(len(variants) - before)])

    def put(self, index: int, learned: Learned) -> None:
        """Something was learned of one variant."""
        own = learned.bias()
        self._own[index] = math.nan if own is None else own
        self._offsets[index], self._factors = learned.offset, None

    def known(self, device: str) -> list[float]:
        """Of a device, the logarithms of the biases that are known, as they were before anything moved."""
        where = np.flatnonzero(self._own == self._own)
        bare = (self._own[where] - self._offsets[where]).tolist()
        return [one for place, one in zip(where.tolist(), bare, strict=True) if self._devices[place] == device]

    @property
    def factors(self) -> Floats:
        """Of all variants, not to be changed."""
        if self._factors is None:
            shared = {one: median(found) for one in set(self._devices) if (found := self.known(one))}
            borrowed = np.array([shared.get(one, 0.0) for one in self._devices]) + self._offsets
            self._factors = np.exp(np.where(np.isnan(self._own), borrowed, self._own))
        return self._factors


class Knowledge:
    """calls: of each shape; learned: of each variant, in order. alarms: how often times have moved."""

    def __init__(self, variants: Sequence[Variant], predict: Predict) -> None:
        self.calls: dict[Shape, Calls] = {}
        self.learned: list[Learned] = []
        self.alarms = 0
        self._predict = predict
        self._biases = Biases()
        self.extend(variants)

    def extend(self, variants: Sequence[Variant]) -> None:
        """All variants, more of them than before."""
        self.variants = tuple(variants)
        self.learned += [Learned() for _ in range(len(variants) - len(self.learned))]
        self._biases.extend(variants)

    def under(self, shape: Shape, work: Work, history: Mapping[int, Measurement]) -> Calls:
        """The Calls of a shape that has none, with what a store knows of it; `previous` is what served last."""
        calls = self.calls[shape] = Calls(work, estimates_of(self._predict(shape, work)))
        served: Measurement | None = None
        for index, one in history.items():
            estimate = Estimate(one.time_ns, max(0.01, one.spread), one.runs)
            calls.series.setdefault(index, CallSeries()).told(estimate)
            if one.source == "call" and (served is None or one.made_at >= served.made_at):
                served, calls.previous = one, index
        return calls

    def refresh(self, predict: Predict) -> None:
        """New tables. What was learned from calls stays."""
        self._predict = predict
        for index, learned in enumerate(self.learned):
            learned.levels.clear()
            learned.first.clear()
            learned.fresh = Drift()
            self._biases.put(index, learned)
        for shape, calls in self.calls.items():
            calls.predictions = estimates_of(predict(shape, calls.work))
            for index, series in calls.series.items():
                if math.isnan(series.expected):
                    continue
                predicted = calls.predictions[index]
                series.expect(logarithm(predicted.time_ns, math.exp(series.expected)))
                self._level(calls, index, series)

    # ---- estimates --------------------------------------------------------------------------------------------------

    def forecast(self, calls: Calls, index: int) -> Prediction:
        """Of one variant, with all that was learned."""
        series = calls.series.get(index)
        estimate = None if series is None else series.estimate()
        if estimate is not None:
            return Prediction(estimate.time_ns, estimate.error, "measured")
        predicted = calls.predictions[index]
        if predicted.how == "limits":
            return predicted
        return Prediction(predicted.time_ns * self._biases.factors.item(index), predicted.error, predicted.how)

    def forecasts(self, calls: Calls) -> Estimates:
        """Of all variants."""
        found = calls.predictions
        times = found.times_ns * self._biases.factors
        limits = found.hows == LIMITS
        if np.count_nonzero(limits):
            times[limits] = found.times_ns[limits]
        known = [(index, now) for index, one in calls.series.items() if (now := one.estimate()) is not None]
        if not known:
            return Estimates(times, found.errors, found.hows)
        errors, hows = found.errors.copy(), found.hows.copy()
        for index, now in known:
            times[index], errors[index], hows[index] = now.time_ns, now.error, MEASURED
        return Estimates(times, errors, hows)

    def borrowed(self, index: int) -> tuple[float, float] | None:
        """The logarithm of the bias that a variant is believed to have because others of its device have, and how far
        theirs lie apart: infinitely, of fewer than three. None where it has one of its own, or none has any."""
        found = self._biases.known(self.variants[index].device)
        if not found or self.learned[index].bias() is not None:
            return None
        return median(found), 1.5 * pstdev(found) if len(found) >= _AGREE else math.inf

    def beside(self, index: int) -> list[int]:
        """The other variants of the same device."""
        variants = self.variants
        device = variants[index].device
        return [one for one, other in enumerate(variants) if one != index and other.device == device]

    # ---- what was measured ------------------------------------------------------------------------------------------

    def served(self, calls: Calls, index: int, times_ns: Sequence[int]) -> bool:
        """Calls that a variant has served. Whether estimates of more than this one have moved."""
        series = calls.series.setdefault(index, CallSeries())
        if math.isnan(series.expected):
            series.expect(logarithm(calls.predictions[index].time_ns, times_ns[0]))
        if len(times_ns) < _FEW:
            values = [logarithm(one, 1.0) - series.expected for one in times_ns]
        else:
            values = (np.log(np.maximum(times_ns, 1)) - series.expected).tolist()
        first, new, doubted = series.calls == 0, series.estimate() is None, self.doubted(calls, index)
        believed = series.estimate() if doubted else None
        series.add(times_ns)
        if new and series.trusted():
            self._level(calls, index, series)
        if doubted and series.trusted():
            self._confirm(calls, index, believed, series.latest()[0])
            return True
        return self._watch(calls, index, series, values, first)

    def tried(self, calls: Calls, index: int, times_ns: Sequence[int], beside_ns: Sequence[int]) -> None:
        """An experiment with a variant, and what the one that serves took beside it: how the two compare there is how
        they compare in calls."""
        serving, factor = calls.previous, 1.0
        served = None if serving is None or serving == index else calls.series.get(serving)
        now = None if served is None else served.estimate()
        if beside_ns and now is not None:
            factor = now.time_ns / max(median(beside_ns), 1.0)
        times = [max(one, 1) * factor for one in times_ns]
        series = calls.series.setdefault(index, CallSeries())
        believed = series.estimate()
        if math.isnan(series.expected):
            series.expect(logarithm(calls.predictions[index].time_ns, times[0]))
        self._confirm(calls, index, believed, median(times))
        series.tried(times, 0.0 if served is None else served.latest()[1])
        if believed is None:
            self._level(calls, index, series)

    def _level(self, calls: Calls, index: int, series: CallSeries) -> None:
        """What the prediction under one shape is off by is known now."""
        estimate = series.estimate()
        if estimate is not None and calls.predictions[index].how != "limits":
            self.learned[index].levels.append(logarithm(estimate.time_ns, 1.0) - series.expected)
            self._biases.put(index, self.learned[index])

    def _watch(self, calls: Calls, index: int, series: CallSeries, values: list[float], first: bool) -> bool:
        """Whether times have moved; estimates have moved along then."""
        learned, reference = self.learned[index], series.reference
        if first and calls.predictions[index].how != "limits":
            by = learned.fresh.add(values[:1])
            if by is not None:
                self._moved(index, by, None)
                return True
            learned.first.append(values[0])
            self._biases.put(index, learned)
        values = values[reference.calibrate(values) :]
        if not values or self.doubted(calls, index):
            return False
        looked = reference.look(values)
        everywhere = learned.together.add(looked.standardised, looked.off)
        here = series.cusum.add(looked.standardised, looked.off)
        if everywhere is not None:
            self._moved(index, everywhere, None)
        elif here is not None:
            self._moved(index, here, calls)
        else:
            reference.learn(looked)
            return False
        return True

    def _moved(self, index: int, by: float, only: Calls | None) -> None:
        """Times of one variant have moved, under all shapes or under `only`. All of its device are taken to have."""
        self.alarms += 1
        for one in [index, *self.beside(index)]:
            self._shift(one, by, only)
            if only is not None:
                only.doubtful[one] = only.doubtful.get(one, 0.0) + by
            else:
                self.learned[one].doubtful += by
        self._believe(index, only)

    def _shift(self, index: int, by: float, only: Calls | None = None, but: Calls | None = None) -> None:
        """Estimates of one variant move: under all shapes but one, or under one only."""
        for calls in self.calls.values() if only is None else (only,):
            series = calls.series.get(index)
            if series is not None and calls is not but:
                series.moved(by)
        if only is None:
            self.learned[index].moved(by)
            self._biases.put(index, self.learned[index])

    def doubted(self, calls: Calls, index: int) -> float:
        """How much a variant is believed to have moved because another has; 0 where it was seen itself."""
        return calls.doubtful.get(index, 0.0) + self.learned[index].doubtful

    def _believe(self, index: int, only: Calls | None) -> None:
        if only is not None:
            only.doubtful.pop(index, None)
        else:
            self.learned[index].doubtful = 0.0

    def _confirm(self, calls: Calls, index: int, believed: Estimate | None, time_ns: float) -> None:
        """A variant was measured that was in doubt, or not for long. Where it is not as was believed, it is not so
        under other shapes either, and the others that are still in doubt are taken to be like it. A forecast of None:
        it was never measured under this shape, and how far off its prediction is says nothing of others."""
        only = calls if index in calls.doubtful else None
        if believed is None:
            self._believe(index, only)
            return
        off = logarithm(time_ns, 1.0) - logarithm(believed.time_ns, time_ns)
        others = [one for one in self.beside(index) if self._doubtful(one, only)] if self._doubtful(index, only) else []
        if abs(off) > max(SHARED, believed.error):
            self._shift(index, off, only, but=calls)
            calls.series[index].settled(off)
            for one in others:
                self._shift(one, off, only)
        for one in [index, *others]:
            self._believe(one, only)

    def _doubtful(self, index: int, only: Calls | None) -> bool:
        return index in only.doubtful if only is not None else self.learned[index].doubtful != 0


def logarithm(time_ns: float, otherwise: float) -> float:
    """Of a time that may be 0, negative or no number: of `otherwise` then, which is at least 1."""
    return math.log(time_ns) if 0 < time_ns < math.inf else math.log(max(otherwise, 1.0))

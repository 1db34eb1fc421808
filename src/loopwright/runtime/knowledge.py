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
from statistics import median

import numpy as np

from loopwright.predict.prediction import Prediction
from loopwright.profile.measurement import Measurement, Shape, Variant, Work
from loopwright.runtime.drift import Cusum, Drift
from loopwright.runtime.series import TRUSTED, Estimate, Series, estimate_of

Predict = Callable[[Shape, Work], Sequence[Prediction]]
"""Of all variants, in their order."""

MOST_SHAPES = 4096
"""The oldest of more is forgotten: a kernel called with ever new sizes must not fill the memory."""

SHARED = 0.05
"""Within this (logarithm) a variant that is measured agrees with what was believed of it."""

_LEVELS = 31


@dataclass(slots=True)
class Calls:
    """What is known under one shape. predictions, series: by the index of the variant. previous: the variant chosen
    last. doubtful: by how much other variants are believed to have moved because one has, under this shape only."""

    work: Work
    predictions: Sequence[Prediction]
    series: dict[int, Series] = field(default_factory=dict)
    previous: int | None = None
    doubtful: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class Learned:
    """Of one variant, over all shapes. levels: log(measured / predicted) of shapes whose reference is ready; first: of
    first calls. together: the standardised values of all shapes. fresh: of first calls, where all shapes are new.
    doubtful: by how much it is believed to have moved because another has. measured_at_ns: the time spent in the kernel
    when it last ran. patience: how many times its expected cost an experiment needs at least."""

    levels: deque[float] = field(default_factory=lambda: deque(maxlen=_LEVELS))
    first: deque[float] = field(default_factory=lambda: deque(maxlen=_LEVELS))
    together: Cusum = field(default_factory=Cusum)
    fresh: Drift = field(default_factory=Drift)
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
        self.together.clear()
        self.fresh.moved(by)


class Knowledge:
    """calls: of each shape; learned: of each variant, in order. alarms: how often times have moved."""

    def __init__(self, variants: Sequence[Variant], predict: Predict) -> None:
        self.calls: dict[Shape, Calls] = {}
        self.learned: list[Learned] = []
        self.alarms = 0
        self._predict = predict
        self.extend(variants)

    def extend(self, variants: Sequence[Variant]) -> None:
        """All variants, more of them than before."""
        self.variants = tuple(variants)
        self.learned += [Learned() for _ in range(len(variants) - len(self.learned))]

    def under(self, shape: Shape, work: Work, history: Mapping[int, Measurement]) -> Calls:
        """The Calls of a shape that has none, with what a store knows of it; `previous` is what served last."""
        calls = self.calls[shape] = Calls(work, self._predict(shape, work))
        served: Measurement | None = None
        for index, one in history.items():
            estimate = Estimate(one.time_ns, max(0.01, one.spread), one.runs)
            calls.series.setdefault(index, Series()).measured(estimate)
            if one.source == "call" and (served is None or one.made_at >= served.made_at):
                served, calls.previous = one, index
        return calls

    def refresh(self, predict: Predict) -> None:
        """New tables. What was learned from calls stays."""
        self._predict = predict
        for learned in self.learned:
            learned.levels.clear()
            learned.first.clear()
            learned.fresh = Drift()
        for shape, calls in self.calls.items():
            calls.predictions = predict(shape, calls.work)
            for index, series in calls.series.items():
                if math.isnan(series.expected):
                    continue
                predicted = calls.predictions[index]
                series.expect(logarithm(predicted.time_ns, math.exp(series.expected)))
                if series.reference.ready and predicted.how != "limits":
                    self.learned[index].levels.append(series.reference.level)

    # ---- estimates --------------------------------------------------------------------------------------------------

    def forecast(self, calls: Calls, index: int) -> Prediction:
        """Of one variant, with all that was learned."""
        series = calls.series.get(index)
        estimate = None if series is None else series.estimate()
        if estimate is not None:
            return Prediction(estimate.time_ns, estimate.error, "measured")
        predicted = calls.predictions[index]
        bias = 0.0 if predicted.how == "limits" else self._bias(index)
        return Prediction(predicted.time_ns * math.exp(bias), predicted.error, predicted.how) if bias else predicted

    def _bias(self, index: int) -> float:
        own = self.learned[index].bias()
        if own is not None:
            return own
        others = [bias for one in self.beside(index) if (bias := self.learned[one].bias()) is not None]
        return median(others) if others else 0.0

    def beside(self, index: int) -> list[int]:
        """The other variants of the same device."""
        variants = self.variants
        device = variants[index].device
        return [one for one, other in enumerate(variants) if one != index and other.device == device]

    # ---- what was measured ------------------------------------------------------------------------------------------

    def served(self, calls: Calls, index: int, times_ns: Sequence[int]) -> bool:
        """Calls that a variant has served. Whether estimates of more than this one have moved."""
        series = calls.series.setdefault(index, Series())
        if math.isnan(series.expected):
            series.expect(logarithm(calls.predictions[index].time_ns, times_ns[0]))
        values = (np.log(np.maximum(times_ns, 1)) - series.expected).tolist()
        first, seen, forecast = series.calls == 0, series.estimate() is not None, self.forecast(calls, index)
        series.add(times_ns)
        if self.doubted(calls, index) and series.trusted():
            self._confirm(calls, index, forecast if seen else None, series.latest()[0])
            return True
        return self._watch(calls, index, series, values, first)

    def tried(self, calls: Calls, index: int, estimate: Estimate, beside_ns: Sequence[int]) -> None:
        """An experiment with a variant, and what the one that serves took beside it: how the two compare there is how
        they compare in calls."""
        serving = calls.previous
        served = None if serving is None or serving == index else calls.series.get(serving)
        now = None if served is None else served.estimate()
        if beside_ns and now is not None:
            beside = estimate_of(beside_ns)
            time_ns = estimate.time_ns * now.time_ns / max(beside.time_ns, 1.0)
            estimate = Estimate(time_ns, math.hypot(estimate.error, beside.error), estimate.runs)
        forecast, predicted = self.forecast(calls, index), calls.predictions[index]
        series = calls.series.setdefault(index, Series())
        seen = series.estimate() is not None
        if not seen and predicted.how != "limits" and predicted.time_ns > 0:
            self.learned[index].first.append(logarithm(estimate.time_ns, 1.0) - logarithm(predicted.time_ns, 1.0))
        self._confirm(calls, index, forecast if seen else None, estimate.time_ns)
        series.measured(estimate)

    def _watch(self, calls: Calls, index: int, series: Series, values: list[float], first: bool) -> bool:
        """Whether times have moved; estimates have moved along then."""
        learned, reference = self.learned[index], series.reference
        limits = calls.predictions[index].how == "limits"
        if first and not limits:
            by = learned.fresh.add(values[:1])
            if by is not None:
                self._moved(index, by, None)
                return True
            learned.first.append(values[0])
        was_ready = reference.ready
        values = values[reference.calibrate(values) :]
        if not was_ready and reference.ready and not limits:
            learned.levels.append(reference.level)
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

    def doubted(self, calls: Calls, index: int) -> float:
        """How much a variant is believed to have moved because another has; 0 where it was seen itself."""
        return calls.doubtful.get(index, 0.0) + self.learned[index].doubtful

    def _believe(self, index: int, only: Calls | None) -> None:
        if only is not None:
            only.doubtful.pop(index, None)
        else:
            self.learned[index].doubtful = 0.0

    def _confirm(self, calls: Calls, index: int, forecast: Prediction | None, time_ns: float) -> None:
        """A variant was measured that was in doubt, or not for long. Where it is not as was forecast, it is not so
        under other shapes either, and the others that are still in doubt are taken to be like it. A forecast of None:
        it was never measured under this shape, and how far off its prediction is says nothing of others."""
        only = calls if index in calls.doubtful else None
        if forecast is None:
            self._believe(index, only)
            return
        off = logarithm(time_ns, 1.0) - logarithm(forecast.time_ns, time_ns)
        others = [one for one in self.beside(index) if self._doubtful(one, only)] if self._doubtful(index, only) else []
        if abs(off) > max(SHARED, forecast.error):
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

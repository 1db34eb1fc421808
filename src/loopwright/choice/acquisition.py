"""Which experiment is worth most: candidates without evidence, and variants whose times are in doubt."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median, pstdev

from loopwright.choice.candidates import Candidates
from loopwright.choice.explore import RUNS, Purpose, expected_improvement
from loopwright.choice.knowledge import Calls, Knowledge, logarithm
from loopwright.choice.series import WINDOW
from loopwright.predict.prediction import Prediction

WORTHWHILE = 0.01
"""An experiment is made where it is expected to make calls faster by this part."""

_AGREE = 3


@dataclass(frozen=True, slots=True)
class Proposal:
    """The next experiment under a shape; index None: nothing is worth one. It holds until something is learned, or
    until `until_ns` were spent in the kernel."""

    index: int | None = None
    purpose: Purpose = "again"
    expected_ns: int = 0
    why: str = ""
    until_ns: float = math.inf


@dataclass(frozen=True, slots=True)
class Planner:
    """What a plan is made from. make_ns: what making a candidate takes. total_ns: spent in the kernel."""

    candidates: Candidates
    knowledge: Knowledge
    make_ns: int
    total_ns: int

    def plan(self, calls: Calls, serving: int) -> Proposal:
        """The experiment with the largest expected gain, the first of equals. None while it is not known what the
        variant that serves takes: a first call never waits."""
        series = calls.series.get(serving)
        now = None if series is None else series.estimate()
        if now is None:
            return Proposal()
        best_ns, until_ns = now.time_ns, math.inf
        gain, found = WORTHWHILE * best_ns, Proposal()
        for index in self.candidates.untried(calls.work):
            time_ns, error = self._untried(calls, index)
            patience = self.knowledge.learned[index].patience
            expected = expected_improvement(best_ns, time_ns, error) / patience
            if expected > gain:
                why = f"may take {_ms(time_ns)} instead of {_ms(best_ns)}, and no result of it was compared yet"
                gain, found = expected, self._costing(index, "prove", time_ns, best_ns, why)
        for index in self.candidates.serving(calls.work):
            if index == serving:
                continue
            expected, why, due_ns = self._again(calls, index, best_ns)
            if expected > gain and self.total_ns < due_ns:
                until_ns = min(until_ns, due_ns)
            elif expected > gain:
                time_ns = self.knowledge.forecast(calls, index).time_ns
                gain, found = expected, self._costing(index, "again", time_ns, best_ns, why)
        return replace(found, until_ns=until_ns)

    def _costing(self, index: int, purpose: Purpose, time_ns: float, best_ns: float, why: str) -> Proposal:
        cost_ns = (self.make_ns if purpose == "prove" else 0) + (RUNS + 1) * time_ns + RUNS * best_ns
        return Proposal(index, purpose, math.ceil(cost_ns * self.knowledge.learned[index].patience), why)

    def _untried(self, calls: Calls, index: int) -> tuple[float, float]:
        """What a candidate without evidence takes, and the error. A time from limits is taken to be missed by as much
        as others of the device miss theirs."""
        forecast = self.knowledge.forecast(calls, index)
        if forecast.how != "limits":
            return self._unborrowed(index, forecast)
        missed = [
            logarithm(estimate.time_ns, 1.0) - logarithm(limit.time_ns, 1.0)
            for one in self.knowledge.beside(index)
            if (limit := calls.predictions[one]).how == "limits"
            and (series := calls.series.get(one)) is not None
            and (estimate := series.estimate()) is not None
        ]
        if not missed:
            return forecast.time_ns, forecast.error
        error = forecast.error if len(missed) < _AGREE else max(0.1, 1.5 * pstdev(missed))
        return forecast.time_ns * math.exp(median(missed)), error

    def _again(self, calls: Calls, index: int, best_ns: float) -> tuple[float, str, float]:
        """What measuring one anew that may serve is worth, why, and the time spent in the kernel when it is due."""
        forecast = self.knowledge.forecast(calls, index)
        doubted = self.knowledge.doubted(calls, index)
        if doubted:
            unmoved_ns = forecast.time_ns * math.exp(-doubted)
            return (best_ns - unmoved_ns) / 2, "another variant has changed, and this one may not have", 0.0
        series = calls.series.get(index)
        seen = None if series is None else series.estimate()
        if seen is None or (series is not None and not series.trusted() and seen.runs < WINDOW):
            time_ns, error = self._unborrowed(index, forecast)
            gain = expected_improvement(best_ns, time_ns, error)
            if seen is None or gain > WORTHWHILE * best_ns:
                return gain, "too little is measured under this shape", 0.0
        was_ns = calls.series[index].best_ns
        due_ns = 2.0 * self.knowledge.learned[index].measured_at_ns
        return (best_ns - was_ns) / 2, f"it once took {_ms(was_ns)}", due_ns

    def _unborrowed(self, index: int, forecast: Prediction) -> tuple[float, float]:
        """Time and error of a prediction that is corrected by what is known of other variants: those may agree on it,
        or it may be right as it is."""
        borrowed = None if forecast.how == "measured" else self.knowledge.borrowed(index)
        if borrowed is None:
            return forecast.time_ns, forecast.error
        bias, apart = borrowed
        if apart < math.inf:
            return forecast.time_ns, math.hypot(forecast.error, apart)
        return forecast.time_ns * math.exp(min(0.0, -bias)), forecast.error


def _ms(time_ns: float) -> str:
    return f"{time_ns / 1e6:.3g} ms"

"""Which variant serves a call, what else could have, and why it does not: from what was decided and what is in the
store to a `ChoiceReport`. Pure: the time is handed in, nothing is measured, nothing is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loopwright.choice.adapt import Decision, Standing
from loopwright.config import Config
from loopwright.cost.front import JudgedCandidates
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant, default_variant
from loopwright.predict.model import models_of
from loopwright.predict.prediction import Prediction
from loopwright.profile.measurement import Measurement, Work
from loopwright.report.explanation import CandidateReport, ChoiceReport
from loopwright.report.words import compared

NOTHING_KNOWN = "only the default variant is known: `loopwright tune SCRIPT` or the kernel's tune(...) measures others"
ELSEWHERE = "measured at other sizes alone"
WORTH_MEASURING = "not measured yet; no other variant dominates it by static metrics"
NOT_TRIED = "not tried yet: no variant serves before its result agreed with the reference"
MOST_COMPARED = 64
"""Variants, the fastest, whose times are predicted from other shapes to be shown beside what was measured: each takes
some milliseconds."""

OUTCOME_WORDS = {
    "wrong": "its result differed from the reference's",
    "crashed": "its process died",
    "timeout": "it took too long",
    "memory": "there was not enough memory",
    "refused": "it cannot be made",
}
"""What became of a candidate that failed, before the reason."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the store has for a call. rows: of the kernel, on the machines of all devices that may serve. fronts: of
    each device, what was left out without running. work: of the call. now: seconds since 1970."""

    rows: Sequence[Measurement]
    fronts: Mapping[str, JudgedCandidates]
    work: Work
    now: float


def why_no_choice(config: Config, compiled: bool) -> tuple[str, str]:
    """Where there is nothing to choose from: why, and the option that decides ('' where none does). compiled: there is
    code to run."""
    if config.variant:
        return f"pinned by the option variant={config.variant!r}", "variant"
    if config.schedule:
        return f"the option schedule={config.schedule!r} decides", "schedule"
    if config.recipe != "auto":
        return f"the option recipe={config.recipe!r} decides", "recipe"
    if default_variant(config).first:
        name = "remap" if config.layout in ("auto", "off") else "layout"
        return f"the option {name}={getattr(config, name)!r} decides", name
    if config.checks == "all":
        return "the option checks='all' decides: every access is tested, as the default variant does it", "checks"
    if config.device == "interpreter":
        return "the option device='interpreter' decides", "device"
    if not compiled:
        return "no code could be made: the interpreter runs it", ""
    if config.store_path is None:
        return "only the default variant is known: the option store='off' keeps no measurements", "store"
    return NOTHING_KNOWN, ""


def chosen(decision: Decision, standings: Sequence[Standing], known: Known) -> ChoiceReport:
    """Of one shape, where there was a choice."""
    facts = _Facts(known, decision.shape)
    found = [_candidate(one, decision, facts) for one in standings]
    listed = {one.variant for one in standings}
    found += _measured_only(known.rows, listed, decision.predicted_ns, facts)
    listed |= {row.variant for row in known.rows}
    return ChoiceReport(
        why=decision.why,
        sizes=decision.shape.sizes,
        serves=str(decision.variant),
        runner_up="" if decision.runner_up is None else str(decision.runner_up),
        margin=decision.margin if math.isfinite(decision.margin) else None,
        candidates=tuple(sorted([*found, *_never_run(known.fronts, listed)], key=_order)),
    )


def pinned(variant: Variant, shape: Shape, why: str, option: str, known: Known) -> ChoiceReport:
    """Of one shape, where an option decides; beside it, what was measured of others at this very shape."""
    facts = _Facts(known, shape)
    here = facts.measured(variant)
    found = [facts.candidate(variant, "serves", why, here, 0)]
    found += _measured_only(known.rows, {variant}, 0.0 if here is None else here[0], facts)
    return ChoiceReport(why, shape.sizes, str(variant), option, candidates=tuple(sorted(found, key=_order)))


def _measured_only(
    rows: Iterable[Measurement], listed: Collection[Variant], served_ns: float, facts: _Facts
) -> list[CandidateReport]:
    """What was measured and is no candidate of the call. served_ns: what the one that serves takes, 0 where that is not
    known."""
    last: dict[Variant, Measurement] = {}
    for row in rows:
        there = last.get(row.variant)
        if row.variant not in listed and (there is None or _weight(row) > _weight(there)):
            last[row.variant] = row
    found: list[CandidateReport] = []
    for variant, row in last.items():
        here = facts.measured(variant)
        if row.outcome != "ok":
            found.append(facts.candidate(variant, row.outcome, _failure(row.outcome, row.reason), None, 0))
        elif here is None:
            found.append(facts.candidate(variant, "slower", ELSEWHERE, None, 0))
        else:
            words = f"measured {compared(here[0], served_ns)}" if served_ns else "measured; the one that serves was not"
            found.append(facts.candidate(variant, "slower", words, here, 0))
    return found


def _weight(row: Measurement) -> tuple[bool, float]:
    """A failure tells more than a time; then the newer one."""
    return row.outcome != "ok", row.made_at


class _Facts:
    """Of each variant, what was measured under a shape and elsewhere, and what other shapes alone say of it."""

    def __init__(self, known: Known, shape: Shape) -> None:
        self._now = known.now
        self._here: dict[Variant, list[Measurement]] = {}
        self._elsewhere: dict[Variant, list[Measurement]] = {}
        self._failed: dict[Variant, float] = {}
        for row in known.rows:
            if row.outcome != "ok":
                self._failed[row.variant] = max(row.made_at, self._failed.get(row.variant, -math.inf))
            else:
                (self._here if row.shape == shape else self._elsewhere).setdefault(row.variant, []).append(row)
        some = set(
            sorted(self._here, key=lambda variant: min(row.time_ns for row in self._here[variant]))[:MOST_COMPARED]
        )
        elsewhere = [row for row in known.rows if row.shape != shape and row.variant in some]
        self._predicted: dict[Variant, Prediction] = {}
        for machine in dict.fromkeys(row.machine for row in elsewhere):
            models = models_of([row for row in elsewhere if row.machine == machine])
            predictions = models.predict(shape, known.work)
            self._predicted |= dict(zip(models.variants, predictions, strict=True))

    def measured(self, variant: Variant) -> tuple[float, float] | None:
        """The time under this shape by the newest row, and its spread."""
        rows = self._here.get(variant)
        if not rows:
            return None
        newest = max(rows, key=lambda row: (row.made_at, row.source, row.time_ns))
        return newest.time_ns, newest.spread

    def candidate(
        self,
        variant: Variant,
        status: str,
        why: str,
        measured: tuple[float, float] | None,
        calls: int,
        forecast: Prediction | None = None,
    ) -> CandidateReport:
        """With the evidence. forecast: what is believed of it now, where that is no measurement."""
        here, elsewhere = self._here.get(variant, []), self._elsewhere.get(variant, [])
        newest = max((row.made_at for row in here or elsewhere), default=None)
        if status in OUTCOME_WORDS:
            newest = self._failed.get(variant)
        predicted = forecast or self._predicted.get(variant)
        if predicted is not None and not 0 < predicted.time_ns < math.inf:
            predicted = None
        return CandidateReport(
            variant=str(variant),
            status=status,
            why=why,
            measured_ns=None if measured is None else measured[0],
            measured_error=None if measured is None else _finite(measured[1]),
            predicted_ns=None if predicted is None else predicted.time_ns,
            predicted_error=None if predicted is None else _finite(predicted.error),
            how="" if predicted is None else predicted.how,
            tuned_runs=sum(row.runs for row in here if row.source == "tune"),
            called_runs=sum(row.runs for row in here if row.source == "call"),
            age_s=None if newest is None else self._now - newest,
            elsewhere=len({row.shape for row in elsewhere}),
            calls=calls,
        )


def _candidate(one: Standing, decision: Decision, facts: _Facts) -> CandidateReport:
    believed = one.prediction
    failed = one.state not in ("proven", "untried")
    measured = (believed.time_ns, believed.error) if believed.how == "measured" and not failed else None
    forecast = None if believed.how in ("measured", "limits") or failed else believed
    status, why = _status(one, decision)
    return facts.candidate(one.variant, status, why, measured, one.calls, forecast)


def _status(one: Standing, decision: Decision) -> tuple[str, str]:
    """What is to be said of a candidate, in a word and in words."""
    if one.variant == decision.variant:
        return "serves", decision.why
    if one.state == "untried":
        return "untried", NOT_TRIED
    if one.state != "proven":
        return one.state, _failure(one.state, one.reason)
    time_ns, how = one.prediction.time_ns, one.prediction.how
    if how == "limits":
        return "slower", "it was not measured near this shape"
    if not math.isfinite(time_ns):
        return "slower", "it failed for less work than this call has"
    words = f"{'measured' if how == 'measured' else 'predicted'} {compared(time_ns, decision.predicted_ns)}"
    if time_ns < decision.predicted_ns:
        words += ", which is within the errors"
    return "slower", words


def _failure(outcome: str, reason: str) -> str:
    words = OUTCOME_WORDS.get(outcome, outcome)
    return f"{words}: {' '.join(reason.split())}" if reason.strip() else words


def _never_run(fronts: Mapping[str, JudgedCandidates], listed: Iterable[Variant]) -> list[CandidateReport]:
    """What was judged without running, and is no candidate of the call: left out for that, or not measured yet."""
    run = {(one.device, one.schedule) for one in listed}
    return [
        CandidateReport(f"{device}: {point.schedule}", "untried", WORTH_MEASURING)
        if point.kept
        else CandidateReport(
            f"{device}: {point.schedule}", "pruned", f"not run: {point.why}" if point.why else "not run"
        )
        for device, front in fronts.items()
        for point in front.points
        if (device, point.schedule) not in run
    ]


_LAST = {"serves": 0, "slower": 1, "untried": 2, "pruned": 4}


def _order(one: CandidateReport) -> tuple[int, float, str]:
    time_ns = one.measured_ns if one.measured_ns is not None else one.predicted_ns
    return _LAST.get(one.status, 3), math.inf if time_ns is None else time_ns, one.variant


def _finite(part: float) -> float | None:
    return part if math.isfinite(part) else None

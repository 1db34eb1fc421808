"""What is learned as rows for a store, and rows of a store as what is known. It decides nothing and opens no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loopwright.choice.candidates import Candidates
from loopwright.choice.knowledge import Knowledge
from loopwright.choice.series import CallSeries
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Measurement, Outcome, Source, Work

_AT_FIRST, _ONE_IN = 32, 16  # of calls: so many rows, and one more for so many calls

Sink = Callable[[Sequence[Measurement]], None]


@dataclass(slots=True)
class Recorder:
    """Rows of one kernel under one signature. machines: from the name of a device to its fingerprint. now: seconds
    since 1970. sink: takes what is worth keeping."""

    kernel: str
    machines: Mapping[str, str]
    now: Callable[[], float]
    sink: Sink | None = None
    _served: int = 0
    _given: int = 0
    _history: dict[Shape, dict[int, Measurement]] = field(default_factory=dict)

    def row(
        self,
        variant: Variant,
        shape: Shape,
        work: Work,
        outcome: Outcome,
        timing: tuple[float, float, int] = (0.0, 0.0, 0),
        *,
        source: Source = "tune",
        reason: str = "",
        made_at: float | None = None,
    ) -> Measurement:
        """timing: nanoseconds, spread, runs."""
        time_ns, spread, runs = timing
        at, machine = self.now() if made_at is None else made_at, self.machines.get(variant.device, "")
        return Measurement(
            self.kernel, machine, variant, shape, work, outcome, time_ns, spread, runs, "warm", source, at, reason
        )

    def give(self, row: Measurement) -> None:
        """To the sink, where there is one."""
        if self.sink is not None:
            self.sink((row,))

    def called(self, variant: Variant, shape: Shape, work: Work, series: CallSeries, calls: int) -> None:
        """So many calls more were served. The first under a shape, then whenever their number has doubled, and the
        first ones after a move are worth a row, but in all not more than one of 16."""
        self._served += calls
        if series.calls < series.due or self._given >= _AT_FIRST + self._served // _ONE_IN:
            return
        timing = series.latest()
        if timing[2]:
            series.due = max(4, 2 * series.calls)
            self._given += 1
            self.give(self.row(variant, shape, work, "ok", timing, source="call"))

    def read(self, history: Iterable[Measurement], candidates: Candidates) -> None:
        """Evidence goes to `candidates`; times are kept for `take`. Of other kernels and machines nothing is."""
        places = {variant: index for index, variant in enumerate(candidates.variants)}
        for one in history:
            index = places.get(one.variant)
            if index is None or one.kernel != self.kernel or one.machine != self.machines.get(one.variant.device):
                continue
            candidates.tell(index, one.outcome, one.reason, one.shape, one.work)
            if one.outcome == "ok" and one.runs and one.time_ns > 0:
                known = self._history.setdefault(one.shape, {})
                if index not in known or one.made_at >= known[index].made_at:
                    known[index] = one

    def take(self, shape: Shape) -> dict[int, Measurement]:
        """The newest time of each variant under a shape, once."""
        return self._history.pop(shape, {})

    def all(self, candidates: Candidates, knowledge: Knowledge) -> list[Measurement]:
        """Everything as rows: times, evidence without times, failures."""
        variants, found = candidates.variants, [one for rows in self._history.values() for one in rows.values()]
        for shape, calls in knowledge.calls.items():
            for index, series in sorted(calls.series.items()):
                estimate = series.estimate()
                if estimate is not None:
                    timing = (estimate.time_ns, estimate.error, estimate.runs)
                    source: Source = "call" if series.calls else "tune"
                    at = series.last_at
                    found.append(self.row(variants[index], shape, calls.work, "ok", timing, source=source, made_at=at))
        measured = {one.variant for one in found}
        bare = [variants[index] for index in sorted(candidates.proven - {candidates.default})]
        found += [self.row(one, Shape(()), Work(), "ok") for one in bare if one not in measured]
        for index, one in sorted(candidates.failures.items()):
            found.append(self.row(variants[index], one.shape, one.work, one.outcome, reason=one.reason))
        return found

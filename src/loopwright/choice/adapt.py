"""What one kernel learns from the calls it serves, for one signature: which variant runs, whether that is still right,
and what is worth trying. Pure logic: no clock but the one handed in, no threads, no trees, no files.

How it decides. The time of a variant under a shape is that of its latest calls, else of an experiment, else the
prediction times the bias that predictions of this variant (or, where it never ran, of its device) turned out to have.
`placement.single` takes the shortest. A decision stays until something happens: the first calls under a shape are in, a
candidate was proven or failed, or times have moved (drift.py).
Where the times of one variant have moved, code has not changed, so its device is taken to have: all estimates of that
device move along, and the order of its variants stays. That belief is provisional for the others: where one of them
would be faster if it had not moved, it is measured again, once, within the budget; what it shows then counts for all
others. So an alarm costs one experiment and at most one switch. A variant that was given up for having become slow is
tried again whenever the time spent in the kernel has doubled.

Thread safety: none of its own. Whoever shares one holds a lock around every method; only `choose` of a shape that was
chosen for before is a single look into a dict and may go without. Everything is determined by the calls made and what
was handed in: the same ones give the same decisions again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loopwright.choice.acquisition import Planner, Proposal
from loopwright.choice.candidates import Candidates
from loopwright.choice.explore import Account, Experiment, ExperimentResult
from loopwright.choice.knowledge import MOST_SHAPES, Calls, Knowledge, Predict
from loopwright.choice.record import Recorder, Sink
from loopwright.choice.series import WINDOW, estimate_of
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.placement.single import VariantError, index_of
from loopwright.placement.single import choose as choose_one
from loopwright.predict.prediction import How, Prediction
from loopwright.profile.measurement import Measurement, Outcome, Work

PATIENCE = 10
"""A candidate that took so many times as long as expected has failed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What runs under a shape. predicted_ns, error, how: as of a Prediction, with all that was learned since. proven:
    False only for a pinned variant without evidence; it has to be proven before it serves. margin: how much longer than
    this the runner-up takes, as a part."""

    shape: Shape
    index: int
    variant: Variant
    predicted_ns: float
    error: float
    how: How
    why: str
    runner_up: Variant | None
    margin: float
    proven: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one candidate under a shape. state: `proven`, `untried`, or the outcome of what it failed."""

    variant: Variant
    state: str
    reason: str
    prediction: Prediction
    calls: int


class Adaptive:
    """All that is known of one kernel under one signature.

    kernel: its fingerprint; machines: from the name of each device to its fingerprint: what Measurements carry.
    predict: times of all `variants`, in order. now: seconds since 1970. history: what a store holds; other kernels' and
    machines' are left out; an `ok` is evidence, a failure is for good. sink: takes what is worth keeping, of `call`s at
    a bounded rate. share: the part of the time spent in the kernel that experiments may take, 0: none is made. make_ns:
    what making a candidate is expected to take before one was made."""

    def __init__(
        self,
        kernel: str,
        machines: Mapping[str, str],
        variants: Sequence[Variant],
        predict: Predict,
        *,
        now: Callable[[], float],
        history: Iterable[Measurement] = (),
        sink: Sink | None = None,
        share: float = 0.05,
        make_ns: int = 500_000_000,
    ) -> None:
        self.candidates = Candidates(tuple(variants))
        self.knowledge = Knowledge(variants, predict)
        self.account = Account(share)
        self.switches = 0
        self._recorder = Recorder(kernel, dict(machines), now, sink)
        self._recorder.read(history, self.candidates)
        self._make_ns = make_ns
        self._decisions: dict[Shape, Decision] = {}
        self._plans: dict[Shape, Proposal] = {}
        self._running: Experiment | None = None

    # ---- choice -----------------------------------------------------------------------------------------------------

    def choose(self, shape: Shape, work: Work, pinned: Variant | None = None) -> Decision:
        """What a call runs. Raises VariantError where `pinned` does not exist, or has failed."""
        if pinned is None:
            known = self._decisions.get(shape)
            if known is not None:
                return known
        calls = self.knowledge.calls.get(shape) or self._new_calls(shape, work)
        decision = self._decide(shape, calls, pinned)
        if pinned is None:
            if calls.previous is not None and calls.previous != decision.index:
                self.switches += 1
            calls.previous = decision.index
            self._decisions[shape] = decision
        return decision

    def _decide(self, shape: Shape, calls: Calls, pinned: Variant | None = None) -> Decision:
        candidates = self.candidates
        known = self.knowledge.forecasts(calls)
        wanted = None if pinned is None else index_of(candidates.variants, pinned)
        if wanted is not None and wanted not in candidates.serving(calls.work):
            failure = candidates.failed(wanted, calls.work)
            if failure is not None:
                raise VariantError(
                    f"the pinned variant '{pinned}' does not serve: {failure.outcome}\n  {failure.reason}\n"
                    "  try: another variant, or none, so that the fastest is chosen"
                )
        serving = candidates.places(calls.work)
        choice = choose_one(candidates.variants, known, pinned=pinned, previous=calls.previous, allowed=serving)
        one, other = known[choice.index], choice.runner_up
        return Decision(
            shape,
            choice.index,
            candidates.variants[choice.index],
            one.time_ns,
            one.error,
            one.how,
            choice.why,
            None if other is None else candidates.variants[other],
            choice.margin,
            choice.index in candidates.proven,
        )

    def _new_calls(self, shape: Shape, work: Work) -> Calls:
        known = self.knowledge.calls
        while len(known) >= MOST_SHAPES:
            oldest = next(iter(known))
            del known[oldest]
            self._decisions.pop(oldest, None)
            self._plans.pop(oldest, None)
        return self.knowledge.under(shape, work, self._recorder.take(shape))

    # ---- calls that were served -------------------------------------------------------------------------------------

    def observe(self, decision: Decision, times_ns: Sequence[int]) -> bool:
        """The times of calls that ran what was decided. True where the choice is open: ask `choose` anew, for every
        shape."""
        if not times_ns:
            return False
        shape, index = decision.shape, decision.index
        self.account.total_ns += sum(times_ns)
        self.knowledge.learned[index].measured_at_ns = self.account.total_ns
        calls = self.knowledge.calls.get(shape)
        if calls is None:  # forgotten, being one of too many
            return True
        series = calls.series.get(index)
        before, trusted = (0, False) if series is None else (series.calls, series.trusted())
        opened = self.knowledge.served(calls, index, times_ns)
        series = calls.series[index]
        series.last_at = self._recorder.now()
        self._recorder.called(decision.variant, shape, calls.work, series, len(times_ns))
        if opened:
            self._open()
        elif (not trusted and series.trusted()) or before < WINDOW <= series.calls:
            self._plans.clear()
            opened = self._reconsider(shape, calls)
        return opened

    def _open(self) -> None:
        self._plans.clear()
        self._decisions.clear()

    def _reconsider(self, shape: Shape, calls: Calls) -> bool:
        """Whether another variant is to run under this shape from now on."""
        known = self._decisions.get(shape)
        if known is None:
            return True
        now = self._decide(shape, calls)
        if now.index == known.index:
            self._decisions[shape] = now
            return False
        del self._decisions[shape]
        return True

    # ---- experiments ------------------------------------------------------------------------------------------------

    def explore(self, shape: Shape) -> Experiment | None:
        """What is worth trying under this shape, where there is anything and the account can pay for it. One at a time:
        hand in what became of it to `finish`, or `abandon` it. None before calls under this shape were observed."""
        calls, decision = self.knowledge.calls.get(shape), self._decisions.get(shape)
        if calls is None or decision is None or self._running is not None or not self.account.share:
            return None
        plan, credit_ns = self._plan(shape, calls, decision), self.account.credit_ns
        if plan.index is None or plan.expected_ns > credit_ns:
            return None
        limit_ns = min(credit_ns, PATIENCE * plan.expected_ns)
        self.account.reserve(limit_ns)
        variant = self.candidates.variants[plan.index]
        self._running = Experiment(shape, plan.index, variant, plan.purpose, plan.expected_ns, limit_ns, plan.why)
        return self._running

    def wants(self, shape: Shape) -> bool:
        """Whether anything is worth trying under this shape, paid for or not. True as long as that cannot be told."""
        calls, decision = self.knowledge.calls.get(shape), self._decisions.get(shape)
        if calls is None or decision is None or decision.index not in calls.series:
            return True
        return self._plan(shape, calls, decision).index is not None

    def _plan(self, shape: Shape, calls: Calls, decision: Decision) -> Proposal:
        plan, total_ns = self._plans.get(shape), self.account.total_ns
        if plan is None or total_ns >= plan.until_ns:
            planner = Planner(self.candidates, self.knowledge, self._make_ns, total_ns)
            plan = self._plans[shape] = planner.plan(calls, decision.index)
        return plan

    def finish(self, experiment: Experiment, evidence: ExperimentResult) -> bool:
        """What became of it. True where the choice is open: ask `choose` anew, for every shape. Raises ValueError where
        it does not run, or where a success comes without times."""
        timed = None if evidence.outcome != "ok" else estimate_of(evidence.times_ns)
        self.abandon(experiment, evidence.spent_ns)
        index, shape, calls = experiment.index, experiment.shape, self.knowledge.calls.get(experiment.shape)
        learned, work = self.knowledge.learned[index], Work() if calls is None else calls.work
        learned.measured_at_ns = self.account.total_ns
        if timed is None:
            if (
                evidence.outcome == "timeout"
                and experiment.limit_ns * learned.patience < PATIENCE * experiment.expected_ns
            ):  # It was ended for the budget's sake: it gets twice as long once that is earned.
                learned.patience *= 2 * experiment.limit_ns / experiment.expected_ns
                return False
            return self._told(index, evidence.outcome, evidence.reason, shape, work)
        if experiment.purpose == "prove":
            self._make_ns = max(0, evidence.spent_ns - sum(evidence.times_ns) - sum(evidence.beside_ns))
        timing = (timed.time_ns, timed.error, timed.runs)
        self._recorder.give(self._recorder.row(experiment.variant, shape, work, "ok", timing))
        if calls is not None:
            self.knowledge.tried(calls, index, evidence.times_ns, evidence.beside_ns)
        return self._told(index, "ok", "", shape, work)

    def abandon(self, experiment: Experiment, spent_ns: int = 0) -> None:
        """It was not carried through; nothing is concluded. Raises ValueError where it is not the one that runs."""
        if experiment is not self._running:
            raise ValueError(f"this experiment does not run: {experiment.variant}")
        self._running = None
        self._plans.clear()
        self.account.settle(experiment.limit_ns, spent_ns)

    def prove(self, variant: Variant, outcome: Outcome, reason: str = "") -> bool:
        """Evidence from elsewhere: `ok` where its result agreed with the reference on real inputs of this signature.
        True where the choice is open. Raises VariantError where there is no such variant."""
        return self._told(index_of(self.candidates.variants, variant), outcome, reason, Shape(()), Work())

    def _told(self, index: int, outcome: Outcome, reason: str, shape: Shape, work: Work) -> bool:
        self.candidates.tell(index, outcome, reason, shape, work)
        if outcome != "ok":
            variant = self.candidates.variants[index]
            self._recorder.give(self._recorder.row(variant, shape, work, outcome, reason=reason))
        self._open()
        return True

    # ---- what is kept -----------------------------------------------------------------------------------------------

    def refresh(self, predict: Predict, variants: Sequence[Variant] | None = None) -> None:
        """New tables, and with them more candidates after those there are. What was learned from calls stays. Raises
        ValueError where the variants known so far are not the first ones."""
        if variants is not None:
            self.candidates.extend(variants)
            self.knowledge.extend(variants)
        self.knowledge.refresh(predict)
        self._open()

    def remembered(self) -> tuple[Measurement, ...]:
        """All that a new Adaptive with these as its `history` needs to choose as this one would."""
        return tuple(self._recorder.all(self.candidates, self.knowledge))

    def standings(self, shape: Shape) -> tuple[Standing, ...]:
        """All candidates under a shape that was chosen for, in their order. None of a shape that was not."""
        calls = self.knowledge.calls.get(shape)
        if calls is None:
            return ()
        found = []
        for index, variant in enumerate(self.candidates.variants):
            failure, series = self.candidates.failed(index, calls.work), calls.series.get(index)
            untried = "proven" if index in self.candidates.proven else "untried"
            state, reason = (untried, "") if failure is None else (failure.outcome, failure.reason)
            served = 0 if series is None else series.calls
            found.append(Standing(variant, state, reason, self.knowledge.forecast(calls, index), served))
        return tuple(found)

"""Whether the iterations of a kernel's loops run in the order of what data makes them do (`redirect`): for calls on a
GPU whose arrays stay there, under the option `remap="auto"`.

How it decides. The default serves until a better order could have paid for the time that it takes to get there. Then
the inspector looks at some warps of one call, and

    (time as they stand - time in order) * uses > cost of inspecting and of making the code

decides, where as many uses are expected as there were (ski rental: Karlin and others, 1988). The time in order contains
finding it, unless the arrays that decide were the same at two inspections.

What then serves is decided by a trial, in which calls as iterations stand and calls in order take turns, each timed the
same way, as times that are measured at other moments or in another way say nothing about one another: a GPU that had
nothing to do is slow at first. Where three calls in order were no gain, the default serves again, and the prediction is
corrected for the next time, in this process or another; else the median of longer turns decides. From then on some
calls are timed: where they become slower, there is another trial.

Pure logic: no clock, no threads, no trees. Whoever shares one holds a lock around every method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Literal, Protocol

from loopwright.choice.adapt import Decision, Standing
from loopwright.ir.signature import Shape, shape_of
from loopwright.ir.variant import THEN_RECIPE, Variant
from loopwright.predict.prediction import How, Prediction
from loopwright.predict.remapped import RemapPrediction

INSPECT_NS = 60_000_000
"""What one inspection is taken to cost: copying what it reads, and interpreting it for some warps."""
MAKING_NS = 700_000_000
"""What it takes to make the code that puts iterations in order."""
INSPECTION_SHARE = 0.05
"""Of the time of calls, what inspections may cost."""
LEAST_GAIN = 0.05
"""Part of the time that has to be gained: less is within what the model does not know."""
FIRST_TURN = 2
"""Calls of each of the first two turns of a trial."""
PAIRS = 3
"""Longer turns of each kind."""
TURN_NS, MOST_TURN, LEAST_TURN = 2_000_000, 16, 4
"""What a longer turn takes about, and how many calls it has."""
TRIAL_SHARE = 0.02
"""Of the time of calls, what trials may cost."""
SAMPLES = 8
"""Times that are taken before somebody looks at them."""
DRIFTED = 1.25
"""A mapping whose calls have become so much slower than they were is compared with the default again."""
SOON = 1.25
"""When the time of calls is so many times what it was, they are inspected again to see whether an order lasts."""
AGAIN = 4.0
"""When the time of calls is so many times what it was at the last decision against, there may be another one."""
MOST_CORRECTED = 10.0
MOST_SHAPES = 16
OTHERS = Shape(())
NEVER = 2**62

Phase = Literal["plain", "trial", "mapped", "compared"]


class Measures(Protocol):
    """What an inspection has measured (predict/remapped.py, predict/grouped.py)."""

    def predicted(self, plain_ns: float, correction: float = 1.0) -> RemapPrediction:
        """What is predicted for calls that take so long as iterations stand. correction: by what factor predictions of
        this kernel's kept times have been too short so far."""

    def told(self) -> str:
        """In words."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """What an inspection of one call has found. versions: of the arrays that decide about the order; None where it has
    to be found anew in each call. longer_ns: how much longer than
    usual it takes to make the code."""

    measures: Measures
    versions: tuple[object, ...] | None
    longer_ns: int = 0


class Remapping(Protocol):
    """What needs the compiler. steps: those that put iterations in order, '' where none is legal, or none can be
    inspected."""

    @property
    def steps(self) -> str: ...

    def inspect(self, arguments: tuple[object, ...]) -> Inspected | None:
        """Look at some warps of a call, whose arguments stay as they are; None where that is not possible."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """Of a trial. calls: of which the time is told at once; 0 for as many as `SAMPLES` of the usual times take."""

    in_order: bool
    calls: int
    counts: bool = True


@dataclass(slots=True)
class _RemapState:
    """Of one shape. plain_ns, mapped_ns: of a call, 0.0 where none was timed; uses: calls so far. look_at_ns: when the
    time of all calls is so long, they are inspected; alarms: how often calls were slow one after the other. why: the
    last decision, in words. turns: those of a trial that are still to come; times: of a call in those that were timed,
    as iterations stand and in order by turns. trials_ns: what trials have cost."""

    phase: Phase = "plain"
    plain_ns: float = 0.0
    mapped_ns: float = 0.0
    uses: int = 0
    look_at_ns: float = 0.0
    inspected: Inspected | None = None
    steady: bool = False
    prediction: RemapPrediction | None = None
    why: str = "calls have not taken long enough for another order of iterations to pay"
    counted: int = 0
    alarms: int = 0
    turns: list[_Turn] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    trials_ns: float = 0.0

    @property
    def in_order(self) -> bool:
        return self.turns[0].in_order if self.turns else self.phase == "mapped"

    @property
    def spent_ns(self) -> float:
        return self.uses * (self.plain_ns if self.phase == "plain" else self.mapped_ns or self.plain_ns)

    @property
    def may_try(self) -> bool:
        return self.trials_ns <= TRIAL_SHARE * self.spent_ns


class RemapChooser:
    """See choice.base.Chooser. learned: told of each new factor between what was measured and what was predicted."""

    def __init__(
        self,
        default: Variant,
        remapping: Remapping,
        correction: float = 1.0,
        learned: Callable[[float], object] = lambda factor: None,
    ) -> None:
        self._default, self._remapping, self._learned = default, remapping, learned
        self._correction = correction
        self._states: dict[Shape, _RemapState] = {}
        self._is_over = False  # nothing is ever put in order

    @property
    def over(self) -> bool:
        """See Chooser: no step is legal, or calls are of so many shapes that none of them is called often."""
        in_order = any(state.phase != "plain" for state in self._states.values())
        return self._is_over or (OTHERS in self._states and not in_order)

    def shape_of(self, arguments: tuple[object, ...]) -> Shape:
        """See Chooser. Where there are many shapes, as of a list that grows, all further ones count as one, and have
        the default."""
        shape = shape_of(arguments)
        return shape if shape in self._states or len(self._states) < MOST_SHAPES else OTHERS

    def choose(self, shape: Shape) -> Variant:
        """See Chooser."""
        return self._mapped if self._state(shape).in_order else self._default

    def closely(self, shape: Shape) -> int:
        """See Chooser."""
        turns = self._state(shape).turns
        return turns[0].calls if turns else 0

    def patience(self, shape: Shape, variant: Variant) -> tuple[int, int]:
        """See Chooser."""
        if self._is_over or shape == OTHERS:
            return NEVER, NEVER
        if self._state(shape).plain_ns == 0.0:
            return 1, NEVER
        closely = self.closely(shape)
        return (SAMPLES if not closely else 1 if self._default.on_gpu else closely), NEVER

    def served(self, shape: Shape, variant: Variant, times_ns: Sequence[int], calls: int) -> bool:
        """See Chooser."""
        state = self._state(shape)
        if variant != self.choose(shape):
            state.counted = 0
            return True
        state.uses += max(0, calls - state.counted)
        state.counted = calls
        before = self.choose(shape)
        time_ns = float(median(times_ns))
        match state.phase:
            case "plain":
                state.plain_ns = time_ns
                if self.due(shape):
                    state.counted = 0
                    return True
            case "trial" | "compared":
                self._take(state, time_ns)
            case "mapped":
                self._watch(state, times_ns)
        asks = self.choose(shape) != before
        state.counted = 0 if asks else calls  # whatever counts calls begins anew
        return asks

    def due(self, shape: Shape) -> bool:
        """See Chooser."""
        state = self._state(shape)
        if self._is_over or shape == OTHERS or state.phase != "plain" or state.plain_ns == 0.0:
            return False
        if not state.may_try:
            return False
        return state.spent_ns >= max(state.look_at_ns, INSPECT_NS / INSPECTION_SHARE, MAKING_NS + INSPECT_NS)

    def experiment(self, shape: Shape, arguments: tuple[object, ...]) -> None:
        """See Chooser."""
        state = self._state(shape)
        if not self._remapping.steps:
            self._is_over, state.why = True, "no loop has iterations whose work is known to depend on data"
            return
        found = self._remapping.inspect(arguments)
        if found is None:
            state.why, state.look_at_ns = "its iterations cannot be inspected", math.inf
            return
        known = state.inspected
        state.steady = known is not None and found.versions is not None and found.versions == known.versions
        state.inspected = found
        self._decide(state)

    def failed(self, variant: Variant, reason: str) -> None:
        """See Chooser."""
        self._is_over = True
        for state in self._states.values():
            state.phase, state.turns = "plain", []
            state.why = f"the code in order cannot be made: {reason}"

    def standings(self, shape: Shape) -> tuple[Decision, tuple[Standing, ...]]:
        """See Chooser."""
        state, chosen = self._state(shape), self.choose(shape)
        mapped = chosen != self._default
        predicted = None if state.prediction is None else state.prediction.mean_ns(0.0 if state.steady else 1.0)
        found: list[tuple[Variant, float, float | None]] = [(self._default, state.plain_ns, None)]
        if state.prediction is not None:
            found.append((self._mapped, state.mapped_ns, predicted))
        standings = tuple(
            Standing(
                one,
                "proven",
                "",
                Prediction(measured, 0.05, "measured") if measured else Prediction(told or math.inf, 0.5, "limits"),
                state.uses if one == chosen else 0,
            )
            for one, measured, told in found
            if one == chosen or measured or told
        )
        own, other = (state.mapped_ns, state.plain_ns) if mapped else (state.plain_ns, state.mapped_ns)
        margin = other / own - 1.0 if own and other else math.inf
        runner_up = next((one.variant for one in standings if one.variant != chosen), None)
        how: How = "measured" if own else "limits"
        decision = Decision(
            shape, int(mapped), chosen, own or math.inf, 0.05, how, state.why, runner_up, margin, proven=True
        )
        return decision, standings

    # ---- what it decides --------------------------------------------------------------------------------------------

    @cached_property
    def _mapped(self) -> Variant:
        return replace(self._default, schedule=self._remapping.steps + THEN_RECIPE)

    def _state(self, shape: Shape) -> _RemapState:
        return self._states.setdefault(shape, _RemapState())

    def _decide(self, state: _RemapState) -> None:
        """By what was inspected and by how often such calls were made."""
        assert state.inspected is not None
        measures = state.inspected.measures
        found = state.prediction = measures.predicted(state.plain_ns, self._correction)
        changes = 0.0 if state.steady else 1.0
        gain_ns, best_ns = found.plain_ns - found.mean_ns(changes), found.plain_ns - found.kept_ns
        figures = (
            f"{measures.told()}: {_us(found.plain_ns)} a call as iterations stand, {_us(found.kept_ns)} in order, and "
            f"{_us(found.sort_ns)} to find the order" + (", which is kept" if state.steady else "")
        )
        least_ns, cost_ns = LEAST_GAIN * found.plain_ns, MAKING_NS + state.inspected.longer_ns + INSPECT_NS
        needed, best = (cost_ns / gain if gain > least_ns else math.inf for gain in (gain_ns, best_ns))
        if needed <= state.uses:
            state.why = f"predicted to pay: {figures}"
            self._enter(state, "trial", (_Turn(True, 1, counts=False), _Turn(False, 0, counts=False), *_pairs(state)))
            return
        lasts = state.inspected.versions is not None and not state.steady
        soonest = max(SOON * state.uses, best) if lasts else math.inf  # an order that is kept may pay before
        again = min(needed, soonest)
        state.look_at_ns = AGAIN * state.spent_ns if math.isinf(again) else again * found.plain_ns
        pays = "not to pay" if math.isinf(needed) else f"to pay after {math.ceil(needed)} calls"
        state.why = f"predicted {pays}: {figures}"

    def _take(self, state: _RemapState, time_ns: float) -> None:
        """The time of a turn of a trial."""
        turn = state.turns.pop(0)
        if turn.counts:
            state.times.append(time_ns)
        elif not turn.in_order:
            state.plain_ns = time_ns
        if turn.in_order and turn.counts and (len(state.times) == 2 or not state.turns):
            self._judge(state)

    def _judge(self, state: _RemapState) -> None:
        """By the first two turns, whether calls in order are a loss; by the others, whether they are a gain."""
        is_first = len(state.times) == 2
        times = state.times if is_first else state.times[2:]
        ratio = median(mapped / plain for plain, mapped in zip(times[::2], times[1::2], strict=True))
        if is_first and ratio < 1.0:
            return
        if not is_first:
            state.plain_ns = median(times[::2])
        was_in_order, state.mapped_ns = state.phase == "compared", ratio * state.plain_ns
        self._learn(state)
        calls = FIRST_TURN + (0 if is_first else PAIRS * _turn_of(state.plain_ns))
        loss_ns = state.plain_ns - state.mapped_ns if was_in_order else state.mapped_ns - state.plain_ns
        state.trials_ns += max(0.0, calls * loss_ns)
        if ratio > 1.0 - LEAST_GAIN:
            found = "it has stopped being a gain" if was_in_order else "measured to give no gain"
            self._drop(state, f"{found}: {_us(state.mapped_ns)} a call in order")
            return
        figures = f"measured {_us(state.mapped_ns)} instead of {_us(state.plain_ns)}"
        state.why = figures if was_in_order else f"{state.why}; {figures}"
        self._enter(state, "mapped")

    def _learn(self, state: _RemapState) -> None:
        """By what factor predictions are too short, from times by turns: what an order was predicted from may be a time
        of other days."""
        if state.inspected is None:
            return
        found = state.inspected.measures.predicted(state.plain_ns, self._correction)
        anew_ns = found.sort_ns if state.inspected.versions is None else 0.0
        kept_ns = max(state.mapped_ns - anew_ns, state.mapped_ns / 2)
        factor = self._correction * kept_ns / max(found.kept_ns, 1.0)
        self._correction = min(MOST_CORRECTED, max(1.0 / MOST_CORRECTED, factor))
        self._learned(self._correction)

    def _watch(self, state: _RemapState, times_ns: Sequence[int]) -> None:
        """The mean counts, as some calls may find an order and others not, without the longest, which may be anything.
        They have to be slow twice."""
        usual = sorted(times_ns)[:-1] or times_ns
        time_ns = float(sum(usual)) / len(usual)
        is_slow = time_ns > min(state.plain_ns, DRIFTED * state.mapped_ns)
        state.alarms = state.alarms + 1 if is_slow else 0
        if state.alarms >= 2 and state.may_try:
            state.mapped_ns, state.why = time_ns, f"calls in order have come to take {_us(time_ns)}: compared again"
            self._enter(state, "compared", _pairs(state))

    def _drop(self, state: _RemapState, why: str) -> None:
        state.why = f"{why}, {_us(state.plain_ns)} as iterations stand"
        state.look_at_ns = AGAIN * state.uses * state.plain_ns
        state.inspected, state.steady = None, False
        self._enter(state, "plain")

    def _enter(self, state: _RemapState, phase: Phase, turns: Sequence[_Turn] = ()) -> None:
        state.phase, state.counted, state.alarms = phase, 0, 0
        state.turns, state.times = list(turns), []


def _turn_of(time_ns: float) -> int:
    """How many calls that take so long are a longer turn."""
    return int(min(MOST_TURN, max(LEAST_TURN, TURN_NS / max(time_ns, 1.0))))


def _pairs(state: _RemapState) -> list[_Turn]:
    """The turns that decide: calls in order follow as many as iterations stand."""
    lengths = [FIRST_TURN] + [_turn_of(state.plain_ns)] * PAIRS
    return [_Turn(in_order, calls) for calls in lengths for in_order in (False, True)]


def _us(time_ns: float) -> str:
    return f"{time_ns / 1e3:.3g} us" if time_ns < 999_500 else f"{time_ns / 1e6:.3g} ms"

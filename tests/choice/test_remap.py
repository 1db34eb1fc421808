"""Whether iterations are put in order, on a simulated device, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from loopwright.choice.remap import (
    INSPECT_NS,
    INSPECTION_SHARE,
    LEAST_GAIN,
    MAKING_NS,
    Inspected,
    RemapChooser,
)
from loopwright.devices.simulated import Noise, Simulated
from loopwright.ir.signature import Shape
from loopwright.ir.variant import RECIPE, Variant
from loopwright.memory.sampled import Sampled
from loopwright.predict.remapped import RemapMeasures, remapped

PLAIN, IN_ORDER = Variant("cuda", RECIPE), Variant("cuda", "redirect i; recipe")
SHAPE = Shape((1 << 20,))
N = 1 << 20


def measures(ratio: float = 0.25, more_bytes: float = 0.0) -> RemapMeasures:
    return RemapMeasures(N, 100.0, 100.0 * ratio, 24.0 * N, 24.0 * N + more_bytes, 8.0 * N, 1e9)


@dataclass
class Timed:
    """A GPU whose timers tell what virtual time has gone by, and how long the host took to start the first call."""

    calls: Calls
    began_ns: int = 0
    took_ns: int = 0

    def timer(self, stream: int) -> Timed:
        return self

    def __enter__(self) -> None:
        self.began_ns = self.calls.device.clock.now_ns

    def __exit__(self, *_: object) -> None:
        self.took_ns = self.calls.device.clock.now_ns - self.began_ns + self.calls.latency_ns

    def finished_ns(self) -> int:
        return self.took_ns

    def synchronize(self) -> None:
        pass


@dataclass
class Calls:
    """Calls of a kernel on a GPU, some of which are timed. plain_ns, kept_ns, sort_ns: what they take in truth, as the
    number of the call tells; found: what inspections find; changes: after how many calls an order is out of date, 0
    for never. The time of a call in order contains finding it where it has none. latency_ns: what the host takes to
    start a call when the GPU has nothing to do. cold: by what factor calls are slower at first, and when code was
    made."""

    plain_ns: Callable[[int], float]
    kept_ns: Callable[[int], float]
    sort_ns: float = 50_000.0
    found: Inspected | None = field(default_factory=lambda: Inspected(measures(), ("t 1",)))
    changes: int = 0
    steps: str = "redirect i"
    noise: Noise = field(default_factory=lambda: Noise(spread=0.02, outliers=0.01))
    latency_ns: int = 0
    cold: float = 1.0
    made: int = 0
    total_ns: float = 0.0
    inspections: list[int] = field(default_factory=list)
    served: list[Variant] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        curves = {
            PLAIN: lambda sizes, now: self.plain_ns(self.made) * self._warmth(),
            IN_ORDER: lambda sizes, now: (
                (self.kept_ns(self.made) + (self.sort_ns if self._is_stale() else 0.0)) * self._warmth()
            ),
        }
        self.device = Simulated(curves, self.noise, 1)
        self.chooser = RemapChooser(PLAIN, self, 1.0, self.factors.append)
        self._entry, self._calls, self._known = PLAIN, 0, False
        self._cold_until = 1000
        self._times: list[int] = []

    def _warmth(self) -> float:
        return self.cold if self.made < self._cold_until else 1.0

    def _is_stale(self) -> bool:
        return not self._known or bool(self.changes and self.made % self.changes == 0)

    def inspect(self, arguments: tuple[object, ...]) -> Inspected | None:
        self.inspections.append(self.made)
        if self.changes and self.found is not None and self.found.versions is not None:
            return Inspected(self.found.measures, (f"t {self.made // self.changes}",))
        return self.found

    def _watch(self) -> None:
        if closely := self.chooser.closely(SHAPE):
            self._sampled.time_last(closely)

    def call(self, times: int = 1) -> None:
        """So many calls, as `runtime/dispatch.py` and `memory/offload.py` make them."""
        clock = self.device.clock
        for _ in range(times):
            if not self._calls:
                if self.chooser.due(SHAPE):
                    self.chooser.experiment(SHAPE, ())
                self._entry, self._times = self.chooser.choose(SHAPE), []
                self._sampled = Sampled(Timed(self))  # type: ignore[arg-type]
                self._watch()
                if self._entry == IN_ORDER and not self._known:
                    self._cold_until = self.made + 20
            self._calls += 1
            ended_ns = self._sampled.ended_ns(clock.now_ns)
            with self._sampled.around(0, clock.now_ns):
                self.total_ns += self.device.run(self._entry, SHAPE.sizes)
            self._sampled.made(clock.now_ns)
            self._known |= self._entry == IN_ORDER
            self.served.append(self._entry)
            self.made += 1
            ended_ns = ended_ns or self._sampled.waited_ns()
            if ended_ns is None:
                continue
            self._times.append(ended_ns)
            if len(self._times) >= self.chooser.patience(SHAPE, self._entry)[0]:
                times_ns, self._times = self._times, []
                if self.chooser.served(SHAPE, self._entry, times_ns, self._calls):
                    self._calls = 0
                else:
                    self._watch()

    def until(self, wanted: Variant, most: int = 200_000) -> int:
        """Calls until this one serves."""
        before = self.made
        while not self.served or self.served[-1] != wanted:
            assert self.made - before < most, f"{wanted} never serves: {self.why}"
            self.call()
        return self.made - before

    @property
    def why(self) -> str:
        return self.chooser.standings(SHAPE)[0].why


def always(time_ns: float) -> Callable[[int], float]:
    return lambda number: time_ns


def test_an_order_that_pays_serves_once_its_gain_is_as_large_as_its_cost() -> None:
    calls = Calls(always(400_000), always(110_000))
    made = calls.until(IN_ORDER)
    gain_ns = 400_000 - remapped(measures(), 400_000).mean_ns(1.0)
    assert made * gain_ns >= 0.9 * (INSPECT_NS + MAKING_NS)
    assert made * 400_000 <= 2.2 * max(INSPECT_NS / INSPECTION_SHARE, (INSPECT_NS + MAKING_NS) * 400_000 / gain_ns)
    calls.call(1000)
    assert set(calls.served[-700:]) == {IN_ORDER} and len(calls.inspections) <= 2
    decision, standings = calls.chooser.standings(SHAPE)
    assert (
        decision.why.startswith("predicted to pay: warps would do 25 % of their work") and "measured 1" in decision.why
    )
    assert [one.variant for one in standings] == [PLAIN, IN_ORDER] and decision.margin > 2.0


def test_a_small_gain_has_to_be_there_for_longer() -> None:
    calls = Calls(always(400_000), always(330_000), found=Inspected(measures(0.8), ("t 1",)))
    while not calls.inspections:
        calls.call()
    needed = (INSPECT_NS + MAKING_NS) / (400_000 - remapped(measures(0.8), 400_000).kept_ns)
    assert needed > 2 * calls.made
    assert 0.8 * needed < calls.until(IN_ORDER) + calls.inspections[0] < 1.2 * needed


def test_few_calls_are_neither_inspected_nor_put_in_order() -> None:
    calls = Calls(always(400_000), always(100_000))
    calls.call(int(MAKING_NS / 400_000))
    assert not calls.inspections and set(calls.served) == {PLAIN}


def test_inspections_cost_a_twentieth_of_the_time_at_most() -> None:
    calls = Calls(always(100_000), always(100_000), found=Inspected(measures(1.0), ("t 1",)))
    calls.call(200_000)
    assert set(calls.served) == {PLAIN} and 1 <= len(calls.inspections) <= 4
    assert len(calls.inspections) * INSPECT_NS <= 1.05 * INSPECTION_SHARE * calls.total_ns
    assert calls.why.startswith("predicted not to pay: warps would do 100 % of their work")


def test_lost_coalescing_is_predicted_to_cost_more_than_it_gains() -> None:
    calls = Calls(always(400_000), always(700_000), found=Inspected(measures(0.6, 72.0 * 16 * N), ("t 1",)))
    calls.call(50_000)
    assert set(calls.served) == {PLAIN} and "touch 49.0 times the memory" in calls.why


def test_a_loss_that_was_not_predicted_is_noticed_within_three_calls() -> None:
    calls = Calls(always(400_000), always(500_000))
    calls.until(IN_ORDER)
    calls.call(100)
    assert calls.served.count(IN_ORDER) == 3
    assert calls.why.startswith("measured to give no gain: ")
    assert calls.factors[-1] > 3.0, "predictions of this kernel are corrected from now on"


def test_a_corrected_prediction_does_not_repeat_the_mistake() -> None:
    calls = Calls(always(400_000), always(500_000))
    calls.until(IN_ORDER)
    calls.call(100_000)
    assert calls.served.count(IN_ORDER) == 3 and len(calls.inspections) > 1


def test_a_sort_that_is_needed_once_is_not_counted_in_each_call() -> None:
    """The order gains less than a sort takes: it pays only where it is kept, which two inspections tell."""
    wide = RemapMeasures(N, 100.0, 80.0, 1.0 * N, 1.0 * N, 1.0 * N, 1e9)
    predicted = remapped(wide, 250_000)
    assert predicted.mean_ns(0.0) < 0.95 * 250_000 < predicted.mean_ns(1.0)
    calls = Calls(always(250_000), always(205_000), found=Inspected(wide, ("t 1",)))
    calls.until(IN_ORDER)
    assert len(calls.inspections) >= 2 and "which is kept" in calls.why
    for versions in (None, ("t 1",)):
        changing = Calls(always(250_000), always(205_000), found=Inspected(wide, versions), changes=1)
        changing.call(100_000)
        assert set(changing.served) == {PLAIN} and len(changing.inspections) > 1


def test_keys_that_begin_to_change_are_noticed() -> None:
    calls = Calls(always(200_000), always(110_000), sort_ns=150_000.0)
    calls.until(IN_ORDER)
    calls.call(1000)
    calls.changes = 1
    assert calls.until(PLAIN) <= 400, "three times eight stretches of calls tell"
    calls.call(10)
    calls.call(10)
    assert "stopped being a gain" in calls.why


def test_where_calls_in_order_get_slower_they_are_compared_again() -> None:
    calls = Calls(
        lambda number: 400_000.0 if number < 10_000 else 180_000.0,
        lambda number: 110_000.0 if number < 10_000 else 200_000.0,
    )
    calls.until(IN_ORDER)
    calls.call(10_000)
    assert calls.served[-1] == PLAIN and "stopped being a gain" in calls.why
    both = Calls(
        lambda number: 400_000.0 if number < 10_000 else 700_000.0,
        lambda number: 110_000.0 if number < 10_000 else 200_000.0,
    )
    both.until(IN_ORDER)
    both.call(10_000)
    assert both.served[-1] == IN_ORDER and PLAIN in both.served[9_900:10_200]


def test_times_that_go_up_and_down_are_compared_no_more_often_than_is_cheap() -> None:
    calls = Calls(always(1_600_000), lambda number: 100_000.0 if number % 400 < 200 else 160_000.0)
    calls.until(IN_ORDER)
    calls.call(1000)
    before = len(calls.served)
    calls.call(20_000)
    compared = calls.served[before:].count(PLAIN)
    assert calls.served[-1] == IN_ORDER and compared > 0
    assert compared * 1_500_000 <= 0.03 * calls.total_ns


@pytest.mark.parametrize("seed", range(5))
def test_never_much_slower_than_the_default_alone(seed: int) -> None:
    """Of all calls together, inspections and code included, whatever predictions are worth."""
    times = (0.3, 0.8, 0.97, 1.2, 3.0)
    for ratio in (0.1, 0.5, 0.9):
        calls = Calls(always(100_000), always(100_000 * times[seed]), found=Inspected(measures(ratio), ("t 1",)))
        calls.call(100_000)
        costs = len(calls.inspections) * INSPECT_NS + (MAKING_NS if IN_ORDER in calls.served else 0)
        assert calls.total_ns + costs < 1.15 * 100_000 * 100_000 / (1.0 if times[seed] > 0.9 else (1.0 + LEAST_GAIN))


def test_a_kernel_without_a_legal_step_is_asked_once_and_left_alone() -> None:
    calls = Calls(always(400_000), always(100_000), steps="")
    calls.call(20_000)
    assert not calls.inspections and set(calls.served) == {PLAIN}
    assert calls.chooser.patience(SHAPE, PLAIN)[0] >= 2**62 and calls.chooser.over


def test_code_that_cannot_be_made_is_not_asked_for_again() -> None:
    calls = Calls(always(400_000), always(100_000))
    while calls.chooser.choose(SHAPE) != IN_ORDER:
        calls.call()
        if calls.chooser.due(SHAPE):
            calls.chooser.experiment(SHAPE, ())
    calls.chooser.failed(IN_ORDER, "too large")
    assert calls.chooser.choose(SHAPE) == PLAIN and not calls.chooser.due(SHAPE)
    assert calls.why == "the code in order cannot be made: too large"


def test_a_list_that_grows_is_one_shape_after_some() -> None:
    chooser = Calls(always(1.0), always(1.0)).chooser
    shapes = []
    for n in range(100):
        shapes.append(chooser.shape_of((np.zeros(n),)))
        assert chooser.choose(shapes[-1]) == PLAIN
    assert len(set(shapes)) == 17 and shapes[-1] == shapes[16] and chooser.shape_of((np.zeros(3),)) == shapes[3]
    assert chooser.patience(shapes[-1], PLAIN)[0] >= 2**62 and chooser.over


def test_calls_that_cannot_be_inspected_keep_the_default() -> None:
    calls = Calls(always(400_000), always(100_000), found=None)
    calls.call(30_000)
    assert len(calls.inspections) == 1 and set(calls.served) == {PLAIN}


# ---- what was measured on an H100 ---------------------------------------------------------------------------------

ROWS = [
    # data, iterations, work in order, memory touched in order; as they stand, in order found in each call, kept: us
    ("power law", 1 << 16, 0.25, 3.4, 29, 59, 28),
    ("power law", 1 << 20, 0.14, 3.4, 60, 70, 31),
    ("power law", 1 << 22, 0.15, 3.4, 161, 410, 294),
    ("one in 32", 1 << 16, 0.08, 1.2, 16, 61, 24),
    ("one in 32", 1 << 20, 0.07, 1.2, 82, 60, 25),
    ("one in 32", 1 << 22, 0.07, 1.2, 285, 207, 99),
    ("0 to 200", 1 << 16, 0.54, 3.8, 15, 53, 25),
    ("0 to 200", 1 << 20, 0.54, 3.7, 27, 76, 34),
    ("0 to 200", 1 << 22, 0.54, 3.8, 100, 473, 352),
    ("four branches", 1 << 16, 0.26, 2.8, 14, 50, 21),
    ("four branches", 1 << 20, 0.26, 2.8, 24.5, 59, 25),
    ("four branches", 1 << 22, 0.26, 2.8, 88, 276, 170),
]


@pytest.mark.parametrize("cold", [3.0, 8.0])
@pytest.mark.parametrize("keeps", [False, True], ids=["found", "kept"])
@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_what_is_faster_serves_whatever_calls_took_at_first(
    row: tuple[str, int, float, float, float, float, float], keeps: bool, cold: float
) -> None:
    """Calls are slower at first, and those timed alone contain what the host takes to start them."""
    _, n, ratio, touched, plain_us, found_us, kept_us = row
    found = RemapMeasures(n, 100.0, 100.0 * ratio, 24.0 * n, 24.0 * n * touched, 8.0 * n, 24.0 * n)
    calls = Calls(
        always(1e3 * plain_us),
        always(1e3 * kept_us),
        1e3 * (found_us - kept_us),
        Inspected(found, ("t 1",) if keeps else None),
        changes=0 if keeps else 1,
        latency_ns=60_000,
        cold=cold,
    )
    in_order_us = kept_us if keeps else found_us
    best = IN_ORDER if in_order_us < 0.95 * plain_us else PLAIN
    while calls.total_ns < 2e9 or (best == IN_ORDER and calls.total_ns < 5e9 and calls.served[-1] != best):
        calls.call(100)
    if plain_us > 2.5 * in_order_us:
        assert calls.total_ns < 2.5e9, "a large gain is not waited for"
    before_ns, tried = calls.total_ns, calls.served.count(IN_ORDER)
    calls.call(10_000)
    assert set(calls.served[-5_000:]) == {best}, calls.why
    usual = 1e3 * min(plain_us, in_order_us / (1.0 - LEAST_GAIN)) * 1.04  # a call in a hundred takes five times as long
    assert calls.total_ns - before_ns <= 1.02 * 10_000 * usual
    if best == PLAIN:
        assert tried <= 3 + 3 * 16

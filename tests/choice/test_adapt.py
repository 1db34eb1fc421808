"""What is chosen and learned over thousands of calls on a simulated device."""

from __future__ import annotations

import math

import pytest

from decide.serving import DEFAULT, NOISE, SHAPE, Serving, exactly, variant, work
from loopwright.choice.adapt import Adaptive
from loopwright.choice.knowledge import MOST_SHAPES
from loopwright.devices.simulated import Noise, drifting, linear, sawtooth, slowed
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.placement.single import VariantError
from loopwright.predict.prediction import Prediction

A, B, FAR = variant("a"), variant("b"), variant("a", "simulated1")
THREE = {DEFAULT: linear(1000.0), A: linear(800.0), B: linear(900.0)}
AT = 300 * 800_000  # the virtual time of some call in the middle


# ---- steady -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [NOISE, Noise(0.1), Noise(0.02, slow_mode=0.3), Noise(0.03, 0.01, first_call=4.0)])
def test_ten_thousand_steady_calls(noise: Noise) -> None:
    serving = Serving(THREE, noise, proven=(A, B))
    serving.call(times=10_000)
    assert serving.alarms <= 2
    assert serving.adaptive.switches <= 2
    assert serving.serving == A


def test_many_shapes_in_turn_are_steady() -> None:
    serving = Serving(THREE, proven=(A, B), seed=3)
    for call in range(10_000):
        serving.call(Shape((1000 + 100 * (call * 7 % 13),)))
    assert serving.alarms <= 2 and serving.adaptive.switches <= 4


def test_ever_new_shapes_are_steady_and_forgotten() -> None:
    serving = Serving(THREE, proven=(A, B))
    for call in range(MOST_SHAPES + 500):
        serving.call(Shape((1000 + call,)))
    assert serving.alarms <= 2
    assert len(serving.adaptive.knowledge.calls) == MOST_SHAPES == len(serving.adaptive._decisions)
    gone = serving.decisions[0]
    assert gone.shape not in serving.adaptive.knowledge.calls
    assert serving.adaptive.observe(gone, (1,))  # ask anew
    assert len(serving.rows) <= 32 + len(serving.decisions) // 16 + 1


def test_the_default_alone() -> None:
    serving = Serving({DEFAULT: linear(1000.0)})
    serving.call(times=500)
    assert (serving.serving, serving.experiments, serving.alarms) == (DEFAULT, [], 0)
    assert serving.decisions[-1].runner_up is None


def test_a_sawtooth_has_another_winner_in_each_region() -> None:
    curves = {DEFAULT: linear(1000.0), A: sawtooth(400_000.0, 512), B: sawtooth(170_000.0, 192)}
    serving = Serving(curves, proven=(A, B))
    for _ in range(40):
        for size in range(100, 2000, 100):
            serving.call(Shape((size,)))
    assert len({one.variant for one in serving.decisions}) == 3
    assert serving.took_ns / serving.best_ns < 1.02
    assert serving.alarms <= 1


# ---- predictions that are wrong -----------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [0.3, 1.7, 10.0])
def test_a_bias_that_all_predictions_share_switches_nothing(off: float) -> None:
    serving = Serving(THREE, proven=(A, B), predict=exactly(THREE, off=off))
    serving.call(times=500)
    assert (serving.adaptive.switches, serving.serving, serving.alarms) == (0, A, 0)
    other = Shape((3000,))
    decision = serving.adaptive.choose(other, work(other))
    assert decision.predicted_ns == pytest.approx(2.4e6, rel=0.05)


def test_one_prediction_that_is_wrong_is_found_out() -> None:
    def predict(shape: Shape, _: object) -> tuple[Prediction, ...]:
        return tuple(Prediction(time * shape.sizes[0], 0.1, "interpolated") for time in (1000.0, 500.0, 900.0))

    serving = Serving(THREE | {A: linear(2000.0)}, proven=(A, B), predict=predict)
    serving.call(times=5000)
    assert serving.serving == B
    assert serving.adaptive.switches <= 2
    assert serving.took_ns / serving.best_ns < 1.06  # some 200 calls, until an experiment is earned


def test_predictions_that_are_none_leave_the_default() -> None:
    def nothing(_: Shape, __: object) -> tuple[Prediction, ...]:
        return tuple(Prediction(math.nan, math.nan, "extrapolated") for _ in THREE)

    serving = Serving(THREE, predict=nothing, proven=(A, B))
    serving.call(times=300)
    assert serving.serving == DEFAULT and serving.alarms == 0


def test_times_of_zero_are_calls_too() -> None:
    serving = Serving(THREE, proven=(A,))
    decision = serving.adaptive.choose(SHAPE, work(SHAPE))
    for _ in range(100):
        serving.adaptive.observe(decision, (0, 0))
    assert not serving.adaptive.observe(decision, ())
    assert serving.adaptive.account.total_ns == 0


# ---- times that move ----------------------------------------------------------------------------------------------


def first_alarm(serving: Serving, at_ns: int, limit: int = 30) -> int:
    """How many calls after `at_ns` the choice was opened."""
    while serving.device.clock.now_ns < at_ns:
        serving.call()
    before, alarms = len(serving.decisions), serving.alarms
    while serving.alarms == alarms and len(serving.decisions) < before + limit:
        serving.call()
    assert serving.alarms > alarms
    return len(serving.decisions) - before


@pytest.mark.parametrize("seed", range(8))
def test_a_device_that_slows_down_is_found_within_30_calls(seed: int) -> None:
    curves = {one: slowed(curve, 1.5, AT) for one, curve in THREE.items()}
    serving = Serving(curves, seed=seed, proven=(A, B))
    assert first_alarm(serving, AT) <= 30
    serving.call(times=2000)
    assert serving.serving == A
    assert serving.adaptive.switches <= 2 and serving.alarms <= 2
    assert serving.took_ns / serving.best_ns < 1.01


def test_a_device_that_slows_down_is_found_over_many_shapes() -> None:
    curves = {one: slowed(curve, 1.5, 3 * AT) for one, curve in THREE.items()}
    serving = Serving(curves, proven=(A, B))
    shapes = [Shape((900 + 20 * number,)) for number in range(10)]
    while serving.device.clock.now_ns < 3 * AT:
        for shape in shapes:
            serving.call(shape)
    before = len(serving.decisions)
    for call in range(30):
        serving.call(shapes[call % 10])
    assert serving.alarms == 1 and before < serving.opened[-1] <= before + 30
    for call in range(1000):
        serving.call(shapes[call % 10])
    assert serving.alarms <= 2 and serving.adaptive.switches <= 10


def test_a_device_that_slows_down_is_found_where_every_shape_is_new() -> None:
    curves = {one: slowed(curve, 1.5, AT) for one, curve in THREE.items()}
    serving = Serving(curves, proven=(A, B))
    size = 800
    while not serving.alarms and size < 3000:
        size += 1
        serving.call(Shape((size,)))
    assert 0 < serving.device.clock.now_ns - AT < 30 * 1.6e6
    other = Shape((5000,))
    assert serving.adaptive.choose(other, work(other)).predicted_ns == pytest.approx(6e6, rel=0.1)


def test_one_variant_that_slows_down_is_left_and_taken_again_when_it_has_recovered() -> None:
    curves = THREE | {A: slowed(linear(800.0), 1.5, AT, 4 * AT)}
    serving = Serving(curves, proven=(A, B))
    assert first_alarm(serving, AT) <= 30
    serving.call(times=300)
    assert serving.serving == B
    serving.call(times=8000)
    assert serving.serving == A
    assert serving.adaptive.switches == 2
    assert serving.took_ns / serving.best_ns < 1.02


def test_what_one_measurement_shows_counts_for_the_others_in_doubt() -> None:
    curves = THREE | {A: slowed(linear(800.0), 2.0, AT)}
    serving = Serving(curves, proven=(A, B))
    first_alarm(serving, AT)
    doubted = {one.variant: one.prediction.time_ns for one in serving.adaptive.standings(SHAPE)}
    assert doubted[DEFAULT] == pytest.approx(2e6, rel=0.1)
    serving.call(times=200)
    settled = {one.variant: one.prediction.time_ns for one in serving.adaptive.standings(SHAPE)}
    assert settled[DEFAULT] == pytest.approx(1e6, rel=0.1)
    assert settled[A] == pytest.approx(1.6e6, rel=0.1)


def test_another_device_is_not_taken_to_have_changed() -> None:
    curves = {DEFAULT: slowed(linear(800.0), 1.5, AT), FAR: linear(1000.0)}
    serving = Serving(curves, proven=(FAR,), share=0.0)
    assert first_alarm(serving, AT) <= 30
    serving.call()
    assert serving.serving == FAR
    serving.call(times=1000)
    assert serving.adaptive.switches == 1


def test_one_shape_that_changes_alone_is_found_among_others() -> None:
    def curve(sizes: tuple[int, ...], now: int) -> float:
        return 800.0 * sizes[0] * (1.6 if sizes == (1000,) and now > 6 * AT else 1.0)

    serving = Serving({DEFAULT: linear(2000.0), A: curve}, proven=(A,))
    shapes = [Shape((1000 + 10 * number,)) for number in range(10)]
    for call in range(4000):
        serving.call(shapes[call % 10])
    assert serving.alarms == 1
    now = serving.adaptive.choose(shapes[0], work(shapes[0])).predicted_ns
    assert now == pytest.approx(1.28e6, rel=0.05)
    beside = serving.adaptive.choose(shapes[1], work(shapes[1])).predicted_ns
    assert beside == pytest.approx(0.808e6, rel=0.05)


def test_a_slow_drift_ends_in_another_choice() -> None:
    curves = THREE | {A: drifting(linear(800.0), 1.5, AT, 5 * AT)}
    serving = Serving(curves, proven=(A, B))
    serving.call(times=4000)
    assert serving.serving == B
    assert serving.alarms >= 1 and serving.adaptive.switches <= 3


def test_a_device_that_goes_up_and_down_does_not_make_the_choice_swing() -> None:
    def swinging(factor: float) -> object:
        return lambda sizes, now: factor * sizes[0] * (1.5 if now // 200_000_000 % 2 else 1.0)

    curves = {one: swinging(factor) for one, factor in ((DEFAULT, 1000.0), (A, 800.0), (B, 880.0))}
    serving = Serving(curves, proven=(A, B))  # type: ignore[arg-type]
    serving.call(times=6000)
    turns = serving.device.clock.now_ns // 200_000_000
    assert turns > 20
    assert serving.alarms <= turns + 2
    assert serving.adaptive.switches <= turns / 4
    assert serving.took_ns / serving.best_ns < 1.02


@pytest.mark.parametrize(
    ("noise", "most"), [(NOISE, 2), (Noise(0.05, 0.02, slow_mode=0.2), 6)], ids=["usual", "loud and bimodal"]
)
@pytest.mark.parametrize("seed", range(4))
def test_equals_do_not_take_turns(seed: int, noise: Noise, most: int) -> None:
    curves = {DEFAULT: linear(1000.0), **{variant(number): linear(1000.0) for number in range(10)}}
    serving = Serving(curves, noise, seed=seed, proven=tuple(curves)[1:])
    serving.call(times=2500)
    switches = serving.adaptive.switches
    assert switches <= most
    serving.call(times=2500)
    assert serving.adaptive.switches <= switches + 1


# ---- one hundred variants -----------------------------------------------------------------------------------------

HUNDRED = {DEFAULT: linear(1400.0)} | {variant(one): linear(700.0 + one * 37 % 100 * 8) for one in range(99)}


@pytest.mark.parametrize(("how", "error", "off"), [("interpolated", 0.1, 1.0), ("limits", 1.0, 0.4)])
def test_one_hundred_variants_without_evidence(how: str, error: float, off: float) -> None:
    predict = exactly(HUNDRED, error, how, off)  # type: ignore[arg-type]
    serving = Serving(HUNDRED, predict=predict, compile_ns=20_000_000)
    serving.call(times=200)
    assert serving.serving == DEFAULT  # not enough was earned yet
    serving.call(times=8000)
    assert serving.device.exact_ns(serving.serving, SHAPE.sizes) <= 700_000 * 1.05
    assert serving.adaptive.switches <= 5
    assert len(serving.experiments) < 20


def test_one_hundred_variants_with_predictions_that_err() -> None:
    def predict(shape: Shape, _: object) -> tuple[Prediction, ...]:
        return tuple(
            Prediction(curve(shape.sizes, 0) * math.exp(0.1 * math.sin(37 * index)), 0.1, "interpolated")
            for index, curve in enumerate(HUNDRED.values())
        )

    serving = Serving(HUNDRED, predict=predict, proven=tuple(HUNDRED)[1:])
    serving.call(times=4000)
    assert serving.device.exact_ns(serving.serving, SHAPE.sizes) <= 700_000 * 1.1
    assert serving.adaptive.switches <= 10


# ---- pins ---------------------------------------------------------------------------------------------------------


def test_a_pin_serves_and_is_measured_and_changes_nothing() -> None:
    serving = Serving(THREE, proven=(A,))
    decision = serving.adaptive.choose(SHAPE, work(SHAPE), DEFAULT)
    assert (decision.variant, decision.proven, decision.why) == (DEFAULT, True, "pinned by the options")
    for _ in range(10):
        serving.adaptive.observe(decision, (1_000_000,))
    assert serving.adaptive.choose(SHAPE, work(SHAPE)).variant == A
    assert serving.adaptive.standings(SHAPE)[0].calls == 10


def test_a_pin_without_evidence_says_so() -> None:
    serving = Serving(THREE)
    assert not serving.adaptive.choose(SHAPE, work(SHAPE), A).proven


def test_a_pin_that_cannot_serve_is_an_error() -> None:
    serving = Serving(THREE)
    serving.adaptive.prove(A, "wrong", "b[0] is 1.0, not 2.0")
    with pytest.raises(VariantError, match=r"'simulated: tile i a' does not serve: wrong\n  b\[0\] is 1.0, not 2.0"):
        serving.adaptive.choose(SHAPE, work(SHAPE), A)
    with pytest.raises(VariantError, match="has no variant 'cuda: recipe'"):
        serving.adaptive.choose(SHAPE, work(SHAPE), Variant("cuda"))


# ---- what is handed in --------------------------------------------------------------------------------------------


def test_new_tables_and_more_candidates() -> None:
    serving = Serving(THREE, proven=(A, B), share=0.0)
    serving.call(times=100)
    c = variant("c")
    more = THREE | {c: linear(400.0)}
    serving.device.curves = more
    serving.curves = more
    serving.adaptive.refresh(exactly(more, off=2.0), tuple(more))
    serving.call(times=10)
    assert serving.serving == A  # there is no evidence of the new one, but what was learned of this one
    assert serving.adaptive.prove(c, "ok")
    serving.call(times=300)
    assert serving.serving == c and serving.alarms == 0
    with pytest.raises(ValueError, match="keep their order"):
        serving.adaptive.refresh(exactly(THREE), (A, DEFAULT, B))


@pytest.mark.parametrize(
    ("variants", "message"),
    [([], "none of these is one"), ([A], "none of these is one"), ([DEFAULT, A, A], "twice")],
)
def test_candidates_that_are_none(variants: list[Variant], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Adaptive("kernel", {}, variants, exactly({}), now=lambda: 0.0)


def test_a_long_batch_is_as_good_as_single_calls() -> None:
    serving = Serving(THREE, proven=(A, B))
    decision = serving.adaptive.choose(SHAPE, work(SHAPE))
    times = [serving.device.run(A, SHAPE.sizes) for _ in range(2000)]
    for start in range(0, 2000, 500):
        assert not serving.adaptive.observe(decision, times[start : start + 500])
    assert serving.adaptive.observe(decision, [round(1.5 * one) for one in times[:500]])
    assert serving.alarms == 1

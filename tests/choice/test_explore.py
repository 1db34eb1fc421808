"""Experiments: what they may cost, whatever happens, and that nothing serves without evidence."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decide.serving import DEFAULT, SHAPE, Serving, exactly, variant, work
from loopwright.choice.explore import Account, ExperimentResult, expected_improvement
from loopwright.devices.simulated import Fault, Noise, linear, slowed
from loopwright.ir.signature import Shape
from loopwright.profile.measurement import Work

A, B, C = variant("a"), variant("b"), variant("c")
FOUR = {DEFAULT: linear(1000.0), A: linear(500.0), B: linear(600.0), C: linear(700.0)}


@settings(max_examples=40, deadline=None)
@given(
    share=st.sampled_from([0.0, 0.01, 0.05, 0.5]),
    speeds=st.lists(st.floats(10, 5000), min_size=1, max_size=6),
    faults=st.lists(st.sampled_from([None, *get_args(Fault)]), min_size=6, max_size=6),
    compile_ns=st.integers(0, 100_000_000),
    expected_compile_ns=st.integers(0, 10_000_000),
    off=st.floats(0.1, 10),
    error=st.floats(0, 2),
    how=st.sampled_from(["interpolated", "limits", "extrapolated"]),
    seed=st.integers(0, 100),
    slow=st.floats(0.3, 3),
)
def test_no_more_is_spent_than_was_earned(
    share, speeds, faults, compile_ns, expected_compile_ns, off, error, how, seed, slow
):
    """`Serving` asserts after every experiment that the budget was kept, and at every call that evidence is there."""
    others = {variant(number): linear(speed) for number, speed in enumerate(speeds)}
    curves = {one: slowed(curve, slow, 100_000_000) for one, curve in ({DEFAULT: linear(1000.0)} | others).items()}
    failing = {one: fault for one, fault in zip(others, faults, strict=False) if fault is not None}
    serving = Serving(
        curves, Noise(0.1, 0.05), seed, failing, exactly(curves, error, how, off), compile_ns=compile_ns, share=share
    )
    serving.adaptive._make_ns = expected_compile_ns
    for call in range(300):
        serving.call(Shape((1000 + call % 3,)))
    account = serving.adaptive.account
    assert account.spent_ns == sum(evidence.spent_ns for _, evidence in serving.experiments)
    assert account.spent_ns <= share * account.total_ns
    assert not account.reserved_ns


def test_a_first_call_never_waits() -> None:
    serving = Serving(FOUR)
    decision = serving.adaptive.choose(SHAPE, work(SHAPE))
    assert decision.variant == DEFAULT and decision.proven
    assert serving.adaptive.explore(SHAPE) is None
    assert serving.adaptive.explore(Shape((7,))) is None


def test_exploration_off() -> None:
    serving = Serving(FOUR, share=0.0, proven=(B,))
    serving.call(times=1000)
    assert (serving.experiments, serving.serving) == ([], B)


@pytest.mark.parametrize("fault", get_args(Fault))
def test_a_candidate_that_fails_is_never_tried_again_and_never_serves(fault: Fault) -> None:
    serving = Serving(FOUR, faults={A: fault})
    serving.call(times=3000)
    tried = [evidence.outcome for experiment, evidence in serving.experiments if experiment.variant == A]
    states = {one.variant: one.state for one in serving.adaptive.standings(SHAPE)}
    assert serving.serving == B and states[B] == "proven"
    if fault == "timeout":  # ended for the budget's sake: each time it gets twice as long, and is worth less
        assert set(tried) == {"timeout"} and len(tried) <= 6
        assert states[A] in ("timeout", "untried")
        return
    assert tried == [fault] and states[A] == fault
    assert [row.outcome for row in serving.rows if row.variant == A] == [fault]


def test_a_candidate_that_hangs_for_ten_times_what_was_expected_has_failed() -> None:
    serving = Serving(FOUR, share=0.5)
    decision = serving.adaptive.choose(SHAPE, work(SHAPE))
    serving.adaptive.observe(decision, (1_000_000,) * 1000)
    experiment = serving.adaptive.explore(SHAPE)
    assert experiment is not None and experiment.limit_ns == 10 * experiment.expected_ns
    assert serving.adaptive.finish(experiment, ExperimentResult("timeout", (), experiment.limit_ns))
    assert serving.adaptive.standings(SHAPE)[experiment.index].state == "timeout"


def test_a_candidate_without_memory_may_serve_smaller_calls() -> None:
    small, large = Shape((10,)), Shape((100_000,))
    serving = Serving(FOUR, proven=(A,))
    tell = serving.adaptive.candidates.tell
    tell(1, "memory", "8 GB asked for", large, work(large))
    assert serving.adaptive.choose(small, work(small)).variant == A
    assert serving.adaptive.choose(large, work(large)).variant == DEFAULT
    tell(1, "memory", "even less", small, work(small))
    assert serving.adaptive.candidates.serving(work(small)) == (0,)
    tell(1, "wrong", "", small, work(small))
    tell(1, "ok", "", small, work(small))  # a failure is for good
    assert serving.adaptive.candidates.serving(Work(footprint_bytes=1.0)) == (0,)


def test_a_variant_that_turns_out_wrong_is_taken_away_at_once() -> None:
    serving = Serving(FOUR, proven=(A, B))
    serving.call(times=20)
    assert serving.serving == A
    assert serving.adaptive.prove(A, "wrong", "found later")
    serving.call()
    assert serving.serving == B


def test_the_default_serves_whatever_is_told_of_it() -> None:
    serving = Serving(FOUR)
    serving.adaptive.prove(DEFAULT, "crashed", "once")
    assert serving.adaptive.choose(SHAPE, work(SHAPE)).variant == DEFAULT


def test_experiments_pay_off() -> None:
    serving = Serving(FOUR, compile_ns=10_000_000)
    serving.call(times=5000)
    assert serving.serving == A
    spent = serving.adaptive.account.spent_ns
    serving.call(times=5000)
    assert serving.adaptive.account.spent_ns == spent  # nothing is left to find out


def test_a_candidate_measured_beside_the_one_that_serves_is_compared_as_a_pair() -> None:
    serving = Serving(FOUR, share=0.5)
    decision = serving.adaptive.choose(SHAPE, work(SHAPE))
    for _ in range(50):
        serving.adaptive.observe(decision, (1_000_000,))
    experiment = serving.adaptive.explore(SHAPE)
    assert experiment is not None and experiment.purpose == "prove"
    warm = ExperimentResult("ok", (400_000, 400_000, 400_000), 3_000_000, (500_000, 500_000, 500_000))
    assert serving.adaptive.finish(experiment, warm)
    assert serving.adaptive.choose(SHAPE, work(SHAPE)).predicted_ns == pytest.approx(800_000)


def test_one_experiment_at_a_time() -> None:
    serving = Serving(FOUR, share=0.5)
    decision = serving.adaptive.choose(SHAPE, work(SHAPE))
    serving.adaptive.observe(decision, (1_000_000,) * 50)
    experiment = serving.adaptive.explore(SHAPE)
    assert experiment is not None
    assert serving.adaptive.explore(SHAPE) is None
    assert serving.adaptive.account.reserved_ns == experiment.limit_ns
    with pytest.raises(ValueError, match="one time at least"):
        serving.adaptive.finish(experiment, ExperimentResult("ok"))
    serving.adaptive.abandon(experiment, 5)
    assert (serving.adaptive.account.reserved_ns, serving.adaptive.account.spent_ns) == (0, 5)
    with pytest.raises(ValueError, match="does not run"):
        serving.adaptive.finish(experiment, ExperimentResult("wrong"))
    assert serving.adaptive.explore(SHAPE) is not None


def test_an_account_pays_only_what_it_has() -> None:
    account = Account(0.05, total_ns=1000)
    assert account.credit_ns == 50
    with pytest.raises(ValueError, match="51 ns is more than the 50 ns"):
        account.reserve(51)
    account.reserve(30)
    assert account.credit_ns == 20
    account.settle(30, 10)
    assert account.credit_ns == 40
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            Account(share)


@pytest.mark.parametrize(
    ("best", "time", "error", "expected"),
    [
        (100, 80, 0.0, 20),
        (100, 120, 0.0, 0),
        (100, 100, 0.15, 10 / math.sqrt(2 * math.pi)),  # one deviation is 10
        (100, 110, 0.15 / 1.1, 0.833),
        (100, 50, math.inf, 100),
        (100, 50, math.nan, 50),
    ],
)
def test_expected_improvement(best: float, time: float, error: float, expected: float) -> None:
    assert expected_improvement(best, time, error) == pytest.approx(expected, rel=1e-3)


def test_expected_improvement_grows_with_the_error_up_to_all_there_is() -> None:
    gains = [expected_improvement(100, 150, error / 10) for error in range(200)]
    assert gains == sorted(gains) and gains[-1] <= 100

"""Goals, and who takes part when joules count: cases that can be computed by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.placement.energy import (
    Goal,
    Power,
    Wanted,
    best_of,
    by_goal,
    by_watts,
    candidates,
    cost,
    parse_goal,
    race_joules,
    watts_per_iteration,
)
from loopwright.placement.split import Time

SECOND = 1e9


def each(seconds: float, fixed: float = 0.0) -> Time:
    return lambda part: (fixed + seconds * len(part)) * SECOND


# A CPU of 64 W above idle and a GPU of 182.5 W above idle (half of a dual card of 365 W).
CPU, GPU = Power(80.0, 16.0), Power(200.0, 17.5)


@dataclass(frozen=True)
class Cost:
    makespan_ns: float
    joules: float


# ---- goals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("time", Goal("time")),
        ("energy", Goal("energy")),
        (" edp ", Goal("edp")),
        ("time within 10% energy", Goal("time", 0.1, "energy")),
        ("energy within 2.5 % time", Goal("energy", 0.025, "time")),
        ("time within 0% edp", Goal("time", 0.0, "edp")),
    ],
)
def test_goals_read_back(text: str, goal: Goal) -> None:
    assert parse_goal(text) == goal
    assert parse_goal(str(goal)) == goal


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begins with none of time, energy, edp"),
        ("speed", "begins with none of"),
        ("time in 10% energy", "is not understood after 'time'"),
        ("time within 10 energy", "is not understood after 'time'"),
        ("time within ten% energy", "'ten' is not a percentage"),
        ("time within -5% energy", "must be 0 or more"),
        ("time within nan% energy", "must be 0 or more"),
        ("time within 5% time", "time is bounded by one of energy, edp, not by 'time'"),
        ("energy within 5% watts", "energy is bounded by one of time, edp, not by 'watts'"),
    ],
)
def test_goals_that_are_none_say_why(text: str, says: str) -> None:
    with pytest.raises(ValueError, match="try: one of time, energy, edp, or such as 'time within 10% energy'") as found:
        parse_goal(text)
    assert says in str(found.value) and repr(text) in str(found.value)


FAST, FRUGAL, BOTH = Cost(1.0 * SECOND, 100.0), Cost(4.0 * SECOND, 40.0), Cost(2.0 * SECOND, 44.0)


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        ("time", FAST),
        ("energy", FRUGAL),
        ("edp", BOTH),  # 100, 160 and 88 J s
        ("time within 10% energy", BOTH),  # at most 44 J
        ("time within 9% energy", FRUGAL),
        ("time within 200% energy", FAST),
        ("energy within 100% time", BOTH),
        ("energy within 50% time", FAST),
        ("energy within 300% time", FRUGAL),
        ("time within 0% edp", BOTH),
    ],
)
def test_goals_choose(goal: str, wanted: Cost) -> None:
    assert best_of([FAST, FRUGAL, BOTH], parse_goal(goal)) is wanted


def test_between_equals_the_shorter_time_wins() -> None:
    slow, quick = Cost(2.0, 5.0), Cost(1.0, 5.0)
    assert best_of([slow, quick], Goal("energy")) is quick
    assert best_of([Cost(1.0, math.nan), slow], Goal("energy")) is slow
    assert cost(Cost(2 * SECOND, 3.0), "edp") == 6.0
    with pytest.raises(ValueError, match="there is none"):
        best_of([], Goal())


# ---- the least sum of P_i * T_i -----------------------------------------------------------------------------------


def test_joules_by_hand() -> None:
    """100 iterations, 1 s each on the CPU and 0.25 s on the GPU: 20 and 80 of them, 20 s. The CPU takes 6400 J by
    itself, the GPU 4562.5 J, and both 20 s * (64 W + 182.5 W) = 4930 J."""
    found = {one.devices: one for one in candidates(range(100), [each(1), each(0.25)], [CPU, GPU], Goal("energy"))}
    assert {devices: (one.makespan_ns / SECOND, one.joules) for devices, one in found.items()} == {
        (0,): (100, pytest.approx(6400)),
        (1,): (25, pytest.approx(4562.5)),
        (0, 1): (20, pytest.approx(4930)),
    }
    assert found[0, 1].idle_joules == pytest.approx(20 * 33.5)


@pytest.mark.parametrize(
    ("goal", "devices"),
    [
        ("time", (0, 1)),
        ("energy", (1,)),
        ("edp", (0, 1)),  # 98600 J s, and 114063 J s
        ("time within 5% energy", (1,)),
        ("time within 10% energy", (0, 1)),  # 8 % more than the least
        ("energy within 25% time", (1,)),
        ("energy within 20% time", (0, 1)),
    ],
)
def test_devices_by_goal(goal: str, devices: tuple[int, ...]) -> None:
    assert by_goal(range(100), [each(1), each(0.25)], [CPU, GPU], parse_goal(goal)).devices == devices


def test_a_call_that_suits_the_cpu_leaves_the_gpus_out() -> None:
    """As doitgen in the thesis: the GPU is a little faster, and takes three times the power."""
    assert by_goal(range(100), [each(1), each(0.8)], [CPU, GPU], Goal("energy")).devices == (0,)


def test_of_four_devices_the_two_best_are_chosen() -> None:
    times = [each(1), each(0.25, fixed=1), each(0.25, fixed=1), each(0.5)]
    powers = [CPU, GPU, GPU, Power(300, 10)]
    assert by_goal(range(200), times, powers, Goal("energy")).devices in [(1,), (2,)]
    assert by_goal(range(200), times, powers, Goal("time")).devices == (0, 1, 2, 3)
    assert by_goal(range(200), times, powers, parse_goal("time within 3% energy")).devices == (1, 2)


def test_many_devices_are_left_out_one_by_one() -> None:
    times, powers = [each(1)] * 6 + [each(0.9)] * 6, [Power(50)] * 6 + [Power(500)] * 6
    assert len(candidates(range(1200), times, powers, Goal("energy"))) < 100
    found = by_goal(range(1200), times, powers, Goal("energy"))
    assert found.joules == pytest.approx(1200 * 50) and set(found.devices) <= set(range(6))
    assert len(by_goal(range(1200), times, powers, Goal("time")).devices) == 12


@given(
    st.integers(0, 300),
    st.lists(st.tuples(st.floats(0.01, 5), st.floats(0, 20), st.floats(0, 300)), min_size=1, max_size=4),
    st.sampled_from(["time", "energy", "edp"]),
    st.floats(0, 2),
)
def test_the_chosen_meets_its_goal(
    size: int, devices: list[tuple[float, float, float]], wanted: Wanted, within: float
) -> None:
    times, powers = [each(a, b) for a, b, _ in devices], [Power(watts) for _, _, watts in devices]
    found = by_goal(range(size), times, powers, Goal(wanted))
    assert [one for part in found.parts for one in part] == list(range(size))
    for time, power in zip(times, powers, strict=True):
        took = time(range(size)) if size else 0.0
        alone = Cost(took, power.added * took / SECOND)
        assert cost(found, wanted) <= cost(alone, wanted) * (1 + 1e-9)
    bounded = by_goal(range(size), times, powers, Goal("time", within, "energy"))
    least = by_goal(range(size), times, powers, Goal("energy"))
    assert bounded.joules <= least.joules * (1 + within) * (1 + 1e-9)


# ---- watts per iteration ------------------------------------------------------------------------------------------


def test_watts_per_iteration_by_hand() -> None:
    """A ratio of about 4, as gemm's in the thesis, does not trip a threshold of a tenth, and one of 0.3 does."""
    times, powers = [each(1), each(1 / 11)], [Power(64), Power(182.5)]
    parts = (range(100), range(100, 1200))
    watts = watts_per_iteration(parts, powers)
    assert watts == (pytest.approx(0.64), pytest.approx(182.5 / 1100))
    assert watts[0] / watts[1] == pytest.approx(3.86, abs=0.01)
    times = [each(1), each(1 / 9)]  # 120 and 1080 iterations: above a tenth, so that counting leaves it in
    assert by_watts(range(1200), times, powers).devices == (0, 1)
    assert by_watts(range(1200), times, powers, threshold=0.3).devices == (0, 1)  # 0.533 over 0.169: 3.2
    assert by_watts(range(1200), times, powers, threshold=0.35).devices == (1,)


def test_the_worst_is_left_out_first_and_the_rest_is_balanced_again() -> None:
    times, powers = [each(1), each(0.5), each(0.5)], [Power(500), Power(100), Power(100)]
    found = by_watts(range(1000), times, powers, threshold=0.5)
    assert found.devices == (1, 2)
    assert [len(part) for part in found.parts] == [0, 500, 500]
    assert found.joules == pytest.approx(2 * 100 * 250)


def test_a_threshold_of_one_keeps_the_least_only() -> None:
    times, powers = [each(1), each(0.5), each(0.5)], [Power(100), Power(101), Power(100)]
    assert by_watts(range(1000), times, powers, threshold=1).devices == (2,)
    assert by_watts(range(1000), times, powers, threshold=1e-9).devices == (0, 1, 2)


def test_a_triangle_is_counted() -> None:
    powers = [Power(10), Power(10)]
    triangle = lambda part: float(sum(part))  # noqa: E731
    parts = (range(10), range(10, 20))
    assert watts_per_iteration(parts, powers, triangle) == (pytest.approx(10 / 45), pytest.approx(10 / 145))
    assert watts_per_iteration((range(0), range(5)), powers) == (math.inf, 2.0)


# ---- the rest -----------------------------------------------------------------------------------------------------


def test_a_race_takes_everybodys_watts_until_the_first_has_ended() -> None:
    assert race_joules([2 * SECOND, 5 * SECOND], [CPU, GPU]) == pytest.approx(2 * (64 + 182.5))
    assert race_joules([], []) == 0.0


def test_no_iterations_take_no_joules() -> None:
    found = by_goal(range(0), [each(1), each(1)], [CPU, GPU], Goal("energy"))
    assert (found.joules, found.idle_joules, found.makespan_ns) == (0.0, 0.0, 0.0)
    assert by_watts(range(0), [each(1), each(1)], [CPU, GPU]).devices == ()


@pytest.mark.parametrize("watts", [(10, 20), (-1, 0), (5, -1), (math.nan, 0), (math.inf, 0)])
def test_watts_that_make_no_sense_are_refused(watts: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="it takes more at work"):
        Power(*watts)


def test_devices_without_watts_are_refused() -> None:
    for policy in (lambda *one: by_goal(*one, Goal()), by_watts):
        with pytest.raises(ValueError, match="one each"):
            policy(range(10), [each(1), each(1)], [CPU])
        with pytest.raises(ValueError, match="one at least"):
            policy(range(10), [], [])
    for threshold in (0.0, 1.1, math.nan):
        with pytest.raises(ValueError, match="must lie in"):
            by_watts(range(10), [each(1)], [CPU], threshold=threshold)

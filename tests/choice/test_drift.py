"""The sequential test against streams by seed: how soon it finds a move, and how rarely one that is not there."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest

from loopwright.choice.drift import CALIBRATION, CLIP, LEARNED, STEPS, THRESHOLD, Cusum, Drift, Reference

STEADY = 10_000


def stream(
    seed: int,
    calls: int,
    spread: float = 0.03,
    outliers: float = 0.01,
    slow: float = 0.0,
    moved: tuple[int, float] = (0, 1),
) -> Iterator[float]:
    """Logarithms of times: noise, outliers of 5 times, a slow mode of 1.4 times, from a call on longer by a factor."""
    draw = random.Random(seed)
    for call in range(calls):
        value = draw.gauss(0.5, spread)  # predictions are off by e^0.5
        value += math.log(5) if draw.random() < outliers else 0.0
        value += math.log(1.4) if draw.random() < slow else 0.0
        yield value + (math.log(moved[1]) if call >= moved[0] else 0.0)


def alarms(values: Iterator[float]) -> list[tuple[int, float]]:
    """(number of the call, by how much) of each alarm."""
    drift, found = Drift(), []
    for call, value in enumerate(values):
        by = drift.add([value])
        if by is not None:
            found.append((call, by))
            drift.moved(by)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_ten_thousand_steady_calls_raise_two_alarms_at_most(seed: int) -> None:
    assert len(alarms(stream(seed, STEADY))) <= 2


@pytest.mark.parametrize("kind", [{"spread": 0.15}, {"slow": 0.1}, {"slow": 0.3}, {"slow": 0.5}, {"outliers": 0.05}])
def test_loud_or_bimodal_timings_are_steady_too(kind: dict[str, float]) -> None:
    assert len(alarms(stream(1, STEADY, **kind))) <= 2


@pytest.mark.parametrize("factor", [1.5, 1 / 1.5, 3.0, 0.2])
def test_a_large_move_is_found_within_30_calls(factor: float) -> None:
    for seed in range(50):
        (call, by), *others = alarms(stream(seed, 400, moved=(200, factor)))
        assert 200 <= call < 230
        assert by == pytest.approx(math.log(factor), abs=0.1)
        assert not others


@pytest.mark.parametrize("kind", [{}, {"spread": 0.1}, {"slow": 0.1}])
def test_a_small_move_is_found_in_the_end(kind: dict[str, float]) -> None:
    for seed in range(10):
        assert alarms(stream(seed, 1200, moved=(200, 1.2), **kind))[0][0] >= 200


def test_a_slow_drift_is_found_before_it_is_over() -> None:
    for seed in range(10):
        values = [value + 0.4 * call / 2000 for call, value in enumerate(stream(seed, 2000))]
        found = alarms(iter(values))
        assert found[0][0] < 1500 and 2 <= len(found) <= 6
        assert sum(by for _, by in found) == pytest.approx(0.4, abs=0.15)


def test_a_move_is_found_in_long_batches_too() -> None:
    values = list(stream(3, 20_000, moved=(10_000, 1.5)))
    drift = Drift()
    for start in range(0, 10_000, 1000):
        assert drift.add(values[start : start + 1000]) is None
    assert drift.add(values[10_000:11_000]) == pytest.approx(math.log(1.5), abs=0.02)


def test_single_calls_after_long_batches_are_steady() -> None:
    for seed in range(5):
        values = list(stream(seed, 14_000, slow=0.3))
        drift = Drift()
        for start in range(0, 10_000, 1000):
            assert drift.add(values[start : start + 1000]) is None
        assert sum(drift.add([value]) is not None for value in values[10_000:]) <= 1


def test_an_outlier_cannot_raise_an_alarm() -> None:
    drift = Drift()
    drift.add([0.0] * CALIBRATION)
    for _ in range(1000):
        assert drift.add([math.log(1000)]) is None
        assert drift.add([0.0] * 5) is None


def test_a_first_call_that_takes_long_does_not_steer_the_reference() -> None:
    reference = Reference()
    reference.calibrate([5.0, *[0.0] * (CALIBRATION - 1)])
    assert abs(reference.level) < 0.03


def test_a_reference_is_not_dragged_along_for_ever() -> None:
    reference = Reference()
    reference.calibrate([0.0] * CALIBRATION)
    for _ in range(10_000):
        reference.learn(reference.look([0.04]))
    assert reference.count == LEARNED
    assert reference.level < 0.04 * LEARNED / (LEARNED - 1)


def test_what_a_moved_reference_learns_is_new() -> None:
    reference = Reference()
    reference.calibrate([0.0] * CALIBRATION)
    reference.learn(reference.look([0.0] * STEPS))
    reference.moved(1.0)
    assert (reference.level, reference.count) == (1.0, CALIBRATION)
    for _ in range(LEARNED):
        reference.learn(reference.look([1.1]))
    assert reference.level == pytest.approx(1.1, abs=0.02)


def test_the_sums_need_more_than_the_threshold() -> None:
    cusum = Cusum()
    needed = math.ceil(THRESHOLD / (CLIP - 0.5))
    assert cusum.add([100.0] * needed, [0.4] * needed) in (None, 0.4)
    cusum.clear()
    assert cusum.add([100.0] * (needed - 1), [0.4] * (needed - 1)) is None
    assert cusum.add([100.0] * 2, [0.4] * 2) == 0.4


def test_nothing_is_said_of_nothing() -> None:
    drift = Drift()
    assert drift.add([]) is None
    assert not drift.reference.ready
    assert drift.add([0.0] * (CALIBRATION - 1)) is None
    assert not drift.reference.ready

"""What one device takes for a part of a loop: lines from few and noisy calls, and devices whose times move."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from loopwright.choice.device_curve import ANCHORS, WINDOW, DeviceCurve


def told(curve: DeviceCurve, calls: Sequence[tuple[int, float]], chunks: int = 1, weight: float = 1.0) -> DeviceCurve:
    for size, time_ns in calls:
        curve.add(size, range(size), time_ns, chunks, weight)
    return curve


def at(curve: DeviceCurve, size: int) -> float:
    return curve.at(size, range(size))


def test_nothing_is_known_at_first() -> None:
    curve = DeviceCurve()
    assert not curve.known and at(curve, 10) == math.inf and at(curve, 0) == 0.0
    assert (curve.largest(1e9), str(curve)) == ((0.0, 0.0), "not measured")


def test_one_call_is_in_proportion() -> None:
    curve = told(DeviceCurve(), [(100, 5000.0)])
    assert at(curve, 200) == pytest.approx(10_000) and at(curve, 10) == pytest.approx(500)


@pytest.mark.parametrize(("fixed", "each"), [(0, 50), (3000, 20), (9000, 5), (50_000, 10)])
def test_two_calls_make_a_line(fixed: float, each: float) -> None:
    curve = told(DeviceCurve(), [(size, fixed + each * size) for size in (300, 1000)])
    assert at(curve, 2000) == pytest.approx(fixed + each * 2000, rel=0.05)
    assert curve.line == (pytest.approx(fixed, rel=0.05, abs=1000), pytest.approx(each, rel=0.2))


def test_chunks_tell_the_fixed_time() -> None:
    curve = told(DeviceCurve(), [(1000, 8 * 3000.0 + 20 * 1000)], chunks=8)
    told(curve, [(1000, 3000.0 + 20 * 1000)])
    assert curve.line == (pytest.approx(3000, rel=0.05), pytest.approx(20, rel=0.05))
    assert curve.largest(1e9) == (1000, pytest.approx(23_000)) and curve.largest(10_000) == (125, pytest.approx(5500))


def test_guided_calls_are_forgotten_when_calls_tell_a_line() -> None:
    curve = told(DeviceCurve(), [(500, 1e6)], chunks=3, weight=0.5)
    assert told(curve, [(500, 5000.0)]).calls == 2
    assert told(curve, [(1000, 10_000.0)]).calls == 2


def test_a_call_that_went_wrong_steers_nothing() -> None:
    calls = [(size, 3000.0 + 20 * size) for size in (300, 500, 800, 1000, 650)]
    curve = told(DeviceCurve(), [*calls, (900, 5 * 21_000.0)])
    assert at(curve, 900) == pytest.approx(21_000, rel=0.05)
    assert at(curve, 1500) == pytest.approx(33_000, rel=0.05)


def test_two_slow_calls_of_four_do_not_count_yet() -> None:
    curve = told(DeviceCurve(), [(1000, 10_000.0), (500, 5000.0), (1000, 10_000.0), (700, 7000.0)])
    told(curve, [(1000, 50_000.0)])
    assert at(curve, 1000) == pytest.approx(10_000, rel=0.05)


def test_noise_is_averaged() -> None:
    draw = random.Random(1)
    calls = [(size, (5000 + 20 * size) * math.exp(draw.gauss(0, 0.05))) for size in [300, 900, 600] * 5]
    curve = told(DeviceCurve(), calls)
    assert at(curve, 700) == pytest.approx(19_000, rel=0.06)


def test_near_what_was_measured_the_line_is_corrected() -> None:
    """On a saw a line is off by as much as half a wave, and what was measured is known better."""
    saw = [(size, 1000.0 * -(-size // 250)) for size in (200, 251, 500, 501, 750, 760, 1000)]
    curve = told(DeviceCurve(), [*saw, *saw])
    for size, time_ns in saw[1:]:
        assert at(curve, size) == pytest.approx(time_ns, rel=0.35)
    assert at(curve, 500) < at(curve, 760)


@pytest.mark.parametrize("factor", [3.0, 1 / 3, 1.5])
def test_a_device_that_has_moved_is_followed_everywhere(factor: float) -> None:
    curve = told(DeviceCurve(), [(300, 9000.0), (1000, 23_000.0), (600, 15_000.0), (600, 15_000.0)])
    told(curve, [(600, 15_000.0 * factor)])
    assert curve.doubtful and at(curve, 600) == pytest.approx(15_000, rel=0.05)
    told(curve, [(600, 15_000.0 * factor)] * 2)
    assert not curve.doubtful and curve.jumps == 1
    for size in (300, 600, 1000):
        assert at(curve, size) == pytest.approx((3000 + 20 * size) * factor, rel=0.06)


def test_one_call_does_not_make_a_leap() -> None:
    curve = told(DeviceCurve(), [(600, 15_000.0)] * 4)
    told(curve, [(600, 75_000.0), (600, 15_000.0)])
    assert not curve.doubtful and curve.jumps == 0 and abs(curve.moves) < 0.05


def test_a_leap_is_found_on_new_parts_too() -> None:
    """After a leap that was none, all is well two calls later, whatever the parts."""
    curve = told(DeviceCurve(), [(size, 20.0 * size) for size in (300, 1000, 600, 600)])
    told(curve, [(600, 60_000.0)] * 2)
    assert curve.jumps == 1 and at(curve, 1000) == pytest.approx(100_000, rel=0.05)
    told(curve, [(500, 10_000.0), (450, 9000.0)])
    assert curve.jumps == 2 and at(curve, 1000) == pytest.approx(20_000, rel=0.1)


def test_one_new_part_that_takes_long_is_no_leap() -> None:
    curve = told(DeviceCurve(), [(size, 20.0 * size) for size in (300, 500, 600, 600)])
    told(curve, [(2000, 120_000.0)])
    assert not curve.doubtful
    told(curve, [(600, 12_000.0)])
    assert curve.jumps == 0 and at(curve, 600) == pytest.approx(12_000, rel=0.05)


def test_a_slow_drift_is_followed_bit_by_bit() -> None:
    curve = told(DeviceCurve(), [(300, 9000.0), (1000, 23_000.0)])
    for call in range(60):
        told(curve, [(600, 15_000.0 * math.exp(0.01 * call))])
    assert at(curve, 600) == pytest.approx(15_000 * math.exp(0.6), rel=0.05)
    assert at(curve, 1000) == pytest.approx(23_000 * math.exp(0.6), rel=0.15)


def test_parts_far_from_the_latest_are_kept() -> None:
    curve = told(DeviceCurve(), [(1000, 23_000.0), (100, 5000.0), *[(600, 15_000.0)] * 40])
    assert curve.calls == WINDOW + ANCHORS
    assert curve.measured(1000) == 1 and curve.measured(100) == 1 and curve.measured(300) == 0
    assert at(curve, 1000) == pytest.approx(23_000, rel=0.05)


def test_a_prediction_serves_until_a_line_is_better() -> None:
    prior = lambda part: float(len(part) ** 2)  # noqa: E731
    curve = DeviceCurve(prior)
    assert curve.known and at(curve, 10) == 100.0 and str(curve) == "predicted only"
    told(curve, [(10, 200.0), (20, 800.0), (40, 3200.0)])
    assert at(curve, 80) == pytest.approx(12_800, rel=0.01)  # twice as long as predicted, and in its form
    assert str(curve) == "2.00 times as long as predicted, from 3 calls"
    wrong = told(DeviceCurve(lambda part: 7.0), [(10, 200.0), (20, 400.0), (40, 800.0)])
    assert at(wrong, 80) == pytest.approx(1600, rel=0.01)


@pytest.mark.parametrize(("work", "time_ns"), [(0, 10.0), (10, 0.0), (10, -1.0), (10, math.nan), (10, math.inf)])
def test_what_says_nothing_is_left_out(work: int, time_ns: float) -> None:
    assert not told(DeviceCurve(), [(work, time_ns)]).known

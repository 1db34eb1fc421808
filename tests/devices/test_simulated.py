"""The simulated device: its clock, its curves, its noise, and candidates that fail."""

from __future__ import annotations

import statistics

import pytest

from loopwright.devices.simulated import Curve, Noise, Simulated, VirtualClock, drifting, linear, sawtooth, slowed


def test_the_clock_runs_by_what_calls_take() -> None:
    device = Simulated({"a": linear(10.0, 5.0)})
    assert device.run("a", (3, 4)) == 125
    assert device.clock.now_ns == 125
    assert device.clock.seconds() == 1.25e-7
    assert device.exact_ns("a", (3, 4)) == 125 and device.calls == {"a": 1}


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        VirtualClock().advance(-1)


@pytest.mark.parametrize(
    ("curve", "now", "expected"),
    [
        (linear(2.0, 1.0), 0, [1, 21, 201]),
        (sawtooth(100.0, 64), 0, [0, 100, 200]),
        (slowed(linear(1.0), 1.5, 100, 200), 99, [0, 10, 100]),
        (slowed(linear(1.0), 1.5, 100, 200), 100, [0, 15, 150]),
        (slowed(linear(1.0), 1.5, 100, 200), 200, [0, 10, 100]),
        (drifting(linear(1.0), 4.0, 100, 300), 0, [0, 10, 100]),
        (drifting(linear(1.0), 4.0, 100, 300), 200, [0, 20, 200]),
        (drifting(linear(1.0), 4.0, 100, 300), 900, [0, 40, 400]),
    ],
)
def test_curves(curve: Curve, now: int, expected: list[float]) -> None:
    assert [curve((size,), now) for size in (0, 10, 100)] == pytest.approx(expected)


def test_the_same_seed_gives_the_same_times() -> None:
    def times(seed: int) -> list[int]:
        device = Simulated({"a": linear(1000.0)}, Noise(0.1, 0.1, slow_mode=0.3), seed)
        return [device.run("a", (100,)) for _ in range(50)]

    assert times(1) == times(1) != times(2)


def test_noise_is_what_it_says() -> None:
    device = Simulated({"a": linear(1000.0)}, Noise(0.03, 0.01, 5.0, 0.2, 1.4), 7)
    times = [device.run("a", (1000,)) / 1e6 for _ in range(20_000)]
    assert statistics.median(times) == pytest.approx(1.0, abs=0.02)
    assert sum(time > 3 for time in times) / 20_000 == pytest.approx(0.01, abs=0.003)
    assert sum(1.2 < time < 3 for time in times) / 20_000 == pytest.approx(0.2, abs=0.02)


def test_a_first_call_takes_longer() -> None:
    device = Simulated({"a": linear(1.0)}, Noise(first_call=3.0))
    assert [device.run("a", (size,)) for size in (10, 10, 20, 10)] == [30, 10, 60, 10]


@pytest.mark.parametrize("fault", ["wrong", "crashed", "memory", "refused"])
def test_a_candidate_that_fails(fault: str) -> None:
    device = Simulated({"a": linear(10.0)}, faults={"a": fault}, compile_ns=7)  # type: ignore[dict-item]
    attempt = device.attempt("a", (1,), 1000)
    assert (attempt.outcome, attempt.times_ns) == (fault, ())
    assert attempt.spent_ns == device.clock.now_ns == (17 if fault == "wrong" else 7)
    with pytest.raises(RuntimeError, match=fault):
        device.run("a", (1,))


def test_a_candidate_that_hangs_takes_its_limit() -> None:
    device = Simulated({"a": linear(1.0)}, faults={"a": "timeout"})
    assert device.attempt("a", (1,), 1000).spent_ns == 1000
    assert device.clock.now_ns == 1000


def test_an_attempt_ends_at_its_limit_wherever_it_is() -> None:
    whole = Simulated({"a": linear(10.0)}, compile_ns=100).attempt("a", (1,), 1000)
    assert whole.outcome == "ok" and whole.times_ns == (10, 10, 10) and whole.spent_ns == 140
    for limit in range(140):
        device = Simulated({"a": linear(10.0)}, compile_ns=100)
        attempt = device.attempt("a", (1,), limit)
        assert (attempt.outcome, attempt.spent_ns, device.clock.now_ns) == ("timeout", limit, limit)


def test_a_candidate_is_made_once() -> None:
    device = Simulated({"a": linear(10.0)}, compile_ns=100)
    assert device.attempt("a", (1,), 1000).spent_ns == 140
    assert device.attempt("a", (1,), 1000).spent_ns == 40

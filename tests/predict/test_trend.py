"""Costs and waves found from times."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.predict.trend import Sites, Trend, in_waves, trends

RNG = np.random.default_rng(0)
UNITS = np.round(np.geomspace(100, 50000, 20))
ITERATIONS = UNITS * RNG.uniform(100, 1000, 20)
COLUMNS = np.stack([np.ones(20), ITERATIONS, 8 * UNITS, np.zeros(20)], axis=1)
COUNTS = np.stack([UNITS, UNITS, np.full(20, 7.0)], axis=1)


def trend(columns: np.ndarray, counts: np.ndarray, times: np.ndarray) -> Trend:
    return trends([Sites(columns, counts, times)])[0]


def at(found: Trend) -> np.ndarray:
    waved = COLUMNS.copy()
    if found.axis >= 0:
        waved[:, 1] *= in_waves(COUNTS[:, found.axis], found.quantum)
    return waved @ np.array(found.costs)


def test_costs_come_back() -> None:
    times = COLUMNS @ np.array([5000.0, 0.25, 1.5, 0.0])
    found = trend(COLUMNS, COUNTS, times)
    assert found.costs == pytest.approx((5000.0, 0.25, 1.5, 0.0), rel=1e-4) and found.axis == -1


@pytest.mark.parametrize("quantum", [256.0, 1024.0, 8192.0])
@pytest.mark.parametrize("seed", range(3))
def test_waves_come_back(quantum: float, seed: int) -> None:
    noise = np.exp(0.01 * np.random.default_rng(seed).standard_normal(20))
    times = (3000.0 + 0.2 * ITERATIONS * in_waves(UNITS, quantum)) * noise
    found = trend(COLUMNS, COUNTS, times)
    assert found.axis == 0 and found.quantum == pytest.approx(quantum, rel=0.05)
    assert at(found) == pytest.approx(times, rel=0.08)


@pytest.mark.parametrize("seed", range(10))
def test_there_are_no_waves_in_noise(seed: int) -> None:
    noise = np.exp(0.05 * np.random.default_rng(seed).standard_normal(20))
    assert trend(COLUMNS, COUNTS, (3000.0 + 0.2 * ITERATIONS) * noise).axis == -1


def test_one_site_is_time_per_iteration() -> None:
    found = trend(COLUMNS[:1], COUNTS[:1], np.array([1000.0]))
    assert found.costs == pytest.approx((0.0, 1000.0 / ITERATIONS[0], 0.0, 0.0))


def test_a_cost_that_would_be_negative_is_left_out_and_the_others_fitted_without_it() -> None:
    times = 0.25 * ITERATIONS - 16.0 * UNITS
    found = trend(COLUMNS, COUNTS, times)
    assert found.costs[2] == 0.0 and np.mean(at(found) / times) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("seed", range(5))
def test_no_cost_is_negative(seed: int) -> None:
    times = np.random.default_rng(seed).uniform(1, 1e6, 20)
    assert min(trend(COLUMNS, COUNTS, times).costs) >= 0 and max(trend(COLUMNS, COUNTS, times).costs) > 0


def test_many_side_by_side_are_what_each_is_alone() -> None:
    some = []
    for n in (1, 2, 3, 5, 6, 13, 20) * 12:  # more than are fitted together
        noise = np.exp(0.02 * RNG.standard_normal(n))
        waves = in_waves(UNITS[:n], 4096.0) if n % 2 else 1.0
        times = (3000.0 + 0.2 * ITERATIONS[:n] * waves) * noise
        some.append(Sites(COLUMNS[:n], COUNTS[:n], times))
    for one, found in zip(some, trends(some), strict=True):
        alone = trends([one])[0]
        assert (found.axis, found.quantum) == (alone.axis, alone.quantum)
        assert found.costs == pytest.approx(alone.costs, rel=1e-6)
    assert {one.axis for one in trends(some)} == {-1, 0}
    assert trends([]) == []

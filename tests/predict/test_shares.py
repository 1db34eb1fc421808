"""Uneven shares of threads, found from times that caches bend."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.predict.shares import TILES, Shared, shares
from loopwright.predict.trend import Sites, Trend, in_waves, trends

THREADS = 16
ROWS = np.round(np.geomspace(60, 1150, 18))
ITERATIONS = ROWS**3
COLUMNS = np.stack([np.ones(18), ITERATIONS, 24 * ROWS**2, np.zeros(18)], axis=1)
COUNTS = np.stack([ROWS, ROWS], axis=1)
POINTS = np.stack([np.log(ROWS), 2 * np.log(ROWS), np.log(24 * ROWS**2)], axis=1)


def cached(step: float = 0.6) -> np.ndarray:
    """Times of even shares: so much more, in logarithms, where rows are more than fit in a cache."""
    return 0.1 * ITERATIONS * np.exp(step / (1 + (300 / ROWS) ** 4))


def shared(times: np.ndarray, threads: int = THREADS, count: int = 18) -> Shared:
    sites = Sites(COLUMNS[:count], COUNTS[:count], times[:count])
    return Shared(threads, POINTS[:count], sites, trends([sites])[0])


def found(times: np.ndarray, threads: int = THREADS, count: int = 18) -> Trend:
    return shares([shared(times, threads, count)])[0]


@pytest.mark.parametrize("tile", [6, 8, 16, 32])
def test_shares_come_back_behind_a_cache(tile: int) -> None:
    noise = np.exp(0.01 * np.random.default_rng(tile).standard_normal(18))
    times = cached() * in_waves(ROWS, float(THREADS * tile)) * noise
    assert (found(times).axis, found(times).quantum) == (0, THREADS * tile)


@pytest.mark.parametrize("seed", range(8))
def test_there_are_none_in_noise(seed: int) -> None:
    noise = np.exp(0.05 * np.random.default_rng(seed).standard_normal(18))
    alone = shared(cached() * noise)
    assert shares([alone]) == [alone.trend]


@pytest.mark.parametrize("at", range(3, 17))
def test_a_step_is_none(at: int) -> None:
    """As from the caches to the memory, which would be one round of threads more."""
    alone = shared(cached(0.0) * np.where(np.arange(18) >= at, 3.0, 1.0))
    assert shares([alone]) == [alone.trend]


def test_on_a_gpu_and_of_few_sizes_they_are_not_looked_for() -> None:
    times = cached() * in_waves(ROWS, 128.0)
    for threads, count in ((0, 18), (THREADS, 7)):
        alone = shared(times, threads, count)
        assert shares([alone]) == [alone.trend]
    assert shares([]) == []


def test_many_side_by_side_are_what_each_is_alone() -> None:
    rng = np.random.default_rng(0)
    some = []
    for k in range(40):
        waves = in_waves(ROWS, float(THREADS * TILES[k % TILES.size])) if k % 3 else 1.0
        some.append(shared(cached() * waves * np.exp(0.01 * rng.standard_normal(18)), (1, 2, 16)[k % 3], 18 - k % 2))
    together = shares(some)
    assert together == [shares([one])[0] for one in some]
    assert {one.axis for one in together} == {-1, 0}

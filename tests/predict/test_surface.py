"""Surfaces through scattered values."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.predict.surface import ScatteredValues, Surface, surfaces


def surface(points: np.ndarray, values: np.ndarray, noise: np.ndarray) -> Surface:
    return surfaces([ScatteredValues(points, values, noise)])[0]


def at(found: Surface, points: np.ndarray, x: np.ndarray) -> float:
    away = np.sqrt(((points - x) ** 2).sum(axis=1))
    return float(found.level - found.weights @ away)


def test_in_one_dimension_it_is_straight_lines_and_level_outside() -> None:
    points = np.arange(9.0)[:, None]
    values = np.array([0, 1, 2, 3, 4, 3, 2, 1, 0.0])
    found = surface(points, values, np.ones(9))
    for x in np.linspace(-3, 11, 40):
        assert at(found, points, np.array([x])) == pytest.approx(np.interp(x, points[:, 0], values), abs=0.01)


def test_what_is_left_out_is_what_the_others_say() -> None:
    rng = np.random.default_rng(0)
    points, values = rng.uniform(0, 5, (8, 3)), rng.uniform(0, 1, 8)
    values = points @ [0.3, 0.2, 0.1] + 0.01 * values
    found = surface(points, values, np.ones(8))
    for i in range(8):
        rest = np.arange(8) != i
        others = surface(points[rest], values[rest], np.ones(7))
        assert values[i] - at(others, points[rest], points[i]) == pytest.approx(found.left_out[i], abs=0.02)


def test_noise_is_smoothed() -> None:
    rng = np.random.default_rng(1)
    points = np.linspace(0, 3, 20)[:, None]
    found = surface(points, 0.1 * rng.standard_normal(20), np.ones(20))
    smooth = [at(found, points, x) for x in points]
    assert np.std(smooth) < 0.05


def test_a_noisy_value_weighs_less() -> None:
    points = np.linspace(0, 3, 7)[:, None]
    values = np.array([0, 0.02, -0.02, 0.3, 0.01, 0, 0.01])
    noise = np.where(values > 0.1, 10.0, 1.0)
    even, uneven = (surface(points, values, n) for n in (np.ones(7), noise))
    assert at(uneven, points, points[3]) < 0.5 * at(even, points, points[3])


@pytest.mark.parametrize("height", [0.5, 1.5, -1.5])
@pytest.mark.parametrize("last", range(1, 5))
def test_a_step_is_no_noise(height: float, last: int) -> None:
    """As at the size from which data no longer fits in a cache, near the end of what was measured."""
    points = np.linspace(0, 5, 12)[:, None]
    values = np.where(np.arange(12) >= 12 - last, height, 0.0)
    found = surface(points, values, np.ones(12))
    for x, value in zip(points, values, strict=True):
        assert at(found, points, x) == pytest.approx(value, abs=0.02)


@pytest.mark.parametrize("height", [0.3, 3.0])
@pytest.mark.parametrize("place", range(1, 11))
def test_a_value_that_sticks_out_says_little_of_others(height: float, place: int) -> None:
    points = np.linspace(0, 5, 12)[:, None]
    smooth = 0.1 * points[:, 0]
    values = smooth + np.where(np.arange(12) == place, height, 0.0)
    found = surface(points, values, np.ones(12))
    assert max(abs(at(found, points, x) - y) for x, y in zip(points, smooth, strict=True)) < max(0.05, 0.03 * height)
    # At the end it may be where something else begins.
    values = smooth + np.where(np.arange(12) == 11, height, 0.0)
    assert at(surface(points, values, np.ones(12)), points, points[11]) == pytest.approx(values[11], abs=0.02)


@pytest.mark.parametrize("count", [1, 2])
def test_few_points(count: int) -> None:
    points = np.arange(float(count))[:, None]
    found = surface(points, np.full(count, 2.5), np.ones(count))
    assert at(found, points, np.array([0.3])) == pytest.approx(2.5)


def test_points_at_one_place_are_no_fault() -> None:
    points = np.array([[1.0], [1.0], [2.0]])
    found = surface(points, np.array([1.0, 3.0, 2.0]), np.ones(3))
    assert at(found, points, np.array([1.0])) == pytest.approx(2.0, abs=0.2)


def test_many_side_by_side_are_what_each_is_alone() -> None:
    rng = np.random.default_rng(2)
    some = [
        ScatteredValues(rng.uniform(0, 3, (n, 3)), rng.standard_normal(n), rng.uniform(0.1, 1, n))
        for n in (1, 7, 3, 2, 12)
    ]
    some *= 20  # more than are fitted together
    for one, found in zip(some, surfaces(some), strict=True):
        alone = surfaces([one])[0]
        assert found.level == pytest.approx(alone.level)
        for name in ("weights", "left_out", "nearest"):
            assert getattr(found, name) == pytest.approx(getattr(alone, name), rel=1e-6, abs=1e-9)
    assert surfaces([]) == []

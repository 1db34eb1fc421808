"""Walks over synthetic curves: all that turns is found, with few measurements."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from loopwright.profile.stride import BELONGS, NoMeasurement, StrideWalk, adaptive, doubling, interpolated

Curve = Callable[[int], float]


def sawtooth(at_once: int) -> Curve:
    """Time per iteration on a GPU that runs so many blocks at once: the last wave is as long as a full one."""
    return lambda blocks: 0.04 * math.ceil(blocks / at_once) * at_once / blocks


def noisy(curve: Curve, seed: int, part: float = 0.01) -> Curve:
    rng = np.random.default_rng(seed)
    return lambda x: curve(x) * float(1 + part * rng.standard_normal())


def errors(walk: StrideWalk, curve: Curve, last: int) -> np.ndarray:
    """Of all places, measured or not."""
    places = np.arange(1, last + 1)
    x, y = np.array(walk.points).T
    truth = np.array([curve(int(place)) for place in places])
    return np.abs(np.interp(places, x, y) / truth - 1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("at_once", "last", "most"), [(16, 4000, 125), (132, 20000, 400)])
def test_the_edges_of_a_sawtooth_are_found_with_few_points(at_once: int, last: int, most: int, seed: int) -> None:
    walk = adaptive(noisy(sawtooth(at_once), seed), 1, last)
    assert walk.complete and len(walk.points) <= most
    wrong = errors(walk, sawtooth(at_once), last)
    assert np.mean(wrong > BELONGS) <= 0.001 and wrong.mean() <= 0.02
    places = [place for place, _ in walk.points]
    for edge in range(at_once, 5 * at_once, at_once):  # before and behind it, as exactly as can be
        assert edge in places and edge + 1 in places


def test_a_walk_that_only_doubles_would_miss_them() -> None:
    """What the sliding window is for: the same curve at all powers of two."""
    points = tuple((2**k, sawtooth(132)(2**k)) for k in range(15))
    wrong = [abs(interpolated(points, x) / sawtooth(132)(x) - 1) for x in range(1, 2000)]
    assert max(wrong) > 3 * BELONGS


def test_a_level_curve_takes_few_points() -> None:
    walk = adaptive(lambda x: 3.0, 1, 65535)
    assert walk.complete and len(walk.points) <= 25 and interpolated(walk.points, 40000.5) == 3.0
    assert walk.points[0][0] == 1 and walk.points[-1][0] == 65535


def test_a_slow_bend_is_not_stepped_over() -> None:
    """Each miss alone is within the limit; their sum is not, and strides are halved."""
    walk = adaptive(lambda x: x**1.3, 1, 100_000)
    assert errors(walk, lambda x: x**1.3, 100_000).max() <= 0.005 and len(walk.points) < 100


def test_strides_grow_less_the_larger_the_miss() -> None:
    walk = adaptive(lambda x: 1.0 + 0.03 * math.sin(2.4 * math.log(x) * x), 1, 100_000)
    places = [place for place, _ in walk.points][10:-1]
    growth = [(c - b) / (b - a) for a, b, c in zip(places, places[1:], places[2:], strict=False)]
    assert max(growth) <= 2.1 and any(1.2 < each < 1.8 for each in growth)


@pytest.mark.parametrize("walker", [adaptive, doubling])
def test_one_place(walker: Callable[..., StrideWalk]) -> None:
    walk = walker(lambda x: 2.0, 7, 7)
    assert walk == StrideWalk(((7, 2.0),), (), True)


@pytest.mark.parametrize("walker", [adaptive, doubling])
@pytest.mark.parametrize("bad", [NoMeasurement("no memory"), math.nan, 0.0, -1.0, math.inf])
def test_a_failed_measurement_is_a_value(walker: Callable[..., StrideWalk], bad: float | NoMeasurement) -> None:
    walk = walker(lambda x: bad if x > 1000 else 2.0, 1, 10**9)
    assert not walk.complete and len(walk.failures) == 5 and walk.points
    assert all(place > 1000 and isinstance(failure, NoMeasurement) for place, failure in walk.failures)
    assert interpolated(walk.points, 5) == 2.0


@pytest.mark.parametrize("walker", [adaptive, doubling])
def test_nothing_but_failures(walker: Callable[..., StrideWalk]) -> None:
    walk = walker(lambda x: NoMeasurement("lost"), 1, 100)
    assert not walk.complete and not walk.points and walk.failures


@pytest.mark.parametrize("walker", [adaptive, doubling])
@pytest.mark.parametrize("most", [0, 1, 17])
def test_no_more_measurements_than_allowed(walker: Callable[..., StrideWalk], most: int) -> None:
    asked: list[int] = []
    walk = walker(lambda x: asked.append(x) or sawtooth(16)(x), 1, 4000, most)
    assert len(asked) == len(walk.points) == most and not walk.complete


@pytest.mark.parametrize("walker", [adaptive, doubling])
def test_no_place_is_measured_twice_and_pure_noise_comes_to_an_end(walker: Callable[..., StrideWalk]) -> None:
    asked: list[int] = []
    rng = np.random.default_rng(1)
    walk = walker(lambda x: asked.append(x) or float(rng.uniform(1, 100)), 1, 300)
    assert walk.complete and len(asked) == len(set(asked)) <= 300


@pytest.mark.parametrize("walker", [adaptive, doubling])
@pytest.mark.parametrize(("first", "last", "finest"), [(0, 5, 1), (6, 5, 1), (1, 5, 0)])
def test_what_is_no_walk(walker: Callable[..., StrideWalk], first: int, last: int, finest: int) -> None:
    with pytest.raises(ValueError, match="from 1 or more upward"):
        walker(lambda x: 1.0, first, last, finest=finest)


def test_copies_are_walked_in_doubled_strides() -> None:
    def copy_ns(size: int) -> float:
        return 8000.0 + min(size, 1 << 20) / 10.0 + max(size - (1 << 20), 0) / 24.0

    walk = doubling(copy_ns, 1, 1 << 32)
    assert walk.complete and len(walk.points) <= 80
    for size in np.geomspace(1, 1 << 32, 300).astype(int).tolist():
        assert interpolated(walk.points, size) == pytest.approx(copy_ns(size), rel=BELONGS)

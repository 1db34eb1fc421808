"""The sequential parameter's line, through noise and bad measurements."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.profile.line import Line
from loopwright.profile.sequential import SequentialFit, fit_sequential
from loopwright.profile.stride import Failure


def test_a_clean_line_takes_five_measurements() -> None:
    fit = fit_sequential(lambda x: 0.002 * x + 5.0, 100, 50, 10**6)
    assert isinstance(fit, SequentialFit) and fit.stable and fit.taken == 5
    assert fit.line.slope == pytest.approx(0.002) and fit.line.intercept == pytest.approx(5.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_fifth_of_outliers_does_not_steer(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def measure(x: int) -> float:
        value = (0.001 * x + 5.0) * (1 + 0.005 * rng.standard_normal())
        return float(value * (rng.uniform(2, 6) if rng.random() < 0.2 else 1.0))

    fit = fit_sequential(measure, 64, 64, 10**6)
    assert isinstance(fit, SequentialFit) and fit.stable
    assert fit.line.at(1000) == pytest.approx(6.0, rel=0.05)


def test_a_curve_that_settles_late_is_followed_until_it_does() -> None:
    fit = fit_sequential(lambda x: 5.0 * (1 + 400.0 / x), 10, 10, 10**7)
    assert isinstance(fit, SequentialFit) and fit.stable and fit.taken > 10
    assert fit.line.at(fit.points[-1][0]) == pytest.approx(5.0, rel=0.1)


def test_what_was_bad_is_not_measured_against_for_ever() -> None:
    """Four bad ones are a fifth of twenty; dropped at ten measurements, they are out soon after."""
    fit = fit_sequential(lambda x: {1: 60.0, 2: 25.0, 3: 90.0, 4: 40.0}.get(x, 2.0), 1, 1, 1000)
    assert (
        isinstance(fit, SequentialFit) and fit.stable and 10 < fit.taken < 16 and fit.line.at(9) == pytest.approx(2.0)
    )


def test_what_never_settles_ends_and_says_so() -> None:
    rng = np.random.default_rng(0)
    fit = fit_sequential(lambda x: float(rng.uniform(1, 100)), 1, 1, 10**9)
    assert isinstance(fit, SequentialFit) and not fit.stable and fit.taken == 120


def test_one_place_is_a_level_line_that_is_not_stable() -> None:
    fit = fit_sequential(lambda x: 4.0, 8, 1, 8)
    assert isinstance(fit, SequentialFit) and fit.line == Line(0.0, 4.0) and not fit.stable


def test_failures_are_values() -> None:
    assert fit_sequential(lambda x: Failure("no memory"), 1, 1, 100) == Failure("no memory")
    fit = fit_sequential(lambda x: float("nan") if x == 3 else 2.0, 1, 1, 100)
    assert isinstance(fit, SequentialFit) and fit.stable and [place for place, _ in fit.failures] == [3]


@pytest.mark.parametrize(("first", "stride", "last", "most"), [(0, 1, 5, 9), (1, 0, 5, 9), (6, 1, 5, 9), (1, 1, 5, 0)])
def test_what_cannot_be_walked(first: int, stride: int, last: int, most: int) -> None:
    with pytest.raises(ValueError, match="from 1 or more upward"):
        fit_sequential(lambda x: 1.0, first, stride, last, most)

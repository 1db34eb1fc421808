"""Lines through points, good ones and bad ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from loopwright.profile.line import Line, least_squares, trimmed


def test_a_line_through_its_own_points() -> None:
    assert least_squares([1, 2, 5], [3, 5, 11]) == Line(2.0, 1.0)
    assert least_squares([4], [7]) == Line(0.0, 7.0)
    assert least_squares([4, 4], [6, 8]) == Line(0.0, 7.0)


def test_no_point_is_no_line() -> None:
    with pytest.raises(ValueError, match="not 0 and 0"):
        least_squares([], [])


@pytest.mark.parametrize("seed", range(5))
def test_a_fifth_of_the_points_being_wrong_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.arange(1.0, 41.0)
    y = 0.003 * x + 2.0
    wrong = rng.choice(40, 8, replace=False)
    y[wrong] *= rng.uniform(1.5, 10.0, 8)
    line, kept = trimmed(x, y)
    assert line.slope == pytest.approx(0.003) and line.intercept == pytest.approx(2.0)
    assert not kept[wrong].any() and kept.sum() == 32


@pytest.mark.parametrize("seed", range(5))
def test_as_good_as_the_best_of_all_combinations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.arange(10.0)
    y = 5.0 + 0.1 * x + rng.standard_normal(10)
    line, kept = trimmed(x, y)

    def squares(chosen: tuple[int, ...]) -> float:
        part = list(chosen)
        fit = least_squares(x[part], y[part])
        return float(((y[part] - fit.slope * x[part] - fit.intercept) ** 2).sum())

    best = min(combinations(range(10), 8), key=squares)
    assert np.flatnonzero(kept).tolist() == list(best)
    assert line == least_squares(x[kept], y[kept])

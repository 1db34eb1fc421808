"""Pareto-optimal points: against the definition, and at the edges of numbers."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from loopwright.cost.pareto import pareto

INF, NAN = math.inf, math.nan


def dominates(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """The definition."""
    return all(x >= y for x, y in zip(a, b, strict=True)) and any(x > y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("count", "axes", "values"), [(60, 2, 8), (60, 3, 4), (200, 3, 1000), (1, 2, 3), (40, 1, 9)])
def test_agrees_with_the_definition(count: int, axes: int, values: int) -> None:
    numbers = random.Random(count + axes)
    points = [tuple(float(numbers.randint(1, values)) for _ in range(axes)) for _ in range(count)]
    found = pareto(points, tolerance=0.0)
    best = {k for k, p in enumerate(points) if not any(dominates(q, p) for q in points)}
    assert {k for cluster in found.clusters for k in cluster} == best
    assert set(found.dropped) == set(range(count)) - best
    assert all(dominates(points[by], points[k]) and by in found.kept for k, by in found.dropped.items())
    for cluster in found.clusters:
        assert len({points[k] for k in cluster}) == 1
    assert len({points[k] for k in found.kept}) == len(found.clusters)


def test_no_point_and_one() -> None:
    assert pareto([]).clusters == ()
    assert pareto([(1.0, 2.0)]).clusters == ((0,),)
    assert pareto([(), ()]).clusters == ((0, 1),)


def test_infinity_dominates_and_ties() -> None:
    assert pareto([(1.0, 1.0), (INF, 1.0), (INF, 1.0), (INF, INF)]).clusters == ((3,),)
    assert pareto([(INF, 1.0), (INF, 1.0)]).clusters == ((0, 1),)
    assert pareto([(-INF, 1.0), (0.0, 1.0)]).dropped == {0: 1}


def test_what_is_not_a_number_is_kept_and_drops_nothing() -> None:
    found = pareto([(NAN, 9.0), (1.0, 1.0), (2.0, 2.0), (1.0, NAN)])
    assert found.clusters == ((0,), (2,), (3,))
    assert found.dropped == {1: 2}


def test_points_that_are_nearly_equal_are_one() -> None:
    points = [(1.0, 5.0), (1.005, 4.99), (0.5, 9.0), (1.0, 4.0)]
    found = pareto(points, tolerance=0.01)
    assert sorted(map(sorted, found.clusters)) == [[0, 1], [2]]
    assert found.dropped.keys() == {3}


def test_a_chain_of_small_steps_is_not_one_point() -> None:
    # Each is within the tolerance of its neighbours; the ends are far apart.
    points = [(1.0 + 0.008 * k, 2.0 - 0.008 * k) for k in range(100)]
    found = pareto(points, tolerance=0.01)
    assert len(found.clusters) > 20
    for cluster in found.clusters:
        assert all(math.isclose(points[k][0], points[cluster[0]][0], rel_tol=0.01) for k in cluster)


def test_negative_values() -> None:
    assert pareto([(-2.0, -1.0), (-1.0, -2.0), (-2.0, -2.0)]).clusters == ((0,), (1,))


def test_the_order_of_the_points_does_not_matter() -> None:
    points = [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0), (1.0, 1.0)]
    for order in itertools.permutations(range(4)):
        found = pareto([points[k] for k in order])
        assert {points[order[k]] for k in found.kept} == set(points[:3])


def test_points_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        pareto([(1.0,), (1.0, 2.0)])

"""Strategies on landscapes that are made up: functions of two whole numbers, in which neighbours differ in one."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest

from loopwright.search.strategies import STRATEGIES, FailedPoint, Search, search

Point = tuple[int, int]
SIZE = 20


@dataclass(frozen=True)
class Grid:
    """Points with two numbers each; the default is in the middle. Near is what differs in one of them."""

    side: int = SIZE

    @property
    def points(self) -> tuple[Point, ...]:
        return tuple(itertools.product(range(self.side), repeat=2))

    @property
    def default(self) -> Point:
        return self.side // 2, self.side // 2

    def neighbours(self, point: Point) -> tuple[Point, ...]:
        x, y = point
        near = [(other, y) for other in range(self.side)] + [(x, other) for other in range(self.side)]
        return tuple(sorted((one for one in near if one != point), key=lambda one: abs(one[0] - x) + abs(one[1] - y)))


def bowl(point: Point) -> float:
    return 1.0 + (point[0] - 3) ** 2 + (point[1] - 17) ** 2


def craters(point: Point) -> float:
    """Many valleys, the deepest far from the middle."""
    return bowl(point) / 50 + 2 * math.cos(point[0] * 0.9) * math.cos(point[1] * 0.9)


every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def tried(found: Search[Point]) -> list[Point]:
    return [trial.point for trial in found.trials]


@every_strategy
def test_the_default_comes_first_and_each_point_once(strategy: str) -> None:
    found = search(Grid(), bowl, strategy)
    assert tried(found)[0] == Grid().default
    assert sorted(tried(found)) == list(Grid().points)
    assert found.best is not None and found.best.point == (3, 17)


@every_strategy
def test_a_search_repeats_itself(strategy: str) -> None:
    one, other = (search(Grid(), craters, strategy, count=70, seed=3) for _ in range(2))
    assert tried(one) == tried(other) and len(one.trials) == 70
    if strategy != "exhaustive":
        assert tried(search(Grid(), craters, strategy, count=70, seed=4)) != tried(one)


def test_local_search_goes_downhill() -> None:
    found = search(Grid(), bowl, "local", count=60)
    assert found.best is not None and found.best.point == (3, 17)


def test_local_search_finds_more_than_chance() -> None:
    def mean(strategy: str) -> float:
        outcomes = [search(Grid(), craters, strategy, count=80, seed=seed).best for seed in range(20)]
        return sum(float(one.outcome) for one in outcomes if one and not isinstance(one.outcome, FailedPoint)) / 20

    assert mean("local") < mean("random")


def test_local_search_begins_anew_where_nothing_is_better() -> None:
    flat = search(Grid(5), lambda point: 1.0, "local")
    assert sorted(tried(flat)) == list(Grid(5).points)
    assert flat.best is not None and flat.best.point == Grid(5).default  # the first of equals


@every_strategy
def test_failures_are_values(strategy: str) -> None:
    def evaluate(point: Point) -> float | FailedPoint:
        return FailedPoint("too slow") if point[0] % 2 else math.nan if point[1] == 4 else bowl(point)

    found = search(Grid(), evaluate, strategy)
    assert len(found.trials) == SIZE**2
    assert found.best is not None and found.best.point in ((2, 17), (4, 17)) and found.best.outcome == 2.0
    reasons = {trial.outcome.reason for trial in found.trials if isinstance(trial.outcome, FailedPoint)}
    assert reasons == {"too slow", "its time is not a number"}


@every_strategy
def test_all_may_fail(strategy: str) -> None:
    found = search(Grid(4), lambda point: FailedPoint("no"), strategy)
    assert found.best is None and len(found.trials) == 16


@every_strategy
def test_what_is_spent_ends_a_search(strategy: str) -> None:
    calls: list[Point] = []

    def evaluate(point: Point) -> float:
        calls.append(point)
        return craters(point)

    found = search(Grid(), evaluate, strategy, spent=lambda: len(calls) >= 9)
    assert len(found.trials) == 9
    assert not search(Grid(), evaluate, strategy, count=0).trials
    assert not search(Grid(), evaluate, strategy, spent=lambda: True).trials


@every_strategy
def test_an_interruption_comes_through(strategy: str) -> None:
    def evaluate(point: Point) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(Grid(), evaluate, strategy)


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="no strategy 'magic': there are exhaustive, random, local"):
        search(Grid(), bowl, "magic")
    with pytest.raises(ValueError, match="0 points or more, not -1"):
        search(Grid(), bowl, count=-1)

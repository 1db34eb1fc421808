"""Strategies: in which order points of a space are tried, when only some of them can be.

A strategy knows the points, which of them are near one another, and the times of those tried so far; nothing of
kernels. A point that fails (it is refused, wrong, too slow) is a value with a reason, and is not tried again. Each
point is evaluated once; the default comes first, so that a search that is cut off at any time has something to show.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Generic, Protocol, TypeVar

P = TypeVar("P", bound=Hashable)


class Landscape(Protocol[P]):
    """What a strategy sees of a space. points: all of them, in a fixed order. neighbours: those that differ in one
    choice, the nearest first."""

    @property
    def points(self) -> Sequence[P]: ...
    @property
    def default(self) -> P: ...
    def neighbours(self, point: P, /) -> Sequence[P]: ...


@dataclass(frozen=True, slots=True)
class FailedPoint:
    """A point without a time, and why."""

    reason: str


Evaluate = Callable[[P], float | FailedPoint]
"""The time of a point, the smaller the better, or why it has none. A time that is not a number is a failure."""

Spent = Callable[[], bool]
"""Whether all that may be spent is spent: it is asked before each evaluation."""


@dataclass(frozen=True, slots=True)
class TriedPoint(Generic[P]):
    """One point, and what became of it."""

    point: P
    outcome: float | FailedPoint


@dataclass
class Search(Generic[P]):
    """The trials of one search, in their order."""

    trials: list[TriedPoint[P]] = field(default_factory=list)

    @property
    def best(self) -> TriedPoint[P] | None:
        """The trial of the least time, the first of several; None where all failed."""
        times = [one for one in self.trials if not isinstance(one.outcome, FailedPoint)]
        return min(times, key=lambda one: float(one.outcome), default=None)  # type: ignore[arg-type]


def search(
    landscape: Landscape[P],
    evaluate: Evaluate[P],
    strategy: str = "local",
    count: int | None = None,
    spent: Spent = lambda: False,
    seed: int = 0,
) -> Search[P]:
    """Try points until `count` are evaluated, `spent` says so, or there are no more. The same arguments give the same
    search. strategy: one of STRATEGIES. An exception of `evaluate`, ctrl-C too, ends the search and comes through.

    Raises ValueError for a strategy that is not there, and for a count below zero."""
    chosen = STRATEGIES.get(strategy)
    if chosen is None:
        raise ValueError(f"no strategy '{strategy}': there are {', '.join(STRATEGIES)}")
    if count is not None and count < 0:
        raise ValueError(f"a search tries 0 points or more, not {count}")
    state = _State(evaluate, len(landscape.points) if count is None else count, spent)
    if landscape.points:
        chosen(landscape, state, Random(seed))
    return state.search


@dataclass
class _State(Generic[P]):
    """What is known so far, and how much may still be tried."""

    evaluate: Evaluate[P]
    count: int
    spent: Spent
    search: Search[P] = field(default_factory=Search)
    known: dict[P, float | FailedPoint] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return len(self.known) >= self.count or self.spent()

    def time(self, point: P) -> float | None:
        """The time of a point, tried now where it was not before; None for a failure, or where the search is over."""
        if point not in self.known:
            if self.is_over:
                return None
            outcome = self.evaluate(point)
            if not isinstance(outcome, FailedPoint) and outcome != outcome:
                outcome = FailedPoint("its time is not a number")
            self.known[point] = outcome
            self.search.trials.append(TriedPoint(point, outcome))
        found = self.known[point]
        return None if isinstance(found, FailedPoint) else found


def _exhaustive(landscape: Landscape[P], state: _State[P], random: Random) -> None:
    """Every point, the default first."""
    for point in (landscape.default, *landscape.points):
        state.time(point)
        if state.is_over:
            return


def _random(landscape: Landscape[P], state: _State[P], random: Random) -> None:
    """The default, then the others in any order."""
    others = [point for point in landscape.points if point != landscape.default]
    random.shuffle(others)
    for point in (landscape.default, *others):
        state.time(point)
        if state.is_over:
            return


def _local(landscape: Landscape[P], state: _State[P], random: Random) -> None:
    """From the default, and then from one random point after the other, downhill: of the neighbours, in any order, the
    first that is faster is taken at once, until none is."""
    rest = [point for point in landscape.points if point != landscape.default]
    random.shuffle(rest)
    for start in (landscape.default, *rest):
        if state.is_over:
            return
        if start in state.known:
            continue  # a walk came by: what lies downhill from there is known
        _downhill(landscape, state, random, start)


def _downhill(landscape: Landscape[P], state: _State[P], random: Random, here: P) -> None:
    now = state.time(here)
    while now is not None:
        near = list(landscape.neighbours(here))
        random.shuffle(near)
        better = _first_better(state, near, now)
        if better is None:
            return
        here, now = better


def _first_better(state: _State[P], near: list[P], now: float) -> tuple[P, float] | None:
    for point in near:
        found = state.time(point)
        if found is not None and found < now:
            return point, found
    return None


STRATEGIES: dict[str, Callable[[Landscape[P], _State[P], Random], None]] = {
    "exhaustive": _exhaustive,
    "random": _random,
    "local": _local,
}
"""By name. `local` needs the fewest points where neighbours have similar times, as those of kernels mostly do."""

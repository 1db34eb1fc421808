"""Uneven shares of threads: iterations are handed out a tile at a time, so that some threads have one tile more than
others, and the time is a sawtooth over a size. How many iterations a full round of all threads is, is a multiple of
their number by a tile; the one after which a surface (predict/surface) misses what was left out least is believed. What
predict/trend finds is found without a surface, which caches hide it from; but among more quanta, and for GPUs too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from loopwright.predict.estimates import Floats
from loopwright.predict.trend import ITERATIONS, Sites, Trend, different, in_waves

TILES: Floats = np.array(sorted([*(2.0 ** np.arange(9)), *(3.0 * 2.0 ** np.arange(7))]))
"""What one thread takes at a time, as tiles and unrolled loops mostly are."""

FEWEST = 8
GAIN = 0.7
"""Shares are believed where they bring the error of what is left out down to this part."""

ROUNDS = 2
"""There are so many rounds at least at the largest size: of fewer, what one sees may as well be the end of a cache."""

NUGGET = 0.01
"""Noise, in units of distance, of the surfaces that candidates are compared by."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A variant's sites, and where they lie; the trend that was found. threads: 0 on a GPU."""

    threads: int
    points: Floats
    sites: Sites
    trend: Trend


def shares(given: Sequence[Shared]) -> list[Trend]:
    """The trend of each, with the shares of its threads where they are believed."""
    found = [one.trend for one in given]
    for group in _alike(given):
        for place, trend in zip(group, _of_alike([given[place] for place in group]), strict=True):
            found[place] = trend
    return found


def _alike(given: Sequence[Shared]) -> Iterator[list[int]]:
    """Places of those that were measured at the same sites with as many threads, which most are."""
    groups: dict[tuple[int, bytes, bytes], list[int]] = {}
    for place, one in enumerate(given):
        if one.threads and len(one.points) >= FEWEST:
            key = one.threads, one.points.tobytes(), one.sites.counts.tobytes()
            groups.setdefault(key, []).append(place)
    yield from groups.values()


def _of_alike(group: Sequence[Shared]) -> list[Trend]:
    first = group[0]
    left_out = _left_out(first.points)
    times = np.log([one.sites.times for one in group])
    costs = np.array([one.trend.costs for one in group])
    even = costs @ first.sites.columns.T
    per_round = costs[:, ITERATIONS, None] * first.sites.columns[:, ITERATIONS]
    waves = np.array([_waves(one) for one in group])
    limits = GAIN * np.abs((times - np.log(even + per_round * waves)) @ left_out.T).sum(axis=1)
    found = [one.trend for one in group]
    for axis in np.flatnonzero(different(first.sites.counts[None])[0]).tolist():
        count = first.sites.counts[:, axis]
        quanta = first.threads * TILES
        quanta = quanta[(quanta > 1) & (ROUNDS * quanta <= count.max())]
        if not quanta.size:
            continue
        longer = in_waves(count[:, None], quanta) - 1.0
        bends = times[:, :, None] - np.log(even[:, :, None] + per_round[:, :, None] * longer)
        errors = np.abs(left_out @ bends).sum(axis=1)
        best = errors.argmin(axis=1)
        for place in np.flatnonzero(errors.min(axis=1) < limits).tolist():
            limits[place] = errors[place, best[place]]
            found[place] = replace(found[place], axis=axis, quantum=float(quanta[best[place]]))
    return found


def _waves(one: Shared) -> Floats:
    """What the trend's own waves add to what iterations cost, as parts of that."""
    if one.trend.axis < 0:
        return np.zeros(len(one.points))
    return in_waves(one.sites.counts[:, one.trend.axis], one.trend.quantum) - 1.0


def _left_out(points: Floats) -> Floats:
    """What turns values at these points into what a surface without them misses of each."""
    count = len(points)
    difference = points[:, None] - points[None]
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = -np.sqrt((difference * difference).sum(axis=2))
    system[range(count), range(count)] = NUGGET
    system[:count, count] = system[count, :count] = 1.0
    inverse = np.linalg.inv(system)[:count, :count]
    found: Floats = inverse / np.diagonal(inverse)[:, None]
    return found

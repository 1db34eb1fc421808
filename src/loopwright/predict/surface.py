"""A surface through few scattered values: in one dimension straight lines between the points and level outside, in more
the same by distance (kriging with a linear variogram and an unknown mean; Matheron 1963). It never overshoots much, and
its leave-one-out errors come with it. Noise is smoothed by as much as makes these errors least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NUGGETS = (1e-4, 0.01, 0.05, 0.2, 1.0, 5.0, 1e3)
"""Noise, in units of distance at which values differ by as much; the last one gives the mean everywhere."""


@dataclass(frozen=True, slots=True)
class Surface:
    """At x: level - sum over the points of weights times the distance to x. left_out: of each point, its value less
    what the others say of it (of a single point: 0)."""

    weights: Floats
    level: float
    left_out: Floats


def distances(points: Floats) -> Floats:
    """From each point to each."""
    difference = points[:, None, :] - points[None, :, :]
    apart: Floats = np.sqrt((difference * difference).sum(axis=2))
    return apart


def surface(apart: Floats, values: Floats, noise: Floats) -> Surface:
    """apart: distances of the points. noise: how much of it each value has, relative to the others."""
    count = values.size
    if count == 1:
        return Surface(np.zeros(1), float(values[0]), np.zeros(1))
    share = np.clip((noise / noise.mean()) ** 2, 0.25, 16.0)
    systems = np.zeros((len(NUGGETS), count + 1, count + 1))
    systems[:, :count, :count] = -apart
    systems[:, range(count), range(count)] = np.array(NUGGETS)[:, None] * share
    systems[:, :count, count] = systems[:, count, :count] = 1.0
    inverses = np.linalg.inv(systems)
    found = inverses[:, :, :count] @ values
    own = np.diagonal(inverses, axis1=1, axis2=2)[:, :count]
    left_out = found[:, :count] / own
    best = int(np.argmin((left_out * left_out).mean(axis=1)))
    return Surface(found[best, :count], float(found[best, count]), left_out[best])

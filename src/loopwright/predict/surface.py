"""A surface through few scattered values: in one dimension straight lines between the points and level outside, in more
the same by distance (kriging with a linear variogram and an unknown mean; Matheron 1963). It never overshoots much, and
its leave-one-out errors come with it. Noise is smoothed by as much as makes these errors least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loopwright.predict.estimates import Floats
from loopwright.predict.padded import padded, parts, present

NUGGETS = (1e-4, 0.01, 0.05, 0.2, 1.0, 5.0, 1e3)
"""Noise, in units of distance at which values differ by as much; the last one gives the mean everywhere."""


@dataclass(frozen=True, slots=True)
class Values:
    """Of n points, in any number of dimensions. noise: how much of it each value has, relative to the others."""

    points: Floats
    values: Floats
    noise: Floats


@dataclass(frozen=True, slots=True)
class Surface:
    """At x: level - sum over the points of weights times the distance to x. left_out: of each point, its value less
    what the others say of it (of a single point: 0). nearest: the distance to the next (of a single one: infinite)."""

    weights: Floats
    level: float
    left_out: Floats
    nearest: Floats


def surfaces(given: Sequence[Values]) -> list[Surface]:
    """Through each. All have the same dimensions."""
    return [found for some in parts(given) for found in _surfaces(some)]


def _surfaces(given: Sequence[Values]) -> list[Surface]:
    here, lengths = present([each.values for each in given]), [each.values.size for each in given]
    apart, nearest = _distances(padded([each.points for each in given]), here)
    values = padded([each.values for each in given])
    shares = padded([np.clip((each.noise / each.noise.mean()) ** 2, 0.25, 16.0) for each in given])
    count = values.shape[1]
    # Where there is no point, the line of the system says that its weight is 0.
    systems = np.zeros((len(given), len(NUGGETS), count + 1, count + 1))
    systems[:, :, :count, :count] = -apart[:, None]
    diagonal = np.where(here[:, None, :], np.array(NUGGETS)[None, :, None] * shares[:, None, :], 1.0)
    systems[:, :, range(count), range(count)] = diagonal
    systems[:, :, :count, count] = systems[:, :, count, :count] = here[:, None, :]
    inverses = np.linalg.inv(systems)
    found = inverses[:, :, :, :count] @ values[:, None, :, None]
    own = np.diagonal(inverses, axis1=2, axis2=3)[:, :, :count]
    alone = (here.sum(axis=1) == 1)[:, None, None]
    left_out = np.where(alone, 0.0, found[:, :, :count, 0] / np.where(alone, 1.0, own))
    best = np.argmin((left_out * left_out).sum(axis=2), axis=1)
    return [
        Surface(found[k, b, :n, 0], found.item(k, b, count, 0), left_out[k, b, :n], nearest[k, :n])
        for k, (b, n) in enumerate(zip(best.tolist(), lengths, strict=True))
    ]


def _distances(points: Floats, here: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """From each point to each, 0 where one of them is none; and to the nearest other one."""
    difference = points[:, :, None, :] - points[:, None, :, :]
    apart: Floats = np.sqrt((difference * difference).sum(axis=3))
    both = here[:, :, None] & here[:, None, :]
    others = both & ~np.eye(points.shape[1], dtype=np.bool_)
    return np.where(both, apart, 0.0), np.where(others, apart, np.inf).min(axis=2)

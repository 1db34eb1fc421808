"""A surface through few scattered values: in one dimension straight lines between the points and level outside, in more
the same by distance (kriging with a linear variogram and an unknown mean; Matheron 1963). It never overshoots much, and
its leave-one-out errors come with it. Noise is smoothed by as much as makes the sum of these errors least: of their
squares it would be a step's (data no longer fits in a cache), which is then smoothed as if it were noise. Values that
stick out above all around them say little of others: something else ran at that time, or this size is a bad one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loopwright.predict.estimates import Floats
from loopwright.predict.padded import padded, parts, present

NUGGETS = (1e-4, 0.01, 0.05, 0.2, 1.0)
"""Noise, in units of distance at which values differ by as much."""

AROUND = 3
"""So many of the nearest points are around a point."""

FEWEST_FOR_SPIKES = 6
SPIKE, LEAST_SPIKE = 3.0, 0.05
"""A value sticks out where it is above all around it by so many times what values usually differ by, and at least by so
much."""

SPIKED = 100.0
"""The part of the noise of values that stick out."""


@dataclass(frozen=True, slots=True)
class ScatteredValues:
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


def surfaces(given: Sequence[ScatteredValues]) -> list[Surface]:
    """Through each. All have the same dimensions."""
    return [found for some in parts(given) for found in _surfaces(some)]


def _surfaces(given: Sequence[ScatteredValues]) -> list[Surface]:
    here, lengths = present([each.values for each in given]), [each.values.size for each in given]
    apart, nearest = _distances(padded([each.points for each in given]), here)
    values = padded([each.values for each in given])
    shares = padded([np.clip((each.noise / (each.noise.mean() or 1.0)) ** 2, 0.25, 16.0) for each in given])
    shares[_spikes(padded([each.points for each in given]), values, here, apart)] = SPIKED
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
    errors = np.abs(left_out).sum(axis=2)
    # Of two points it is the same whatever the noise: which is least would be up to rounding.
    best = np.argmax(errors <= (1.0 + 1e-9) * errors.min(axis=1, keepdims=True), axis=1)
    return [
        Surface(found[k, b, :n, 0], found.item(k, b, count, 0), left_out[k, b, :n], nearest[k, :n])
        for k, (b, n) in enumerate(zip(best.tolist(), lengths, strict=True))
    ]


def _spikes(points: Floats, values: Floats, here: NDArray[np.bool_], apart: Floats) -> NDArray[np.bool_]:
    """Which values stick out. The first and the last of all sizes never do: what follows them is not known."""
    lengths = here.sum(axis=1)
    count = values.shape[1]
    if count < FEWEST_FOR_SPIKES:
        return np.zeros_like(here)
    others = here[:, None, :] & ~np.eye(count, dtype=np.bool_)
    around = np.argsort(np.where(others, apart, np.inf), axis=2, kind="stable")[:, :, :AROUND]
    found = np.take_along_axis(np.broadcast_to(values[:, None, :], apart.shape), around, axis=2)
    usual = np.abs(values - np.median(found, axis=2))
    usual = np.array([np.median(row[:n]) for row, n in zip(usual, lengths.tolist(), strict=True)])
    out: NDArray[np.bool_] = values > found.max(axis=2) + np.maximum(SPIKE * usual, LEAST_SPIKE)[:, None]
    sizes = points.sum(axis=2)
    smallest, largest = np.where(here, sizes, np.inf).min(axis=1), np.where(here, sizes, -np.inf).max(axis=1)
    inner = here & (sizes > smallest[:, None]) & (sizes < largest[:, None])
    out &= inner & (lengths >= FEWEST_FOR_SPIKES)[:, None]
    return out


def _distances(points: Floats, here: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """From each point to each, 0 where one of them is none; and to the nearest other one."""
    difference = points[:, :, None, :] - points[:, None, :, :]
    apart: Floats = np.sqrt((difference * difference).sum(axis=3))
    both = here[:, :, None] & here[:, None, :]
    others = both & ~np.eye(points.shape[1], dtype=np.bool_)
    return np.where(both, apart, 0.0), np.where(others, apart, np.inf).min(axis=2)

"""The part of a variant's time that is a sum of few costs: a fixed one per call, one per iteration, one per byte
touched, one per byte copied. None is negative, so the trend neither falls nor turns wild outside of what was measured.

Iterations may come in waves: where units are worked on q at a time (threads times a tile, blocks of a grid times how
many run side by side), the last wave takes as long as a full one, and the cost per iteration is a sawtooth over the
units. Which size counts and what q is are found from the times, by leave-one-out error; only where that error falls
much, as q is one among hundreds of candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from loopwright.predict.estimates import Floats
from loopwright.predict.padded import padded, parts, present

Bools = NDArray[np.bool_]
Ints = NDArray[np.int_]

FIXED, ITERATIONS, FOOTPRINT, COPIED = range(4)
"""The columns of costs."""

MOST_COSTS = 3
FEWEST_FOR_WAVES = 6
WAVES_GAIN = 0.5
"""Waves are believed where they bring the leave-one-out error down to this part."""

SIMPLER = 0.95
"""One more cost is believed where it brings the leave-one-out error down to this part."""

QUANTA: Floats = np.unique(np.concatenate([np.round(np.geomspace(2, 3e5, 150)), 2.0 ** np.arange(1, 19)]))
_POWERS = np.frexp(QUANTA)[0] == 0.5


@dataclass(frozen=True, slots=True)
class Trend:
    """costs: in ns, of one call, one iteration, one byte touched, one byte copied. axis: which of the counts comes in
    waves of `quantum`; no axis: -1."""

    costs: tuple[float, float, float, float]
    axis: int = -1
    quantum: float = 1.0


def in_waves(count: Floats, quantum: Floats | float) -> Floats:
    """What whole waves hold over what is in them: 1 or more."""
    return np.ceil(count / quantum) * quantum / count


@dataclass(frozen=True, slots=True)
class Sites:
    """What was measured of one variant at n sites. columns: the four amounts that have a cost (the first is 1). counts:
    what may come in waves, each 1 or more; columns that are all alike count once. times: in ns."""

    columns: Floats
    counts: Floats
    times: Floats


def trends(given: Sequence[Sites]) -> list[Trend]:
    """Of each, fitted to relative errors. All have counts of the same things."""
    return [found for some in parts(given) for found in _trends(some)]


def _trends(given: Sequence[Sites]) -> list[Trend]:
    relative = padded([each.columns / each.times[:, None] for each in given])
    counts = padded([each.counts for each in given], repeat=True)
    lengths = np.array([each.times.size for each in given])
    here = present([each.times for each in given])
    errors, costs = _fewest_costs(relative, here, lengths)
    axes, quanta = np.full(len(given), -1), np.ones(len(given))
    may = (lengths >= FEWEST_FOR_WAVES) & (errors > 0.0)
    limits = WAVES_GAIN * errors
    changing = different(counts)
    for axis in range(counts.shape[2]):
        some = np.flatnonzero(may & changing[:, axis])
        if not some.size:
            continue
        quantum, good = _best_quanta(relative[some], counts[some, :, axis], here[some], lengths[some])
        some, quantum = some[good], quantum[good]
        if not some.size:
            continue
        waved = relative[some]
        waved[:, :, ITERATIONS] *= in_waves(counts[some, :, axis], quantum[:, None])
        found, fitted = _fewest_costs(waved, here[some], lengths[some])
        better = found < limits[some]
        some = some[better]
        costs[some], limits[some], axes[some], quanta[some] = fitted[better], found[better], axis, quantum[better]
    return [
        Trend(_four(cost), axis, quantum)
        for cost, axis, quantum in zip(costs, axes.tolist(), quanta.tolist(), strict=True)
    ]


def _fewest_costs(relative: Floats, here: Bools, lengths: Ints) -> tuple[Floats, Floats]:
    """Of each variant, the set of costs with the least leave-one-out error, and that error; larger sets only where they
    gain."""
    others = [column for column in (FIXED, FOOTPRINT, COPIED) if relative[:, :, column].any()]
    costs = np.zeros((len(relative), relative.shape[2]))
    best = np.full(len(relative), np.inf)
    most = np.clip(lengths - 2, 1, MOST_COSTS)
    for size in range(int(most.max())):
        for chosen in combinations(others, size):
            columns = sorted([*chosen, ITERATIONS])
            errors, fitted = _fits(relative[:, :, columns], here, lengths)
            better = (size < most) & (errors < SIMPLER * best)
            best[better] = errors[better]
            fuller = np.zeros((np.count_nonzero(better), costs.shape[1]))
            fuller[:, columns] = fitted[better]
            costs[better] = fuller
    return best, costs


def _best_quanta(relative: Floats, counts: Floats, here: Bools, lengths: Ints) -> tuple[Floats, Bools]:
    """Of each variant, by the leave-one-out error of a fixed cost and one per iteration, of all candidates at once; for
    two columns the inverse is written out. And whether there is any."""
    most = 2 * counts.max(axis=1)
    candidates = QUANTA[: int(np.searchsorted(QUANTA, most.max(), "right"))]
    if candidates.size == 0:
        return np.ones(len(counts)), np.zeros(len(counts), np.bool_)
    fixed = relative[:, None, :, FIXED]
    waved = in_waves(counts[:, None, :], candidates[None, :, None])
    waved *= relative[:, None, :, ITERATIONS]
    ff, fw, ww = (fixed * fixed).sum(axis=2), (waved * fixed).sum(axis=2), (waved * waved).sum(axis=2)
    determinant = ff * ww - fw * fw
    good = (determinant > 1e-9 * ff * ww) & (candidates[None, :] <= most[:, None])
    determinant = np.where(good, determinant, 1.0)
    f1, w1 = fixed.sum(axis=2), waved.sum(axis=2)
    per_call, per_iteration = (ww * f1 - fw * w1) / determinant, (ff * w1 - fw * f1) / determinant
    good &= (per_call >= 0) & (per_iteration >= 0)
    ff, fw, ww = ff / determinant, fw / determinant, ww / determinant
    own = ww[:, :, None] * fixed**2 - (2 * fw[:, :, None] * fixed - ff[:, :, None] * waved) * waved
    missed = here[:, None, :] - per_call[:, :, None] * fixed - per_iteration[:, :, None] * waved
    missed /= np.maximum(1.0 - own, 0.01)
    errors = np.where(good, (missed * missed).sum(axis=2) / lengths[:, None], np.inf)
    # Which of equals is least is up to rounding: the first power of two, as tiles and blocks mostly are, or the first.
    least = errors <= (1.0 + 1e-9) * errors.min(axis=1, keepdims=True)
    best = np.argmax(least + (least & _POWERS[: candidates.size]).astype(np.int8), axis=1)
    return candidates[best], good[np.arange(len(best)), best]


def _fits(columns: Floats, here: Bools, lengths: Ints) -> tuple[Floats, Floats]:
    """Of many variants at once (variant, site, column): coefficients whose sum over the columns is nearest to 1 at all
    sites, and the leave-one-out error, infinite where a coefficient is negative. Columns are 0 where no site is."""
    longest = np.sqrt((columns * columns).sum(axis=1, keepdims=True))
    longest = np.where(longest > 0, longest, 1.0)
    scaled = columns / longest
    turned = np.swapaxes(scaled, 1, 2)
    inverse = np.linalg.inv(turned @ scaled + 1e-9 * np.eye(columns.shape[2]))
    found = inverse @ turned.sum(axis=2, keepdims=True)
    own = ((scaled @ inverse) * scaled).sum(axis=2)
    missed = (here - (scaled @ found)[:, :, 0]) / np.maximum(1.0 - own, 0.01)
    errors = np.sqrt((missed * missed).sum(axis=1) / lengths)
    fitted = found[:, :, 0]
    return np.where((fitted < 0).any(axis=1), np.inf, errors), np.maximum(fitted, 0.0) / longest[:, 0, :]


def different(counts: Floats) -> Bools:
    """Of each variant, the first of each set of equal columns, without those that never change."""
    found: Bools = (counts != counts[:, :1]).any(axis=1)
    for axis in range(counts.shape[2]):
        for other in range(axis):
            found[:, axis] &= ~found[:, other] | (counts[:, :, axis] != counts[:, :, other]).any(axis=1)
    return found


def _four(costs: Floats) -> tuple[float, float, float, float]:
    fixed, iteration, footprint, copied = (float(cost) for cost in costs)
    return fixed, iteration, footprint, copied

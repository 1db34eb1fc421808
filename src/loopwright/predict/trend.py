"""The part of a variant's time that is a sum of few costs: a fixed one per call, one per iteration, one per byte
touched, one per byte copied. None is negative, so the trend neither falls nor turns wild outside of what was measured.

Iterations may come in waves: where units are worked on q at a time (threads times a tile, blocks of a grid times how
many run side by side), the last wave takes as long as a full one, and the cost per iteration is a sawtooth over the
units. Which size counts and what q is are found from the times, by leave-one-out error; only where that error falls
much, as q is one among hundreds of candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIXED, ITERATIONS, FOOTPRINT, COPIED = range(4)
"""The columns of costs."""

MOST_COSTS = 3
FEWEST_FOR_WAVES = 6
WAVES_GAIN = 0.5
"""Waves are believed where they bring the leave-one-out error down to this part."""

SIMPLER = 0.95
"""One more cost is believed where it brings the leave-one-out error down to this part."""

QUANTA: Floats = np.unique(np.concatenate([np.round(np.geomspace(2, 3e5, 150)), 2.0 ** np.arange(1, 19)]))


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


def trend(columns: Floats, counts: Floats, times: Floats) -> Trend:
    """Fitted to relative errors. columns: of n sites, the four amounts that have a cost (the first is 1). counts: of n
    sites, what may come in waves, each 1 or more; columns that are all alike count once. times: of n sites."""
    count = times.size
    most = min(MOST_COSTS, max(1, count - 2))
    relative = columns / times[:, None]
    error, costs = _fewest_costs(relative, most)
    best = Trend(_four(costs))
    if count < FEWEST_FOR_WAVES or error == 0.0:
        return best
    limit = WAVES_GAIN * error
    for axis in _different(counts):
        quantum = _best_quantum(relative, counts[:, axis])
        if quantum is None:
            continue
        waved = relative.copy()
        waved[:, ITERATIONS] *= in_waves(counts[:, axis], quantum)
        error, costs = _fewest_costs(waved, most)
        if error < limit:
            best, limit = Trend(_four(costs), axis, quantum), error
    return best


def _fewest_costs(relative: Floats, most: int) -> tuple[float, Floats]:
    """The set of costs with the least leave-one-out error, and that error; larger sets only where they gain."""
    others = [column for column in (FIXED, FOOTPRINT, COPIED) if relative[:, column].any()]
    costs = np.zeros(relative.shape[1])
    best = np.inf
    for size in range(most):
        for chosen in combinations(others, size):
            columns = sorted([*chosen, ITERATIONS])
            errors, fitted = _fits(relative[None][:, :, columns])
            if errors[0] < SIMPLER * best:
                best = float(errors[0])
                costs = np.zeros(relative.shape[1])
                costs[columns] = fitted[0]
    return best, costs


def _best_quantum(relative: Floats, count: Floats) -> float | None:
    """By the leave-one-out error of a fixed cost and one per iteration, of all candidates at once; for two columns the
    inverse is written out."""
    candidates = QUANTA[: int(np.searchsorted(QUANTA, 2 * count.max(), "right"))]
    if candidates.size == 0:
        return None
    fixed = relative[:, FIXED]
    waved = relative[:, ITERATIONS] * in_waves(count[None, :], candidates[:, None])
    ff, fw, ww = fixed @ fixed, waved @ fixed, (waved * waved).sum(axis=1)
    determinant = ff * ww - fw * fw
    good = determinant > 1e-9 * ff * ww
    determinant = np.where(good, determinant, 1.0)
    f1, w1 = fixed.sum(), waved.sum(axis=1)
    per_call, per_iteration = (ww * f1 - fw * w1) / determinant, (ff * w1 - fw * f1) / determinant
    good &= (per_call >= 0) & (per_iteration >= 0)
    own = (ww[:, None] * fixed**2 - 2 * fw[:, None] * fixed * waved + ff * waved**2) / determinant[:, None]
    missed = (1.0 - per_call[:, None] * fixed - per_iteration[:, None] * waved) / np.maximum(1.0 - own, 0.01)
    errors = np.where(good, (missed * missed).mean(axis=1), np.inf)
    best = int(np.argmin(errors))
    return float(candidates[best]) if good[best] else None


def _fits(columns: Floats) -> tuple[Floats, Floats]:
    """Of many sets of columns at once (set, site, column): coefficients whose sum over the columns is nearest to 1 at
    all sites, and the leave-one-out error, infinite where a coefficient is negative."""
    lengths = np.sqrt((columns * columns).sum(axis=1, keepdims=True))
    lengths = np.where(lengths > 0, lengths, 1.0)
    scaled = columns / lengths
    turned = np.swapaxes(scaled, 1, 2)
    inverse = np.linalg.inv(turned @ scaled + 1e-9 * np.eye(columns.shape[2]))
    found = inverse @ turned.sum(axis=2, keepdims=True)
    own = ((scaled @ inverse) * scaled).sum(axis=2)
    missed = (1.0 - (scaled @ found)[:, :, 0]) / np.maximum(1.0 - own, 0.01)
    errors = np.sqrt((missed * missed).mean(axis=1))
    fitted = found[:, :, 0]
    return np.where((fitted < 0).any(axis=1), np.inf, errors), np.maximum(fitted, 0.0) / lengths[:, 0, :]


def _different(counts: Floats) -> list[int]:
    """The first of each set of equal columns, without those that never change."""
    seen: list[int] = []
    for axis in range(counts.shape[1]):
        column = counts[:, axis]
        if (column != column[0]).any() and not any((column == counts[:, other]).all() for other in seen):
            seen.append(axis)
    return seen


def _four(costs: Floats) -> tuple[float, float, float, float]:
    fixed, iteration, footprint, copied = (float(cost) for cost in costs)
    return fixed, iteration, footprint, copied

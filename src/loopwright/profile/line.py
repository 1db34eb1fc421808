"""Straight lines through measurements: by least squares, and without the worst of the points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

DROPPED = 0.2
"""The part of the points that a trimmed line leaves out (Dollinger 2015, section 4.4.3)."""

MOST_STARTS = 400
REFITS = 20


@dataclass(frozen=True, slots=True)
class Line:
    """slope * x + intercept."""

    slope: float
    intercept: float

    def at(self, x: float) -> float:
        """The value at x."""
        return self.slope * x + self.intercept


def least_squares(x: ArrayLike, y: ArrayLike) -> Line:
    """The line of least squares; level where all x are the same. Raises ValueError without points."""
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if xs.size == 0 or xs.shape != ys.shape:
        raise ValueError(f"a line needs as many x as y, and one at least, not {xs.size} and {ys.size}")
    slope, intercept = _lines(xs[None, :], ys[None, :])
    return Line(float(slope[0]), float(intercept[0]))


def trimmed(x: ArrayLike, y: ArrayLike, dropped: float = DROPPED) -> tuple[Line, NDArray[np.bool_]]:
    """The line with the least standard deviation among those through all but the `dropped` part of the points, and
    which points it keeps (Dollinger 2015, Algorithm 4.3). Dollinger tries all combinations. Here lines through pairs of
    points are each fitted again to the points that are nearest to them until nothing changes (least trimmed squares,
    Rousseeuw and Van Driessen 2006), which asks for no more than 400 starts however many points there are."""
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    count = xs.size
    kept = count - int(dropped * count)
    if kept == count or count < 3:
        return least_squares(xs, ys), np.ones(count, bool)
    first, second = np.triu_indices(count, 1)
    chosen = np.unique(np.linspace(0, first.size - 1, min(first.size, MOST_STARTS)).astype(int))
    nearest = np.stack([first[chosen], second[chosen]], axis=1)
    for _ in range(REFITS):
        slope, intercept = _lines(xs[nearest], ys[nearest])
        away = np.abs(ys - slope[:, None] * xs - intercept[:, None])
        again = np.sort(np.argsort(away, axis=1, kind="stable")[:, :kept], axis=1)
        if again.shape == nearest.shape and np.array_equal(again, nearest):
            break
        nearest = again
    slope, intercept = _lines(xs[nearest], ys[nearest])
    squares = ((ys[nearest] - slope[:, None] * xs[nearest] - intercept[:, None]) ** 2).sum(axis=1)
    best = int(np.argmin(squares))
    mask = np.zeros(count, bool)
    mask[nearest[best]] = True
    return Line(float(slope[best]), float(intercept[best])), mask


def _lines(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Slopes and intercepts, one line for each row of points."""
    mean_x, mean_y = x.mean(axis=1), y.mean(axis=1)
    from_x, from_y = x - mean_x[:, None], y - mean_y[:, None]
    width = (from_x * from_x).sum(axis=1)
    slope = np.divide((from_x * from_y).sum(axis=1), width, out=np.zeros_like(width), where=width > 0)
    return slope, mean_y - slope * mean_x

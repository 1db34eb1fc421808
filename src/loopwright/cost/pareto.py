"""Which of several points no other one surpasses in every respect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Point = Sequence[float]

TOLERANCE = 0.01
"""Points whose values are within this part of one another count as the same one."""


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """Points by their numbers. clusters: the points that nothing dominates, those that are equal together: the first
    of each stands for the others. dropped: every other point, and one that dominates it, which is the first of a
    cluster. A point that equals a dominated one is dominated with it."""

    clusters: tuple[tuple[int, ...], ...]
    dropped: Mapping[int, int]

    @property
    def kept(self) -> tuple[int, ...]:
        """One point of each cluster."""
        return tuple(cluster[0] for cluster in self.clusters)


def pareto(points: Sequence[Point], tolerance: float = TOLERANCE) -> ParetoFront:
    """The Pareto-optimal points, where more is better. One point dominates another where it is nowhere less and
    somewhere more. A point with a NaN cannot be judged: it is kept, alone, and dominates nothing.

    Clusters stand in the order of their first points. Raises ValueError where points have different lengths."""
    if len({len(point) for point in points}) > 1:
        raise ValueError("all points must have the same number of values")
    unjudged = [number for number, point in enumerate(points) if any(map(math.isnan, point))]
    judged = sorted(set(range(len(points))) - set(unjudged))
    # Best first: no point is dominated by one that comes later, and the first of a cluster is its best.
    judged.sort(key=lambda number: tuple(points[number]), reverse=True)
    clusters = _clusters(points, judged, tolerance)
    front: list[list[int]] = []
    dropped: dict[int, int] = {}
    values = np.array([points[cluster[0]] for cluster in clusters], np.float64)
    best = np.empty_like(values)
    for cluster, own in zip(clusters, values, strict=True):
        above = np.flatnonzero((best[: len(front)] >= own).all(axis=1))
        if len(above):
            by = front[int(above[0])][0]
            dropped.update((number, by) for number in cluster)
        else:
            best[len(front)] = own
            front.append(cluster)
    return ParetoFront(tuple(sorted([*map(tuple, front), *((number,) for number in unjudged)])), dropped)


def _clusters(points: Sequence[Point], order: Sequence[int], tolerance: float) -> list[list[int]]:
    """Equal points together; each is compared with the first of a cluster only, so that no chain of small differences
    puts points together that are far apart."""
    clusters: list[list[int]] = []
    firsts = np.array([points[number] for number in order], np.float64)
    for number in order:
        own = np.asarray(points[number], np.float64)
        known = firsts[: len(clusters)]
        with np.errstate(invalid="ignore"):  # infinity less infinity
            near = np.abs(known - own) <= tolerance * np.maximum(np.abs(known), np.abs(own))
        same = np.flatnonzero(((known == own) | (near & np.isfinite(known) & np.isfinite(own))).all(axis=1))
        if len(same):
            clusters[same[0]].append(number)
        else:
            firsts[len(clusters)] = own
            clusters.append([number])
    return clusters

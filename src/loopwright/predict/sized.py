"""Time as a function of how much there is to do: a trend (predict/trend: costs per call, iteration and byte) times a
surface (predict/surface) over the logarithms of units, depth and footprint, which follows caches and all else that no
sum of costs says. Of many variants side by side: what does not depend on the call is in arrays that are made once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev

import numpy as np
from numpy.typing import NDArray

from loopwright.ir.signature import Shape
from loopwright.predict.estimates import EXTRAPOLATED, INTERPOLATED, Codes, Floats
from loopwright.predict.evidence import INSIDE, SWINGS, Evidence, MeasuredShape, Transfers, own_time
from loopwright.predict.shares import Shared, shares
from loopwright.predict.surface import ScatteredValues, Surface, surfaces
from loopwright.predict.trend import ITERATIONS, Sites, Trend, in_waves, trends
from loopwright.profile.measurement import Work

MOST_SITES = 32
"""Of a variant so many sites are kept for the surface, far from each other; the trend is fitted to all."""

NEAR = 0.02
"""Added to distances where errors are put in proportion to them: two sites side by side differ as well."""

BELIEVED = 4
"""A variant's own errors count as much as those of all variants together when it has so many sites."""

UNTRIED = 0.3
"""The error that is assumed at a distance of 1 (e times the size) where nothing could be left out to see it."""

COPYING = 2.0
"""How far a call that copies all it touches is from one that copies nothing, over log(2)."""

AXES = 3
"""Of a point, those whose range says whether a call lies inside."""

Point = tuple[float, float, float, float, float]
"""Logarithms of units, depth and footprint; how much is copied; 1 where that counts, 0 on a CPU."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """One variant's model, before it is put beside the others. left_out: of each point, the error without it, over the
    root of the distance to the next one. missed: mean error without each. swing: of single calls."""

    trend: Trend
    points: tuple[Point, ...]
    weights: Floats
    level: float
    left_out: Floats
    missed: float
    swing: float


class Sized:
    """The models of variants whose work is known. left_out_errors: see Models."""

    def __init__(self, found: Sequence[tuple[Evidence, Transfers | None]]) -> None:
        fits = _fits(found)
        self._trends, self._surfaces = _Trends(fits), _Surfaces(fits)
        self._swing2 = np.array([(SWINGS * fit.swing) ** 2 for fit in fits])
        self._rate2 = np.array(_rates(fits)) ** 2
        self.left_out_errors = [fit.missed for fit in fits]

    def at(self, shape: Shape, work: Work) -> tuple[Floats, Floats, Codes]:
        """Of each variant: time, error, and whether this lies between what was measured. The arrays are new ones."""
        bends, nearest, hows = self._surfaces.at(work)
        times = np.exp(bends, out=bends)
        times *= self._trends.at(shape.sizes, work)
        errors = self._rate2 * (NEAR + nearest)
        errors += self._swing2
        return times, np.sqrt(errors, out=errors), hows


class _Trends:
    """The trends of all variants, side by side."""

    def __init__(self, fits: Sequence[_Fit]) -> None:
        self._costs = np.array([fit.trend.costs for fit in fits]).reshape(-1, 4)
        waved = [(row, fit.trend) for row, fit in enumerate(fits) if fit.trend.axis >= 0]
        self._waved = np.array([row for row, _ in waved], np.intp)
        self._axis = np.array([found.axis for _, found in waved], np.intp)
        self._quantum = np.array([found.quantum for _, found in waved])
        self._per_iteration = self._costs[self._waved, ITERATIONS]

    def at(self, sizes: tuple[int, ...], work: Work) -> Floats:
        copied = work.inputs_bytes + work.outputs_bytes
        times: Floats = self._costs.dot(np.array([1.0, work.iterations, work.footprint_bytes, copied]))
        if self._waved.size:
            counts = np.maximum(np.array([work.units, *sizes])[self._axis], 1.0)
            longer = in_waves(counts, self._quantum)
            longer -= 1.0
            longer *= self._per_iteration
            longer *= work.iterations
            times[self._waved] += longer
        return times


class _Surfaces:
    """The surfaces of all variants, over the points of any of them. Most variants are measured at the same ones: of
    each set of points, `missing` is infinite at all others, and `low` and `high` are its corners."""

    def __init__(self, fits: Sequence[_Fit]) -> None:
        everywhere = sorted({point for fit in fits for point in fit.points})
        place = {point: column for column, point in enumerate(everywhere)}
        points = np.array(everywhere, np.float64).reshape(-1, 5)
        self._copies = points[:, 4].copy() if points[:, 4].any() else None
        self._points = points[:, : AXES if self._copies is None else AXES + 1].T.copy()
        self._level = np.array([fit.level for fit in fits])
        self._weights = np.zeros((len(fits), len(everywhere)))
        for row, fit in enumerate(fits):
            np.add.at(self._weights[row], [place[point] for point in fit.points], fit.weights)
        sets = {points: group for group, points in enumerate(dict.fromkeys(fit.points for fit in fits))}
        self._groups = np.array([sets[fit.points] for fit in fits], np.intp)
        self._missing = np.full((len(sets), len(everywhere)), np.inf)
        for own, group in sets.items():
            self._missing[group, [place[point] for point in own]] = 0.0
        axes = [np.array(own)[:, :AXES] for own in sets]
        corners = [(found.min(axis=0) - 1e-9, found.max(axis=0) + 1e-9) for found in axes]
        self._low = np.array([low for low, _ in corners]).reshape(-1, AXES)
        self._high = np.array([high for _, high in corners]).reshape(-1, AXES)
        self._only = (self._low[0].tolist(), self._high[0].tolist()) if len(sets) == 1 else None
        self._all_inside, self._all_outside = (np.full(len(fits), code) for code in (INTERPOLATED, EXTRAPOLATED))

    def at(self, work: Work) -> tuple[Floats, Floats | np.float64, Codes]:
        """Of each variant, the surface's value, the distance to the nearest point (one for all where all were measured
        at the same ones), and whether this lies inside."""
        x, y, z, copied, _ = _place(work, self._copies is not None)
        if self._copies is None:
            away = self._points - np.array([[x], [y], [z]])
        else:
            away = self._points.copy()
            away[:AXES] -= np.array([[x], [y], [z]])
            away[AXES] -= copied * self._copies
        away *= away
        distance = np.sqrt(np.add.reduce(away))
        values = self._level - self._weights.dot(distance)
        if self._only is not None:
            (x0, y0, z0), (x1, y1, z1) = self._only
            inside = x0 <= x <= x1 and y0 <= y <= y1 and z0 <= z <= z1
            return values, np.minimum.reduce(distance), (self._all_inside if inside else self._all_outside).copy()
        here = np.array([x, y, z])
        nearest = np.minimum.reduce(self._missing + distance, axis=1)
        within = np.logical_and.reduce((here >= self._low) & (here <= self._high), axis=1)
        return values, nearest[self._groups], np.where(within, INTERPOLATED, EXTRAPOLATED)[self._groups]


def _place(work: Work, copies: bool) -> Point:
    """Where a call lies among all calls. copies: whether it matters how much it copies."""
    size = max(work.footprint_bytes, 1.0)
    copied = COPYING * math.log1p((work.inputs_bytes + work.outputs_bytes) / size) if copies else 0.0
    return math.log(max(work.units, 1.0)), math.log(max(work.depth, 1.0)), math.log(size), copied, float(copies)


@dataclass(frozen=True, slots=True)
class _Apart:
    """Of one variant, one site for each amount of work. times: in ns, without known copies. noise: as parts of them.
    swing: of single calls."""

    threads: int
    places: list[Point]
    sites: Sites
    noise: Floats
    swing: float


def _fits(found: Sequence[tuple[Evidence, Transfers | None]]) -> list[_Fit]:
    given = [_apart(each, transfers) for each, transfers in found]
    places = [np.array(each.places) for each in given]
    farthest = [_far_apart(points) for points in places]
    costs = shares(
        [
            Shared(each.threads, points[kept], _only(each.sites, kept), trend)
            for each, points, kept, trend in zip(
                given, places, farthest, trends([each.sites for each in given]), strict=True
            )
        ]
    )
    values, owns = [], []
    for each, cost, points, kept in zip(given, costs, places, farthest, strict=True):
        waved = each.sites.columns.copy()
        if cost.axis >= 0:
            waved[:, ITERATIONS] *= in_waves(each.sites.counts[:, cost.axis], cost.quantum)
        bends = np.log(each.sites.times / waved.dot(np.array(cost.costs)))
        values.append(ScatteredValues(points[kept], bends[kept], each.noise[kept]))
        owns.append(tuple(each.places[i] for i in kept.tolist()))
    parts = zip(given, costs, owns, surfaces(values), strict=True)
    return [_fit(each, cost, own, bent) for each, cost, own, bent in parts]


def _fit(each: _Apart, cost: Trend, own: tuple[Point, ...], bent: Surface) -> _Fit:
    if len(own) == 1:
        return _Fit(cost, own, bent.weights, bent.level, np.zeros(0), math.nan, each.swing)
    left_out = np.abs(bent.left_out) / np.sqrt(NEAR + bent.nearest)
    missed = float(np.add.reduce(np.abs(np.expm1(bent.left_out)))) / len(own)
    return _Fit(cost, own, bent.weights, bent.level, left_out, missed, each.swing)


def _apart(each: Evidence, transfers: Transfers | None) -> _Apart:
    """Sites of the same work would speak for each other when one is left out; they are one, with the mean of the
    logarithms of their times."""
    copies = transfers is None and not each.variant.threads
    groups: dict[tuple[Point, float], list[MeasuredShape]] = {}
    for site in each.sites:
        groups.setdefault((_place(site.work, copies), site.work.iterations), []).append(site)
    times, noise = [], []
    for group in groups.values():
        if len(group) == 1:  # as most are
            times.append(own_time(group[0], transfers))
            noise.append(group[0].noise)
            continue
        logs = [math.log(own_time(site, transfers)) for site in group]
        times.append(math.exp(fmean(logs)))
        noise.append(math.hypot(fmean(site.noise for site in group), pstdev(logs)))
    works = [(group[0].work, group[0].shape.sizes) for group in groups.values()]
    columns = [
        (1.0, max(one.iterations, 1.0), one.footprint_bytes, one.inputs_bytes + one.outputs_bytes if copies else 0.0)
        for one, _ in works
    ]
    counts = np.maximum([(one.units, *sizes) for one, sizes in works], 1.0)
    sites = Sites(np.array(columns), counts, np.array(times))
    return _Apart(
        each.variant.threads,
        [place for place, _ in groups],
        sites,
        np.array(noise),
        median(one.swing for one in each.sites),
    )


def _only(sites: Sites, kept: NDArray[np.intp]) -> Sites:
    return sites if len(kept) == len(sites.times) else Sites(sites.columns[kept], sites.counts[kept], sites.times[kept])


def _far_apart(points: Floats) -> NDArray[np.intp]:
    """At most MOST_SITES of them, each next one the farthest from all before."""
    if len(points) <= MOST_SITES:
        return np.arange(len(points))
    chosen = [0]
    away = ((points - points[0]) ** 2).sum(axis=1)
    while len(chosen) < MOST_SITES:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(sorted(chosen))


def _rates(fits: Sequence[_Fit]) -> list[float]:
    """Of each variant, the error at a distance of 1, from what was left out: its own and, the fewer those are, that of
    all variants."""
    everyone = np.concatenate([fit.left_out for fit in fits]) if fits else np.zeros(0)
    shared = _inside(everyone) if everyone.size else UNTRIED
    rates = []
    for fit in fits:
        count = fit.left_out.size
        own = _inside(fit.left_out) if count else 0.0
        rates.append(math.sqrt((count * own**2 + BELIEVED * shared**2) / (count + BELIEVED)))
    return rates


def _inside(errors: Floats) -> float:
    """That within which the part INSIDE of them lies, as np.quantile has it, which takes ten times as long."""
    ordered = np.sort(errors)
    place = INSIDE * (ordered.size - 1)
    low = int(place)
    below, above = ordered.item(low), ordered.item(min(low + 1, ordered.size - 1))
    return below + (place - low) * (above - below)

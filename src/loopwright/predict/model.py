"""From all measurements of a kernel on one machine to the time of every variant for a call that was never made.

The time of a variant is its trend (predict/trend: costs per call, iteration and byte) times a surface (predict/surface)
over the logarithms of units, depth and footprint, which follows caches and all else that no sum of costs says. Where
iterations are not known, or data has features, it is a tree over these (predict/tree). At a shape that was measured it
is what was measured. Everything that does not depend on the call is in padded arrays, made once, so that a prediction
of a hundred variants is some twenty array operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from loopwright.predict.evidence import Copies, Evidence, Site, copies_of, evidence
from loopwright.predict.prediction import How, Prediction
from loopwright.predict.surface import distances, surface
from loopwright.predict.trend import COPIED, FIXED, FOOTPRINT, ITERATIONS, Trend, in_waves, trend
from loopwright.profile.measurement import CacheState, Measurement, Shape, Variant, Work

Floats = NDArray[np.float64]

MOST_SITES = 32
"""Of a variant so many sites are kept for the surface, far from each other; the trend is fitted to all."""

INSIDE = 0.85
"""The part of all calls whose time is to lie within the stated error."""

SWINGS = 1.44
"""Within so many standard deviations that part of a normal distribution lies."""

NEAR = 0.02
"""Added to distances where errors are put in proportion to them: two sites side by side differ as well."""

BELIEVED = 4
"""A variant's own errors count as much as those of all variants together when it has so many sites."""

UNTRIED = 0.3
"""The error that is assumed at a distance of 1 (e times the size) where nothing could be left out to see it."""

COPYING = 2.0
"""How far a call that copies all it touches is from one that copies nothing, over log(2)."""

Point = tuple[float, float, float, float, float]
"""Logarithms of units, depth and footprint; how much is copied; 1 where that counts, 0 on a CPU."""

NO_COPIES: Copies = (0.0, 0.0)


class Transfers(Protocol):
    """How long copies to a device and back take, such as by bandwidth tables."""

    def time_ns(self, to_device_bytes: float, to_host_bytes: float) -> float:
        """Of both."""
        ...


@dataclass(frozen=True, slots=True)
class Estimates:
    """Of all variants, in order. `predictions` makes a value for each, which takes about as long as all the rest."""

    times_ns: Floats
    errors: Floats
    hows: Sequence[How]

    def predictions(self) -> tuple[Prediction, ...]:
        """One for each variant."""
        values = zip(self.times_ns.tolist(), self.errors.tolist(), self.hows, strict=True)
        # What Prediction._make does, without a call of Python for each.
        return tuple(map(tuple.__new__, repeat(Prediction), values))


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


class Models:
    """Of all variants of one kernel on one machine that may serve calls. variants: in the order of all results.
    left_out_errors: of each variant, the mean part of itself by which a measured time is missed where it is left out
    (NaN with a single site)."""

    def __init__(self, found: Sequence[Evidence], transfers: Mapping[str, Transfers]) -> None:
        self.variants: tuple[Variant, ...] = tuple(each.variant for each in found)
        self._devices = [
            (np.array([v.device == device for v in self.variants]), copies)
            for device, copies in transfers.items()
            if any(v.device == device for v in self.variants)
        ]
        limits = np.array([[each.too_long, each.too_large] for each in found]).reshape(-1, 2)
        self._limits = limits if np.isfinite(limits).any() else None
        self._on_cpu = _measured(found, on_cpu=True)
        self._elsewhere = _measured(found, on_cpu=False)
        fits = [_fit(each, transfers.get(each.variant.device)) for each in found]
        self._trends, self._surfaces = _Trends(fits), _Surfaces(fits)
        self._swing2 = np.array([(SWINGS * fit.swing) ** 2 for fit in fits])
        self._rate2 = np.array(_rates(fits)) ** 2
        self.left_out_errors: tuple[float, ...] = tuple(fit.missed for fit in fits)

    def estimate(self, shape: Shape, work: Work) -> Estimates:
        """Of all variants for one call."""
        if not self.variants:
            return Estimates(np.zeros(0), np.zeros(0), ())
        surfaces, trends = self._surfaces, self._trends
        bends, nearest, inside = surfaces.at(work)
        copied = work.inputs_bytes + work.outputs_bytes
        times = np.maximum(trends.at(shape.sizes, work, copied) * np.exp(bends), 1.0)
        for here, copies in self._devices:
            times += here * copies.time_ns(work.inputs_bytes, work.outputs_bytes)
        errors = np.sqrt(self._swing2 + self._rate2 * (NEAR + nearest))
        hows: list[How] = ["interpolated" if inside[group] else "extrapolated" for group in surfaces.groups]
        for known in (
            self._on_cpu.get((shape, NO_COPIES)),
            self._elsewhere.get((shape, (work.inputs_bytes, work.outputs_bytes))),
        ):
            if known is not None:
                where, measured_ns, swings = known
                times[where], errors[where] = measured_ns, swings
                for position in where.tolist():
                    hows[position] = "measured"
        if self._limits is not None:
            beyond = (np.array([work.iterations, work.footprint_bytes]) >= self._limits).any(axis=1)
            times[beyond] = np.inf
        return Estimates(times, errors, hows)

    def predict(self, shape: Shape, work: Work) -> tuple[Prediction, ...]:
        """One for each of `variants`."""
        return self.estimate(shape, work).predictions()


class _Trends:
    """The trends of all variants, side by side."""

    def __init__(self, fits: Sequence[_Fit]) -> None:
        self._costs = np.array([fit.trend.costs for fit in fits]).reshape(-1, 4)
        waved = [(row, fit.trend) for row, fit in enumerate(fits) if fit.trend.axis >= 0]
        self._waved = np.array([row for row, _ in waved], np.intp)
        self._axis = np.array([found.axis for _, found in waved], np.intp)
        self._quantum = np.array([found.quantum for _, found in waved])
        self._per_iteration = self._costs[self._waved, ITERATIONS]

    def at(self, sizes: tuple[int, ...], work: Work, copied: float) -> Floats:
        times: Floats = self._costs @ np.array([1.0, work.iterations, work.footprint_bytes, copied])
        if self._waved.size:
            counts = np.maximum(np.array([work.units, *sizes])[self._axis], 1.0)
            times[self._waved] += self._per_iteration * ((in_waves(counts, self._quantum) - 1.0) * work.iterations)
        return times


class _Surfaces:
    """The surfaces of all variants, over the points of any of them. groups: of each variant, which of the sets of
    points is its own; most variants are measured at the same ones."""

    def __init__(self, fits: Sequence[_Fit]) -> None:
        everywhere = sorted({point for fit in fits for point in fit.points})
        place = {point: column for column, point in enumerate(everywhere)}
        self._x, self._y, self._z, self._copied, self._copies = np.array(everywhere, np.float64).reshape(-1, 5).T.copy()
        self._copying = bool(self._copies.any())
        self._level = np.array([fit.level for fit in fits])
        self._weights = np.zeros((len(fits), len(everywhere)))
        for row, fit in enumerate(fits):
            np.add.at(self._weights[row], [place[point] for point in fit.points], fit.weights)
        sets = {points: group for group, points in enumerate(dict.fromkeys(fit.points for fit in fits))}
        self.groups = [sets[fit.points] for fit in fits]
        self._groups = np.array(self.groups, np.intp)
        self._missing = np.full((len(sets), len(everywhere)), np.inf)
        for points, group in sets.items():
            self._missing[group, [place[point] for point in points]] = 0.0
        axes = [np.array(points)[:, :3] for points in sets]
        corners = [(found.min(axis=0) - 1e-9, found.max(axis=0) + 1e-9) for found in axes]
        self._low = np.array([low for low, _ in corners]).reshape(-1, 3)
        self._high = np.array([high for _, high in corners]).reshape(-1, 3)

    def at(self, work: Work) -> tuple[Floats, Floats, list[bool]]:
        """Of each variant, the surface's value and the distance to the nearest point; of each set of points, whether
        this lies inside."""
        x, y, z, copied, _ = _place(work, self._copying)
        squares = (self._x - x) ** 2 + (self._y - y) ** 2 + (self._z - z) ** 2
        if self._copying:
            squares += (self._copied - copied * self._copies) ** 2
        away = np.sqrt(squares)
        nearest: Floats = (self._missing + away).min(axis=1)[self._groups]
        here = np.array([x, y, z])
        inside = np.logical_and(here >= self._low, here <= self._high).min(axis=1)
        return self._level - self._weights @ away, nearest, inside.tolist()


def _place(work: Work, copies: bool) -> Point:
    """Where a call lies among all calls. copies: whether it matters how much it copies."""
    size = max(work.footprint_bytes, 1.0)
    copied = COPYING * math.log1p((work.inputs_bytes + work.outputs_bytes) / size) if copies else 0.0
    return math.log(max(work.units, 1.0)), math.log(max(work.depth, 1.0)), math.log(size), copied, float(copies)


def models_of(
    measurements: Iterable[Measurement],
    transfers: Mapping[str, Transfers] | None = None,
    cache: CacheState | None = None,
) -> Models:
    """Of one kernel on one machine. transfers: by device; where a device has none, what copies cost is found from the
    measurements. cache: prefer times in that state."""
    return Models(evidence(measurements, cache), transfers or {})


Known = tuple[NDArray[np.intp], Floats, Floats]
"""Which variants were measured at one call, how long they took, and how far calls lie from that."""


def _measured(found: Sequence[Evidence], on_cpu: bool) -> dict[tuple[Shape, Copies], Known]:
    """By what tells calls apart for the variants on a CPU, or for all others."""
    rows: dict[tuple[Shape, Copies], list[tuple[int, float, float]]] = {}
    for position, each in enumerate(found):
        if bool(each.variant.threads) != on_cpu:
            continue
        for site in each.sites:
            row = (position, site.time_ns, SWINGS * math.hypot(site.swing, site.noise))
            rows.setdefault((site.shape, copies_of(each.variant, site.work)), []).append(row)
    return {
        call: (
            np.array([row[0] for row in group]),
            np.array([row[1] for row in group]),
            np.array([row[2] for row in group]),
        )
        for call, group in rows.items()
    }


def _fit(each: Evidence, transfers: Transfers | None) -> _Fit:
    sites = each.sites
    times = np.array([_own_time(site, transfers) for site in sites])
    columns = np.empty((len(sites), 4))
    columns[:, FIXED] = 1.0
    columns[:, ITERATIONS] = [max(site.work.iterations, 1.0) for site in sites]
    columns[:, FOOTPRINT] = [site.work.footprint_bytes for site in sites]
    copies = transfers is None and not each.variant.threads
    columns[:, COPIED] = [site.work.inputs_bytes + site.work.outputs_bytes if copies else 0.0 for site in sites]
    counts = np.maximum([[site.work.units, *site.shape.sizes] for site in sites], 1.0)
    found = trend(columns, counts, times)
    waved = columns.copy()
    if found.axis >= 0:
        waved[:, ITERATIONS] *= in_waves(counts[:, found.axis], found.quantum)
    bends = np.log(times / (waved @ np.array(found.costs)))
    places = [_place(site.work, copies) for site in sites]
    points = np.array(places)
    kept = _far_apart(points)
    apart = distances(points[kept])
    noise = np.array([site.noise for site in sites])
    bent = surface(apart, bends[kept], noise[kept])
    nearest = np.where(np.eye(len(kept), dtype=bool), np.inf, apart).min(axis=1)
    left_out = np.abs(bent.left_out) / np.sqrt(NEAR + nearest) if len(kept) > 1 else np.zeros(0)
    missed = float(np.abs(np.expm1(bent.left_out)).mean()) if len(kept) > 1 else math.nan
    swing = float(np.median([site.swing for site in sites]))
    own = tuple(places[i] for i in kept.tolist())
    return _Fit(found, own, bent.weights, bent.level, left_out, missed, swing)


def _own_time(site: Site, transfers: Transfers | None) -> float:
    """Without copies, where it is known how long those take; no less than what can be told from noise."""
    if transfers is None:
        return site.time_ns
    copies = transfers.time_ns(site.work.inputs_bytes, site.work.outputs_bytes)
    return max(site.time_ns - copies, site.noise * site.time_ns)


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
    shared = float(np.quantile(everyone, INSIDE)) if everyone.size else UNTRIED
    rates = []
    for fit in fits:
        count = fit.left_out.size
        own = float(np.quantile(fit.left_out, INSIDE)) if count else 0.0
        rates.append(math.sqrt((count * own**2 + BELIEVED * shared**2) / (count + BELIEVED)))
    return rates

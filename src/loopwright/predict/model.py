"""From all measurements of a kernel on one machine to the time of every variant for a call that was never made.

The time of a variant follows from how much there is to do (predict/sized). Where that is not known, or the data has
features, it is a tree over those (predict/tree). At a shape that was measured it is what was measured. Everything that
does not depend on the call is in arrays, made once, so that a prediction of a hundred variants is some thirty array
operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.estimates import MEASURED, TREE, Codes, Estimates, Floats, estimates_of
from loopwright.predict.evidence import SWINGS, Copies, Evidence, Transfers, copies_of, evidence, own_time
from loopwright.predict.prediction import Prediction
from loopwright.predict.sized import Sized
from loopwright.predict.tree import Forest, Tree, features_of, fit, one_leaf
from loopwright.profile.measurement import CacheState, Measurement, Work

NO_COPIES: Copies = (0.0, 0.0)

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


class Models:
    """Of all variants of one kernel on one machine that may serve calls. variants: in the order of all results.
    left_out_errors: of each variant, the mean part of itself by which a measured time is missed where it is left out
    (NaN with a single measurement of a variant without a tree)."""

    def __init__(
        self, found: Sequence[Evidence], transfers: Mapping[str, Transfers], trees: Mapping[Variant, Tree]
    ) -> None:
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
        grown = {position: _tree(each, transfers, trees) for position, each in enumerate(found) if _is_irregular(each)}
        known = [(each, transfers.get(each.variant.device)) for i, each in enumerate(found) if i not in grown]
        self._sized_at = np.array([i for i in range(len(found)) if i not in grown], np.intp)
        self._grown_at = np.array(list(grown), np.intp)
        self._sized = Sized(known) if known else None
        self._forest = Forest(list(grown.values())) if grown else None
        errors = dict(zip(self._sized_at.tolist(), self._sized.left_out_errors if self._sized else (), strict=True))
        errors |= {position: tree.left_out for position, tree in grown.items()}
        self.left_out_errors = tuple(errors[position] for position in range(len(found)))

    def estimate(self, shape: Shape, work: Work) -> Estimates:
        """Of all variants for one call. Raises ValueError where trees were grown on shapes of another form."""
        if not self.variants:
            return estimates_of(())
        times, errors, hows = self._modelled(shape, work)
        np.maximum(times, 1.0, out=times)
        for here, copies in self._devices:
            times += here * copies.time_ns(work.inputs_bytes, work.outputs_bytes)
        for known in (
            self._on_cpu.get((shape, NO_COPIES)),
            self._elsewhere.get((shape, (work.inputs_bytes, work.outputs_bytes))),
        ):
            if known is not None:
                where, measured_ns, swings = known
                times[where], errors[where], hows[where] = measured_ns, swings, MEASURED
        if self._limits is not None:
            beyond = (np.array([work.iterations, work.footprint_bytes]) >= self._limits).any(axis=1)
            times[beyond] = np.inf
        return Estimates(times, errors, hows)

    def predict(self, shape: Shape, work: Work) -> tuple[Prediction, ...]:
        """One for each of `variants`."""
        return self.estimate(shape, work).predictions()

    def _modelled(self, shape: Shape, work: Work) -> tuple[Floats, Floats, Codes]:
        if self._forest is None:
            assert self._sized is not None
            return self._sized.at(shape, work)
        features, _ = features_of(shape, work)
        grown_ns, outside = self._forest.ask(features)
        grown_errors = self._forest.within * (1.0 + outside)
        if self._sized is None:
            return grown_ns, grown_errors, np.full(len(self.variants), TREE)
        times, errors = np.empty(len(self.variants)), np.empty(len(self.variants))
        hows = np.full(len(self.variants), TREE)
        times[self._sized_at], errors[self._sized_at], hows[self._sized_at] = self._sized.at(shape, work)
        times[self._grown_at], errors[self._grown_at] = grown_ns, grown_errors
        return times, errors, hows


def models_of(
    measurements: Iterable[Measurement],
    transfers: Mapping[str, Transfers] | None = None,
    cache: CacheState | None = None,
    trees: Mapping[Variant, Tree] | None = None,
) -> Models:
    """Of one kernel on one machine. transfers: by device; where a device has none, what copies cost is found from the
    measurements. cache: prefer times in that state. trees: as `trees_of` has grown them; an irregular variant without
    one gets a tree of a single leaf, so that nothing here needs scikit-learn. Raises ValueError for measurements of
    several kernels or machines."""
    found = list(measurements)
    if len({(each.kernel, each.machine) for each in found}) > 1:
        raise ValueError("models are of one kernel on one machine; these measurements are of several")
    return Models(evidence(found, cache), transfers or {}, trees or {})


def trees_of(
    measurements: Iterable[Measurement],
    transfers: Mapping[str, Transfers] | None = None,
    cache: CacheState | None = None,
) -> dict[Variant, Tree]:
    """Trees for the variants whose work is not known or whose data has features. Raises ModuleNotFoundError where
    scikit-learn is needed and missing."""
    found = [each for each in evidence(measurements, cache) if _is_irregular(each)]
    return {each.variant: fit(*_points(each, (transfers or {}).get(each.variant.device))) for each in found}


def _is_irregular(each: Evidence) -> bool:
    return any(site.work.iterations <= 0 or site.shape.features for site in each.sites)


def _tree(each: Evidence, transfers: Mapping[str, Transfers], trees: Mapping[Variant, Tree]) -> Tree:
    return trees.get(each.variant) or one_leaf(*_points(each, transfers.get(each.variant.device)))


def _points(each: Evidence, transfers: Transfers | None) -> tuple[Floats, Floats, int]:
    """Features, times and the number of sizes of all that was measured."""
    found = [features_of(site.shape, site.work) for site in each.sites]
    times = np.array([own_time(site, transfers) for site in each.sites])
    return np.array([features for features, _ in found]), times, found[0][1]

"""From measurements of a kernel to curves over size: what the size of a call is, each variant's times, which variant is
chosen where, and from which size on a GPU is faster. Pure.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.placement.single import choose
from loopwright.predict.model import Models
from loopwright.profile.measurement import Measurement, Work
from loopwright.report.scale import Axis, bytes_text, number_text

MOST_SIZES = 48
"""So many sizes are on a chart: of more, some that lie evenly among them."""

Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What stands for the size of a call. of: each shape's."""

    axis: Axis
    word: str
    of: Mapping[Shape, float]


@dataclass(frozen=True, slots=True)
class ChosenRange:
    """Sizes from `first` to `last`, both measured, for which one variant is chosen. low, high: where the regions beside
    it begin. predicted_ns: of a call at `first` and at `last`."""

    variant: Variant
    first: float
    last: float
    low: float
    high: float
    predicted_ns: tuple[float, float]


def sizes_of(works: Mapping[Shape, Work]) -> Sizes:
    """One number for each shape: the size that varies, where that is one (or all are equal); else the iterations, the
    bytes, or the product of all sizes, whichever is known of all."""
    shapes = list(works)
    places = [column for column in zip(*(shape.sizes for shape in shapes), strict=False) if len(set(column)) > 1]
    alike = len({len(shape.sizes) for shape in shapes}) == 1
    if alike and len(set(places)) == 1:
        return Sizes(Axis("size n", True, number_text), "n", dict(zip(shapes, map(float, places[0]), strict=True)))
    if alike and not places and shapes and shapes[0].sizes:
        return Sizes(Axis("size n", True, number_text), "n", {shape: float(max(shape.sizes)) for shape in shapes})
    if all(work.iterations > 0 for work in works.values()):
        return _by(works, Axis("iterations", True, number_text), "iterations", lambda _, work: work.iterations)
    if all(work.footprint_bytes > 0 for work in works.values()):
        return _by(works, Axis("bytes touched", True, bytes_text), "bytes", lambda _, work: work.footprint_bytes)
    axis = Axis("product of all sizes", True, number_text)
    return _by(works, axis, "product", lambda shape, _: float(math.prod(shape.sizes)))


def _by(works: Mapping[Shape, Work], axis: Axis, word: str, value: Callable[[Shape, Work], float]) -> Sizes:
    return Sizes(axis, word, {shape: value(shape, work) for shape, work in works.items()})


def works_of(rows: Iterable[Measurement]) -> dict[Shape, Work]:
    """Of each shape, in order; what is known beats zeros."""
    found: dict[Shape, Work] = {}
    for row in rows:
        there = found.get(row.shape)
        if there is None or (row.work.iterations, row.work.footprint_bytes) > (
            there.iterations,
            there.footprint_bytes,
        ):
            found[row.shape] = row.work
    return dict(sorted(found.items(), key=lambda item: (item[0].sizes, item[0].features)))


def latest(rows: Iterable[Measurement]) -> dict[tuple[Variant, Shape], Measurement]:
    """The newest of each variant under each shape."""
    found: dict[tuple[Variant, Shape], Measurement] = {}
    for row in rows:
        there = found.get((row.variant, row.shape))
        if there is None or (row.made_at, row.source) > (there.made_at, there.source):
            found[row.variant, row.shape] = row
    return found


def curves_of(found: Mapping[tuple[Variant, Shape], Measurement], sizes: Sizes) -> dict[Variant, Curve]:
    """Of each variant the times that were measured, by size; the median of those of one size."""
    times: dict[Variant, dict[float, list[float]]] = {}
    for (variant, shape), row in found.items():
        if row.outcome == "ok" and row.time_ns > 0:
            times.setdefault(variant, {}).setdefault(sizes.of[shape], []).append(row.time_ns)
    return {
        variant: thinned(tuple((x, statistics.median(of_x[x])) for x in sorted(of_x)))
        for variant, of_x in times.items()
    }


def thinned(curve: Curve) -> Curve:
    """At most MOST_SIZES of them, the first and the last too."""
    if len(curve) <= MOST_SIZES:
        return curve
    return tuple(curve[round(number * (len(curve) - 1) / (MOST_SIZES - 1))] for number in range(MOST_SIZES))


def regions_of(models: Models, works: Mapping[Shape, Work], sizes: Sizes) -> tuple[ChosenRange, ...]:
    """Which variant is chosen at each measured size, as a call would choose; sizes beside one another with the same one
    together. Where shapes of one size choose differently, the first one's counts."""
    if not models.variants:
        return ()
    of_x = {sizes.of[shape]: shape for shape in reversed(list(works))}
    picked = thinned(tuple((x, 0.0) for x in sorted(of_x)))
    order = sorted(range(len(models.variants)), key=lambda place: -models.variants[place].threads)
    variants = [models.variants[place] for place in order]  # the default that calls know is that of all threads
    found: list[tuple[float, Variant, float]] = []
    for x, _ in picked:
        predictions = models.predict(of_x[x], works[of_x[x]])
        mine = [predictions[place] for place in order]
        index = choose(variants, mine).index
        found.append((x, variants[index], mine[index].time_ns))
    return _joined(found)


def _joined(found: Sequence[tuple[float, Variant, float]]) -> tuple[ChosenRange, ...]:
    groups = [list(group) for _, group in groupby(found, key=lambda one: one[1])]
    made: list[ChosenRange] = []
    for number, group in enumerate(groups):
        (first, variant, first_ns), (last, _, last_ns) = group[0], group[-1]
        low = made[-1].high if made else first
        high = between(last, groups[number + 1][0][0]) if number + 1 < len(groups) else last
        made.append(ChosenRange(variant, first, last, low, high, (first_ns, last_ns)))
    return tuple(made)


def between(low: float, high: float) -> float:
    """In the middle, as ratios go."""
    return math.sqrt(low * high) if low > 0 else (low + high) / 2


def fastest(curves: Iterable[Curve]) -> Curve:
    """The shortest time at each size."""
    best: dict[float, float] = {}
    for curve in curves:
        for x, y in curve:
            best[x] = min(y, best.get(x, math.inf))
    return tuple(sorted(best.items()))


def crossings(one: Curve, other: Curve) -> tuple[tuple[float, bool], ...]:
    """The sizes at which two curves meet, and whether `other` is below from there on: straight lines between measured
    sizes, on logarithmic axes. Only sizes that both were measured around count."""
    xs = sorted({x for x, _ in (*one, *other)})
    both = [(x, a, b) for x in xs if (a := _at(one, x)) is not None and (b := _at(other, x)) is not None]
    found: list[tuple[float, bool]] = []
    for (x0, a0, b0), (x1, a1, b1) in pairwise(both):
        before, after = math.log(b0 / a0), math.log(b1 / a1)
        if before == after or (before > 0) == (after > 0):
            continue
        part = before / (before - after)
        at = math.exp(math.log(x0) + part * (math.log(x1) - math.log(x0))) if x0 > 0 else x0 + part * (x1 - x0)
        found.append((at, after <= 0))
    return tuple(found)


def _at(curve: Curve, x: float) -> float | None:
    """A curve's value, between its points too; None outside of them."""
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x0 <= x <= x1:
            part = (math.log(x / x0) / math.log(x1 / x0)) if 0 < x0 < x1 else (x - x0) / (x1 - x0)
            return math.exp(math.log(y0) + part * (math.log(y1) - math.log(y0)))
    return curve[0][1] if curve and curve[0][0] == x else None

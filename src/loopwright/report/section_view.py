"""What a section of the page is made from, found once: curves, ranks, regions, names, and what is gained."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopwright.choice.predictors import promising
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.model import Models, models_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.report.curves import ChosenRange, Curve, Sizes, curves_of, latest, regions_of, sizes_of, works_of
from loopwright.report.shapes import Axes, axes_in, sizes_words
from loopwright.report.subjects import Subject
from loopwright.report.variant_names import default_of, variant_names

MOST_MODELLED = 30
"""Variants that predictions are made of, which takes some milliseconds each: those that are the fastest at any size,
the default ones, then the fastest at the reference size. No other one would be chosen."""

TIE = 0.03
"""Times that differ by less are called equal, whatever their spread."""


@dataclass(frozen=True, slots=True)
class SectionView:
    """All that the parts of a section are made from. ranked: variants that ran, the one that is chosen for the
    reference shape first, then the best; reference: the shape whose times the table tells, None where nothing ran; at:
    it in words; names: what variants are called; default, chosen: for the reference shape, None where they did not run
    there."""

    subject: Subject
    found: Mapping[tuple[Variant, Shape], Measurement]
    works: Mapping[Shape, Work]
    sizes: Sizes
    axes: Axes
    curves: Mapping[Variant, Curve]
    reference: Shape | None
    at: str
    ranked: tuple[Variant, ...]
    names: Mapping[Variant, str]
    models: Models
    regions: tuple[ChosenRange, ...]
    default: Variant | None
    chosen: Variant | None

    def here(self, variant: Variant | None) -> Measurement | None:
        """What a variant took at the reference shape."""
        row = None if self.reference is None or variant is None else self.found.get((variant, self.reference))
        return row if row is not None and row.outcome == "ok" and row.time_ns > 0 else None


@dataclass(frozen=True, slots=True)
class Gain:
    """What the chosen variant gains over the default at the reference shape. error: of the ratio, as a part, from the
    spreads. rival: the fastest other one, which takes the part rival_part longer than the chosen one, within
    rival_error."""

    default: Variant
    variant: Variant
    default_ns: float
    time_ns: float
    error: float
    rival: Variant | None = None
    rival_part: float = 0.0
    rival_error: float = 0.0

    @property
    def ratio(self) -> float:
        """How many times as fast."""
        return self.default_ns / self.time_ns


def gain_of(view: SectionView) -> Gain | None:
    """None where the default or the chosen one did not run at the reference shape."""
    default, chosen = view.here(view.default), view.here(view.chosen)
    if view.default is None or view.chosen is None or default is None or chosen is None:
        return None
    others = [row for one in view.ranked if one != view.chosen and (row := view.here(one)) is not None]
    rival = min(others, key=lambda row: row.time_ns, default=None)
    part = 0.0 if rival is None else rival.time_ns / chosen.time_ns - 1
    error = 0.0 if view.default == view.chosen else math.hypot(default.spread, chosen.spread)
    told = (None, 0.0) if rival is None else (rival.variant, math.hypot(rival.spread, chosen.spread))
    times = default.time_ns, chosen.time_ns
    return Gain(view.default, view.chosen, *times, error, told[0], part, told[1])


def view_of(subject: Subject) -> SectionView:
    """Of a kernel on a machine."""
    found = latest(subject.rows)
    works = works_of(subject.rows)
    sizes = sizes_of(works)
    curves = curves_of(found, sizes)
    counts = Counter(shape for (_, shape), row in found.items() if row.outcome == "ok")
    reference = max(counts, key=lambda shape: (counts[shape], sizes.of[shape], shape.sizes), default=None)
    ranked = tuple(sorted(curves, key=lambda variant: _rank(variant, found, reference, curves)))
    some = set(_contenders(curves, ranked))
    models = models_of([row for row in subject.rows if row.variant in some])
    default = default_of(curves)
    regions = regions_of(models_of(_candidates(subject.rows, default)), works, sizes)
    here = None if reference is None else sizes.of[reference]
    chosen = next((one.variant for one in regions if here is not None and one.first <= here <= one.last), None)
    if chosen is not None:
        ranked = (chosen, *(variant for variant in ranked if variant != chosen))
    axes = axes_in(subject.kernel.signature)
    failed = {row.variant for row in subject.rows} - set(curves)
    return SectionView(
        subject=subject,
        found=found,
        works=works,
        sizes=sizes,
        axes=axes,
        curves=curves,
        reference=reference,
        at="" if reference is None or not reference.sizes else sizes_words(reference.sizes, axes),
        ranked=ranked,
        names=variant_names(ranked, failed),
        models=models,
        regions=regions,
        default=default,
        chosen=chosen,
    )


def _candidates(rows: Sequence[Measurement], default: Variant | None) -> Sequence[Measurement]:
    """What a call chooses by: of variants that were near the fastest somewhere."""
    return rows if default is None else promising(rows, default)


def _contenders(curves: Mapping[Variant, Curve], ranked: Sequence[Variant]) -> list[Variant]:
    """Those that may be chosen."""
    best: dict[float, tuple[float, Variant]] = {}
    for variant in ranked:
        for x, y in curves[variant]:
            if x not in best or y < best[x][0]:
                best[x] = y, variant
    wins = Counter(variant for _, variant in best.values())
    winners = sorted(wins, key=lambda variant: (-wins[variant], str(variant)))
    defaults = [variant for variant in ranked if variant.is_default]
    return list(dict.fromkeys((*winners[: MOST_MODELLED // 2], *defaults[:2], *ranked)))[:MOST_MODELLED]


def _rank(
    variant: Variant,
    found: Mapping[tuple[Variant, Shape], Measurement],
    reference: Shape | None,
    curves: Mapping[Variant, Curve],
) -> tuple[float, float, str]:
    """By the time at the reference shape; those that have none after all others, by their mean."""
    row = None if reference is None else found.get((variant, reference))
    mean = statistics.fmean(math.log(y) for _, y in curves[variant])
    return (row.time_ns if row is not None and row.outcome == "ok" else math.inf), mean, str(variant)

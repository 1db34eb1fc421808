"""The sections of the page: one kernel on one machine, and the same kernel on a CPU and the GPU beside it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from loopwright.cost.front import JudgedCandidates
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.model import Models, models_of
from loopwright.profile.measurement import Measurement
from loopwright.profile.records import ChoiceRecord
from loopwright.report.chart import SERIES, Band, Bar, ChartSeries, Mark, bars, chart
from loopwright.report.choice import OUTCOME_WORDS
from loopwright.report.choice_layout import within
from loopwright.report.curves import (
    ChosenRange,
    Curve,
    Sizes,
    crossings,
    curves_of,
    fastest,
    latest,
    regions_of,
    sizes_of,
    works_of,
)
from loopwright.report.element import append, element, table
from loopwright.report.scale import TIME, Axis, number_text
from loopwright.report.subjects import Subject
from loopwright.report.words import age, count, duration, percent

MOST_MODELLED = 30
"""Variants that predictions are made of, which takes some milliseconds each: those that are the fastest at any size,
the default ones, then the fastest at the reference size. No other one would be chosen."""

MOST_ROWS = 30
MOST_FAILED = 12
MOST_REGIONS = 24
MOST_GREY = 14
MOST_BARS = 12
MOST_CHOICES = 12
MOST_POINTS = 400
"""What of more would make the page large and nothing clearer."""


@dataclass(frozen=True, slots=True)
class _SectionData:
    """All that the parts of a section are made from. ranked: variants that ran, the best first; reference: the shape
    whose times the table tells, None where nothing ran."""

    subject: Subject
    found: Mapping[tuple[Variant, Shape], Measurement]
    sizes: Sizes
    curves: Mapping[Variant, Curve]
    reference: Shape | None
    ranked: tuple[Variant, ...]
    models: Models
    regions: tuple[ChosenRange, ...]


def section(subject: Subject, now: float) -> Element:
    """A kernel on a machine: times over sizes, variants, errors of predictions, what was judged without running."""
    view = _view(subject)
    made = element("div")
    for part in (_over_sizes(view), _region_table(view), _variant_table(view, now), _errors(view)):
        if part is not None:
            append(made, part)
    if subject.choices:
        append(made, _choices(subject.choices, now))
    for front in subject.fronts:
        part = _front(front, view.ranked)
        if part is not None:
            append(made, part)
    return made


def _view(subject: Subject) -> _SectionData:
    found = latest(subject.rows)
    works = works_of(subject.rows)
    sizes = sizes_of(works)
    curves = curves_of(found, sizes)
    counts = Counter(shape for (_, shape), row in found.items() if row.outcome == "ok")
    reference = max(counts, key=lambda shape: (counts[shape], sizes.of[shape], shape.sizes), default=None)
    ranked = tuple(sorted(curves, key=lambda variant: _rank(variant, found, reference, curves)))
    some = set(_contenders(curves, ranked))
    models = models_of([row for row in subject.rows if row.variant in some])
    return _SectionData(subject, found, sizes, curves, reference, ranked, models, regions_of(models, works, sizes))


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


# ---- times over sizes -------------------------------------------------------------------------------------------


def _over_sizes(view: _SectionData) -> Element | None:
    if len({x for curve in view.curves.values() for x, _ in curve}) < 2:
        return None
    styles = _styles(view)
    grey = [variant for variant in view.ranked if variant not in styles][:MOST_GREY]
    drawn = [*styles, *grey]
    series = [ChartSeries(str(one), view.curves[one], styles.get(one)) for one in drawn]
    bands = [Band(one.low, one.high, styles.get(one.variant), f"chosen: {one.variant}") for one in view.regions]
    return chart(_regions_title(view), view.sizes.axis, TIME, series, bands)


def _styles(view: _SectionData) -> dict[Variant, int]:
    """Which variants have a colour: those that are chosen, the default ones, then the fastest."""
    chosen = dict.fromkeys(region.variant for region in view.regions)
    defaults = [variant for variant in view.ranked if variant.is_default]
    picked = list(dict.fromkeys((*chosen, *defaults[:2], *view.ranked)))[:SERIES]
    return {variant: style for style, variant in enumerate(picked)}


def _regions_title(view: _SectionData) -> str:
    chosen = list(dict.fromkeys(str(region.variant) for region in view.regions))
    many = count(len(view.curves), "variant")
    if len(chosen) == 1:
        return f"Of {many}, one is chosen at all measured sizes: {chosen[0]}"
    return f"Of {many}, {len(chosen)} are chosen, each for its sizes (the strip above)"


def _region_table(view: _SectionData) -> Element | None:
    rows: list[tuple[Element | str, ...]] = []
    write = view.sizes.axis.text
    for region in view.regions[:MOST_REGIONS]:
        span = write(region.first) if region.first == region.last else f"{write(region.first)} to {write(region.last)}"
        curve = dict(view.curves[region.variant])
        times = " to ".join(dict.fromkeys(duration(curve[x]) for x in (region.first, region.last) if x in curve))
        rows.append((span, times, element("code", str(region.variant))))
    if not rows:
        return None
    made = table((f"sizes measured ({view.sizes.word})", "time of a call", "chosen variant"), rows, (0, 1))
    return _with_rest(made, len(view.regions) - len(rows), "region")


def _choices(choices: Sequence[ChoiceRecord], now: float) -> Element:
    """What calls chose, the last ones first."""
    last = sorted(choices, key=lambda one: (-one.made_at, one.shape.sizes, one.shape.features))[:MOST_CHOICES]
    rows: list[tuple[Element | str, ...]] = [
        (
            " ".join(map(str, one.shape.sizes)),
            within(one.time_ns, one.error) if one.time_ns > 0 else "",
            element("code", str(one.variant)),
            one.why,
            age(now - one.made_at),
        )
        for one in last
    ]
    made = table(("sizes of calls", "expected", "what serves them", "because", "chosen"), rows, (1,))
    return _with_rest(made, len(choices) - len(rows), "shape")


# ---- variants ---------------------------------------------------------------------------------------------------


def _variant_table(view: _SectionData, now: float) -> Element:
    by_variant: dict[Variant, list[Measurement]] = {}
    for row in view.subject.rows:
        by_variant.setdefault(row.variant, []).append(row)
    errors = dict(zip(view.models.variants, view.models.left_out_errors, strict=True))
    rows = [_ran_row(view, one, by_variant[one], errors.get(one), now) for one in view.ranked[:MOST_ROWS]]
    failed = sorted((one for one in by_variant if one not in view.curves), key=str)
    rows += [_failed_row(one, by_variant[one], now) for one in failed[:MOST_FAILED]]
    at = "" if view.reference is None else f" at {' x '.join(map(str, view.reference.sizes)) or 'its only size'}"
    heads = (f"time{at}", "spread", "outcome", "evidence", "age", "left-out error", "variant")
    beyond = len(by_variant) - len(rows)
    return _with_rest(table(heads, rows, (0, 1, 5)), beyond, "variant")


def _ran_row(
    view: _SectionData, variant: Variant, rows: Sequence[Measurement], error: float | None, now: float
) -> tuple[Element | str, ...]:
    here = None if view.reference is None else view.found.get((variant, view.reference))
    here = here if here is not None and here.outcome == "ok" else None
    failed = Counter(row.outcome for row in rows if row.outcome != "ok")
    outcome = "ok" + "".join(f", {OUTCOME_WORDS[word]} at {count(number, 'size')}" for word, number in failed.items())
    return (
        "" if here is None else duration(here.time_ns),
        "" if here is None else percent(here.spread),
        outcome,
        _evidence(rows),
        age(now - max(row.made_at for row in rows)),
        "" if error is None or math.isnan(error) else percent(error),
        element("code", str(variant)),
    )


def _failed_row(variant: Variant, rows: Sequence[Measurement], now: float) -> tuple[Element | str, ...]:
    last = max(rows, key=lambda row: (row.made_at, row.reason))
    told = f"{OUTCOME_WORDS.get(last.outcome, last.outcome)}: {last.reason}" if last.reason else ""
    words = told or OUTCOME_WORDS.get(last.outcome, last.outcome)
    return "", "", words, count(len(rows), "failure"), age(now - last.made_at), "", element("code", str(variant))


def _evidence(rows: Sequence[Measurement]) -> str:
    ran = [row for row in rows if row.outcome == "ok"]
    runs = sum(row.runs for row in ran if row.source == "tune")
    calls = sum(row.runs for row in ran if row.source == "call")
    told = [count(runs, "run")] if runs else []
    told += [count(calls, "call")] if calls else []
    return f"{' and '.join(told) or 'no run'}, {count(len({row.shape for row in ran}), 'shape')}"


def _with_rest(made: Element, beyond: int, what: str) -> Element:
    return element("div", made, element("p", f"and {count(beyond, what)} more", class_="quiet")) if beyond > 0 else made


# ---- predictions ------------------------------------------------------------------------------------------------


def _errors(view: _SectionData) -> Element | None:
    """How far predictions are off where a measured time is left out."""
    told = zip(view.models.variants, view.models.left_out_errors, strict=True)
    known = {variant: error for variant, error in told if math.isfinite(error)}
    if not known:
        return None
    middle, worst = statistics.median(known.values()), max(known.values())
    title = (
        f"Predictions miss a measured time that is left out by {percent(middle)} "
        f"(median of {count(len(known), 'variant')}; at most {percent(worst)})"
    )
    shown = [variant for variant in view.ranked if variant in known][:MOST_BARS]
    label = "mean error of predictions, each measured time left out in turn"
    return bars(title, label, [Bar(str(one), known[one], percent(known[one])) for one in shown])


# ---- judged without running -------------------------------------------------------------------------------------


def _front(front: JudgedCandidates, ranked: Sequence[Variant]) -> Element | None:
    """The first two metrics; of those that were not kept, some. ranked: what was measured, the fastest first."""
    if len(front.names) < 2:
        return None
    kept = [(one.values[0], one.values[1]) for one in front.points if one.kept]
    dropped = [(one.values[0], one.values[1]) for one in front.points if not one.kept]
    step = -(-len(dropped) // MOST_POINTS) or 1
    judged = {one.schedule: (one.values[0], one.values[1]) for one in front.points}
    best = next((variant.schedule for variant in ranked if variant.schedule in judged), None)
    values = [value for point in (*kept, *dropped) for value in point if math.isfinite(value)]
    log = bool(values) and min(values) > 0
    across, up = (Axis(f"{name}, more is better", log, number_text) for name in front.names[:2])
    at = f", at the sizes {' '.join(map(str, front.sizes))}" if front.sizes else ""
    title = f"{count(len(kept), 'variant')} of {len(front.points)} measured: nothing surpasses them without running{at}"
    series = (
        ChartSeries("left out without running", tuple(dropped[::step]), None, joined=False),
        ChartSeries("worth measuring", tuple(kept), 1, joined=False),
        *([] if best is None else [ChartSeries(f"the fastest of them: {best}", (judged[best],), 0, joined=False)]),
    )
    return chart(title, across, up, series)


# ---- CPU and GPU ------------------------------------------------------------------------------------------------


def beside(cpu: Subject, gpu: Subject) -> Element:
    """The fastest variant of each device over sizes, and where they meet."""
    works = works_of((*cpu.rows, *gpu.rows))
    sizes = sizes_of(works)
    on_cpu = fastest(curves_of(latest(cpu.rows), sizes).values())
    on_gpu = fastest(curves_of(latest(gpu.rows), sizes).values())
    meet = crossings(on_cpu, on_gpu)
    write = sizes.axis.text
    title = _break_even(on_cpu, on_gpu, meet, sizes)
    series = (ChartSeries("fastest on the CPU", on_cpu, 0), ChartSeries("fastest on the GPU", on_gpu, 1))
    marks = [Mark(x, f"{'GPU' if gpu_from else 'CPU'} faster from {write(x)}") for x, gpu_from in meet]
    made = chart(title, sizes.axis, TIME, series, marks=marks)
    return element("p", title) if made is None else made


def _break_even(on_cpu: Curve, on_gpu: Curve, meet: Sequence[tuple[float, bool]], sizes: Sizes) -> str:
    if meet:
        told = [
            f"the {'GPU' if gpu else 'CPU'} is faster from {sizes.word} = {sizes.axis.text(x)} on" for x, gpu in meet
        ]
        return f"{told[0][0].upper()}{told[0][1:]}" + "".join(f", {one}" for one in told[1:])
    shared = sorted({x for x, _ in on_cpu} & {x for x, _ in on_gpu})
    if not shared:
        return "CPU and GPU were not measured at the same sizes"
    faster = "GPU" if dict(on_gpu)[shared[0]] < dict(on_cpu)[shared[0]] else "CPU"
    return f"The {faster} is faster at all sizes that both were measured at"

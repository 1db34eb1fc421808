"""The sections of the page: one kernel on one machine, and the same kernel on a CPU and the GPU beside it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from loopwright.cost.front import JudgedCandidates
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.history import Batch
from loopwright.report.chart import SERIES, Band, Bar, ChartSeries, Mark, bars, chart
from loopwright.report.choice_layout import within
from loopwright.report.curves import Curve, Sizes, crossings, curves_of, fastest, latest, sizes_of, works_of
from loopwright.report.element import Child, append, element, table
from loopwright.report.scale import TIME, Axis, number_text
from loopwright.report.section_view import TIE, SectionView, gain_of
from loopwright.report.shapes import sizes_words
from loopwright.report.sortable import keyed
from loopwright.report.subjects import Subject
from loopwright.report.variant_table import folded_variant, variant_table
from loopwright.report.words import age, count, duration, percent

MOST_REGIONS = 24
MOST_GREY = 14
MOST_BARS = 12
MOST_CHOICES = 12
MOST_POINTS = 400
"""What of more would make the page large and nothing clearer."""

_UNITS = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))

FEWEST_BATCHES = 3
"""Of times of calls, to be drawn over time."""


def section(view: SectionView, now: float) -> Element:
    """A kernel on a machine: what was gained, times over sizes, variants, what calls chose, errors of predictions, what
    was judged without running."""
    made = element("div", element("p", in_short(view)))
    for part in (_over_sizes(view), _region_table(view), variant_table(view, now), _drift(view, now)):
        if part is not None:
            append(made, part)
    if view.subject.choices:
        append(made, _choices(view, now))
    for part in (_errors(view), *(_front(view, front) for front in view.subject.fronts)):
        if part is not None:
            append(made, part)
    return made


# ---- in short ---------------------------------------------------------------------------------------------------


def in_short(view: SectionView) -> str:
    """What was found, in a sentence or two."""
    gain = gain_of(view)
    at = f"At {view.at}, " if view.at else ""
    if gain is None and view.chosen is not None and view.default is not None:
        return (
            f"{at}{view.names[view.chosen]} serves calls, and was not measured there: other sizes say that it is fast."
        )
    if gain is None:
        return "Nothing can be compared with the default yet." if view.curves else "Nothing has run to its end yet."
    if gain.variant == gain.default:
        rival = (
            ""
            if gain.rival is None
            else f"; {view.names[gain.rival]} was {compared_words(gain.rival_part, gain.rival_error)}"
        )
        return f"{at}the default takes {duration(gain.default_ns)} and serves calls{rival}."
    told = f"{at}the default takes {duration(gain.default_ns)}, and {view.names[gain.variant]}, which serves calls, "
    return f"{told}{duration(gain.time_ns)}: {gain.ratio:.2f} times as fast."


def compared_words(part: float, error: float) -> str:
    """`3 % slower`; `8 % faster, which is within the errors`. error: from the spreads of both."""
    if abs(part) < TIE:
        return "as fast"
    words = f"{percent(abs(part))} {'slower' if part > 0 else 'faster'}"
    return f"{words}, which is within the errors" if part < 0 and -part <= error else words


# ---- times over sizes -------------------------------------------------------------------------------------------


def _over_sizes(view: SectionView) -> Element | None:
    if len({x for curve in view.curves.values() for x, _ in curve}) < 2:
        return None
    styles = _styles(view)
    grey = [variant for variant in view.ranked if variant not in styles][:MOST_GREY]
    drawn = [*styles, *grey]
    series = [ChartSeries(view.names[one], view.curves[one], styles.get(one)) for one in drawn]
    bands = [
        Band(one.low, one.high, styles.get(one.variant), f"chosen: {view.names[one.variant]}") for one in view.regions
    ]
    return chart(_regions_title(view), view.sizes.axis, TIME, series, bands)


def _styles(view: SectionView) -> dict[Variant, int]:
    """Which variants have a colour: those that are chosen, the default ones, then the fastest."""
    chosen = dict.fromkeys(region.variant for region in view.regions)
    defaults = [variant for variant in view.ranked if variant.is_default]
    picked = list(dict.fromkeys((*chosen, *defaults[:2], *view.ranked)))[:SERIES]
    return {variant: style for style, variant in enumerate(picked)}


def _regions_title(view: SectionView) -> str:
    chosen = list(dict.fromkeys(view.names[region.variant] for region in view.regions))
    many = count(len(view.curves), "variant")
    if len(chosen) == 1:
        return f"Time of a call over its size: of {many}, one is chosen at all measured sizes, {chosen[0]}"
    return f"Time of a call over its size: of {many}, {len(chosen)} are chosen, each for its sizes (the strip above)"


def _region_table(view: SectionView) -> Element | None:
    rows: list[tuple[Child, ...]] = []
    write = view.sizes.axis.text
    for region in view.regions[:MOST_REGIONS]:
        span = write(region.first) if region.first == region.last else f"{write(region.first)} to {write(region.last)}"
        curve = dict(view.curves[region.variant])
        ends = zip((region.first, region.last), region.predicted_ns, strict=True)
        times = " to ".join(
            dict.fromkeys(
                duration(curve[x]) if x in curve else f"{duration(time_ns)} (predicted)" for x, time_ns in ends
            )
        )
        rows.append((span, times, view.names[region.variant]))
    if not rows:
        return None
    made = table((f"sizes measured ({view.sizes.word})", "time of a call", "chosen variant"), rows, (0, 1))
    return _with_rest(made, len(view.regions) - len(rows), "region")


def _choices(view: SectionView, now: float) -> Element:
    """What calls chose, the last ones first."""
    choices = view.subject.choices
    last = sorted(choices, key=lambda one: (-one.made_at, one.shape.sizes, one.shape.features))[:MOST_CHOICES]
    rows: list[tuple[Child, ...]] = [
        (
            keyed(age(now - one.made_at), now - one.made_at),
            sizes_words(one.shape.sizes, view.axes),
            keyed(within(one.time_ns, one.error), one.time_ns) if one.time_ns > 0 else "",
            view.names.get(one.variant) or folded_variant(one.variant),
            one.why,
        )
        for one in last
    ]
    heads = ("chosen", "sizes of calls", "expected", "what serves them", "because")
    title = element("h4", "What calls chose, the last first")
    made = table(heads, rows, (2,), "what calls chose")
    return element("div", title, _with_rest(made, len(choices) - len(rows), "shape"))


# ---- drift ------------------------------------------------------------------------------------------------------


def _drift(view: SectionView, now: float) -> Element | None:
    """Times of real calls, batch by batch, where there are enough to see a change: of the reference shape, or of the
    one that has the most."""
    found: dict[Shape, list[tuple[Variant, list[Batch]]]] = {}
    for cell in view.subject.cells:
        batches = [one for one in cell.batches if one.outcome == "ok" and one.time_ns > 0]
        if cell.source == "call" and len(batches) >= FEWEST_BATCHES:
            found.setdefault(cell.shape, []).append((cell.variant, batches))
    if not found:
        return None
    shape = max(found, key=lambda one: (one == view.reference, sum(len(some) for _, some in found[one]), one.sizes))
    first, last = (pick(one.made_at for _, some in found[shape] for one in some) for pick in (min, max))
    unit, unit_s = next(((unit, size) for unit, size in _UNITS if last - first >= size), _UNITS[-1])
    series = [
        ChartSeries(
            view.names.get(variant, str(variant)),
            tuple(((one.made_at - first) / unit_s, one.time_ns) for one in batches),
            place if place < SERIES else None,
        )
        for place, (variant, batches) in enumerate(found[shape])
    ]
    at = f" at {sizes_words(shape.sizes, view.axes)}" if shape.sizes else ""
    title = f"Times of real calls{at}, one after the other: is the machine as fast as it was?"
    since = Axis(f"{unit} after the first of them, which was {age(now - first)}", False, number_text)
    return chart(title, since, Axis(TIME.label, False, duration), series)


# ---- predictions ------------------------------------------------------------------------------------------------


def _errors(view: SectionView) -> Element | None:
    """How far predictions are off where a measured time is left out."""
    told = zip(view.models.variants, view.models.left_out_errors, strict=True)
    known = {variant: error for variant, error in told if math.isfinite(error)}
    if not known:
        return None
    middle, worst = statistics.median(known.values()), max(known.values())
    title = (
        f"How good predictions are: leave one measured size out, predict its time, and it is off by {percent(middle)} "
        f"(median of {count(len(known), 'variant')}; at most {percent(worst)})"
    )
    shown = [variant for variant in view.ranked if variant in known][:MOST_BARS]
    label = "mean error over the sizes of each variant"
    return bars(title, label, [Bar(view.names[one], known[one], percent(known[one])) for one in shown])


# ---- judged without running -------------------------------------------------------------------------------------


def _front(view: SectionView, front: JudgedCandidates) -> Element | None:
    """The first two metrics; of those that were not measured, some."""
    if len(front.names) < 2:
        return None
    ran = {variant.schedule for variant in view.ranked}
    pairs = [(one, (one.values[0], one.values[1])) for one in front.points]
    most = [max((v[k] for _, v in pairs if math.isfinite(v[k])), default=0.0) for k in (0, 1)]
    log = all(value > 0 for _, point in pairs for value in point if math.isfinite(value))
    if min(most) > 0:  # their units tell a reader nothing: the best is 100 %
        pairs = [(one, (a / most[0], b / most[1])) for one, (a, b) in pairs]
    measured = [values for one, values in pairs if one.kept or one.schedule in ran]
    left = [values for one, values in pairs if not (one.kept or one.schedule in ran)]
    step = -(-len(left) // MOST_POINTS) or 1
    judged = {one.schedule: values for one, values in pairs}
    best = next((variant for variant in view.ranked if variant.schedule in judged), None)
    write, of = (percent, ", of the best") if min(most) > 0 else (number_text, "")
    across, up = (Axis(f"{name}{of}; more is better", log, write) for name in front.names[:2])
    at = f", at {sizes_words(front.sizes, view.axes)}" if front.sizes else ""
    many = count(len(pairs), "variant")
    title = f"Which variants were worth running{at}: {len(measured)} of {many} ran"
    title += "; by static metrics, one of these dominates each of the others" if left else ""
    series = (
        ChartSeries("left out without running", tuple(left[::step]), None, joined=False),
        ChartSeries("worth measuring", tuple(measured), 1, joined=False),
        *(
            []
            if best is None
            else [ChartSeries(f"the fastest of these: {view.names[best]}", (judged[best.schedule],), 0, joined=False)]
        ),
    )
    return chart(title, across, up, series)


def _with_rest(made: Element, beyond: int, what: str) -> Element:
    return element("div", made, element("p", f"and {count(beyond, what)} more", class_="quiet")) if beyond > 0 else made


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

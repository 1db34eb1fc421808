"""The table of a kernel's variants on a machine: the one that is chosen first, then by time; and those that failed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from loopwright.ir.variant import PLAIN, RECIPE, Variant
from loopwright.profile.measurement import Measurement
from loopwright.report.choice import OUTCOME_WORDS
from loopwright.report.element import Child, append, element, table
from loopwright.report.rates import rate_cell
from loopwright.report.schedule_words import schedule_words, variant_words
from loopwright.report.section_view import TIE, SectionView
from loopwright.report.sortable import keyed
from loopwright.report.words import age, count, duration, percent

MOST_ROWS = 30
MOST_FAILED = 12
MOST_STEPS = 24
"""Steps that are told in words."""


def variant_table(view: SectionView, now: float) -> Element:
    """Sortable, with the schedule of each variant folded away."""
    by_variant: dict[Variant, list[Measurement]] = {}
    for row in view.subject.rows:
        by_variant.setdefault(row.variant, []).append(row)
    errors = dict(zip(view.models.variants, view.models.left_out_errors, strict=True))
    shown = view.ranked[:MOST_ROWS]
    rows = [_ran_row(view, one, by_variant[one], errors.get(one), now) for one in shown]
    failed = sorted((one for one in by_variant if one not in view.curves), key=str)
    rows += [_failed_row(view, one, by_variant[one], now) for one in failed[:MOST_FAILED]]
    heads = (
        "variant",
        "outcome",
        "time",
        "times as fast as the default",
        "rate",
        "spread",
        "prediction off by",
        "evidence",
        "age",
    )
    title = f"Variants{f' at {view.at}' if view.at else ''}"
    made = element("div", element("h4", title), table(heads, rows, (2, 3, 4, 5, 6, 8), title))
    if (beyond := len(by_variant) - len(rows)) > 0:
        append(made, element("p", f"and {count(beyond, 'variant')} more", class_="quiet"))
    return made


def folded_variant(variant: Variant, name: str = "") -> Element:
    """A variant by its name or in words; a click shows its steps, and what they mean."""
    told = variant_words(variant)
    if name:
        more = told.partition(", ")[2] if variant.schedule in (RECIPE, PLAIN) else told
        summary = element("summary", element("b", name), "" if name.endswith(more) else f" {more}")
    else:
        summary = element("summary", told)
    phrases = schedule_words(variant.schedule)
    listed = element("ol", *(element("li", one) for one in phrases[:MOST_STEPS]), class_="steps")
    if len(phrases) > MOST_STEPS:
        append(listed, element("li", f"and {count(len(phrases) - MOST_STEPS, 'step')} more"))
    return element("details", summary, element("p", element("code", str(variant))), listed)


def _ran_row(
    view: SectionView, variant: Variant, rows: Sequence[Measurement], error: float | None, now: float
) -> tuple[Child, ...]:
    here, default = view.here(variant), view.here(view.default)
    failed = Counter(row.outcome for row in rows if row.outcome != "ok")
    outcome = "serves" if variant == view.chosen else "ok" if here is not None else "ok at other sizes"
    outcome += "".join(f", {OUTCOME_WORDS[word]} at {count(number, 'size')}" for word, number in failed.items())
    since_s = now - max(row.made_at for row in rows)
    rate = "" if here is None else rate_cell(here.work, here.time_ns, view.subject)
    return (
        folded_variant(variant, view.names[variant]),
        outcome,
        "" if here is None else keyed(duration(here.time_ns), here.time_ns),
        "" if here is None or default is None else _over(default.time_ns / here.time_ns, variant == view.default),
        rate,
        "" if here is None else keyed(percent(here.spread), here.spread),
        "" if error is None or math.isnan(error) else keyed(percent(error), error),
        _evidence(rows),
        keyed(age(since_s), since_s),
    )


def _over(ratio: float, is_default: bool) -> Child:
    if is_default:
        return keyed("1", 1.0)
    return keyed("about 1" if abs(ratio - 1) < TIE else f"{ratio:.3g}", ratio)


def _failed_row(view: SectionView, variant: Variant, rows: Sequence[Measurement], now: float) -> tuple[Child, ...]:
    last = max(rows, key=lambda row: (row.made_at, row.reason))
    told = f"{OUTCOME_WORDS.get(last.outcome, last.outcome)}: {last.reason}" if last.reason else ""
    words = told or OUTCOME_WORDS.get(last.outcome, last.outcome)
    since_s = now - last.made_at
    name = folded_variant(variant, view.names[variant])
    return name, words, "", "", "", "", "", count(len(rows), "failure"), keyed(age(since_s), since_s)


def _evidence(rows: Sequence[Measurement]) -> str:
    ran = [row for row in rows if row.outcome == "ok"]
    runs = sum(row.runs for row in ran if row.source == "tune")
    calls = sum(row.runs for row in ran if row.source == "call")
    told = [count(runs, "run")] if runs else []
    told += [count(calls, "call")] if calls else []
    return f"{' and '.join(told) or 'no run'}, {count(len({row.shape for row in ran}), 'shape')}"

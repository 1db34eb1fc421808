"""What came of tuning, as people see it: a line, a table, or a table with a picture in a notebook. It measures nothing;
what it says of a gain is what was measured by turns (tuning/comparison.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

from loopwright.profile.measurement import Measurement
from loopwright.report.chart import Bar, bars
from loopwright.report.choice_layout import cut
from loopwright.report.element import Child, element, table
from loopwright.report.notebook import fragment
from loopwright.report.shapes import axes_of, sizes_words
from loopwright.report.words import count, duration, visible
from loopwright.tuning.tuned import Tuned

MOST_BARS = 10
WIDEST = 60


@dataclass(slots=True, repr=False)
class TuneReport(Tuned):
    """A Tuned that prints itself."""

    @classmethod
    def of(cls, found: Tuned) -> Self:
        """The same, with a face."""
        return cls(**{field.name: getattr(found, field.name) for field in fields(Tuned)})

    def __repr__(self) -> str:
        name, sizes = visible(name_of(self)), sizes_of(self)
        if self.default is None or self.best is None or self.why_not:
            return f"<not tuned: {name} for {sizes}: {visible(self.why_not or 'nothing ran')}>"
        told = [f"{name} for {sizes}: {self.gain:.2f} times as fast with '{cut(str(self.best.variant), WIDEST)}'"]
        if self.best == self.default:
            told = [f"{name} for {sizes}: the default variant serves"]
        told += [sure_text(self), before_text(self), measured_text(self), unreached_text(self) or ""]
        return visible(f"<tuned {'; '.join(filter(None, told))}>")

    def _repr_html_(self) -> str:
        if self.default is None or self.best is None or self.why_not:
            return fragment(element("p", repr(self)[1:-1]))
        rows: list[tuple[Child, ...]] = [
            ("sizes", sizes_of(self)),
            ("default", _timed(self, self.default, first=True)),
            ("best", _timed(self, self.best, first=False)),
            ("gain", f"{self.gain:.2f} times as fast" if self.best != self.default else "none"),
            ("how sure", sure_text(self) or "nothing to compare with"),
            ("serves now", element("code", str(self.best.variant))),
            ("measured", measured_text(self)),
        ]
        if (unreached := unreached_text(self)) is not None:
            rows.append(("budget", unreached))
        parts = [element("p", element("b", f"Tuned: {name_of(self)}")), table(("what", "found"), rows)]
        if len(shown := _fastest(self.measured)) > 1:
            found = [Bar(str(row.variant), row.time_ns, duration(row.time_ns)) for row in shown]
            title = f"The fastest {len(shown)} of {count(_ran(self), 'variant')} that ran: time of a call"
            parts.append(bars(title, "time of a call, shorter is better; as the search measured it", found))
        return fragment(*parts)


def name_of(found: Tuned) -> str:
    """The function's own name."""
    return found.call.one.analysed.written.name


def sizes_of(found: Tuned) -> str:
    """Of the call, in words."""
    return sizes_words(found.call.shape.sizes, axes_of(found.call.one.analysed.written))


def sure_text(found: Tuned) -> str:
    """How sure the gain is: from where to where, and from how many pairs of turns; '' where there was no rival."""
    if found.compared is None:
        return ""
    low, high = found.compared.interval
    pairs = f"{found.compared.pairs} alternating pairs"
    if found.compared.is_clear:
        return f"{low:.2f} to {high:.2f} times in {pairs}"
    return f"no other variant is certainly faster: the fastest is {low:.2f} to {high:.2f} times as fast in {pairs}"


def before_text(found: Tuned) -> str:
    """The time before and after; '' where nothing is gained."""
    if found.default is None or found.best is None or found.best == found.default:
        return ""
    return f"{duration(before_ns(found))} before, {duration(after_ns(found))} now"


def before_ns(found: Tuned) -> float:
    """What the default takes, as it was compared last."""
    assert found.default is not None
    return found.default.time_ns if found.compared is None else found.compared.before_ns


def after_ns(found: Tuned) -> float:
    """What the best takes, as it was compared last."""
    assert found.best is not None
    if found.compared is None or found.best == found.default:
        return before_ns(found) if found.best == found.default else found.best.time_ns
    return found.compared.after_ns


def measured_text(found: Tuned) -> str:
    """How many variants were measured, and how many were not."""
    told = count(_ran(found), "variant") + " measured"
    failed = sum(many for outcome, many in found.counts.items() if outcome != "ok")
    told += f", {failed} of them failed" if failed else ""
    return told + (f", {len(found.dropped)} left out without running" if found.dropped else "")


def unreached_text(found: Tuned) -> str | None:
    """What its share of the budget was not enough for; None where it was enough to look at the space."""
    if found.is_reached:
        return None
    looked = {
        "nothing": "nothing was measured",
        "default": "only the default variant was measured",
        "others": "only the default, other numbers of threads and the loops as written were measured",
    }[found.stage]
    return f"not reached: its share of the budget was {found.share_s:.3g} s; {looked}"


def _ran(found: Tuned) -> int:
    return sum(found.counts.values()) + found.known


def _timed(found: Tuned, row: Measurement, first: bool) -> str:
    if row.outcome != "ok":
        return f"{row.outcome}: {row.reason}"
    return duration(before_ns(found) if first else after_ns(found))


def _fastest(rows: Sequence[Measurement]) -> list[Measurement]:
    return sorted((row for row in rows if row.outcome == "ok"), key=lambda row: row.time_ns)[:MOST_BARS]

"""Calls that several devices shared, on the page: which there are, and of each the last one as a picture, time from
left to right, with a table of what each device did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

from loopwright.report.devices_layout import KINDS, last_title, moved_text
from loopwright.report.element import Child, append, element, table
from loopwright.report.gantt import gantt
from loopwright.report.overview import short_machine
from loopwright.report.shapes import sizes_words
from loopwright.report.shared_report import MemberReport
from loopwright.report.sortable import keyed
from loopwright.report.stored_timelines import StoredCall
from loopwright.report.words import age, compared, count, duration, percent

MOST_OF_KERNEL = 4
"""Shapes of a kernel whose last shared call is drawn: those that were shared last."""

MOST_ROWS = 40


def shared_overview(calls: Sequence[StoredCall], anchors: Mapping[str, str], now: float) -> Element:
    """A row for each kernel, machine and shape, the last one first. anchors: where a kernel's calls are drawn, by its
    fingerprint."""
    heads = ("kernel", "took", "predicted", "off by", "imbalance", "how", "devices", "for the sizes", "machine", "last")
    rows = [_row(one, anchors, now) for one in calls[:MOST_ROWS]]
    made = element("div", table(heads, rows, (1, 2, 3, 4), "calls that several devices shared"))
    if beyond := len(calls) - len(rows):
        append(made, element("p", f"and {beyond} more", class_="quiet"))
    return made


def _row(one: StoredCall, anchors: Mapping[str, str], now: float) -> tuple[Child, ...]:
    call, since_s = one.call, now - one.made_at
    name = called(one)
    predicted: tuple[Child, Child] = ("", "")
    if call.predicted_ns:
        off = keyed(compared(call.total_ns, call.predicted_ns), call.total_ns / call.predicted_ns)
        predicted = keyed(duration(call.predicted_ns), call.predicted_ns), off
    return (
        element("a", name, href=f"#{anchors[one.kernel]}") if one.kernel in anchors else name,
        keyed(duration(call.total_ns), call.total_ns),
        *predicted,
        "" if call.kind == "race" else keyed(percent(call.imbalance), call.imbalance),
        KINDS.get(call.kind, call.kind),
        ", ".join(member.name for member in call.members),
        sizes_words(one.sizes, one.axes) if one.sizes else "",
        short_machine(one.machine),
        keyed(age(since_s), since_s),
    )


def timelines(calls: Sequence[StoredCall], now: float) -> Element:
    """Of one kernel, the last ones first."""
    made = element("div")
    for one in calls[:MOST_OF_KERNEL]:
        append(made, timeline(one, now))
    if (beyond := len(calls) - MOST_OF_KERNEL) > 0:
        append(made, element("p", f"and {count(beyond, 'other shape')}: see the table at the top", class_="quiet"))
    return made


def timeline(one: StoredCall, now: float) -> Element:
    """The last shared call of a kernel and a shape: in words, as a table, and as a picture."""
    at = f" at {sizes_words(one.sizes, one.axes)}" if one.sizes else ""
    title = f"The last call that several devices shared{at}"
    told = last_title(one.call)
    made = element("div", element("h4", title))
    when = f"It was made {age(now - one.made_at)}. Why so: {one.call.why}."
    append(made, element("p", f"{told[:1].upper()}{told[1:]}. {when}"))
    append(made, member_table(one, title))
    append(made, element("p", f"Copied: {moved_text(one.call.moved)}."))
    picture = gantt(one.call)
    if picture is not None:
        append(made, picture)
    return made


def member_table(one: StoredCall, title: str) -> Element:
    """What each device did, in one row for each."""
    heads = ("device", "iterations", "busy", "computes", "copies", "waits", "busy, of the call")
    rows = [_member(member, one) for member in one.call.members]
    return table(heads, rows, (1, 2, 3, 4, 5, 6), f"{title}: what each device did")


def _member(member: MemberReport, one: StoredCall) -> tuple[Child, ...]:
    model = one.models.get(member.name, "")
    name = f"{member.name} ({model})" if model and model != member.name else member.name
    given = f" of {member.given}" if member.given is not None and member.given != member.iterations else ""
    part = member.busy_ns / one.call.total_ns if one.call.total_ns else 0.0
    times = (member.busy_ns, member.computes_ns, member.copies_ns, member.waits_ns)
    return (
        f"{name}, failed" if member.failed else name,
        keyed(f"{member.iterations}{given}", member.iterations),
        *(keyed(duration(time_ns), time_ns) for time_ns in times),
        keyed(percent(part), part),
    )


def called(one: StoredCall) -> str:
    """The kernel's name for people."""
    return one.name or f"kernel {one.kernel[:12]}"

"""How calls that several devices share look in an `Explanation`: lines of text, and rows of tables for a notebook. Both
say the same; the picture is `report/gantt.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.report.element import Child, element, table
from loopwright.report.gantt import gantt
from loopwright.report.scale import bytes_text
from loopwright.report.shared_report import DevicesReport, MovedReport, SharedCallReport
from loopwright.report.words import compared, count, duration, percent, visible

KINDS = {
    "guided": "chunks for each free device",
    "even": "even parts",
    "split": "a part for each",
    "single": "one device",
    "race": "a race",
    "planned": "the parts of the plan",
}
"""What a call does, in words."""

_HEADS = ("device", "iterations", "busy", "computes", "copies", "waits")


def devices_lines(report: DevicesReport) -> Iterator[str]:
    """Who takes part, what is decided for the next call, what other ways would cost, and the last call."""
    yield devices_title(report)
    yield from left_out(report)
    yield next_text(report)
    yield from (f"{name} takes {learned}" for name, learned in learned_of(report))
    if report.alternatives:
        yield f"expected: {alternatives_text(report)}"
    yield from (f"watts of {line}" for line in report.watts)
    if report.last is None:
        return
    yield last_title(report.last)
    rows = [_HEADS, *member_rows(report.last)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    for row in rows:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    yield f"  copied {moved_text(report.last.moved)}"


def devices_parts(report: DevicesReport) -> Iterator[Child]:
    """The same for a notebook, with a picture of the last call."""
    rows: list[tuple[Child, ...]] = [("next call", _text(_next(report)))]
    rows += [("left out", _text(line)) for line in left_out(report)]
    rows += [(element("code", _text(name)), f"takes {_text(learned)}") for name, learned in learned_of(report)]
    if report.alternatives:
        rows.append(("expected:", _text(alternatives_text(report))))
    rows += [("watts of", _text(line)) for line in report.watts]
    yield table(("devices", "found"), rows)
    last = report.last
    if last is None:
        return
    yield element("p", _text(last_title(last)))
    found: list[tuple[Child, ...]] = [tuple(map(_text, row)) for row in member_rows(last)]
    yield table(_HEADS, found, (1, 2, 3, 4, 5))
    yield element("p", f"copied {_text(moved_text(last.moved))}")
    picture = gantt(last)
    if picture is not None:
        yield picture


def devices_title(report: DevicesReport) -> str:
    """`cpu, emulated can share such a call`."""
    if not report.unshared:
        return f"{', '.join(report.sharing)} can share such a call"
    able = [one.name for one in report.devices if one.why_not in ("", report.unshared)]
    whole = f"one of {', '.join(able)}" if len(able) > 1 else "one device alone"
    return f"{whole} makes such a call: {report.unshared}"


def left_out(report: DevicesReport) -> Iterator[str]:
    """Those that take no part, where the title does not say it."""
    for one in report.devices:
        if one.why_not and one.why_not != report.unshared:
            yield f"{one.name} takes no part: {one.why_not}"


def next_text(report: DevicesReport) -> str:
    """`next call: a part for each, predicted 4 ms: the best that was measured`."""
    return f"next call: {_next(report)}"


def _next(report: DevicesReport) -> str:
    predicted = "" if report.predicted_ns is None else f", predicted {duration(report.predicted_ns)}"
    goal = "" if report.goal == "time" else f", for {report.goal}"
    why = f": {report.why}" if report.why else ""
    return f"{KINDS.get(report.kind, report.kind)}{goal}{predicted}{why}"


def learned_of(report: DevicesReport) -> Iterator[tuple[str, str]]:
    """What each device takes, where it was measured."""
    return ((one.name, one.learned) for one in report.devices if one.learned)


def alternatives_text(report: DevicesReport) -> str:
    """`cpu alone 1.2 ms; emulated alone not measured; parts for all 4.3 ms`."""
    return "; ".join(
        f"{one.how} {'not measured' if one.predicted_ns is None else duration(one.predicted_ns)}"
        for one in report.alternatives
    )


def last_title(last: SharedCallReport) -> str:
    """`3 calls of these sizes were shared; the last one, a part for each, took 5.5 ms, predicted 4.2 ms (30 % slower);
    imbalance 3 %`."""
    many = f"{count(last.calls, 'call of these sizes was', 'calls of these sizes were')} shared"
    many += f"; the last one, {KINDS.get(last.kind, last.kind)},"
    told = f"{many} took {duration(last.total_ns)}"
    if last.predicted_ns:
        told += f", predicted {duration(last.predicted_ns)} ({compared(last.total_ns, last.predicted_ns)})"
    told += "; it did not finish" if last.ended_early else ""
    return told if last.kind == "race" else f"{told}; imbalance {percent(last.imbalance)}"


def member_rows(last: SharedCallReport) -> Iterator[tuple[str, ...]]:
    """A row for each device, under the heads device, iterations, busy, computes, copies, waits."""
    for one in last.members:
        times = (one.busy_ns, one.computes_ns, one.copies_ns, one.waits_ns)
        failed = ", failed" if one.failed else ""
        other = f" of {one.given}" if one.given is not None and one.given != one.iterations else ""
        yield f"{one.name}{failed}", f"{one.iterations}{other}", *map(duration, times)


def moved_text(moved: Sequence[MovedReport]) -> str:
    """`cpu to emulated 632 B in 1 copy; emulated to cpu 632 B in 1 copy`."""
    told = (
        f"{one.source} to {one.target} {bytes_text(one.size_bytes)} in {count(one.copies, 'copy', 'copies')}"
        for one in moved
    )
    return "; ".join(told) or "nothing"


def _text(text: str) -> str:
    return visible(text, "\n")

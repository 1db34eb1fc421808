"""The picture of a shared call: time from left to right, and for each device what it computed, what it copied, and when
it waited. Every bar says what it is to whoever points at it; the whole is described in a text for whoever hears it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from loopwright.report.element import element
from loopwright.report.scale import Axis, bytes_text, scale
from loopwright.report.shared_report import MemberReport, SharedCallReport, SpanReport
from loopwright.report.words import duration, percent

WIDTH = 760
LEFT, RIGHT, TOP, ROW, BOTTOM = 92, 30, 8, 46, 44
COMPUTES, COPIES = (4, 18), (24, 12)
"""Where in the row of a device a bar is, and how high."""

MOST_BARS = 400
"""Of more bars than this, neighbours that cannot be told apart are one."""

LEAST_WIDE = 1.4
"""What took shorter than can be seen is drawn so wide."""

_STYLES = {"computes": "computes", "copies": "copies", "fails": "fails"}


def gantt(last: SharedCallReport) -> Element | None:
    """Of the last call. None where nothing was done in it."""
    ends = [span.end_ns for span in last.spans]
    if not ends or not last.members:
        return None
    whole = max(1, last.total_ns, *ends)
    height = TOP + ROW * len(last.members) + BOTTOM
    title = f"Who computed, copied and waited in the last shared call, {duration(last.total_ns)}"
    svg = element("svg", viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=f"{title}: {described(last)}")
    _draw_axis(svg, whole, height)
    for row, member in enumerate(last.members):
        top = TOP + ROW * row
        svg.append(element("text", member.name, class_="label", x=str(LEFT - 8), y=str(top + 22), text_anchor="end"))
        place = {"x": str(LEFT), "width": str(WIDTH - LEFT - RIGHT), "y": str(top + 2), "height": str(ROW - 6)}
        svg.append(element("rect", element("title", f"{member.name} waits"), class_="waits", **place))
        for span in _merged([one for one in last.spans if one.device == member.name], whole):
            svg.append(_bar(span, whole, top))
    return element("figure", element("figcaption", title), svg, _legend(last))


def described(last: SharedCallReport) -> str:
    """In words: `cpu computed for 2 ms, copied for 1 ms and waited for 0.1 ms; ...`."""
    imbalance = "" if last.kind == "race" else f"; imbalance {percent(last.imbalance)}"
    return "; ".join(map(_member, last.members)) + imbalance


def _member(one: MemberReport) -> str:
    times = [duration(time) for time in (one.computes_ns, one.copies_ns, one.waits_ns)]
    failed = ", and failed" if one.failed else ""
    return f"{one.name} computed for {times[0]}, copied for {times[1]} and waited for {times[2]}{failed}"


def _merged(spans: Sequence[SpanReport], whole: int) -> Iterator[tuple[str, int, int, str]]:
    """What is drawn: what, from when, until when, and its words. Spans that are closer than a fifth of a pixel are one
    where there are many."""
    near = whole / (WIDTH * 5) if len(spans) > MOST_BARS else -1
    for what in dict.fromkeys(one.what for one in spans):
        found: list[list[SpanReport]] = []
        for one in (span for span in spans if span.what == what):
            if found and one.start_ns - max(span.end_ns for span in found[-1][-4:]) <= near:
                found[-1].append(one)
            else:
                found.append([one])
        for some in found:
            yield what, some[0].start_ns, max(one.end_ns for one in some), _words(some)


def _words(some: Sequence[SpanReport]) -> str:
    first = some[0]
    if (times := sum(one.times for one in some)) > 1:
        moved = sum(one.size_bytes for one in some)
        return f"{first.device} {first.what} {times} times" + (f", {bytes_text(moved)}" if moved else "")
    took = duration(first.end_ns - first.start_ns)
    match first.what:
        case "computes":
            return f"{first.device} computes iterations {first.first}:{first.last}, {took}"
        case "copies":
            return f"{bytes_text(first.size_bytes)} from {first.source} to {first.target}, {took}"
        case _:
            return f"{first.device} {first.what} after {duration(first.start_ns)}"


def _bar(span: tuple[str, int, int, str], whole: int, top: int) -> Element:
    what, start, end, words = span
    room = WIDTH - LEFT - RIGHT
    above, high = COPIES if what == "copies" else COMPUTES
    place = {"x": _number(LEFT + room * start / whole), "width": _number(max(LEAST_WIDE, room * (end - start) / whole))}
    style = f"span {_STYLES.get(what, 'other')}"
    return element("rect", element("title", words), class_=style, y=str(top + above), height=str(high), **place)


def _draw_axis(svg: Element, whole: int, height: int) -> None:
    axis = Axis("time since the call began", False, duration)
    across = scale(axis, [0.0, float(whole)], LEFT, WIDTH - RIGHT)
    bottom = height - BOTTOM
    for tick in across.ticks:
        if tick <= whole:
            x = _number(LEFT + (WIDTH - LEFT - RIGHT) * tick / whole)
            svg.append(element("line", class_="grid", x1=x, x2=x, y1=str(TOP), y2=str(bottom)))
            svg.append(element("text", duration(tick), x=x, y=str(bottom + 16), text_anchor="middle"))
    svg.append(element("line", class_="axis", x1=str(LEFT), x2=str(WIDTH - RIGHT), y1=str(bottom), y2=str(bottom)))
    middle = _number((LEFT + WIDTH - RIGHT) / 2)
    svg.append(element("text", axis.label, class_="label", x=middle, y=str(height - 8), text_anchor="middle"))


def _legend(last: SharedCallReport) -> Element:
    made = element("ul", class_="legend")
    whats = [what for what in _STYLES if any(span.what == what for span in last.spans)]
    for what in (*whats, "waits"):
        style = f"span {_STYLES[what]}" if what in _STYLES else "waits"
        sample = element("svg", viewBox="0 0 28 14", class_="sample", aria_hidden="true")
        sample.append(element("rect", class_=style, x="2", y="1", width="24", height="12"))
        made.append(element("li", sample, " ", what))
    return made


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")

"""Charts as SVG: lines or points over two axes, and bars. Colours are classes of page.css, so that light, dark and
paper each have their own; beside its colour each series has a mark and a dash of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from loopwright.report.element import element
from loopwright.report.scale import Axis, AxisScale, scale, shown

WIDTH, HEIGHT = 760, 340
LEFT, RIGHT, TOP, BOTTOM = 78, 14, 34, 46
SERIES = 6
"""So many series have a colour; all others are grey."""

BAR = 22
BAR_NAMES = 300

_DOT = "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z"
_MARKS = (
    _DOT, "M-3.5,-3.5h7v7h-7z", "M0,-4.5l4.5,8h-9z", "M0,-5l5,5l-5,5l-5,-5z",
    "M-4,-2.5l1.5,-1.5l2.5,2.5l2.5,-2.5l1.5,1.5l-2.5,2.5l2.5,2.5l-1.5,1.5l-2.5,-2.5l-2.5,2.5l-1.5,-1.5l2.5,-2.5z",
    "M-1.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """Points that belong together. style: from 0 to SERIES - 1, None for one of the grey ones, whose lines the legend
    only counts. joined: with a line, from left to right."""

    name: str
    points: tuple[tuple[float, float], ...]
    style: int | None
    joined: bool = True


@dataclass(frozen=True, slots=True)
class Band:
    """Part of the horizontal axis, in the colour of a series."""

    low: float
    high: float
    style: int | None
    name: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on the horizontal axis that has a name."""

    x: float
    name: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its name. text: of the value."""

    name: str
    value: float
    text: str


def chart(
    title: str, x: Axis, y: Axis, series: Sequence[ChartSeries], bands: Sequence[Band] = (), marks: Sequence[Mark] = ()
) -> Element | None:
    """Under a title that says what is to be seen. None where no point has a place on the axes."""
    drawn = [ChartSeries(one.name, _shown(one.points, x, y), one.style, one.joined) for one in series]
    drawn = [one for one in drawn if one.points]
    points = [point for one in drawn for point in one.points]
    if not points:
        return None
    across = scale(x, [point[0] for point in points], LEFT, WIDTH - RIGHT)
    up = scale(y, [point[1] for point in points], HEIGHT - BOTTOM, TOP)
    svg = element("svg", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=title)
    _draw_bands(svg, across, bands)
    _draw_axes(svg, across, up)
    for one in sorted(drawn, key=lambda one: -SERIES if one.style is None else -one.style):  # the first ones on top
        _draw(svg, one, across, up)
    for mark in marks:
        place = _number(across.at(mark.x))
        svg.append(element("line", class_="mark", x1=place, x2=place, y1=str(TOP), y2=str(HEIGHT - BOTTOM)))
        side = "end" if across.at(mark.x) > WIDTH * 0.7 else "start"
        shift = -6 if side == "end" else 6
        at = _number(across.at(mark.x) + shift)
        svg.append(element("text", mark.name, class_="label", x=at, y=str(TOP + 16), text_anchor=side))
    return element("figure", element("figcaption", title), svg, _legend(drawn))


def bars(title: str, label: str, found: Sequence[Bar]) -> Element:
    """One below the other, from 0. label: what the values are."""
    height = TOP + BAR * len(found) + 26
    most = max([bar.value for bar in found] + [0.0]) or 1.0
    svg = element("svg", viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=title)
    room = WIDTH - BAR_NAMES - 90
    for number, bar in enumerate(found):
        top = TOP + BAR * number
        middle = _number(top + BAR / 2 + 4)
        name = bar.name if len(bar.name) <= 46 else bar.name[:43] + "..."
        svg.append(element("text", name, element("title", bar.name), x=str(BAR_NAMES - 8), y=middle, text_anchor="end"))
        wide = _number(max(1.0, room * bar.value / most))
        svg.append(element("rect", class_="bar", x=str(BAR_NAMES), y=str(top + 3), width=wide, height=str(BAR - 6)))
        svg.append(element("text", bar.text, x=_number(BAR_NAMES + 6 + room * bar.value / most), y=middle))
    axis = element("line", class_="axis", x1=str(BAR_NAMES), x2=str(BAR_NAMES), y1=str(TOP), y2=str(height - 24))
    svg.append(axis)
    svg.append(element("text", label, class_="label", x=str(BAR_NAMES), y=str(height - 6)))
    return element("figure", element("figcaption", title), svg)


def _shown(points: Sequence[tuple[float, float]], x: Axis, y: Axis) -> tuple[tuple[float, float], ...]:
    return tuple(sorted((a, b) for a, b in points if shown(x, a) and shown(y, b)))


# ---- parts ------------------------------------------------------------------------------------------------------


def _draw_axes(svg: Element, across: AxisScale, up: AxisScale) -> None:
    bottom = str(HEIGHT - BOTTOM)
    for tick in up.ticks:
        y = _number(up.at(tick))
        svg.append(element("line", class_="grid", x1=str(LEFT), x2=str(WIDTH - RIGHT), y1=y, y2=y))
        at = _number(up.at(tick) + 4)
        svg.append(element("text", up.axis.text(tick), x=str(LEFT - 6), y=at, text_anchor="end"))
    for tick in across.ticks:
        x = _number(across.at(tick))
        svg.append(element("line", class_="grid", x1=x, x2=x, y1=str(TOP), y2=bottom))
        svg.append(element("text", across.axis.text(tick), x=x, y=str(HEIGHT - BOTTOM + 17), text_anchor="middle"))
    svg.append(element("line", class_="axis", x1=str(LEFT), x2=str(WIDTH - RIGHT), y1=bottom, y2=bottom))
    svg.append(element("line", class_="axis", x1=str(LEFT), x2=str(LEFT), y1=str(TOP), y2=bottom))
    middle = _number((LEFT + WIDTH - RIGHT) / 2)
    below = str(HEIGHT - 8)
    svg.append(element("text", _with_scale(across.axis), class_="label", x=middle, y=below, text_anchor="middle"))
    svg.append(element("text", _with_scale(up.axis), class_="label", x="4", y="13"))


def _with_scale(axis: Axis) -> str:
    return f"{axis.label} (log scale)" if axis.log else axis.label


def _draw_bands(svg: Element, across: AxisScale, bands: Sequence[Band]) -> None:
    """A strip above the plot, and a tint behind it."""
    for band in bands:
        low, high = across.at(band.low), across.at(band.high)
        told = element("title", band.name)
        place = {"x": _number(low), "width": _number(max(0.5, high - low))}
        tint = {"y": str(TOP), "height": str(HEIGHT - BOTTOM - TOP)}
        svg.append(element("rect", told, class_=f"tint {_fill(band.style)}", **place, **tint))
        svg.append(element("rect", told, class_=_fill(band.style), **place, y=str(TOP - 6), height="6"))


def _draw(svg: Element, one: ChartSeries, across: AxisScale, up: AxisScale) -> None:
    places = [(_number(across.at(x)), _number(up.at(y))) for x, y in one.points]
    group = element("g", class_="series")
    if one.joined and len(places) > 1:
        line = " ".join(f"{x},{y}" for x, y in places)
        group.append(element("polyline", element("title", one.name), points=line, class_=_stroke(one.style)))
    if one.style is not None or not one.joined or len(places) == 1:
        for (x, y), (a, b) in zip(places, one.points, strict=True):
            mark = _mark(one.style, x, y)
            mark.append(element("title", f"{one.name}: {up.axis.text(b)} at {across.axis.text(a)}"))
            group.append(mark)
    svg.append(group)


def _mark(style: int | None, x: str, y: str) -> Element:
    path = _DOT if style is None else _MARKS[style]
    return element("path", d=path, transform=f"translate({x},{y})", class_=_fill(style))


def _legend(series: Sequence[ChartSeries]) -> Element:
    made = element("ul", class_="legend")
    for one in series:
        if one.style is not None or not one.joined:
            sample = element("svg", viewBox="-14 -7 28 14", class_="sample", aria_hidden="true")
            if one.joined:
                sample.append(element("polyline", points="-14,0 14,0", class_=_stroke(one.style)))
            sample.append(_mark(one.style, "0", "0"))
            made.append(element("li", sample, " ", one.name))
    others = sum(one.style is None and one.joined for one in series)
    if others:
        made.append(element("li", f"grey: {others} other{'' if others == 1 else 's'}"))
    return made


def _stroke(style: int | None) -> str:
    return "line other" if style is None else f"line s{style}"


def _fill(style: int | None) -> str:
    return "fill other" if style is None else f"fill s{style}"


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")

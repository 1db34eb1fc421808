"""The pictures of `benchmarks.many_devices` and `benchmarks.simulated_devices`: speed-up over the number of devices,
and where the time of calls goes. One file of HTML, with nothing that is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopwright.report.chart import SERIES, Bar, ChartSeries, bars, chart
from loopwright.report.element import Element, append, element, html
from loopwright.report.page import STYLE
from loopwright.report.scale import Axis

Row = dict[str, Any]

WHERE = {"resident": "Arrays stay on the devices", "host": "Arrays of the host"}


def pictures(rows: Sequence[Row]) -> str:
    """Of rows with `case`, `arrays`, `gpus`, `speed_up`, and of shared calls `devices` and `call_ms`."""
    body = element("main", element("h1", "One loop on several devices"))
    for arrays, title in WHERE.items():
        some = [one for one in rows if one.get("arrays") == arrays and one.get("speed_up")]
        if some:
            append(body, element("h2", title))
            for figure in [*_speed_ups(some), *_times(some)]:
                append(body, figure)
    style = element("style", STYLE.read_text(encoding="utf-8"))
    head = element("head", element("meta", charset="utf-8"), element("title", "One loop on several devices"), style)
    return html(element("html", head, element("body", body), lang="en"))


def _speed_ups(rows: Sequence[Row]) -> list[Element]:
    """As many cases in a picture as there are colours."""
    x, y = Axis("devices", True, lambda value: f"{value:g}"), Axis("speed-up", True, lambda value: f"{value:g}")
    found: list[Element] = []
    names = list(dict.fromkeys(one["case"] for one in rows))
    for first in range(0, len(names), SERIES):
        series = []
        for style, name in enumerate(names[first : first + SERIES]):
            points = tuple((float(one["gpus"]), float(one["speed_up"])) for one in rows if one["case"] == name)
            series.append(ChartSeries(name, points, style))
        most = max(float(one["gpus"]) for one in rows)
        series.append(ChartSeries("as many times as fast as there are devices", ((1.0, 1.0), (most, most)), None))
        figure = chart("How many times as fast as one device", x, y, series)
        found += [] if figure is None else [figure]
    return found


def _times(rows: Sequence[Row]) -> list[Element]:
    """What the devices do in the mean of a call's time."""
    found: list[Bar] = []
    for one in rows:
        devices, whole = one.get("devices") or [], one.get("call_ms")
        if not devices or not whole:
            continue
        for what in ("computes", "copies", "waits"):
            part = sum(device[f"{what}_ms"] for device in devices) / len(devices) / whole
            found.append(Bar(f"{one['case']} on {one['gpus']}: {what}", part, f"{part:.0%}"))
    return [bars("Where the time goes", "of the time of a call, in the mean of its devices", found)] if found else []

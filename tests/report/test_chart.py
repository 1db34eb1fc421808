"""Charts, as far as it can be told without looking."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, tostring

from loopwright.report.chart import HEIGHT, SERIES, WIDTH, Band, Bar, ChartSeries, Mark, bars, chart
from loopwright.report.scale import TIME, Axis, number_text

SIZE = Axis("size n", True, number_text)


def text_of(figure: Element | None) -> str:
    assert figure is not None
    return tostring(figure, encoding="unicode", method="html")


def test_every_point_lies_on_the_paper() -> None:
    points = tuple((float(10**k), float(10 ** (2 * k))) for k in range(9))
    html = text_of(chart("t", SIZE, TIME, [ChartSeries("a", points, 0)], marks=[Mark(1e12, "far")]))
    for x, y in re.findall(r"translate\(([-\d.]+),([-\d.]+)\)", html):
        assert 0 <= float(x) <= WIDTH and 0 <= float(y) <= HEIGHT
    assert len(re.findall("translate", html)) == len(points) + 1  # one in the legend


def test_axes_have_names_and_units() -> None:
    html = text_of(chart("what one sees", SIZE, TIME, [ChartSeries("a", ((1.0, 1e3), (2.0, 1e6)), 0)]))
    for words in ("size n (log scale)", "time of a call (log scale)", "100 us", "<figcaption>what one sees<"):
        assert words in html


def test_grey_lines_are_counted_and_coloured_ones_are_named() -> None:
    named = [ChartSeries(f"name{k}", ((1.0, 1.0 + k), (2.0, 2.0)), k) for k in range(SERIES)]
    grey = [ChartSeries(f"grey{k}", ((1.0, 1.0), (2.0, 3.0)), None) for k in range(3)]
    legend = text_of(chart("t", SIZE, TIME, [*named, *grey])).split("<ul")[1]
    assert [f"name{k}" in legend for k in range(SERIES)] == [True] * SERIES
    assert "grey: 3 others" in legend and "grey1" not in legend
    assert len({re.findall(r'<path d="([^"]+)"', text)[0] for text in legend.split("<li>")[1:-1]}) == SERIES


def test_what_has_no_place_is_left_out() -> None:
    assert chart("t", SIZE, TIME, []) is None
    assert chart("t", SIZE, TIME, [ChartSeries("a", ((0.0, 1.0), (1.0, float("nan")), (1.0, -3.0)), 0)]) is None
    html = text_of(chart("t", SIZE, TIME, [ChartSeries("a", ((0.0, 1.0), (1.0, 5.0)), 0), ChartSeries("b", (), 1)]))
    assert " a</li>" in html and " b</li>" not in html
    assert "<title>a: 5 ns at 1</title>" in html  # for a pointer above it


def test_bands_say_what_is_chosen() -> None:
    series = [ChartSeries("a", ((1.0, 5.0), (100.0, 7.0)), 0)]
    html = text_of(chart("t", SIZE, TIME, series, [Band(1, 10, 0, "chosen: a"), Band(10, 100, None, "chosen: b")]))
    assert html.count("chosen: a") == 2 and html.count('class="fill s0"') >= 1 and 'class="fill other"' in html


def test_bars_of_nothing_and_of_zeros() -> None:
    assert "label" in text_of(bars("t", "label", []))
    html = text_of(bars("t", "label", [Bar("a" * 100, 0.0, "0 %"), Bar("b", 3.0, "300 %")]))
    assert "300 %" in html and "a" * 43 + "..." in html

"""The picture of a shared call: where its bars are, and what it says to whoever cannot see it."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree.ElementTree import Element

from loopwright.report.gantt import LEFT, MOST_BARS, RIGHT, WIDTH, gantt
from loopwright.report.notebook import STYLE, fragment
from loopwright.report.shared_report import SpanReport
from report.contrast import contrast
from report.pages import read
from report.shared import LAST, MS

ROOM = WIDTH - LEFT - RIGHT


def drawn(picture: Element | None, style: str) -> list[tuple[float, float, str]]:
    """From where to where bars of a style go, and their words."""
    assert picture is not None
    svg = picture.find("svg")
    assert svg is not None
    rects = [one for one in svg.iter("rect") if style in one.attrib["class"].split()]
    return [
        (float(one.attrib["x"]), float(one.attrib["x"]) + float(one.attrib["width"]), one.findtext("title") or "")
        for one in rects
    ]


def test_bars_are_where_time_says() -> None:
    computes = drawn(gantt(LAST), "computes")
    assert [words for _, _, words in computes] == [
        "cpu computes iterations 0:600, 8 ms", "cuda computes iterations 600:1000, 3 ms",
    ]  # fmt: skip
    assert [round((end - LEFT) / ROOM, 2) for _, end, _ in computes] == [0.8, 0.5]
    assert round((computes[1][0] - LEFT) / ROOM, 2) == 0.2
    copies = [words for _, _, words in drawn(gantt(LAST), "copies")]
    assert copies == ["2 MiB from cpu to cuda, 1 ms", "1 MiB from cpu to cuda, 1 ms", "1 MiB from cuda to cpu, 2 ms"]
    assert [words for _, _, words in drawn(gantt(LAST), "waits")] == ["cpu waits", "cuda waits"]


def test_all_of_it_is_told_in_words() -> None:
    picture = gantt(LAST)
    assert picture is not None
    html = fragment(picture)
    assert read(html).faults == []
    assert 'role="img"' in html
    assert "cuda computed for 3 ms, copied for 4 ms and waited for 3 ms; imbalance 25 %" in html
    for word in ("computes", "copies", "waits", "time since the call began"):
        assert word in " ".join(read(html).text)


def test_a_device_that_fails() -> None:
    spans = (*LAST.spans, SpanReport("cuda", "fails", 9 * MS, 9 * MS))
    picture = gantt(replace(LAST, spans=spans))
    assert [words for _, _, words in drawn(picture, "fails")] == ["cuda fails after 9 ms"]
    assert picture is not None
    assert "fails" in fragment(picture)


def test_nothing_is_drawn_of_nothing() -> None:
    assert gantt(replace(LAST, spans=())) is None
    assert gantt(replace(LAST, members=())) is None


def test_no_bar_leaves_the_paper() -> None:
    """A call that was timed shorter than what it did."""
    for one in drawn(gantt(replace(LAST, total_ns=MS)), "span"):
        assert one[0] >= LEFT and one[1] <= WIDTH - RIGHT + 0.1


def test_many_bars_that_cannot_be_told_apart_are_one() -> None:
    many = tuple(SpanReport("cpu", "computes", k * 1000, k * 1000 + 990, k, k + 1) for k in range(10 * MOST_BARS))
    found = drawn(gantt(replace(LAST, spans=many)), "computes")
    assert len(found) == 1 and found[0][2] == f"cpu computes {10 * MOST_BARS} times"


def test_colours_stand_out_on_white_and_on_black() -> None:
    for style in ("computes", "copies", "fails"):
        (fill,) = re.findall(rf"\.{style} \{{ fill: (#\w{{6}})", STYLE)
        assert all(contrast(fill, paper) >= 3 for paper in ("#ffffff", "#111111"))


def test_the_last_number_of_the_axis_has_room() -> None:
    """Ten milliseconds end at the edge of the rows; what is written there ends before that of the picture."""
    picture = gantt(LAST)
    assert picture is not None
    (last,) = (one for one in picture.iter("text") if one.text == "10 ms")
    wide = 8 * len("10 ms")  # more than its letters need, 12 pixels high
    assert float(last.get("x", "")) + wide / 2 <= WIDTH

"""Numbers in words."""

from __future__ import annotations

import math

import pytest

from loopwright.report.words import age, compared, count, percent, visible


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a minute ago"),
        (-1, "less than a minute ago"),
        (-61, "dated in the future"),
        (59.9, "less than a minute ago"),
        (60, "1 minute ago"),
        (7199, "1 hour ago"),
        (3 * 86400, "3 days ago"),
        (59 * 86400, "59 days ago"),
        (61 * 86400, "2 months ago"),
        (3 * 365.25 * 86400, "3 years ago"),
        (math.nan, "at an unknown time"),
        (math.inf, "at an unknown time"),
    ],
)
def test_ages(seconds: float, words: str) -> None:
    assert age(seconds) == words


@pytest.mark.parametrize(
    ("part", "words"),
    [(0, "0 %"), (0.0001, "under 0.1 %"), (0.004, "0.4 %"), (0.0099, "1.0 %"), (0.01, "1 %"), (0.256, "26 %"),
     (12.0, "1200 %"), (math.inf, "?"), (math.nan, "?")],
)  # fmt: skip
def test_percents(part: float, words: str) -> None:
    assert percent(part) == words


@pytest.mark.parametrize(
    ("time_ns", "with_ns", "words"),
    [
        (125, 100, "25 % slower"),
        (75, 100, "25 % faster"),
        (100.01, 100, "as fast"),
        (310, 100, "3.1 times as long"),
        (1, 0, "not comparable"),
        (math.inf, 100, "not comparable"),
        (math.nan, 100, "not comparable"),
    ],
)
def test_comparisons(time_ns: float, with_ns: float, words: str) -> None:
    assert compared(time_ns, with_ns) == words


def test_counts() -> None:
    assert (count(1, "run"), count(0, "run"), count(2, "entry", "entries")) == ("1 run", "0 runs", "2 entries")


def test_what_a_terminal_would_obey_is_spelt_out() -> None:
    assert visible("gemm größer 行列 é") == "gemm größer 行列 é"
    assert visible("a\x1b[2J\x9b\r\n\tb\u202ec\x7f\ud800") == r"a\x1b[2J\x9b\r\n\tb\u202ec\x7f\ud800"
    assert visible("a\nb\r", keep="\n") == "a\nb\\r"

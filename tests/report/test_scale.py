"""Axes and what is written beside them."""

from __future__ import annotations

import math

import pytest

from loopwright.report.scale import MOST_TICKS, TIME, Axis, bytes_text, number_text, scale, shown

EVEN = Axis("x", False, number_text)
LOG = Axis("x", True, number_text)


@pytest.mark.parametrize("axis", [EVEN, LOG], ids=["even", "log"])
@pytest.mark.parametrize("values", [(1, 1000), (3, 4), (5,), (1e-9, 1e-7), (1e3, 1e17), (99, 101), (1e-300, 1e300)])
def test_values_keep_their_order_on_the_paper(axis: Axis, values: tuple[float, ...]) -> None:
    found = scale(axis, values, 100.0, 700.0)
    places = [found.at(value) for value in values]
    assert places == sorted(places) and places[0] >= 100 and places[-1] <= 700
    assert len(found.ticks) <= MOST_TICKS
    assert all(found.low <= tick <= found.high for tick in found.ticks)


def test_equal_ratios_lie_equally_far_apart_on_a_log_axis() -> None:
    found = scale(LOG, (1, 100), 0.0, 100.0)
    assert found.at(10) - found.at(1) == pytest.approx(found.at(100) - found.at(10))
    assert found.ticks[:3] == (1, 2, 5)


def test_what_lies_outside_stays_on_the_paper() -> None:
    assert scale(LOG, (1, 100), 0.0, 100.0).at(-5) == 0.0
    assert scale(EVEN, (1, 100), 0.0, 100.0).at(1e9) == 100.0
    assert scale(EVEN, (0, 0), 0.0, 100.0).at(0) == pytest.approx(50, abs=50)


def test_a_vertical_axis_goes_up() -> None:
    found = scale(TIME, (1e3, 1e6), 300.0, 20.0)
    assert found.at(1e3) > found.at(1e6)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_what_has_no_place_on_a_log_axis(value: float) -> None:
    assert not shown(LOG, value)
    assert shown(EVEN, value) is math.isfinite(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(830, "830"), (9999, "9999"), (12_000, "12k"), (3.5e6, "3.5M"), (2e9, "2G"), (3.93e-12, "3.93e-12"), (0.5, "0.5")],
)
def test_numbers(value: float, text: str) -> None:
    assert number_text(value) == text


def test_sizes_of_memory() -> None:
    assert [bytes_text(value) for value in (10, 1536, 3 << 20, 5 << 30)] == ["10 B", "1.5 KiB", "3 MiB", "5 GiB"]

"""Tables of copies."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.profile.bandwidth import BandwidthTable, Bus, measure_bandwidth
from loopwright.profile.stride import NoMeasurement

TABLE = BandwidthTable("to device", "pageable", ((1, 8000.0), (1000, 8100.0), (10**6, 100000.0)))


def test_times_between_and_outside_of_the_points() -> None:
    assert TABLE.time_ns(0) == TABLE.time_ns(-5) == 0.0
    assert TABLE.time_ns(0.5) == TABLE.time_ns(1) == 8000.0
    assert TABLE.time_ns(1000) == 8100.0
    assert TABLE.time_ns(500500) == pytest.approx((8100 + 100000) / 2)
    slope = (100000.0 - 8100.0) / (10**6 - 1000)
    assert TABLE.time_ns(3 * 10**6) == pytest.approx(100000.0 + 2 * 10**6 * slope)


def test_a_table_that_falls_at_its_end_goes_on_at_its_bandwidth() -> None:
    falling = BandwidthTable("to host", "pinned", ((10, 5000.0), (100, 4000.0)))
    assert falling.time_ns(200) == pytest.approx(8000.0)
    assert BandwidthTable("to host", "pinned", ((10, 5000.0),)).time_ns(20) == 10000.0


def test_a_bus_has_a_table_each_way() -> None:
    back = BandwidthTable("to host", "pageable", ((1, 500.0), (1000, 500.0)))
    assert Bus(TABLE, back).time_ns(1000, 7) == 8600.0 and Bus(TABLE, back).time_ns(0, 0) == 0.0
    with pytest.raises(ValueError, match="in this order"):
        Bus(back, TABLE)


def test_it_comes_back_from_its_text() -> None:
    assert BandwidthTable.parse(str(TABLE)) == TABLE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no JSON"),
        ("[]", "JSON object with"),
        ('{"kind": "ranking"}', "JSON object with"),
        (str(TABLE).replace('"version": 1', '"version": 2'), "version 2"),
        (str(TABLE).replace("8100.0", "NaN"), "finite number"),
        (str(TABLE).replace("8100.0", '"8100"'), "finite number"),
        (str(TABLE).replace("8100.0", "-1"), "above 0"),
        (str(TABLE).replace("[1000,", "[1,"), "ascend"),
        (str(TABLE).replace("to device", "sideways"), "sideways"),
        (str(TABLE).replace("[[1,", "[[1, 2,"), "rows of 2"),
    ],
)
def test_what_is_no_text_of_a_table(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        BandwidthTable.parse(text)


def test_a_measured_table_holds_at_sizes_that_were_not_measured() -> None:
    rng = np.random.default_rng(3)

    def truth(size: float) -> float:
        return 9000.0 + size / (6.0 if size < 65536 else 12.0) + (0 if size < 65536 else 5400.0)

    def measure(size: int) -> float:
        return truth(size) * float(1 + 0.01 * rng.standard_normal())

    table = measure_bandwidth(measure, "to host", "pageable", 1 << 30)
    assert isinstance(table, BandwidthTable) and len(table.points) <= 80
    for size in np.geomspace(1, 1 << 31, 200):
        assert table.time_ns(float(size)) == pytest.approx(truth(float(size)), rel=0.1)


def test_where_nothing_can_be_measured() -> None:
    assert measure_bandwidth(lambda size: NoMeasurement("lost"), "to host", "pageable", 100) == NoMeasurement("lost")
    nothing = measure_bandwidth(lambda size: 1.0, "to host", "pageable", 100, most=0)
    assert nothing == NoMeasurement("no measurement was allowed")

"""The time of a loop in another order of iterations, from what its inspector has measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.predict.remapped import BYTES_PER_S, CALL_NS, LAUNCH_NS, LAUNCHES, RemapMeasures, remapped

MEASURES = RemapMeasures(1000, 10.0, 5.0, 24_000.0, 24_000.0, 8_000.0, 1e9)


def test_half_the_work_is_half_the_time_and_reading_the_order() -> None:
    found = remapped(MEASURES, 1_000_000.0)
    assert found.kept_ns == pytest.approx(500_000 + 8_000 / BYTES_PER_S * 1e9)
    assert found.sort_ns == pytest.approx(LAUNCHES * LAUNCH_NS + (8_000 + 35_000) / BYTES_PER_S * 1e9)
    assert found.mean_ns(0.25) == pytest.approx(found.kept_ns + 0.25 * found.sort_ns)


def test_lost_coalescing_counts_in_full_and_what_is_saved_does_not() -> None:
    lost = remapped(replace(MEASURES, touched_after=1_524_000.0), 1_000_000.0)
    assert lost.kept_ns == pytest.approx(500_000 + 1_508_000 / BYTES_PER_S * 1e9)
    saved = remapped(replace(MEASURES, touched_after=8_000.0), 1_000_000.0)
    assert saved.kept_ns == 500_000


def test_a_call_in_order_takes_what_the_host_needs_for_it() -> None:
    assert remapped(MEASURES, 15_000.0).kept_ns == CALL_NS == remapped(MEASURES, 15_000.0, 0.1).kept_ns
    assert remapped(MEASURES, 15_000.0, 10.0).kept_ns == pytest.approx(75_000, rel=0.01)


def test_what_lies_in_the_cache_comes_faster() -> None:
    lost = replace(MEASURES, touched_after=1_524_000.0)
    assert remapped(replace(lost, footprint=1e6), 1e6).kept_ns < remapped(lost, 1e6).kept_ns


def test_a_correction_is_of_the_time_in_order_and_an_order_gains_no_work() -> None:
    plain, corrected = remapped(MEASURES, 1e6), remapped(MEASURES, 1e6, 2.0)
    assert (corrected.kept_ns, corrected.sort_ns) == (2 * plain.kept_ns, plain.sort_ns)
    assert replace(MEASURES, before=0.0).ratio == 1.0
    assert remapped(replace(MEASURES, after=30.0), 1e6).kept_ns > 1e6

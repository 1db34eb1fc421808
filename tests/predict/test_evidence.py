"""Which measurements count, and which variants may serve calls."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.evidence import LAST, evidence
from loopwright.profile.measurement import Measurement, Outcome, Work

WORK = Work(1000.0, 10.0, 100.0, 8000.0)
ONE = Measurement("k", "m", Variant("cpu", threads=2), Shape((10,)), WORK, "ok", 500.0, 0.01, 9)


def test_of_one_shape_the_median_of_the_latest_counts() -> None:
    old = [replace(ONE, time_ns=9e9, made_at=float(i)) for i in range(10)]
    new = [replace(ONE, time_ns=ns, made_at=100.0 + i) for i, ns in enumerate((500.0, 501.0, 9e9, 502.0, 499.0))]
    assert len(new) == LAST
    [found] = evidence([*new, *old])
    [site] = found.sites
    assert site.time_ns == 501.0


@pytest.mark.parametrize("outcome", ["wrong", "crashed", "refused"])
def test_a_variant_that_failed_once_is_out(outcome: Outcome) -> None:
    other = replace(ONE, variant=Variant("cpu", "plain", 1))
    bad = replace(ONE, outcome=outcome, time_ns=0.0, shape=Shape((20,)))
    assert [each.variant for each in evidence([ONE, other, bad])] == [other.variant]


def test_too_much_time_or_memory_is_a_limit() -> None:
    long = replace(ONE, outcome="timeout", time_ns=0.0, work=replace(WORK, iterations=1e9))
    longer = replace(long, work=replace(WORK, iterations=1e10))
    large = replace(ONE, outcome="memory", time_ns=0.0, work=replace(WORK, footprint_bytes=1e12))
    [found] = evidence([long, longer, ONE, large])
    assert (found.too_long, found.too_large) == (1e9, 1e12)
    assert evidence([ONE, replace(long, work=Work())]) == ()
    assert evidence([long]) == ()


@pytest.mark.parametrize("time_ns", [0.0, -5.0, math.nan, math.inf])
def test_a_time_that_is_none_does_not_count(time_ns: float) -> None:
    assert evidence([replace(ONE, time_ns=time_ns)]) == ()


def test_the_order_of_the_measurements_does_not_matter() -> None:
    many = [
        replace(ONE, variant=Variant(device, schedule), shape=Shape((n,)), time_ns=float(n))
        for device in ("cuda", "cpu")
        for schedule in ("recipe", "plain")
        for n in (30, 10, 20)
    ]
    assert evidence(many) == evidence(reversed(many))
    assert [str(each.variant) for each in evidence(many)] == [
        "cpu: plain", "cpu: recipe", "cuda: plain", "cuda: recipe"
    ]  # fmt: skip


def test_a_state_of_the_caches_is_preferred_where_there_is_any() -> None:
    cold = replace(ONE, cache="cold", time_ns=900.0)
    assert evidence([ONE, cold], "cold")[0].sites[0].time_ns == 900.0
    assert evidence([ONE], "cold")[0].sites[0].time_ns == 500.0


def test_single_calls_are_noisier_than_medians() -> None:
    [[median], [single]] = (evidence([each])[0].sites for each in (ONE, replace(ONE, runs=1, spread=0.0)))
    assert median.noise < median.swing < single.swing

"""Candidates of a kernel, predicted from what a store holds: the default with a number of threads of its own."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice.predictors import UNKNOWN_NS, Predictors
from loopwright.config import current
from loopwright.ir.signature import Shape
from loopwright.ir.variant import RECIPE, Variant
from loopwright.profile.bandwidth import BandwidthTable, Bus
from loopwright.profile.copies import BANDWIDTH
from loopwright.profile.journal import Journal, journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Outcome, Work
from loopwright.profile.records import FittedTable
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.tune import _keep_trees

SIZES = (500, 1000, 2000, 4000)
MACHINES = {"cpu": "here"}


def work(n: int) -> Work:
    return Work(1000.0 * n, n, 1000.0, 8000.0 * n)


def time_ns(n: int, threads: int, rate: float = 1.0) -> float:
    """In shares of whole units, of 1000 iterations each; and something that nobody shares."""
    return rate * (5000.0 + 1000.0 * math.ceil(n / threads))


def row(variant: Variant, n: int, rate: float = 1.0, outcome: Outcome = "ok") -> Measurement:
    took = time_ns(n, variant.threads, rate) if outcome == "ok" else 0.0
    return Measurement("kernel", "here", variant, Shape((n,)), work(n), outcome, took, 0.01, 9)


def recipe(threads: int) -> Variant:
    return Variant("cpu", RECIPE, threads)


def rows(*threads: int) -> list[Measurement]:
    return [row(recipe(each), n) for each in threads for n in SIZES]


def predictors(found: list[Measurement], threads: int) -> Predictors:
    return Predictors("kernel", Journal(None), MACHINES, found, recipe(threads), threads)


@pytest.mark.parametrize("n", [500, 1001, 3000])
def test_a_default_that_was_never_measured_is_told_by_other_numbers_of_threads(n: int) -> None:
    made = predictors(rows(1, 2, 4), 3)
    made.put_in_order([recipe(3), *made.measured])
    (first, *others) = made.predict(Shape((n,)), work(n))
    assert first.how == "interpolated" and first.time_ns == pytest.approx(time_ns(n, 3), rel=0.02)
    assert others and first.time_ns < min(each.time_ns for each in others)


def test_more_threads_than_calls_may_have_are_no_candidates() -> None:
    made = predictors(rows(2, 4), 3)
    assert made.measured == (recipe(2),)


def test_more_threads_than_were_measured_are_an_extrapolation() -> None:
    made = predictors(rows(1, 2), 4)
    made.put_in_order([recipe(4), *made.measured])
    found = made.predict(Shape((1000,)), work(1000))
    assert found[0].how == "extrapolated" and found[0].error >= 1.0
    assert found[0].time_ns == pytest.approx(time_ns(1000, 2), rel=0.02)


def test_a_default_that_was_measured_is_what_was_measured() -> None:
    found = [*rows(1, 2, 4), row(recipe(3), 1000, 7.0)]
    made = predictors(found, 3)
    made.put_in_order([recipe(3)])
    (only,) = made.predict(Shape((1000,)), work(1000))
    assert only.how == "measured" and only.time_ns == time_ns(1000, 3, 7.0)


def test_where_it_can_be_told_from_nothing_nothing_is_known_of_it() -> None:
    other = Variant("cpu", "tile i 32", 2)
    made = predictors([row(other, n) for n in SIZES], 3)
    made.put_in_order([recipe(3), other])
    first, second = made.predict(Shape((1000,)), work(1000))
    assert (first.how, first.time_ns) == ("limits", UNKNOWN_NS) and second.how == "measured"


def test_what_takes_too_long_with_fewer_threads_tells_nothing_there() -> None:
    found = [*rows(2, 4), row(recipe(1), 500), row(recipe(1), 1000, outcome="timeout")]
    made = predictors(found, 3)
    made.put_in_order([recipe(3)])
    (only,) = made.predict(Shape((3000,)), work(3000))
    assert only.how == "interpolated" and only.time_ns == pytest.approx(time_ns(3000, 3), rel=0.02)


@lw.kernel
def row_sums(y, p, v):
    for i in range(len(y)):
        for k in range(p[i], p[i + 1]):
            y[i] += v[k]


def test_copies_are_not_counted_twice_for_trees(tmp_path: Path) -> None:
    """Trees are trained without what the bus is known to take: predictions add it."""
    pytest.importorskip("sklearn")
    table = ((1, 50_000.0), (1 << 30, 50_000.0 + (1 << 30)))
    bus = Bus(BandwidthTable("to device", "pageable", table), BandwidthTable("to host", "pageable", table))

    def truth(n: int, mean: float) -> tuple[Work, float]:
        copied = Work(0.0, n, 1.0, 0.0, 8.0 * n * mean, 8.0 * n)
        return copied, 2000.0 + n * mean * 0.5 + bus.time_ns(copied.inputs_bytes, copied.outputs_bytes)

    with lw.options(device="emulated", store=tmp_path / "store.sqlite3"):
        config, journal = current(), journal_of(current())
        machine = machine_of("emulated", config)
        assert machine is not None
        one = row_sums.specialise(np.zeros(9), np.zeros(10, np.int64), np.zeros(5))
        fingerprint, variant = one.fingerprint, Variant("emulated")
        for n in (300, 1000, 3000, 9000):
            for mean in (2.0, 4.0, 8.0, 16.0):
                todo, took = truth(n, mean)
                shape = Shape((n,), (mean, 0.5, 2.0))
                journal.add(Measurement(fingerprint, machine.fingerprint, variant, shape, todo, "ok", took, 0.01, 9))
        for name, one_way in (("to device", bus.to_device), ("to host", bus.to_host)):
            journal.put(FittedTable(BANDWIDTH, machine.fingerprint, name, str(one_way), 1.0))
        call = RecordedCall(one, ("y", "p", "v"), (0,), config, Shape((9,), (2.0, 0.5, 2.0)), None)
        _keep_trees(call, journal)
        found = journal.measurements(fingerprint, machine.fingerprint)
        made = Predictors(fingerprint, journal, {"emulated": machine.fingerprint}, found, variant, 2)
        todo, took = truth(2000, 6.0)
        (only,) = made.predict(Shape((2000,), (6.0, 0.5, 2.0)), todo)
    assert only.how == "tree" and only.time_ns == pytest.approx(took, rel=0.15)

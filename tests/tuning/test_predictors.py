"""Candidates of a kernel, predicted from what a store holds: the default with a number of threads of its own."""

from __future__ import annotations

import math

import pytest

from loopwright.profile.journal import Journal
from loopwright.profile.measurement import RECIPE, Measurement, Outcome, Shape, Variant, Work
from loopwright.tuning.predictors import UNKNOWN_NS, Predictors

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

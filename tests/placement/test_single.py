"""One argmin over variants and devices: ties, pins, candidates that may not serve."""

from __future__ import annotations

import math
import random

import pytest

from decide.serving import DEFAULT, variant
from loopwright.ir.variant import RECIPE, Variant
from loopwright.placement.single import CLOSEST, Choice, VariantError, choose
from loopwright.predict.prediction import How, Prediction

A, B, GPU = variant("a"), variant("b"), Variant("cuda", RECIPE)


def told(*times: float, error: float = 0.02, how: How = "measured") -> list[Prediction]:
    return [Prediction(time, error, how) for time in times]


def test_the_fastest_is_chosen_and_the_runner_up_is_told() -> None:
    choice = choose([DEFAULT, A, B], told(100, 50, 60))
    assert (choice.index, choice.runner_up, choice.why) == (1, 2, "predicted fastest")
    assert choice.margin == pytest.approx(0.2)


def test_a_device_is_chosen_with_its_variant() -> None:
    assert choose([DEFAULT, GPU], told(100, 20)).index == 1
    assert choose([DEFAULT, GPU], told(20, 100)).index == 0


def test_one_variant_has_no_runner_up() -> None:
    assert choose([DEFAULT], told(100)) == Choice(0, "the default is predicted fastest", None, math.inf)


@pytest.mark.parametrize("order", [[DEFAULT, A, B], [A, B, DEFAULT], [B, DEFAULT, A]])
def test_a_tie_goes_to_the_default(order: list[Variant]) -> None:
    times = {DEFAULT: 102.0, A: 100.0, B: 101.0}
    assert order[choose(order, told(*(times[one] for one in order))).index] == DEFAULT


def test_a_tie_without_the_default_goes_to_the_one_before_else_to_the_first() -> None:
    predictions = told(200, 100, 100)
    assert choose([DEFAULT, A, B], predictions).index == 1
    assert choose([DEFAULT, A, B], predictions, previous=2).index == 2
    assert choose([DEFAULT, A, B], told(200, 102, 100), previous=1).index == 1
    assert choose([DEFAULT, A, B], told(200, 110, 100), previous=1).index == 2
    assert choose([DEFAULT, A, B], told(200, 104.2, 100), previous=1).index == 1  # 1.5 * hypot(0.02, 0.02)
    assert choose([DEFAULT, A, B], told(200, 104.3, 100), previous=1).index == 2


def test_a_tie_is_within_the_errors_and_costs_little() -> None:
    assert choose([DEFAULT, A], told(101.3, 100, error=0.01)).index == 0
    assert choose([DEFAULT, A], told(101.5, 100, error=0.01)).index == 1
    assert choose([DEFAULT, A], told(100 * (1 + CLOSEST) + 1, 100, error=0.5)).index == 1
    assert choose([DEFAULT, A], told(140, 100, error=0.3, how="extrapolated")).index == 0
    assert choose([DEFAULT, A], told(150, 100, error=0.3, how="extrapolated")).index == 1


def test_limits_do_not_serve_where_anything_was_measured() -> None:
    predictions = [*told(100), *told(10, how="limits"), *told(200)]
    assert choose([DEFAULT, A, B], predictions).index == 0
    predictions = [*told(10, how="limits"), *told(100)]
    assert choose([DEFAULT, A], predictions) == Choice(1, "the only one that was measured", None, math.inf)
    choice = choose([A, DEFAULT], told(10, 100, how="limits"))
    assert (choice.index, choice.why) == (1, "no variant was measured: the default")


def test_what_is_not_allowed_is_not_chosen_but_the_default_always_may_be() -> None:
    assert choose([DEFAULT, A, B], told(100, 10, 20), allowed=[2]).index == 2
    assert choose([DEFAULT, A, B], told(10, 5, 20), allowed=[2]).index == 0
    assert choose([A, DEFAULT], told(5, 10), allowed=[]).index == 1
    with pytest.raises(ValueError, match="no variant may be chosen"):
        choose([A, B], told(5, 10), allowed=[])


@pytest.mark.parametrize("time", [math.nan, -1.0, math.inf])
def test_a_time_that_is_none_is_not_compared(time: float) -> None:
    assert choose([DEFAULT, A], told(100, time)).index == 0
    assert choose([DEFAULT, A], told(time, 100)).index == 1
    assert choose([A, DEFAULT], told(time, time)) == Choice(1, "nothing is predicted of any variant", None, math.inf)
    assert choose([A, B], told(time, time), allowed=[1]).index == 1


def test_times_of_zero() -> None:
    assert choose([A, DEFAULT], told(0.0, 0.0)).index == 1
    assert choose([DEFAULT, A], told(5.0, 0.0)).margin == math.inf


def test_an_error_that_is_no_number_bounds_nothing() -> None:
    assert choose([DEFAULT, A], told(104, 100, error=math.nan)).index == 0


def test_a_pin_wins() -> None:
    choice = choose([DEFAULT, A, B], told(100, 10, 300), pinned=B)
    assert (choice.index, choice.why, choice.runner_up) == (2, "pinned by the options", 1)


def test_a_pin_that_is_not_there_is_an_error_that_names_what_is() -> None:
    with pytest.raises(VariantError) as caught:
        choose([DEFAULT, A], told(1, 1), pinned=GPU)
    assert str(caught.value) == (
        "this kernel has no variant 'cuda: recipe'\n  try: one of\n    simulated 2: recipe\n    simulated: tile i a"
    )
    many = [variant(number) for number in range(9)]
    with pytest.raises(VariantError, match="and 4 more"):
        choose(many, told(*[1.0] * 9), pinned=GPU)


@pytest.mark.parametrize(("variants", "times"), [([], []), ([A], [1.0, 2.0]), ([A, B], [1.0])])
def test_one_prediction_for_each_variant(variants: list[Variant], times: list[float]) -> None:
    with pytest.raises(ValueError, match="one each, and one at least"):
        choose(variants, told(*times))


def test_one_hundred_variants_lose_at_most_a_tie() -> None:
    draw = random.Random(0)
    variants = [DEFAULT, *(variant(number) for number in range(99))]
    for _ in range(200):
        times = [draw.uniform(50, 150) for _ in variants]
        previous = draw.randrange(100)
        choice = choose(variants, told(*times), previous=previous)
        assert times[choice.index] <= min(times) * (1 + CLOSEST)
        assert choice == choose(tuple(variants), tuple(told(*times)), previous=previous)

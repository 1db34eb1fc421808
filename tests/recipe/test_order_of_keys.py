"""Iterations in the order of what data makes them do, as a way that a GPU's recipe may go where that is wanted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import loopwright as lw
from loopwright.recipe.gpu import gpu_recipe
from loopwright.recipe.order_of_keys import ORDER, redirections
from loopwright.recipe.recipe import Recipe
from loopwright.recipe.tunable import Choices
from loopwright.steps.schedule import print_schedule


def trips(t, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        for _k in range(t[i]):
            s = s * 0.5 + x[i]
        out[i] = s


def branches(t, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        if x[i] > 0.5:
            for _k in range(20):
                s = s * 0.5 + x[i]
        else:
            s = t[i]
        out[i] = s


def in_time(t, x, out):
    for _step in range(t.shape[0] // 7):
        for i in range(out.shape[0]):
            for _k in range(t[i]):
                out[i] = out[i] * 0.5 + x[i]


def regular(t, x, out):
    for i in range(out.shape[0]):
        for k in range(t.shape[0]):
            out[i] += x[k]


def call(n: int) -> tuple[np.ndarray, ...]:
    """Arguments of all of them."""
    draw = np.random.default_rng(n)
    return draw.integers(0, 9, n), draw.random(n), np.zeros(n)


def recipe_of(function: Callable[..., object], choices: Choices | None) -> Recipe:
    """What the recipe makes of a call."""
    found = lw.kernel(function).specialise(*call(5)).analysed
    return gpu_recipe(found.written, found.facts, False, choices)


@pytest.mark.parametrize("function", [trips, branches, in_time])
def test_it_is_taken_where_it_is_wanted(function: Callable[..., object]) -> None:
    schedules = [print_schedule(recipe_of(function, Choices({ORDER.name: wanted})).schedule) for wanted in (0, 1)]
    assert "redirect" not in schedules[0]
    assert schedules[1].startswith("redirect i; split i.") and "bind i.t thread.x" in schedules[1]
    assert "i.s" not in schedules[1]  # what sorts has kernels of its own
    assert not recipe_of(function, Choices({ORDER.name: 1})).not_on_gpu


@pytest.mark.parametrize("function", [trips, branches, in_time])
@pytest.mark.parametrize("n", [1, 45])
def test_results_are_the_same(function: Callable[..., object], n: int) -> None:
    schedule = print_schedule(recipe_of(function, Choices({ORDER.name: 1})).schedule)
    got, wanted = call(n), call(n)
    function(*wanted)
    kernel = lw.kernel(function)
    with lw.options(device="emulated", schedule=schedule):
        kernel(*got)
    np.testing.assert_array_equal(got[2], wanted[2])
    assert kernel.specialisations()[0].why_not_gpu == ""


def test_by_default_it_is_not() -> None:
    for function in (trips, branches, in_time):
        default, asked = recipe_of(function, None), recipe_of(function, Choices())
        assert print_schedule(default.schedule) == print_schedule(asked.schedule)
        assert "redirect" not in print_schedule(default.schedule)


def test_it_is_a_choice_only_where_data_decides() -> None:
    for function, there in ((trips, True), (branches, True), (in_time, True), (regular, False)):
        choices = Choices()
        recipe_of(function, choices)
        assert (ORDER.name in choices.asked) == there


def test_tuning_may_choose_it() -> None:
    space = lw.kernel(trips).space(*call(5), device="cuda")
    found = {dict(family.leads)[ORDER.name]: family.schedule for family in space.families}
    assert set(found) == {0, 1} and found[1].startswith("redirect i; ")


def test_the_option_has_the_recipe_begin_with_a_step() -> None:
    kernel, arguments = lw.kernel(trips), call(500)
    expected = call(500)
    trips(*expected)
    with lw.options(device="emulated", remap="redirect i"):
        kernel(*arguments)
        np.testing.assert_array_equal(arguments[2], expected[2])
        assert str(kernel.explain(*arguments).schedule).startswith("redirect i; split")
        with lw.options(remap="off"):
            assert "redirect" not in str(kernel.explain(*arguments).schedule)
    with lw.options(device="cpu", remap="redirect i"):
        assert "redirect" not in str(kernel.explain(*arguments).schedule)


def test_a_step_of_the_option_that_is_not_legal_is_refused() -> None:
    with (
        lw.options(device="emulated", remap="redirect i"),
        pytest.raises(lw.ScheduleError, match="neither a branch nor a trip count"),
    ):
        lw.kernel(regular)(*call(5))


def test_which_loops_could_be_put_in_order() -> None:
    for function, wanted in ((trips, "redirect i"), (in_time, "redirect i"), (regular, "")):
        found = lw.kernel(function).specialise(*call(5)).analysed
        assert print_schedule(redirections(found.written, found.facts, True)) == wanted

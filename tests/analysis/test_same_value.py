"""Loops whose iterations set elements to one value: which of them need no order, and what comes out where many threads
run them at once, or several devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

RANDOM = np.random.default_rng(5)


def seen(keys, marks, more):
    for i in range(keys.shape[0]):
        marks[keys[i]] = 7


def asked_before(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 7


def of_neighbours(keys, marks, more):
    for i in range(keys.shape[0]):
        for d in range(-1, 2):
            k = (keys[i] + d) % marks.shape[0]
            if more[i] > 3 and marks[k] < 5:
                marks[k] = 5


def with_others(keys, marks, more):
    for i in range(keys.shape[0]):
        k = keys[i]
        if marks[k] != 3:
            marks[k] = 3
            more[k] = 1
            more[0] = 1


def any_of_them(keys, marks, more):
    for i in range(keys.shape[0]):
        if keys[i] == more[0]:
            marks[0] = 1


@pytest.mark.parametrize("n", [0, 1, 700])
@pytest.mark.parametrize("kernel", [seen, asked_before, of_neighbours, with_others, any_of_them])
def test_iterations_need_no_order(kernel: Callable[..., Any], n: int) -> None:
    keys, marks, more = RANDOM.integers(0, 60, n), RANDOM.integers(0, 9, 60), RANDOM.integers(0, 9, 700)
    found = agree(kernel, keys, marks, more, strict=False)
    assert found.facts.loops["i"].verdict == "parallel" and found.facts.loops["i"].alike
    assert "thread.x" in "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


def another_value(keys, marks, more):
    for i in range(keys.shape[0]):
        marks[keys[i]] = i


def two_values(keys, marks, more):
    for i in range(keys.shape[0]):
        if more[i] > 4:
            marks[keys[i]] = 1
        else:
            marks[keys[i]] = 2


def parents(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
            more[keys[i]] = i


def counted(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
            more[0] += 1


def read_elsewhere(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
        more[i] = marks[0]


def asked_of_another(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i] // 2] == 0:
            marks[keys[i]] = 1


def otherwise(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
        else:
            more[i] = 1


def another_index_meanwhile(keys, marks, more):
    for i in range(keys.shape[0]):
        k = keys[i]
        if marks[k] == 0:
            k = 0
            marks[k] = 1


@pytest.mark.parametrize(
    "kernel",
    [another_value, two_values, parents, counted, read_elsewhere, asked_of_another, otherwise, another_index_meanwhile],
)
def test_iterations_need_their_order(kernel: Callable[..., Any]) -> None:
    keys, marks, more = RANDOM.integers(0, 60, 60), RANDOM.integers(0, 9, 60), RANDOM.integers(0, 9, 60)
    found = agree(kernel, keys, marks, more, strict=False)
    assert found.facts.loops["i"].verdict != "parallel"


def test_vector_lanes_and_threads_of_the_cpu_are_not_for_them() -> None:
    arguments = RANDOM.integers(0, 60, 60), RANDOM.integers(0, 9, 60), RANDOM.integers(0, 9, 60)
    for step in "parallelize i", "vectorize i":
        with pytest.raises(lw.ScheduleError, match="set the same element"), lw.options(schedule=step):
            lw.kernel(seen)(*arguments)


def test_devices_do_not_share_them() -> None:
    keys, marks, more = RANDOM.integers(0, 60, 900), np.zeros(60, np.int64), np.array([30])
    marked, expected = lw.kernel(any_of_them), marks.copy()
    any_of_them(keys, expected, more)
    with lw.options(devices="cpu, emulated, emulated:1", plan="split"):
        for _ in range(3):
            again = marks.copy()
            marked(keys, again, more)
            np.testing.assert_array_equal(again, expected)


# ---- scalars ----------------------------------------------------------------------------------------------------


def whole_flag(a, b):
    found = 0
    for i in range(a.shape[0]):
        if a[i] > b[0]:
            found = 1
        b[i] = a[i]
    return found


def least_flag(a, b):
    found = 4
    for i in range(1, a.shape[0]):
        if a[i] > 0.5:
            found = -3
    return found


def both_sides(a, b):
    found = 4
    if b[1] > 0:
        found = 9
    for i in range(1, a.shape[0]):
        if a[i] > 0.5:
            found = 5
    return found


def argument(a, b, found):
    for i in range(1, a.shape[0]):
        if a[i] > 0.5:
            found = 5
    return found


@pytest.mark.parametrize("most", [0.4, 2.0])
@pytest.mark.parametrize(("function", "verdict"), [(least_flag, "reduction"), (both_sides, "sequential")])
def test_whole_numbers_as_flags(function: Callable[..., Any], verdict: str, most: float) -> None:
    a, b = RANDOM.random(5000) * most, np.ones(5000)
    expected = function(a, b)
    for device in "cpu", "emulated":
        with lw.options(device=device):
            kernel = lw.kernel(function)
            assert kernel(a, b) == expected
            assert kernel.specialise(a, b).facts.loops["i"].verdict == verdict


def test_a_flag_that_is_an_argument_needs_its_order() -> None:
    a = RANDOM.random(500)
    kernel = lw.kernel(argument)
    assert kernel(a, a, 70) == argument(a, a, 70) and kernel(a * 0.1, a, 70) == 70
    assert kernel.specialise(a, a, 70).facts.loops["i"].verdict == "sequential"


def test_a_flag_beside_other_work() -> None:
    a = RANDOM.random(5000)
    for device in "cpu", "emulated":
        b = np.full(5000, 0.3)
        with lw.options(device=device):
            kernel = lw.kernel(whole_flag)
            assert kernel(a, b) == 1 and kernel(a * 0.0 - 1.0, b) == 0
        np.testing.assert_array_equal(b, a * 0.0 - 1.0)

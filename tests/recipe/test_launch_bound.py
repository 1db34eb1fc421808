"""Loops of the host that start grids of little work: for which calls the CPU is done sooner, and that it runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir import launch_bound
from loopwright.ir.launch_bound import LaunchBound
from recipe.test_conditions_inside import rounds


@pytest.fixture(autouse=True)
def few() -> Iterator[None]:
    """A few launches are many here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_bound, "ROUNDS", 8)
        patch.setattr(launch_bound, "WORK", 16)
        patch.setattr(launch_bound, "REST", 16)
        yield


def hazards(x, died, beta, gradient):
    total = 0.0
    sums = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        rate = 0.0
        for k in range(x.shape[1]):
            rate += beta[k] * x[i, k]
        total += rate
        for k in range(x.shape[1]):
            sums[k] += rate * x[i, k]
        if died[i]:
            for k in range(x.shape[1]):
                gradient[k] += x[i, k] - sums[k] / total
    return total


def with_a_product(x, a, b, gradient):
    total = 1.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[1]):
                b[i, j] += a[i, k] * a[k, j]
    for i in range(x.shape[0]):
        rate = 0.0
        for k in range(x.shape[1]):
            rate += total * x[i, k]
        total = rate
        for k in range(x.shape[1]):
            gradient[k] += total * x[i, k]
    return total


def of_data(x, starts, gradient):
    total = 1.0
    for i in range(starts[0]):
        rate = 0.0
        for k in range(x.shape[1]):
            rate += total * x[i, k]
        total = rate
        for k in range(x.shape[1]):
            gradient[k] += total * x[i, k]


def in_steps(x, steps, gradient):
    total = 1.0
    for t in range(2, steps, 3):
        rate = 0.0
        for k in range(t):
            rate += total * x[t, k]
        total = rate * 0.5
        for k in range(x.shape[1]):
            gradient[k] += total * x[t, k]
    return total


def given(rows: int, columns: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(rows)
    x = draw.integers(1, 5, (rows, columns)).astype(float)
    return x, draw.integers(0, 2, rows) > 0, draw.integers(1, 3, columns).astype(float), np.zeros(columns)


def bounds_of(function: Callable[..., object], *arguments: Any) -> tuple[LaunchBound, ...]:
    with lw.options(device="emulated"):
        program = lw.kernel(function).specialise(*arguments).program
    assert program is not None
    return program.launch_bounds


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("rows", "columns", "on_cpu"),
    [(7, 3, False), (8, 3, True), (20, 14, True), (20, 15, False), (0, 3, False), (20, 0, True), (8, 1, True)],
)
def test_many_launches_of_little_work_are_left_to_the_cpu(rows: int, columns: int, on_cpu: bool, there: bool) -> None:
    kernel, arguments, own = lw.kernel(device="emulated")(hazards), given(rows, columns), given(rows, columns)
    with lw.options(device="emulated"):
        placed = tuple(lw.device_array(one) for one in arguments) if there else arguments
        for _ in range(2):  # the second call goes another way
            assert kernel(*placed) == hazards(*own)
            np.testing.assert_array_equal(np.asarray(placed[3]), own[3])
        told = kernel.explain(*placed)
    assert any("each iteration of 'i' would be launches" in note for note in told.notes) == on_cpu
    assert (told.served_by.device == "cpu") == on_cpu


def test_calls_of_one_kernel_go_either_way() -> None:
    kernel = lw.kernel(device="emulated")(hazards)
    for rows, columns in ((20, 3), (20, 40), (3, 3), (20, 3)):
        arguments, own = given(rows, columns), given(rows, columns)
        assert kernel(*arguments) == hazards(*own)
        np.testing.assert_array_equal(arguments[3], own[3])


def test_what_else_there_is_to_do_counts() -> None:
    (bound,) = bounds_of(with_a_product, np.ones((9, 3)), np.ones((4, 4)), np.ones((4, 4)), np.ones(3))
    assert bound.loop == "i.2" and bound.launches == 2
    assert bound.holds((np.ones((9, 3)), np.ones((4, 4))))
    assert not bound.holds((np.ones((9, 3)), np.ones((40, 40))))
    assert not bound.holds((np.ones((9, 30)), np.ones((4, 4))))


def test_data_say_nothing_and_steps_and_triangles_are_counted() -> None:
    x = np.ones((40, 40))
    assert bounds_of(of_data, x, np.array([9]), np.ones(40)) == ()
    (bound,) = bounds_of(in_steps, x, 9, np.ones(40))
    assert bound.rounds == {("v1",): pytest.approx(1 / 3), (): pytest.approx(-2 / 3)}
    assert bound.work[("v1",)] == pytest.approx(0.5) and bound.work[("s0_1",)] == 1.0


def test_loops_that_have_another_place_are_not_counted() -> None:
    """Around 'p' now, 'a' starts two grids of many threads."""
    assert bounds_of(rounds, np.ones(300), np.ones(300), 4) == ()


def test_a_schedule_that_is_asked_for_stays_on_the_gpu() -> None:
    with lw.options(device="emulated", schedule="bind k.2 block.x"):
        kernel = lw.kernel(hazards)
        kernel(*given(9, 3))
        assert kernel.explain(*given(9, 3)).served_by.device != "cpu"


def test_a_wrong_size_is_told_as_before() -> None:
    x, died, beta, gradient = given(20, 3)
    with lw.options(device="emulated"), pytest.raises(lw.BoundsError, match="'beta'"):
        lw.kernel(hazards)(x, died, beta[:2], gradient)

"""Neighbouring loops over the same elements are one by default, and the arrays between them are gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw

F = Callable[..., Any]


def momentum(w: Any, g: Any, steps: int) -> Any:
    v = np.zeros_like(w)
    for _ in range(steps):
        z = w + 0.9 * v
        slope = 2.0 * z - g
        v = 0.9 * v - 0.01 * slope
        w = w + v
    return w


def adam(p: Any, g: Any, m: Any, v: Any, t: int) -> None:
    m[:] = 0.9 * m + 0.1 * g
    v[:] = 0.99 * v + 0.01 * g * g
    first = m / (1 - 0.9**t)
    second = v / (1 - 0.99**t)
    p -= 0.001 * first / (np.sqrt(second) + 1e-8)


def gradient(a: Any) -> Any:
    x = a[1:-1, 2:] - a[1:-1, :-2]
    y = a[2:, 1:-1] - a[:-2, 1:-1]
    size = np.sqrt(x * x + y * y)
    return np.where(size > 0.5, size, 0.0)


def moments(x: Any, y: Any) -> Any:
    x -= 0.5 * y
    return np.sum(x), np.max(x), np.sum(x * y)


def over_lengths(a: Any, b: Any, c: Any) -> Any:
    """Tests tell that all have one length."""
    s = a + b
    for i in range(c.shape[0]):
        c[i] = c[i] * 2.0
    return s * c


ONE: dict[F, tuple[int, int]] = {
    momentum: (2, 1),
    adam: (1, 0),
    gradient: (1, 0),
    moments: (1, 0),
    over_lengths: (1, 0),
}
"""Loops that are left outermost, and local arrays."""


def softmax(m: Any) -> Any:
    most = m.max(axis=1)
    e = np.exp(m - most[:, None])
    total = e.sum(axis=1)
    return e / total[:, None]


def row_cosines(m: Any, k: Any) -> Any:
    left = np.sqrt((m * m).sum(axis=1))
    right = np.sqrt((k * k).sum(axis=1))
    return (m * k).sum(axis=1) / (left * right)


def two_products(m: Any, x: Any, y: Any) -> Any:
    return m @ x, m @ y


ROWS: dict[F, int] = {softmax: 4, row_cosines: 6}
"""Steps `fuse` on a CPU."""


def column_sums(m: Any) -> Any:
    return m.mean(axis=0), m.max(axis=0)


def blurred(a: Any, b: Any) -> None:
    b[1:-1] = a[:-2] + a[2:]
    a[1:-1] = 0.5 * b[1:-1]


def shifted(a: Any, b: Any) -> None:
    for i in range(a.shape[0] - 1):
        a[i] = b[i] + 1.0
    for i in range(a.shape[0] - 1):
        b[i] = a[i + 1] * 2.0


def with_a_test_between(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = a[i] + 1.0
    if a[0] > 3.0:
        return 1
    for i in range(a.shape[0]):
        b[i] = b[i] * a[i]
    return 0


def summed_between(a: Any, b: Any) -> Any:
    total = np.sum(a)
    b[:] = a / total
    return np.sum(b)


def kept_apart(a: Any, b: Any) -> Any:
    """Nothing in common."""
    for i in range(a.shape[0]):
        a[i] = 1.0 / (a[i] + 1.0)
    return b * 2.0


APART: list[F] = [blurred, shifted, with_a_test_between, kept_apart, two_products]


def given(function: F, size: int) -> tuple[Any, ...]:
    random = np.random.default_rng(size)
    if function is gradient:
        return (random.random((max(size, 2), size + 2)),)
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[:count]
    if names[0] == "m" and function is not adam:
        size = min(size, 70)
        return tuple(random.random((size + 1, size) if name in ("m", "k") else size) for name in names)
    return tuple(3 if name in ("steps", "t") else random.random(max(size, 1)) for name in names)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("function", [*ONE, *ROWS, *APART, column_sums, summed_between], ids=lambda one: one.__name__)
def test_results_are_pythons(function: F, device: str) -> None:
    kernel = lw.kernel(function)
    for size in (1, 3, 64, 700):
        mine, right = given(function, size), given(function, size)
        with lw.options(device=device):
            found = kernel(*mine)
        expected = function(*right)
        for one, other in zip((found, *mine), (expected, *right), strict=True):
            for part, same in zip(*(x if isinstance(x, tuple) else (x,) for x in (one, other)), strict=True):
                if part is not None:
                    np.testing.assert_allclose(part, same, rtol=1e-12)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("function", ONE, ids=lambda one: one.__name__)
def test_one_loop(function: F, device: str) -> None:
    with lw.options(device=device):
        schedule = lw.kernel(function).explain(*given(function, 64)).schedule
    made = {"momentum": 2, "adam": 2, "gradient": 3, "moments": 0, "over_lengths": 1}[function.__name__]
    fused = {"momentum": 3, "adam": 4, "gradient": 6, "moments": 3, "over_lengths": 2}[function.__name__]
    assert (schedule.count("contract "), schedule.count("fuse ")) == (made, fused)


@pytest.mark.parametrize("function", ROWS, ids=lambda one: one.__name__)
def test_rows_are_gone_through_while_they_are_near(function: F) -> None:
    schedule = lw.kernel(function).explain(*given(function, 64)).schedule
    assert schedule.count("fuse ") == ROWS[function] and "parallelize i" in schedule


def test_columns_are_not_rows() -> None:
    assert "reorder i.2 i.1" in lw.kernel(column_sums).explain(*given(column_sums, 64)).schedule


@pytest.mark.parametrize("function", APART, ids=lambda one: one.__name__)
def test_apart(function: F) -> None:
    assert "fuse " not in lw.kernel(function).explain(*given(function, 64)).schedule


def test_a_core_does_not_wait_for_one_function_after_another() -> None:
    def steps(y: Any, h: float) -> Any:
        first = np.sin(y)
        second = np.sin(y + 0.5 * h * first)
        third = np.sin(y + 0.5 * h * second)
        return y + h * (first + second + third)

    kernel = lw.kernel(steps)
    assert kernel.explain(np.ones(9), 0.1).schedule.count("fuse ") < 3
    with lw.options(device="emulated"):
        assert kernel.explain(np.ones(9), 0.1).schedule.count("fuse ") == 3


def masked(c: Any, z: Any, n: Any, steps: int) -> None:
    for k in range(steps):
        inside = np.abs(z) < 2.0
        n[inside] = k
        z[inside] = z[inside] * z[inside] + c[inside]


def test_time_steps_of_each_element_go_on_while_it_is_near_unless_a_mask_stores_it() -> None:
    schedule = lw.kernel(momentum).explain(*given(momentum, 64)).schedule
    assert "reorder i.2 _" in schedule and "specialize i.2 full" in schedule
    kernel, random = lw.kernel(masked), np.random.default_rng(3)
    mine = random.random(300) * 2, np.zeros(300), np.zeros(300, np.int64), 20
    right = mine[0], *(one.copy() for one in mine[1:3]), 20
    kernel(*mine)
    masked(*right)
    np.testing.assert_array_equal(mine[2], right[2])
    np.testing.assert_allclose(mine[1], right[1])
    assert "fuse i i.3" in kernel.explain(*mine).schedule and "reorder" not in kernel.explain(*mine).schedule


def promised(a: Any, b: Any, p: Any) -> None:
    for i in lw.prange(a.shape[0]):
        a[p[i]] = 2.0 * b[p[i]]
    for i in lw.prange(a.shape[0]):
        b[p[i]] = a[p[i]] + 1.0
    for i in lw.prange(a.shape[0]):
        a[i] = a[i] * 0.5
    for i in lw.prange(a.shape[0]):
        b[i] = b[i] - a[i]


def test_loops_of_which_the_user_has_promised_what_is_not_proven_stay_apart() -> None:
    kernel, order = lw.kernel(promised), np.random.default_rng(5).permutation(500)
    mine, right = np.random.default_rng(6).random((2, 2, 500))
    right[:] = mine
    kernel(*mine, order)
    promised(*right, order)
    np.testing.assert_allclose(mine, right)
    schedule = kernel.explain(*mine, order).schedule
    assert "fuse i.3 i.4" in schedule and "fuse i i.2" not in schedule


def test_arrays_that_overlap_stay_as_python_has_them() -> None:
    for function in (adam, moments):
        kernel = lw.kernel(function)
        mine, right = np.random.default_rng(1).random((2, 40))
        right[:] = mine
        kernel(*((mine[:30], mine[2:32], mine[4:34], mine[5:35], 3) if function is adam else (mine[:30], mine[2:32])))
        function(
            *((right[:30], right[2:32], right[4:34], right[5:35], 3) if function is adam else (right[:30], right[2:32]))
        )
        np.testing.assert_allclose(mine, right, rtol=1e-12)


def test_sizes_that_differ_raise_what_they_did() -> None:
    for device in ("cpu", "emulated"):
        with lw.options(device=device), pytest.raises(ValueError):
            lw.kernel(adam)(np.ones(4), np.ones(4), np.ones(4), np.ones(5), 2)

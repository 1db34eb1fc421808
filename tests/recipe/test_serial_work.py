"""Loops that one thread of a GPU would run: where they send a kernel to the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, even_in_one_thread
from loopwright.recipe import gpu
from loopwright.recipe.serial_work import each_a_launch
from steps.kernels import known


def filtered(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s = 0.5 * s + a[i]
        b[i] = s


def sums_so_far(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s


def from_a_queue(a, b):
    head, tail = 0, 1
    while head < tail:
        head += 1
        if tail < a.shape[0]:
            b[tail] = a[head - 1]
            tail += 1
    return tail


def down_the_diagonal(a, b):
    for i in range(1, b.shape[0]):
        b[i] = b[i - 1] + 1.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += b[j]


def stretches_turned(a, b):
    turned = 0
    for i in range(a.shape[0] - 1):
        for j in range(i + 1, a.shape[0]):
            if a[i] - a[i + 1] > b[j] - b[0]:
                turned += 1
                for k in range((j - i) // 2):
                    t = a[i + 1 + k]
                    a[i + 1 + k] = a[j - k]
                    a[j - k] = t
    return turned


@pytest.mark.parametrize("kernel", [filtered, sums_so_far, from_a_queue])
def test_what_one_thread_would_do_is_for_the_cpu(kernel: Any) -> None:
    a, b = np.arange(-5.0, 20.0), np.zeros(40)
    wanted = [a.copy(), b.copy()]
    result = kernel(*wanted)
    compiled = lw.kernel(kernel)
    with lw.options(device="emulated", strict=True):
        assert compiled(a, b) == result
        text = str(compiled.explain(a, b))
    np.testing.assert_array_equal(b, wanted[1])
    assert "not on a GPU: one thread would run '" in text and "on the cpu" in text


def test_a_grid_that_data_asks_for_in_two_loops_is_for_the_cpu() -> None:
    a, b = np.random.default_rng(1).random(17), np.linspace(0.0, 2.0, 17)
    wanted = a.copy()
    result = stretches_turned(wanted, b)
    kernel = lw.kernel(stretches_turned)
    with lw.options(device="emulated"):
        assert kernel(a, b) == result > 3
        text = str(kernel.explain(a, b))
    np.testing.assert_array_equal(a, wanted)
    assert "each iteration of 'j' would wait for data to tell whether 'k' is launched" in text


def test_a_little_of_one_thread_stays_beside_a_large_grid() -> None:
    a, b = np.ones((30, 20)), np.zeros(20)
    wanted = [a.copy(), b.copy()]
    down_the_diagonal(*wanted)
    compiled = lw.kernel(down_the_diagonal)
    with lw.options(device="emulated"):
        compiled(a, b)
        assert "not on a GPU" not in str(compiled.explain(a, b))
    np.testing.assert_array_equal(a, wanted[0])


def test_threads_that_keep_such_work_on_a_gpu_leave_nothing_changed() -> None:
    before = gpu.better_off
    first, second = even_in_one_thread(), even_in_one_thread()
    first.__enter__()
    second.__enter__()  # as another thread may, before the first has left
    first.__exit__(None, None, None)
    assert gpu.better_off is not before
    second.__exit__(None, None, None)
    assert gpu.better_off is before


def sites_in_order(s, chance):
    for sweep in range(2):
        for i in range(s.shape[0]):
            for j in range(s.shape[1]):
                if chance[sweep, i, j] < 0.5:
                    s[i, j] = s[(i + 1) % s.shape[0], j] - s[i, (j + 1) % s.shape[1]]


def test_an_axis_of_constant_length_is_not_worth_to_stay_for() -> None:
    kernel = lw.kernel(sites_in_order, device="emulated")
    kernel(np.ones((4, 6)), np.ones((2, 4, 6)))
    assert "one thread would run" in kernel.specialisations()[0].why_not_gpu


def spread(a):
    changed = True
    while changed:
        changed = False
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                if a[i, j] == 1:
                    touches = False
                    for u in range(-1, 2):
                        for v in range(-1, 2):
                            if a[i + u, j + v] == 2:
                                touches = True
                    if touches:
                        a[i, j] = 2
                        changed = True


def test_a_window_in_a_sweep_that_needs_its_order_is_no_grid() -> None:
    a = np.random.default_rng(1).integers(0, 2, (12, 13))
    a[5, 5] = 2
    agree(spread, a, why_not="one thread would run 'j', whose iterations need their order")


def thinned(volume, level):
    count = 0
    for y in range(volume.shape[0]):
        for x in range(volume.shape[1]):
            is_peak = volume[y, x] >= level
            if is_peak:
                for yy in range(max(0, y - 1), min(volume.shape[0], y + 2)):
                    for xx in range(max(0, x - 1), min(volume.shape[1], x + 2)):
                        if volume[yy, xx] > volume[y, x]:
                            is_peak = False
            if is_peak:
                volume[y, x] = level / 2
                count += 1
    return count


def test_nor_is_one_that_is_cut_off_at_the_borders() -> None:
    volume = np.random.default_rng(3).random((14, 15))
    agree(
        thinned,
        volume,
        0.4,
        why_not="one thread would run 'x', whose iterations need their order",
    )


def regressed(spot, value, m):
    for t in range(spot.shape[0]):
        for p in range(spot.shape[1]):
            value[p] *= 0.5
            if spot[t, p] < 1.0:
                for a in range(3):
                    for b in range(3):
                        m[a, b] += spot[t, p] * (a + b) * value[p]


def test_nor_is_a_little_under_a_condition_of_each_iteration_of_a_sum() -> None:
    spot = np.random.default_rng(4).random((4, 30)) + 0.5
    agree(
        regressed,
        spot,
        np.ones(30),
        np.zeros((3, 3)),
        why_not="one thread would run 'p', whose iterations need their order",
    )


def rows_into_lanes(first, v, x, y):
    for s in range(first.shape[0] - 1):
        for lane in range(4):
            total = y[lane]
            for k in range(first[s], first[s + 1]):
                total += v[k] * x[lane]
            y[lane] = 0.5 * total


def test_short_rows_that_need_their_order_are_no_launches() -> None:
    given = np.array([0, 3, 3, 10, 20]), np.arange(20.0), np.arange(4.0)
    wanted, y = np.arange(4.0), np.arange(4.0)
    rows_into_lanes(*given, wanted)
    kernel = lw.kernel(rows_into_lanes, device="emulated")
    kernel(*given, y)
    np.testing.assert_array_equal(y, wanted)
    assert "each iteration of 's' would be a launch of as many 'lane'" in kernel.specialisations()[0].why_not_gpu


HOSTS = """
kernel hosts(n: int64, a: float64[2] C, b: float64[1] C):
    for h in 0 .. size(a, 0):
        for i in 0 .. n:
            for j in 0 .. i:
                for c in 0 .. size(a, 1) block.x:
                    a[h, c] = a[h, c] + 0.5 * b[j] * a[h, c]
"""


@pytest.mark.parametrize(("text", "told"), [(HOSTS, True), (HOSTS.replace("a[h, c]", "a[0, c]"), False)])
def test_a_launch_for_each_iteration_of_loops_without_order(text: str, told: bool) -> None:
    """Rounds that need their order, such as those of time, are the host's."""
    kernel, facts = known(text)
    assert ("each iteration of 'j' would be a launch" in each_a_launch(kernel, facts, facts)) is told

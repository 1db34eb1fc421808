"""Elements at places that a table shifts: which loops need no order, and what comes out where many threads run them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

CX = np.array([0, 1, -1, 0, 5])


def pushed(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % f.shape[1]] = f[k, x]


def pushed_by_name(f, g, c):
    n = f.shape[1]
    for x in range(n):
        for k in range(f.shape[0]):
            to = (x + 2 * k - c[k]) % n
            g[k, to] = f[k, x]


def bounced(f, g, c):
    n = f.shape[1]
    for x in range(n):
        if f[0, x] > 0.5:
            for k in range(f.shape[0]):
                g[k, (x + c[k]) % n] = f[f.shape[0] - 1 - k, x]
        else:
            for k in range(f.shape[0]):
                g[k, (x + c[k]) % n] = f[k, x]


def added_to(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % f.shape[1]] += f[k, x]


def inside(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            if 0 <= x + c[k] < f.shape[1]:
                g[k, x + c[k]] = f[k, x]


def another_shift(f, g, c):
    n = f.shape[1]
    for x in range(n):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % n] = f[k, x]
            g[k, (x + c[k] + 1) % n] = f[k, x] + 1


def no_key(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[0, (x + c[k]) % f.shape[1]] = f[k, x]


def shorter_period(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % (f.shape[1] - 1)] = f[k, x]


def twice_as_far(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (2 * x + c[k]) % f.shape[1]] = f[k, x]


def shifts_that_change(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % f.shape[1]] = f[k, x]
            c[k] += 1


def in_tiles(f, g, c):
    n = f.shape[1]
    for x in range(0, n, 8):
        for y in range(x, min(x + 8, n)):
            for k in range(f.shape[0]):
                g[k, (y + c[k]) % n] = f[k, y]


def in_tiles_of_a_period(f, g, c):
    for x in range(0, f.shape[1] // 8 * 8, 8):
        for y in range(x, x + 8):
            for k in range(f.shape[0]):
                g[k, (y + c[k]) % 8] = f[k, y]


APART = (pushed, pushed_by_name, bounced, added_to, inside, in_tiles)
TIED = (another_shift, no_key, shorter_period, twice_as_far, shifts_that_change, in_tiles_of_a_period)


def arguments(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.random.default_rng(n).random((len(CX), n)), np.zeros((len(CX), max(n, 8))), CX.copy()


@pytest.mark.parametrize("n", [2, 7, 300])
@pytest.mark.parametrize("kernel", [*APART, *TIED])
def test_iterations_need_no_order_where_they_never_meet(kernel: Any, n: int) -> None:
    found = agree(kernel, *arguments(n))
    assert (found.analysed.facts.loops["x"].verdict == "parallel") == (kernel in APART)


@pytest.mark.parametrize("kernel", [*APART, *TIED])
def test_threads_of_a_processor_agree(kernel: Any) -> None:
    mine, wanted = arguments(3000), arguments(3000)
    kernel(*wanted)
    lw.kernel(device="cpu")(kernel)(*mine)
    for one, other in zip(mine, wanted, strict=True):
        np.testing.assert_array_equal(one, other)

"""Loops that need no order, put around one over time: which nests, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw


def attended(q, k, v, out):
    for h in range(q.shape[0]):
        state = np.zeros((q.shape[2], q.shape[2]))
        norm = np.zeros(q.shape[2])
        for t in range(q.shape[1]):
            for i in range(q.shape[2]):
                norm[i] += k[h, t, i]
                for j in range(q.shape[2]):
                    state[i, j] += k[h, t, i] * v[h, t, j]
            bottom = 1.0
            for i in range(q.shape[2]):
                bottom += q[h, t, i] * norm[i]
            for j in range(q.shape[2]):
                top = 0.0
                for i in range(q.shape[2]):
                    top += q[h, t, i] * state[i, j]
                out[h, t, j] = top * bottom


def selected(a, x, c, y):
    for s in range(x.shape[0]):
        h = np.zeros((x.shape[2], a.shape[0]))
        for t in range(x.shape[1]):
            for d in range(x.shape[2]):
                total = 0.0
                for m in range(a.shape[0]):
                    h[d, m] = a[m] * h[d, m] + x[s, t, d]
                    total += h[d, m] * c[s, t, m]
                y[s, t, d] = total


def recurrent(x, w, y):
    for s in range(x.shape[0]):
        h = np.zeros(x.shape[2])
        for t in range(x.shape[1]):
            new = np.zeros(x.shape[2])
            for j in range(x.shape[2]):
                total = x[s, t, j]
                for k in range(x.shape[2]):
                    total += w[k, j] * h[k]
                new[j] = total % 7.0
            for j in range(x.shape[2]):
                h[j] = new[j]
                y[s, t, j] = new[j]


def run(function: Callable[..., Any], *arrays: Any) -> str:
    """The schedule; the results are CPython's."""
    right, mine = arrays[-1].copy(), arrays[-1].copy()
    function(*arrays[:-1], right)
    kernel = lw.kernel(function)
    with lw.options(device="emulated"):
        kernel(*arrays[:-1], mine)
        explained = kernel.explain(*arrays[:-1], mine)
    np.testing.assert_allclose(mine, right, rtol=1e-12)
    assert "not on a GPU" not in str(explained)
    return str(explained.schedule)


def whole(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(float)


@pytest.mark.parametrize("shape", [(2, 9, 5), (1, 1, 1), (3, 4, 40), (0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_columns_of_a_state_wait_for_nobody(shape: tuple[int, int, int]) -> None:
    schedule = run(attended, whole(*shape), whole(*shape), whole(*shape)[::-1].copy(), np.zeros(shape))
    assert "expand bottom h t; reschedule min in h; fuse i i.2; fuse i.s i.3; promote bottom.x i;" in schedule


@pytest.mark.parametrize("shape", [(2, 9, 5), (1, 1, 1), (3, 4, 40), (0, 3, 2), (2, 3, 0)])
def test_channels_that_go_through_time_alone(shape: tuple[int, int, int]) -> None:
    schedule = run(selected, whole(3) / 4, whole(*shape), whole(*shape[:2], 3), np.zeros(shape))
    assert "reschedule min in s" in schedule


def test_channels_that_need_one_another_stay() -> None:
    assert "reschedule" not in run(recurrent, whole(2, 6, 5), whole(5, 5), np.zeros((2, 6, 5)))

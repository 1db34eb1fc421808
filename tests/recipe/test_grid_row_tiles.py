"""Rows that threads go through element by element, in tiles: which are, and what comes out, on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

RANDOM = np.random.default_rng(14)


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 10, shape).astype(float)


def smoothed(x, out):
    for i in range(x.shape[0]):
        out[i, 0] = x[i, 0]
        for t in range(1, x.shape[1]):
            out[i, t] = 0.5 * x[i, t] + 0.5 * out[i, t - 1]


def filtered(x, out):
    for i in range(x.shape[0]):
        a = 0.0
        b = 1.0
        for t in range(x.shape[1]):
            y = x[i, t] + a
            a = b - y
            b = x[i, t] - 0.5 * y
            out[i, t] = y


def two_arrays(x, out):
    for i in range(x.shape[0]):
        store = 1.0
        for t in range(x.shape[1]):
            if x[i, t] > 0.0:
                store = store * 0.5 + x[i, t]
            out[i, t] = store - out[i, t]
        out[i, 0] = store


def by_columns(x, out):
    for i in range(x.shape[1]):
        for t in range(1, x.shape[0]):
            out[t, i] = 0.5 * x[t, i] + 0.5 * out[t - 1, i]


def running(x, out):
    for i in range(x.shape[0]):
        s = 0.0
        for t in range(x.shape[1]):
            s += x[i, t]
            out[i, t] = s


def steps_of(kernel: Any, *shape: int) -> list[str]:
    found = agree(kernel, whole(*shape), whole(*shape), strict=False)
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


@pytest.mark.parametrize("shape", [(0, 70), (3, 1), (1, 1), (5, 100), (1024, 64), (1061, 131), (1030, 63)])
@pytest.mark.parametrize("kernel", [smoothed, filtered, two_arrays])
def test_tiles_go_through_shared_memory(kernel: Any, shape: tuple[int, int]) -> None:
    steps = steps_of(kernel, *shape)
    assert steps[:2] == ["specialize x.0 >= 1024 in i", "specialize x.1 >= 64 in i"]
    assert any(step.startswith("stage x ") for step in steps)
    assert any(step.startswith("promote out ") and step.endswith(" whole") for step in steps)


@pytest.mark.parametrize("kernel", [by_columns, running])
def test_what_lies_side_by_side_anyway_and_running_sums_have_none(kernel: Any) -> None:
    assert not any(step.startswith("stage") for step in steps_of(kernel, 70, 5))


def of_eight(a, b, c, d, e, f, g, out):
    for i in range(a.shape[0]):
        s = 1.0
        for t in range(a.shape[1]):
            s = 0.5 * s + a[i, t] - b[i, t] + c[i, t] - d[i, t] + e[i, t] - f[i, t] + g[i, t]
            out[i, t] = s


def test_tiles_have_room_in_shared_memory() -> None:
    arguments = [whole(1030, 70) for _ in range(8)]
    found = agree(of_eight, *arguments, strict=False)
    steps = [str(decision.step).split()[0] for decision in found.analysed.recipe.decisions]
    assert steps.count("stage") == 5 and "promote" in steps  # 6 tiles of 7.75 KiB


def test_nothing_is_lost_where_arrays_overlap() -> None:
    x = whole(1100, 100)
    wanted = x.copy()
    smoothed(wanted, wanted)
    with lw.options(device="emulated"):
        lw.kernel(smoothed)(x, x)
    np.testing.assert_array_equal(x, wanted)

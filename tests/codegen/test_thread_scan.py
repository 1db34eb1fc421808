from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

ROUNDS = "split j {0}; scan j {1}; bind i block.x; bind j.a thread.x; bind j.m thread.x; bind j.c thread.x"


def sums(a, b):
    for i in range(a.shape[0]):
        s = a.dtype.type(3)
        for j in range(a.shape[1]):
            b[i, j] = s
            s += a[i, j]


def several(a, b):
    for i in range(a.shape[0]):
        s = 0
        most = a[i, 0]
        n = 1
        for j in range(a.shape[1]):
            s += a[i, j]
            most = max(most, a[i, j])
            n = n * (a[i, j] % 3 + 1)
            b[i, j] = s + most + n


def last(a, b):
    for i in range(a.shape[0]):
        s = 0
        for j in range(a.shape[1]):
            s += a[i, j]
            b[i, j] = s
        b[i, 0] = s


def least(a, b):
    for i in range(a.shape[0]):
        s = a[i, 0]
        for j in range(a.shape[1]):
            s = np.minimum(s, a[i, j])
            b[i, j] = s


def whole(*shape: int, dtype: str = "int64") -> Any:
    return np.random.default_rng(7).integers(-9, 10, shape).astype(dtype)


@pytest.mark.parametrize("threads", [32, 64, 256, 1024])
@pytest.mark.parametrize("columns", [0, 1, 31, 32, 33, 500, 1025])
def test_threads_find_what_comes_before_them(threads: int, columns: int) -> None:
    agree(sums, whole(3, columns), whole(3, columns), schedule=ROUNDS.format(2 * threads, threads))


@pytest.mark.parametrize("kernel", [several, last])
def test_several_totals_and_what_is_left_at_the_end(kernel: Any) -> None:
    agree(kernel, whole(5, 300), whole(5, 300), schedule=ROUNDS.format(64, 64))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64", "int32"])
def test_every_type(dtype: str) -> None:
    found = agree(sums, whole(2, 200, dtype=dtype) // 4, whole(2, 200, dtype=dtype),
                  schedule=ROUNDS.format(256, 128), strict=False)  # fmt: skip
    assert "__shfl_up_sync" in found.ready.program.device.text


def test_a_nan_is_carried_on() -> None:
    a = whole(3, 200, dtype="float64")
    a[1, 70] = np.nan
    agree(least, a, whole(3, 200, dtype="float64"), schedule=ROUNDS.format(64, 32))


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        (ROUNDS.format(64, 48), "in whole warps"),
        (ROUNDS.format(64, 64).replace("bind j.a thread.x", "bind j.a thread.x 32"), None),
        (ROUNDS.format(64, 32).replace("bind j.m thread.x", "bind j.m thread.x 64"), "a thread for each"),
        (ROUNDS.format(64, 32).replace("bind j.m thread.x", "bind j.m thread.y"), "of the one before"),
    ],
)
def test_each_iteration_needs_a_thread(schedule: str, why: str | None) -> None:
    kernel = lw.kernel(sums)
    with lw.options(device="emulated", schedule=schedule):
        if why is None:
            a, b, c = whole(3, 100), whole(3, 100), whole(3, 100)
            kernel(a, b)
            sums(a, c)
            assert np.array_equal(b, c)
            return
        with pytest.raises(lw.ScheduleError, match=why):
            kernel(whole(3, 100), whole(3, 100))


def test_strict_keeps_the_order_of_float_sums() -> None:
    a = whole(3, 100, dtype="float64")
    with lw.options(device="emulated", strict=True, schedule=ROUNDS.format(64, 32)), pytest.raises(lw.ScheduleError):
        lw.kernel(sums)(a, a.copy())

"""Running sums on the emulated GPU, where blocks have a row or a chunk each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.recipe import grid_parts, grid_running


def rows(a, b):
    for i in range(a.shape[0]):
        s = 0
        for j in range(a.shape[1]):
            s += a[i, j]
            b[i, j] = s


def planes(a, b):
    for k in range(a.shape[0]):
        for i in range(a.shape[1]):
            s = 1
            for j in range(a.shape[2]):
                b[k, i, j] = s
                s += a[k, i, j]


def columns(a, b):
    for j in range(a.shape[1]):
        s = 0
        for i in range(a.shape[0]):
            s += a[i, j]
            b[i, j] = s


def pairs_of_columns(a, b):
    pair = 0
    for i in range(a.shape[1]):
        for j in range(i + 1, a.shape[1]):
            s = 0
            for t in range(a.shape[0]):
                s += a[t, i] * a[t, j]
                if t >= 5:
                    s -= a[t - 5, i] * a[t - 5, j]
                b[pair, t] = s
            pair += 1


def kept_of_rows(a, b):
    for i in range(a.shape[0]):
        n = 0
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                b[i, n] = a[i, j]
                n += 1


def kept(a, b):
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            b[n] = a[i]
            n += 1
    return n


def whole(*shape: int) -> Any:
    return np.random.default_rng(3).integers(-9, 10, shape)


def steps_of(found: Any) -> list[str]:
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


@pytest.mark.parametrize("kernel", [rows, kept_of_rows])
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (3, 255), (3, 256), (300, 20), (257, 300)])
def test_a_block_has_a_long_row_and_a_thread_a_short_one(kernel: Any, shape: tuple[int, int]) -> None:
    steps = steps_of(agree(kernel, whole(*shape), whole(*shape)))
    assert {"specialize a.1 >= 256 in i", "split j 512", "scan j 256", "bind i block.x", "bind j.m thread.x"} <= {
        *steps
    }
    assert any(step.endswith("thread.x 32") for step in steps)


def test_planes_of_rows() -> None:
    steps = steps_of(agree(planes, whole(3, 4, 300), whole(3, 4, 300)))
    assert {"bind k block.y", "bind i block.x"} <= {*steps}


def test_neighbouring_columns_have_a_thread_each() -> None:
    assert "scan i 256" not in steps_of(agree(columns, whole(40, 300), whole(40, 300)))


@pytest.mark.parametrize("shape", [(3, 2000), (3, 70), (1, 129), (40, 64)])
def test_few_long_rows_are_shared_among_blocks(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_parts, "LONG", 64)
    steps = steps_of(agree(rows, whole(*shape), whole(*shape)))
    assert {"specialize a.1 >= 64 in i.1", "scan j.1 512", "bind j.1.m thread.x", "bind j.1.c block.x"} <= {*steps}
    assert "bind j.1.1.1 thread.x 32" in steps or "bind j.1.1 thread.x 32" in steps  # what a chunk adds: a warp's


@pytest.mark.parametrize("shape", [(530, 4), (3, 5), (300, 1), (0, 3)])
def test_a_block_has_each_of_few_pairs(shape: tuple[int, int]) -> None:
    """Wherever its elements lie; of many, a thread has each."""
    pairs = shape[1] * (shape[1] - 1) // 2
    steps = steps_of(agree(pairs_of_columns, whole(*shape), whole(pairs, shape[0])))
    assert {"specialize a.1*a.1 >= 8192 in i", "guard j.1 i.1", "scan t.1 256", "bind j.1 block.x"} <= {*steps}
    assert "bind j thread.x" in steps


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 3000])
def test_chunks_of_what_is_kept(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_running, "CHUNKS", 64)
    steps = steps_of(agree(kept, whole(size), whole(size)))
    assert {"scan i 64", "bind i.a block.x", "bind i.m thread.x", "bind i.c block.x", "bind i.m.1 thread.x"} <= {*steps}


def flags_kept(keep, out, count):
    k = 0
    for i in range(keep.size):
        if keep[i]:
            out[k] = i
            k += 1
    count[0] = k


def greatest_so_far(x, out, count):
    most = x[0]
    for i in range(x.size):
        most = max(most, x[i])
        out[i] = most


@pytest.mark.parametrize(
    ("function", "dtype", "each"), [(flags_kept, "bool", 8), (greatest_so_far, "i2", 4), (greatest_so_far, "f8", 2)]
)
def test_a_thread_has_as_many_neighbours_as_bytes_allow(function: Any, dtype: str, each: int) -> None:
    x = (np.random.default_rng(5).integers(-9, 10, 10_000) > 0) if dtype == "bool" else np.arange(10_000) % 77
    args = (x.astype(dtype), np.zeros(10_000, np.int64 if dtype == "bool" else dtype), np.zeros(1, np.int64))
    right = [one.copy() for one in args]
    function(*right)
    kernel = lw.kernel(function)
    with lw.options(device="emulated"):
        kernel(*args)
        schedule = str(kernel.explain(*args).schedule)
    for mine, wanted in zip(args, right, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    assert f"split i {256 * each}; scan i 256" in schedule

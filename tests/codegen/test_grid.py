"""Kernels of a grid, by schedules given as text: barriers where they are needed and nowhere else, sizes of blocks,
axes, and more blocks than CUDA starts at once. The emulated device reports every race that a missing barrier leaves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen import on_gpu
from codegen.on_gpu import agree, device_text
from loopwright.codegen import grid
from loopwright.codegen.gpu_writer import GpuWriter, _blocks_at_once
from loopwright.errors import DeviceError, ScheduleError

RANDOM = np.random.default_rng(11)
BARRIER = "__syncthreads();"


def barriers(found: Any) -> int:
    return device_text(found).count(BARRIER)


# ---- barriers ---------------------------------------------------------------------------------------------------


def reverse(a, b):
    for q in range(a.shape[0]):
        s = np.empty(32)
        for t in range(32):
            s[t] = a[q, t]
        for t in range(32):
            b[q, t] = s[31 - t]


REVERSE = "bind q block.x; bind t thread.x; bind t.2 thread.x"


def test_between_a_write_and_reads_of_others() -> None:
    assert barriers(agree(reverse, RANDOM.random((3, 32)), np.zeros((3, 32)), schedule=REVERSE)) == 1


def test_without_its_barrier_the_device_reports_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GpuWriter, "barrier", lambda *_: None)
    with (
        lw.options(device="emulated", schedule=REVERSE),
        pytest.raises(DeviceError, match=r"race on shared 's_'\[\d+\]"),
    ):
        lw.kernel(reverse)(RANDOM.random((3, 32)), np.zeros((3, 32)))


def test_in_a_loop_the_next_iteration_writes_after_all_have_read() -> None:
    def kernel(a, b):
        for q in range(a.shape[0]):
            s = np.empty(32)
            for k in range(a.shape[1]):
                for t in range(32):
                    s[t] = a[q, k, t]
                for t in range(32):
                    b[q, k, t] = s[31 - t] + s[t]

    found = agree(kernel, RANDOM.random((3, 5, 32)), np.zeros((3, 5, 32)), schedule=REVERSE)
    assert barriers(found) == 2


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_barrier_in_a_loop_that_may_not_run_does_not_count_after_it(n: int) -> None:
    """Found: with no iteration, nothing stood between the write before the loop and the reads after it."""

    def kernel(a, b, c, n):
        for q in range(a.shape[0]):
            s = np.empty(64)
            for t in range(64):
                s[t] = a[q, t]
            for _ in range(n):
                for t in range(64):
                    c[q, t] += s[63 - t]
            for t in range(64):
                b[q, t] = s[(t + 40) % 64]

    schedule = "bind q block.x; bind t thread.x; bind t.2 thread.x; bind t.3 thread.x"
    found = agree(kernel, RANDOM.random((3, 64)), *np.zeros((2, 3, 64)), n, schedule=schedule)
    assert barriers(found) == 2


@pytest.mark.parametrize("flag", [True, False])
def test_a_barrier_in_one_branch_does_not_count_after_both(flag: bool) -> None:
    def kernel(a, b, c, flag):
        for q in range(a.shape[0]):
            s = np.empty(64)
            for t in range(64):
                s[t] = a[q, t]
            if flag:
                for t in range(64):
                    c[q, t] = s[63 - t]
            for t in range(64):
                b[q, t] = s[(t + 40) % 64]

    schedule = "bind q block.x; bind t thread.x; bind t.2 thread.x; bind t.3 thread.x"
    agree(kernel, RANDOM.random((3, 64)), *np.zeros((2, 3, 64)), flag, schedule=schedule)


def test_a_filled_array_and_one_thread_that_writes() -> None:
    def kernel(a, b):
        for q in range(a.shape[0]):
            s = np.zeros(64)
            s[3] = a[q, 0]
            for t in range(64):
                b[q, t] = s[63 - t] + s[3]
            s[3] = 7.0
            for t in range(64):
                b[q, t] += s[3]

    schedule = "bind q block.x; bind t thread.x; bind t.2 thread.x"
    agree(kernel, RANDOM.random((3, 64)), np.zeros((3, 64)), schedule=schedule)


def test_none_where_none_is_needed() -> None:
    def kernel(a, b, c):
        for q in range(a.shape[0]):
            for t in range(32):
                b[q, t] = a[q, t]
            for t in range(32):
                c[q, t] = a[q, 31 - t]

    assert not barriers(agree(kernel, RANDOM.random((3, 32)), *np.zeros((2, 3, 32)), schedule=REVERSE))
    # One thread has nobody to wait for.
    assert not barriers(agree(reverse, RANDOM.random((3, 32)), np.zeros((3, 32)), schedule="bind q block.x"))


def test_staged_tiles_of_a_product() -> None:
    def kernel(a, b, c, tiles):
        for x in range(tiles):
            for y in range(tiles):
                left, right = np.empty((8, 8)), np.empty((8, 8))
                for k in range(tiles):
                    for i in range(8):
                        for j in range(8):
                            left[i, j] = a[x * 8 + i, k * 8 + j]
                            right[i, j] = b[k * 8 + i, y * 8 + j]
                    for i in range(8):
                        for j in range(8):
                            for m in range(8):
                                c[x * 8 + i, y * 8 + j] += left[i, m] * right[m, j]

    a, b = RANDOM.integers(-9, 9, (2, 24, 24)).astype(float)
    threads = "bind i thread.y; bind j thread.x; bind i.2 thread.y; bind j.2 thread.x"
    found = agree(kernel, a, b, np.zeros((24, 24)), 3, schedule=f"bind x block.y; bind y block.x; {threads}")
    assert barriers(found) == 2
    with lw.options(device="emulated"):
        c = np.zeros((24, 24))
        lw.kernel(kernel)(a, b, c, 3)
        np.testing.assert_array_equal(c, a @ b)


SPREAD = (
    "tile i 16 j 32 k 4; specialize i j full; split i 8; split i 2; skew i.o.1 i.o.2 -1; split j 16; split j 4; "
    "skew j.o.1 j.o.2 -1; reorder k.o i.o.2.s j.o.2.s k i.o.1 i j.o.1 j; promote c k.o whole; specialize k full; "
    "pack a i.o.2.s pad 1; pack b i.o.2.s pad 1; split i.r 8; split i.r 2; skew i.r.o i.r.o.1 -1; split j.r 16; "
    "split j.r 4; skew j.r.o j.r.o.1 -1; reorder i.r.o.1.s j.r.o.1.s i.r.o i.r j.r.o j.r; split i.w 8; split i.w 2; "
    "skew i.w.o i.w.o.1 -1; split j.w 16; split j.w 4; skew j.w.o j.w.o.1 -1; "
    "reorder i.w.o.1.s j.w.o.1.s i.w.o i.w j.w.o j.w; bind k.p thread.x 4; bind i.p thread.y 4; "
    "bind k.p.1 thread.y 4; bind j.p thread.x 4; bind i.r.o.1.s thread.y; bind j.r.o.1.s thread.x; "
    "bind i.w.o.1.s thread.y; bind j.w.o.1.s thread.x; bind i.o block.y; bind j.o block.x; bind i.o.2.s thread.y; "
    "bind i.o.2.s.1 thread.y; bind j.o.2.s thread.x; bind j.o.2.s.1 thread.x; bind i.1 thread.y 4; bind j.1 thread.x 4"
)
"""A product of matrices: each thread has groups of 2 x 4 elements, two along each axis, far apart in the tile."""


@pytest.mark.parametrize("shape", [(16, 32, 4), (35, 70, 9), (16, 32, 0), (32, 64, 1)])
def test_groups_of_registers_spread_over_a_tile(shape: tuple[int, int, int]) -> None:
    def product(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    n, m, k = shape
    a, b, c = (RANDOM.integers(-4, 5, size).astype(np.float32) for size in ((n, k), (k, m), (n, m)))
    text = device_text(agree(product, a, b, c, schedule=SPREAD))
    assert "float c_r_[32];" in text and "LW_SHARED(float, c_r_" not in text
    # Their places are numbers and counters of loops that are written out: else they would not stay in registers.
    places = set(re.findall(r"c_r_\[(.*?)\] = ", text))
    assert places and not any("threadIdx" in place or "i_o_" in place.replace("lw_k_i_o_", "") for place in places)


@pytest.mark.parametrize(
    ("threads", "words", "bounds"), [(256, 64, (2,)), (128, 64, (4,)), (128, 128, (2,)), (256, 128, ()), (256, 8, ())]
)
def test_blocks_that_share_the_registers(threads: int, words: int, bounds: tuple[int, ...]) -> None:
    assert _blocks_at_once(threads, 4 * words) == bounds


def test_what_a_block_cannot_do_runs_on_the_cpu() -> None:
    def deciding(a, b):
        for q in range(a.shape[0]):
            for _ in range(a[q]):
                for t in range(32):
                    b[q, t] += 1

    def large(a):
        for q in range(a.shape[0]):
            s = np.empty(7000)
            for t in range(1000):
                s[t] = a[q, t]
            for t in range(1000):
                a[q, t] = s[999 - t] + 1

    agree(deciding, np.arange(4), np.zeros((4, 32)), schedule="bind q block.x; bind t thread.x",
          why_not="data decides how often the threads of a block meet")  # fmt: skip
    agree(large, RANDOM.random((2, 1000)), schedule=REVERSE,
          why_not="'s' does not fit into the shared memory of a block")  # fmt: skip


# ---- sizes and axes ---------------------------------------------------------------------------------------------


def plane(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += i * 1000 + j


@pytest.mark.parametrize("threads", [1, 32, 1000, 1024])
def test_sizes_of_a_block(threads: int) -> None:
    found = agree(plane, np.zeros((3, 2500)), schedule=f"bind i block.x; bind j thread.x {threads}")
    assert f"__launch_bounds__({threads})" in device_text(found)


def test_too_many_threads() -> None:
    with lw.options(device="emulated", schedule="bind i block.x; bind j thread.x 1025"), pytest.raises(ScheduleError):
        lw.kernel(plane)(np.zeros((3, 5)))
    agree(plane, np.zeros((9, 8)), schedule="bind i thread.y 64; bind j thread.x 17",
          why_not="a block would have 17 x 64 x 1 threads: 1024 are the most")  # fmt: skip


def test_a_grid_of_threads_only() -> None:
    agree(plane, np.zeros((40, 70)), schedule="bind i thread.y 16; bind j thread.x 64")


def test_all_axes() -> None:
    def kernel(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    a[i, j, k] += i * 10000 + j * 100 + k

    zeros = np.zeros((9, 11, 13))
    agree(kernel, zeros, schedule="bind i block.z; bind j block.y; bind k block.x")
    agree(kernel, zeros, schedule="bind i block.x; bind j block.z; bind k block.y")
    agree(kernel, zeros, schedule="bind i thread.z 4; bind j thread.y 4; bind k thread.x 4")
    agree(kernel, zeros, schedule="bind i thread.x 4; bind j thread.z 4; bind k thread.y 4")
    agree(kernel, zeros, schedule="bind i block.y; bind j thread.z 8; bind k thread.y 3")


def test_axes_that_a_loop_leaves_idle_work_once() -> None:
    def kernel(a, b):
        for q in range(a.shape[0]):
            for i in range(8):
                for j in range(16):
                    b[q, i, j] += 1
            for i in range(8):
                a[q, i] += 1
            for j in range(5):
                a[q, j] += 10

    schedule = "bind q block.x; bind i thread.y; bind j thread.x; bind i.2 thread.y; bind j.2 thread.x"
    agree(kernel, np.zeros((3, 8)), np.zeros((3, 8, 16)), schedule=schedule)


@pytest.mark.parametrize(
    ("start", "stop", "step", "threads"), [(0, 10, 3, 2), (9, -1, -1, 4), (9, -1, -3, 2), (3, 3, 1, 8)]
)
def test_steps_of_thread_loops(start: int, stop: int, step: int, threads: int) -> None:
    def kernel(a, start, stop):
        for q in range(a.shape[0]):
            for i in range(start, stop, step):
                a[q, i] += i + q

    agree(kernel, np.zeros((3, 10)), start, stop, schedule=f"bind q block.x; bind i thread.x {threads}")


@pytest.mark.parametrize("threads", [4, 5, 16])
def test_rounds_of_thread_loops(threads: int) -> None:
    """Numbers of iterations that are known: whole rounds of all threads, less than one, and what is left of one."""

    def kernel(a):
        for q in range(a.shape[0]):
            for i in range(16):
                a[q, i] += 1
            for j in range(20):
                a[q, j] += 10
            for k in range(3):
                a[q, k] += 100
            for m in range(33):
                a[q, m] += 1000

    steps = "; ".join(f"bind {name} thread.x {threads}" for name in "ijkm")
    agree(kernel, np.zeros((3, 40)), schedule=f"bind q block.x; {steps}")


@pytest.mark.parametrize("step", [1, 3, -1, -2])
def test_steps_of_block_loops(step: int) -> None:
    def kernel(a, start, stop):
        for i in range(start, stop, step):
            a[i] += i

    first, last = (0, 10) if step > 0 else (9, -1)
    for stop in (last, first):
        agree(kernel, np.zeros(10), first, stop, schedule="bind i block.x")


def test_a_step_that_is_no_constant() -> None:
    def kernel(a, step):
        for i in range(0, a.shape[0], step):
            a[i] += i

    for step in (1, 3, 100, -1, 0):
        agree(kernel, np.zeros(10), step)


def test_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than CUDA starts at once along an axis: the host starts several grids."""

    def kernel(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    a[i, j, k] += i * 10000 + j * 100 + k

    monkeypatch.setattr(grid, "MOST_BLOCKS", {"x": 4, "y": 3, "z": 2})
    agree(kernel, np.zeros((5, 7, 9)), schedule="bind i block.z; bind j block.y; bind k block.x")
    agree(kernel, np.zeros((2, 3, 4)), schedule="bind i block.z; bind j block.y; bind k block.x")
    agree(kernel, np.zeros((0, 7, 9)), schedule="bind i block.z; bind j block.y; bind k block.x")
    agree(plane, np.zeros((50, 70)))


def test_more_rows_than_cuda_starts_at_once() -> None:
    agree(plane, np.zeros((65535 * 8 + 9, 1)))


def test_a_triangle() -> None:
    def kernel(a):
        for i in range(a.shape[0]):
            for j in range(i):
                a[i, j] += i + j

    agree(kernel, np.zeros((70, 70)))
    with lw.options(device="emulated", schedule="bind j block.x; bind i block.y"), pytest.raises(ScheduleError):
        lw.kernel(kernel)(np.zeros((9, 9)))


def test_a_failed_check_in_one_thread_leaves_the_others_at_their_barriers() -> None:
    def kernel(a, idx, b):
        for q in range(a.shape[0]):
            s = np.empty(64)
            for t in range(64):
                s[t] = a[q, idx[t]]
            for t in range(64):
                b[q, t] = s[63 - t]

    idx = np.arange(64)
    agree(kernel, RANDOM.random((2, 64)), idx, np.zeros((2, 64)), schedule=REVERSE)
    idx[40] = 64
    compiled = lw.kernel(kernel)
    with lw.options(device="emulated", schedule=REVERSE):
        _, _, error = on_gpu.outcome(compiled, [RANDOM.random((2, 64)), idx, np.zeros((2, 64))])
    assert isinstance(error, lw.BoundsError)
    assert "index 64 is out of bounds for axis 1 of 'a' with size 64" in str(error)


def test_arrays_of_a_thread() -> None:
    def kernel(a):
        for i in range(a.shape[0]):
            own = np.ones(4)
            for k in range(4):
                own[k] += a[i] + k
            a[i] = own[0] + own[3]

    agree(kernel, np.arange(900.0))


def test_while_in_a_thread() -> None:
    def kernel(a, b):
        for i in range(a.shape[0]):
            j = 0
            while a[i] > j * j:
                j += 1
                if j == 3:
                    continue
                if j > 6:
                    break
            b[i] = j

    agree(kernel, np.arange(90.0), np.zeros(90))


def test_a_schedule_for_a_gpu_on_the_cpu() -> None:
    """Found: bound loops were left out of the C text, which did nothing."""
    a = np.zeros((9, 8))
    with lw.options(device="cpu", schedule="bind i block.x; bind j thread.x 32"):
        lw.kernel(plane)(a)
    np.testing.assert_array_equal(a, np.add.outer(np.arange(9.0) * 1000, np.arange(8.0)))

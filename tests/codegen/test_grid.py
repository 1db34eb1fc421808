"""Kernels of a grid, by schedules given as text: sizes of blocks, axes, and more blocks than CUDA starts at once. The
emulated device reports every race."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from codegen import on_gpu
from codegen.on_gpu import agree, device_text, refused
from loopwright.devices.limits import Limits
from loopwright.errors import ScheduleError
from loopwright.ir.gpu_target import GpuTarget

RANDOM = np.random.default_rng(11)
REVERSE = "bind q block.x; bind t thread.x; bind t.2 thread.x"


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
    why = "a block would have 17 x 64 x 1 threads: 1024 are the most"
    refused(plane, np.zeros((9, 8)), schedule="bind i thread.y 64; bind j thread.x 17", why=why)


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


@pytest.mark.parametrize("shape", [(3, 4, 2, 5), (1, 1, 1, 1), (2, 0, 3, 4), (0, 2, 2, 2), (7, 3, 1, 40)])
def test_several_loops_along_an_axis_count_its_blocks_together(shape: tuple[int, ...]) -> None:
    def kernel(a):
        for i in range(a.shape[0]):
            for j in range(1, a.shape[1]):
                for k in range(a.shape[2] - 1, -1, -2):
                    for p in range(a.shape[3]):
                        a[i, j, k, p] += i * 1000000 + j * 10000 + k * 100 + p

    zeros = np.zeros(shape)
    agree(kernel, zeros, schedule="bind i block.z; bind j block.z; bind k block.z; bind p thread.x 8")
    agree(kernel, zeros, schedule="bind i block.x; bind j block.y; bind k block.x; bind p block.y")
    agree(kernel, zeros, schedule="split p 3; bind i block.y; bind j block.y; bind k block.y; bind p.o block.y")


def test_more_blocks_together_than_an_axis_has() -> None:
    def kernel(a, b):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(8):
                    b[i, j, k] = a[i, j] + k

    a = np.arange(70000.0).reshape(350, 200)
    agree(kernel, a, np.zeros((350, 200, 8)), schedule="bind i block.y; bind j block.y; bind k thread.x 8")


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

    monkeypatch.setattr(Limits, "target", GpuTarget(blocks_along=(4, 3, 2)))
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

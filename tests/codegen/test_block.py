"""What a block does as a whole: barriers where they are needed and nowhere else, arrays in shared memory, in registers.
The emulated device reports every race that a missing barrier leaves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text, refused
from codegen.scheduled import grid_text
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.errors import DeviceError

RANDOM = np.random.default_rng(11)
BARRIER = "__syncthreads();"


def barriers(found: Any) -> int:
    return device_text(found).count(BARRIER)


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


def rounds_told_by_data(a, b, c, d):
    for q in range(a.shape[0]):
        c[q] = a[q] + 1
        for _ in range(c[q]):
            for t in range(32):
                b[q, t] += t
            for t in range(32):
                d[q, t] += b[q, 31 - t]


@pytest.mark.parametrize("teams", ["bind q block.x", "split q 4; bind q.o block.x; bind q thread.y"])
def test_how_many_rounds_a_block_or_a_team_has_may_depend_on_data(teams: str) -> None:
    schedule = f"{teams}; bind t thread.x; bind t.2 thread.x"
    a = np.array([3, 0, 1, 5, 2])
    if "thread.y" not in teams:
        agree(rounds_told_by_data, a, np.zeros((5, 32)), np.zeros(5, np.int64), np.zeros((5, 32)), schedule=schedule)

    def plain(a, b):
        for q in range(a.shape[0]):
            for _ in range(a[q]):
                for t in range(32):
                    b[q, t] += t + 1

    agree(plain, a, np.zeros((5, 32)), schedule=f"{teams}; bind t thread.x")


def test_what_a_block_cannot_do() -> None:
    def deciding(a, b):
        for q in range(a.shape[0]):
            for _ in range(a[a[q]]):
                for t in range(32):
                    b[q, t] += 1

    def large(a):
        for q in range(a.shape[0]):
            s = np.empty(30000)
            for t in range(1000):
                s[t] = a[q, t]
            for t in range(1000):
                a[q, t] = s[999 - t] + 1

    refused(deciding, np.arange(4), np.zeros((4, 32)), schedule="bind q block.x; bind t thread.x",
            why="the number of barriers of a block depends on data")  # fmt: skip
    refused(large, RANDOM.random((2, 1000)), schedule=REVERSE,
            why="'s' does not fit into the shared memory of a block")  # fmt: skip


def test_more_shared_memory_than_a_text_can_declare_is_asked_for() -> None:
    def turned(a, b):
        for q in range(a.shape[0]):
            s = np.empty(7000)
            c = np.empty(7000, np.int32)
            for t in range(7000):
                s[t] = a[q, t]
                c[t] = t
            for t in range(7000):
                b[q, t] = s[6999 - t] + c[6999 - t]

    schedule = "bind q block.x; bind t thread.x 256; bind t.2 thread.x 256"
    text = device_text(agree(turned, RANDOM.random((3, 7000)), np.zeros((3, 7000)), schedule=schedule))
    assert "LW_SHARED_AT(double, s_, 7000, 0);" in text and "LW_SHARED_AT(int32_t, c_, 7000, 56000);" in text


# ---- text -----------------------------------------------------------------------------------------------------------

SHARED = """
kernel shared(a: float64[2] C, b: float64[2] C):
    for q in 0 .. size(a, 0):
        allocate s: float64[{size}]{fill}
        for t in 0 .. {size}:
            s[t] = a[q, t]
        for u in 0 .. {size}:
            b[q, u] = s[{size} - 1 - u]
"""
IN_SHARED = "bind q block.x; bind t thread.x{0}; bind u thread.x{0}"


def shared(size: int = 32, fill: str = "", threads: str = "") -> str:
    return grid_text(SHARED.format(size=size, fill=fill), IN_SHARED.format(threads))


def test_arrays_of_a_block_are_shared_and_those_of_a_thread_its_own() -> None:
    assert "LW_SHARED(double, s_, 32)" in shared() and shared().count(BARRIER) == 1
    own = """
kernel own(a: float64[2] C):
    for q in 0 .. size(a, 0):
        for t in 0 .. 32:
            allocate s: float64[4] = 1.0
            a[q, t] = s[t % 4]
"""
    text = grid_text(own, "bind q block.x; bind t thread.x")
    assert "double s_[4]" in text and "LW_SHARED" not in text and BARRIER not in text


def test_threads_share_a_loop_of_more_iterations() -> None:
    assert "t_ += 32" in shared(100, threads=" 32") and "if (" not in shared(100, threads=" 32").split("__global__")[0]
    assert "t_ +=" not in shared(32)  # one iteration for each


def test_a_filled_array_is_filled_by_all_threads_before_anybody_reads() -> None:
    text = shared(64, " = 0.0", " 32")
    assert text.count(BARRIER) == 2  # behind the zeros, and behind what is written over them
    assert text.index("s_[lw_i] = 0.0") < text.index(BARRIER) < text.index("s_[t_] = ")


def test_a_block_of_one_thread_waits_for_nobody() -> None:
    assert BARRIER not in grid_text(SHARED.format(size=32, fill=""), "bind q block.x")


def test_scalars_of_all_threads_and_elements_that_one_of_them_writes() -> None:
    """What is before each element, in order, between loops that threads share; under a condition, each statement for
    itself, as the second one writes what the first one has read."""

    def before_each(a, b):
        for q in range(a.shape[0]):
            s = np.empty(64)
            e = np.empty(64)
            for t in range(64):
                s[t] = 2.0 * a[q, t]
            so_far = 1.0
            for m in range(64):
                e[m] = so_far
                so_far = so_far * 0.5 + s[m]
            if so_far > 1.0:
                last = e[0]
                for m in range(3):
                    e[m] = last
                    last = last + so_far
            for t in range(64):
                b[q, t] = e[t] + so_far

    found = agree(before_each, RANDOM.random((3, 64)), np.zeros((3, 64)),
                  schedule="bind q block.x; bind t thread.x; bind t.2 thread.x")  # fmt: skip
    assert barriers(found) == 4

"""Bytes between multiprocessors and the second cache, counted by hand in sectors of 32 bytes for each warp."""

from __future__ import annotations

from typing import cast

import pytest

from loopwright.analysis.coalescing import KnownSizes
from loopwright.analysis.frequency import frequencies
from loopwright.cost.gpu_bytes import bytes_moved
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel

HEAD = "kernel k(a: float32[2] strided, b: float32[1] C, p: int64[1] C, n: int64):\n"
N = 1024
"""Iterations of the grid: 32 warps."""
WARPS = N // 32


def moved(body: str, threads: int = 32, n: int = N, strides: tuple[int, int] = (4 * N, 4), declared: str = "") -> float:
    """Of blocks of so many threads over x; `body` is what a thread does, `i` its iteration."""
    grid = "    for i.o in 0 .. n step {0} block.x:\n        for i in i.o .. i.o + {0} thread.x:\n"
    inside = "".join(f"            {line}\n" for line in body.split("\n"))
    kernel = parse_kernel(HEAD + grid.format(threads) + inside)
    nest = cast(For, kernel.body[0])
    shape = KnownSizes({"s0_0": N, "s0_1": N, "s1_0": 4 * N, "s2_0": 4 * N, "v3": n}, {0: strides, 1: (4,), 2: (8,)})
    found = frequencies(kernel, shape.sizes)
    return bytes_moved(kernel, nest, nest.body, (threads, 1, 1), found, shape, frozenset(declared.split()))


@pytest.mark.parametrize(
    ("body", "sectors"),
    [
        ("b[i] = 1.0f32", 4),  # 32 neighbours of four bytes
        ("b[i + 1] = 1.0f32", 5),  # not where a sector begins
        ("b[2 * i] = 1.0f32", 8),
        ("b[7] = 1.0f32", 1),  # all the same one
        ("a[i, 0] = 1.0f32", 32),  # a row each
        ("a[0, i] = 1.0f32", 4),
        ("p[i] = 1", 8),  # wider elements
        ("b[p[i]] = 1.0f32", 8 + 32),  # data decides: a sector each
    ],
)
def test_sectors_of_a_warp(body: str, sectors: int) -> None:
    assert moved(body) == pytest.approx(WARPS * sectors * CUDA.sector)


def test_a_block_of_several_warps_is_as_many() -> None:
    assert moved("b[i] = 1.0f32", 128) == moved("b[i] = 1.0f32", 32)


def test_nothing_runs() -> None:
    assert moved("b[i] = 1.0f32", n=0) == 0


def test_reads_and_writes_count_each() -> None:
    assert moved("b[i] = b[i] + 1.0f32") == pytest.approx(2 * moved("b[i] = 1.0f32"))


def test_neighbours_of_a_stencil_count_once() -> None:
    three = moved("a[0, i] = b[i] + b[i + 1] + b[i + 8]")
    assert three == pytest.approx(WARPS * (4 + 5) * CUDA.sector)  # the widest of them, and what is written
    assert moved("a[0, i] = b[i] + b[2 * i]") == pytest.approx(WARPS * (4 + 4 + 8) * CUDA.sector)


def test_what_a_thread_reads_again_counts_once() -> None:
    loop = "for k in 0 .. 10:\n    b[i] = b[i] + a[{}]"
    once = 2 * 4  # b, read and written
    assert moved(loop.format("0, i")) == pytest.approx(WARPS * (once + 4) * CUDA.sector)
    assert moved(loop.format("k, i")) == pytest.approx(WARPS * (once + 10 * 4) * CUDA.sector)


def test_strides_of_the_call_count() -> None:
    assert moved("a[0, i] = 1.0f32", strides=(4, 4 * N)) == pytest.approx(WARPS * 32 * CUDA.sector)
    assert moved("a[i, 0] = 1.0f32", strides=(4, 4 * N)) == pytest.approx(WARPS * 4 * CUDA.sector)


def test_shared_memory_and_registers_move_nothing() -> None:
    body = "allocate t: float32[32]\nt[i - i.o] = b[i]\na[0, i] = t[i - i.o]"
    assert moved(body, declared="t_") == pytest.approx(WARPS * (4 + 4) * CUDA.sector)


def test_a_branch_that_the_first_block_does_not_take() -> None:
    body = "if i.o > 0:\n    b[i] = 1.0f32"
    assert moved(body) == pytest.approx((WARPS - 1) * 4 * CUDA.sector)


def test_threads_that_do_not_take_part() -> None:
    """Half of each warp: half of the sectors, and as many warps."""
    body = "if i - i.o < 16:\n    b[i] = 1.0f32"
    assert moved(body) == pytest.approx(WARPS * 2 * CUDA.sector)

"""Another GPU: what the recipe chooses, steps refuse, texts say and costs count, all by the one `GpuTarget`; and that
results on the emulated device stay right."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree
from codegen.scheduled import grid_text
from loopwright.analysis.analyse import analyse
from loopwright.analysis.coalescing import _conflicts, _sectors
from loopwright.codegen.gpu import generate_gpu
from loopwright.cost.occupancy import occupancy
from loopwright.devices.limits import Limits
from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.text import parse_kernel
from loopwright.steps.balance import Balance
from loopwright.steps.bind import Bind
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.stage import Stage
from loopwright.steps.step import Rejection, Step

SMALL = GpuTarget(threads=256, threads_along=(256, 256, 16), shared_bytes=16 * 1024, copies=())
HALVES = replace(CUDA, warp=16)

RANDOM = np.random.default_rng(5)


def small(*shape: int) -> Any:
    return RANDOM.integers(-9, 10, shape).astype("float64")


# ---- the recipe, and what runs ----------------------------------------------------------------------------------


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i - 1, j] + a[i, j + 1]


def transposition(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[j, i]


def columns(a, b):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        b[j] = s


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def histogram(keys, bins):
    for i in range(keys.shape[0]):
        bins[keys[i]] += 1.0


def rows(start, values, out):
    for i in range(out.shape[0]):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += values[k]
        out[i] = s


def triangle(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] += 1.0


STARTS = np.array([0, 3, 3, 700, 701, 1500], np.int64)
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "product": (product, (small(70, 18), small(18, 66), small(70, 66))),
    "stencil": (stencil, (small(40, 300), small(40, 300))),
    "transposition": (transposition, (small(70, 70), small(70, 70))),
    "columns": (columns, (small(90, 50), small(50))),
    "total": (total, (small(3000),)),
    "histogram": (histogram, (RANDOM.integers(0, 7, 40000), small(7))),
    "rows": (rows, (STARTS, small(1500), small(5))),
    "triangle": (triangle, (small(60, 60),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_blocks_fit_a_smaller_gpu_and_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Limits, "target", SMALL)
    function, arguments = CALLS[name]
    found = agree(function, *arguments, strict=False)
    assert found.facts.gpu is SMALL
    for one in found.program.device.functions:
        sizes = {"double": 8, "float": 4, "int64_t": 8, "int32_t": 4, "uint16_t": 2}
        assert one.threads <= SMALL.threads
        assert sum(sizes[array.type] * array.count for array in one.shared) <= SMALL.shared_bytes
    assert any(one.threads > 1 for one in found.program.device.functions)
    assert "lw_arrive" not in found.program.device.text


def shared_of(name: str, dtype: str, gpu: GpuTarget, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Threads of a block and bytes of its shared memory, in the version for long sides of a call that gives the right
    results."""
    monkeypatch.setattr(Limits, "target", gpu)
    function, arguments = CALLS[name]
    grid = agree(function, *(one.astype(dtype) for one in arguments), strict=False).program.device.functions[0]
    return grid.threads, sum(np.dtype(dtype).itemsize * one.count for one in grid.shared)


@pytest.mark.parametrize(
    ("dtype", "kilobytes", "threads", "tile"),
    [
        ("float32", 48, 128, 2 * 16 * (128 + 4 + 128 + 4)),
        ("float32", 32, 128, 16 * (128 + 4 + 128 + 4)),
        ("float32", 16, 128, 8 * (128 + 4 + 128 + 4)),
        ("float32", 8, 128, 8 * (128 + 4 + 64 + 4)),
        ("float64", 48, 64, 2 * 16 * (64 + 4 + 64 + 4)),
        ("float64", 32, 64, 2 * 8 * (64 + 4 + 64 + 4)),
        ("float64", 16, 64, 8 * (64 + 4 + 64 + 4)),
    ],
)
def test_tiles_of_a_product_are_the_largest_that_fit(
    dtype: str, kilobytes: int, threads: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = replace(CUDA, shared_bytes=kilobytes * 1024)
    assert shared_of("product", dtype, gpu, monkeypatch) == (threads, tile * np.dtype(dtype).itemsize)


def test_tiles_of_float64_without_matrix_units(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = replace(CUDA, matrix_units=False)
    assert shared_of("product", "float64", gpu, monkeypatch) == (128, 8 * 2 * 8 * (128 + 1 + 64 + 2))


def test_a_block_of_a_product_has_as_many_threads_as_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, used = shared_of("product", "float32", replace(CUDA, threads=64), monkeypatch)
    assert threads == 64 and used == 4 * 2 * 16 * (128 + 4 + 64 + 4)


@pytest.mark.parametrize(("kilobytes", "tile"), [(48, (32, 64)), (16, (32, 32)), (8, (16, 32))])
def test_turned_tiles_are_the_largest_that_fit(
    kilobytes: int, tile: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = replace(CUDA, shared_bytes=kilobytes * 1024, threads=128)
    assert shared_of("transposition", "float64", gpu, monkeypatch) == (128, 8 * tile[0] * (tile[1] + 1))


@pytest.mark.parametrize("name", ["product", "columns", "histogram"])
def test_the_same_calls_want_more_of_a_usual_gpu(name: str) -> None:
    function, arguments = CALLS[name]
    device = agree(function, *arguments, strict=False).program.device
    assert any(one.threads > SMALL.threads for one in device.functions) or "lw_arrive" in device.text


# ---- steps ------------------------------------------------------------------------------------------------------

ADD = "kernel add(a: float64[1] C, n: int64):\n    for i in 0 .. n:\n        a[i] = a[i] + 1.0\n"
COUNT = """
kernel count(a: int64[1] C, b: float64[1] C, n: int64):
    for i in 0 .. n:
        b[a[i]] = b[a[i]] + 1.0
"""
CSR = """
kernel csr(start: int64[1] C, v: float64[1] C, y: float64[1] C):
    var s: float64
    for i in 0 .. size(y, 0):
        s = 0.0
        for k in start[i] .. start[i + 1]:
            s = s + v[k]
        y[i] = s
"""
TILES = """
kernel tiles(c: float64[2] C, d: float64[2] C, n: int64):
    for q in 0 .. n step 4:
        for i in 0 .. n:
            for k in q .. q + 4:
                for j in 0 .. 8:
                    c[i, j] = c[i, j] + d[k, j]
"""


def refusal(text: str, step: Step, gpu: GpuTarget) -> str:
    kernel = parse_kernel(text)
    found = step.illegal(kernel, replace(analyse(kernel), gpu=gpu), False)
    assert found is None or isinstance(found, Rejection)
    return "" if found is None else found.reason


@pytest.mark.parametrize(
    ("text", "step", "gpu", "reason"),
    [
        (ADD, Bind("i", "thread.x", 257), SMALL, "a block has at most 256 threads along x"),
        (ADD, Bind("i", "thread.z", 17), SMALL, "a block has at most 16 threads along z"),
        (COUNT, Bind("i", "block.x"), replace(CUDA, atomics=frozenset()),
         "its iterations all add to 'b', and a GPU has no atomic 'add' of float64"),
        (CSR, Balance("i", "k", 2048, 512), SMALL,
         "a block has whole warps of 32 threads, 256 threads at most: not 512"),
        (CSR, Balance("i", "k", 2048), SMALL,
         "a block would need 22624 bytes of shared memory for 2048 entries: 16384 are the most"),
        (CSR, Balance("i", "k", 1024, 1024), replace(CUDA, shared_bytes=20495),
         "a block would need 20496 bytes of shared memory for the rows of 1024 threads: 20495 are the most"),
        (CSR, Balance("i", "k", 2048, 160), replace(CUDA, warp=64),
         "a block has whole warps of 64 threads, 1024 threads at most: not 160"),
        (TILES, Stage("d", "i", 32, 16), SMALL, "a block has at most 256 threads in all, not 32 x 16"),
        (TILES, Stage("d", "i", 257), SMALL, "a block has at most 256 threads along x"),
        (TILES, Stage("d", "i", 8, double=True), SMALL,
         "this GPU copies nothing to shared memory while its threads do something else"),
        (TILES, Stage("d", "i", 2, wide=2), replace(CUDA, widest=8),
         "2 elements of 8 bytes are not copied at once: (4, 8) bytes are"),
    ],
)  # fmt: skip
def test_a_step_that_only_a_usual_gpu_allows(text: str, step: Step, gpu: GpuTarget, reason: str) -> None:
    assert refusal(text, step, gpu) == reason
    if gpu.warp == CUDA.warp:
        assert refusal(text, step, CUDA) == ""


# ---- texts ------------------------------------------------------------------------------------------------------

COPY = """
kernel copy(a: float32[1] C, b: float32[1] C, n: int64):
    for i in 0 .. n:
        a[i] = b[i]
"""
SUM = """
kernel sum(a: float64[1] C, b: float64[1] C, n: int64):
    var s: float64
    s = 0.0
    for i in 0 .. n:
        s = s + a[i]
    b[0] = s
"""


def text_for(gpu: GpuTarget, text: str, steps: str) -> str:
    kernel = parse_kernel(text)
    after, facts = apply_schedule(kernel, replace(analyse(kernel), gpu=gpu), parse_schedule(steps), False)
    assert facts.gpu is gpu
    device = generate_gpu(after, facts, False).device
    assert device is not None
    return re.sub(r"\s+", " ", device.text)


@pytest.mark.parametrize("warp", [8, 16, 32])
def test_partial_results_are_put_together_by_whole_warps(warp: int) -> None:
    text = text_for(replace(CUDA, warp=warp), SUM, "bind i thread.x 64")
    assert [int(one) for one in re.findall(rf"__shfl_xor_sync\({hex((1 << warp) - 1)}u, \w+, (\d+)\)", text)] == [
        1 << power for power in reversed(range(warp.bit_length() - 1))
    ]
    assert f"LW_SHARED(double, lw_parts, {64 // warp});" in text


def test_a_scan_over_rows_goes_over_warps() -> None:
    text = text_for(HALVES, CSR, "balance i k 1024 64")
    assert "lw_lane = threadIdx.x % 16, lw_warp = threadIdx.x / 16" in text
    assert "__shfl_up_sync(0xffffu" in text and "0xffffffffu" not in text
    assert "lw_lane == 15" in text


@pytest.mark.parametrize(("kilobytes", "rows"), [(48, 1024), (20, 768), (16, 768), (12, 512), (6, 256)])
def test_blocks_look_at_as_many_rows_as_fit(kilobytes: int, rows: int) -> None:
    text = text_for(replace(CUDA, shared_bytes=kilobytes * 1024), CSR, "balance i k 256 256")
    assert f"LW_SHARED(int32_t, lw_long, {rows + 1}); LW_SHARED(int64_t, lw_ranges, {2 * rows});" in text


def test_narrow_accesses() -> None:
    steps = "split i 64; specialize i full; split i 4; bind i.o block.x; bind i.o.1 thread.x; vectorize i"
    wide, narrow, narrowest = (text_for(replace(CUDA, widest=size), COPY, steps) for size in (16, 8, 4))
    assert "<4>" in wide and "<2>" not in wide
    assert "<2>" in narrow and "<4>" not in narrow
    assert "<2>" not in narrowest and "<4>" not in narrowest


def test_a_block_updates_copies_that_fit() -> None:
    steps = "split i 8192; bind i.o block.x; bind i thread.x 256"
    assert "LW_SHARED(double, lw_copy, 4096);" in text_for(CUDA, COUNT, steps)
    assert "LW_SHARED(double, lw_copy, 1365);" in text_for(SMALL, COUNT, steps)


def test_a_default_is_the_usual_gpu() -> None:
    assert grid_text(SUM, "bind i thread.x 64") == text_for(CUDA, SUM, "bind i thread.x 64")


# ---- costs, and devices -----------------------------------------------------------------------------------------


def test_what_a_warp_touches() -> None:
    starts = [64 * lane for lane in range(32)]
    assert _sectors(starts, 8, 8, CUDA.sector) == (32, 8)
    assert _sectors(starts, 8, 8, 128) == (16, 2)
    assert _conflicts(starts, 4, CUDA) == 16
    assert _conflicts(starts, 4, replace(CUDA, banks=64)) == 8


def test_the_target_of_a_device() -> None:
    limits = Limits((9, 0), 132, 1 << 30)
    assert limits.target == replace(CUDA, asked_shared_bytes=227 * 1024)
    assert (CUDA.most_shared_bytes, limits.target.most_shared_bytes) == (48 * 1024, 227 * 1024)
    other = Limits(
        (7, 5), 40, 1 << 30, threads_per_block=512, shared_per_block=32768, shared_per_block_most=65536,
        registers=32768, warp=16,
    )  # fmt: skip
    assert other.target == GpuTarget(
        16, 512, registers=32768, shared_bytes=32768, asked_shared_bytes=65536, copies=(), matrix_units=False
    )


def test_registers_are_given_out_in_units(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits((9, 0), 132, 1 << 30)
    assert occupancy(256, 33, 0, limits).blocks == 6
    monkeypatch.setattr(Limits, "target", GpuTarget(register_unit=2048))
    assert occupancy(256, 33, 0, limits).blocks == 4

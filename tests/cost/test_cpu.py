"""Metrics of CPU variants: good and bad schedules of a product, a stencil over time and a potential come apart, in the
order that everybody expects. Nothing is run or compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from cost.variants import floats, made, potential, product, smooth, stencil
from loopwright.analysis.analyse import analyse
from loopwright.cost.cpu import cpu_metrics
from loopwright.cost.cpu_cycles import START_CYCLES
from loopwright.cost.prune import prune
from loopwright.ir.text import parse_kernel
from loopwright.recipe.target import CpuTarget

TARGET = CpuTarget(vector_bytes=32, registers=16, l1_bytes=32 << 10, l2_bytes=1 << 20, l3_bytes=32 << 20)
N = 1024
SQUARE = (floats(N, N), floats(N, N), floats(N, N))
BLOCKED = (
    "reorder k j; reorder k i j; tile k 256 i {rows} j {columns}; reorder k.o j.o i.o; specialize i j full; "
    "promote c k; parallelize j.o; vectorize j.r; vectorize j; vectorize j.w; vectorize j.1"
)


def cycles(
    function: Callable[..., object], arguments: tuple[Any, ...], schedule: str, threads: int = 2
) -> tuple[float, float]:
    """To compute, and to move data."""
    one = made(function, arguments, schedule, device="cpu")
    found = cpu_metrics(one.kernel, one.facts, TARGET, threads, one.shape.sizes)
    assert found.names == ("throughput", "locality")
    return 1 / found.values[0], 1 / found.values[1]


def test_a_product() -> None:
    written = cycles(product, SQUARE, "parallelize i")
    rows = cycles(product, SQUARE, "reorder i k j; parallelize i; vectorize j")
    blocked = cycles(product, SQUARE, BLOCKED.format(rows=4, columns=16))
    # A sum that waits for itself, against lanes, against lanes in register blocks.
    assert written[0] > 8 * rows[0]
    assert rows[0] > 1.3 * blocked[0]
    # Columns of b, against rows of it for each row of a, against blocks that stay.
    assert written[1] > 2 * rows[1] > 4 * blocked[1]
    # Two multiplications with eight lanes each per cycle are the most there is.
    assert blocked[0] >= N**3 / 2 / 16


def test_register_blocks_that_do_not_fit() -> None:
    fits, spills = (cycles(product, SQUARE, BLOCKED.format(rows=rows, columns=16))[0] for rows in (4, 16))
    narrow = cycles(product, SQUARE, BLOCKED.format(rows=2, columns=8))[0]
    assert spills > 1.3 * fits
    assert narrow > 1.3 * fits


def test_a_tile_beyond_the_cache() -> None:
    schedule = "tile i {0} j {0} k {0}; reorder i.o j.o k.o i k j; parallelize i.o; vectorize j"
    tiny, good, none = (cycles(product, SQUARE, schedule.format(size)) for size in (4, 64, 1024))
    assert good[1] < tiny[1] / 3
    assert good[1] < none[1] / 3
    assert tiny[0] > 2 * good[0]  # lanes that are not filled, ends of loops


def test_tiles_over_time() -> None:
    arguments = (50, floats(2000, 2000, dtype="float64"), floats(2000, 2000, dtype="float64"))
    sweeps = cycles(smooth, arguments, "parallelize i; vectorize j; parallelize i.2; vectorize j.2")
    columns = cycles(smooth, arguments, "parallelize j; parallelize j.2")
    tiled = cycles(
        smooth, arguments, "reschedule smart tile 16 32 wavefront; parallelize i.o; vectorize j; vectorize j.2"
    )
    assert tiled[1] < 0.7 * sweeps[1] < 0.7 * columns[1]
    assert tiled[0] < 2 * sweeps[0]
    assert columns[0] > 3 * sweeps[0]


def test_a_potential() -> None:
    arguments = (floats(500), floats(500), floats(500), floats(300, 300))
    written = cycles(potential, arguments, "parallelize i")
    lanes = cycles(potential, arguments, "reorder i k j; parallelize i; vectorize j")
    outer = cycles(potential, arguments, "reorder k i j; parallelize i; vectorize j")
    assert written[0] > 3 * lanes[0]
    assert outer[0] > lanes[0]  # threads start anew for each point
    assert outer[1] > 3 * lanes[1]  # the grid goes by for each point


@pytest.mark.parametrize(("threads", "rounds"), [(1, 12), (2, 6), (5, 3), (8, 2), (12, 1), (100, 1)])
def test_threads_share_whole_iterations(threads: int, rounds: int) -> None:
    arguments = (floats(14, 100_002), floats(14, 100_002))
    one = cycles(stencil, arguments, "parallelize i; vectorize j", threads=1)[0]
    some = cycles(stencil, arguments, "parallelize i; vectorize j", threads=threads)[0]
    starts = START_CYCLES if threads > 1 else 0
    assert some == pytest.approx(one * rounds / 12 + starts, rel=1e-3)


def test_starting_threads_costs() -> None:
    arguments = (floats(1000, 1000), floats(1000, 1000))
    outer, inner = (cycles(stencil, arguments, f"parallelize {loop}")[0] for loop in ("i", "j"))
    assert inner > 2 * outer


def test_the_good_ones_are_kept() -> None:
    schedules = {
        "written": "parallelize i",
        "rows": "reorder i k j; parallelize i; vectorize j",
        "columns": "reorder j k i; parallelize j",
        "blocked": BLOCKED.format(rows=4, columns=16),
        "spilling": BLOCKED.format(rows=32, columns=32),
    }
    candidates = {}
    for name, schedule in schedules.items():
        one = made(product, SQUARE, schedule, device="cpu")
        candidates[name] = cpu_metrics(one.kernel, one.facts, TARGET, 2, one.shape.sizes)
    found = prune(candidates)
    assert "blocked" in found.measure
    assert {"written", "columns"} <= set(found.dropped)
    assert "its throughput" in found.dropped["written"]


def test_what_only_data_tells_is_said() -> None:
    text = """
kernel spmv(p: int64[1] C, c: int64[1] C, v: float64[1] C, x: float64[1] C, y: float64[1] C):
    for i in 0 .. size(y, 0):
        for k in p[i] .. p[i + 1]:
            y[i] = y[i] + v[k] * x[c[k]]
"""
    kernel = parse_kernel(text.strip("\n") + "\n")
    found = cpu_metrics(kernel, analyse(kernel), TARGET, 2, {f"s{k}_0": 1000 for k in range(5)})
    assert all(0 < value < math.inf for value in found.values)
    assert found.notes == ("only data tells how often 'k' runs, or which way it goes",)


def test_nothing_to_do_and_huge() -> None:
    one = made(product, SQUARE, "parallelize i", device="cpu")
    nothing = cpu_metrics(one.kernel, one.facts, TARGET, 2, dict.fromkeys(one.shape.sizes, 0))
    assert all(value > 0 for value in nothing.values)
    huge = cpu_metrics(one.kernel, one.facts, TARGET, 2, dict.fromkeys(one.shape.sizes, 10**9))
    assert 0 < huge.values[0] < 1e-20
    unknown = cpu_metrics(one.kernel, one.facts, TARGET, 2, {})
    assert unknown.notes

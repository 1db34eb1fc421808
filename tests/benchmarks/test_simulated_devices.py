"""Loops on GPUs in virtual time: what moves is what calls on emulated GPUs move, nothing is lost or done twice, and
times obey what is known of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.many_cases import MANY_CASES, ManyCase, length_of, random
from benchmarks.simulated_calls import Calls, CompiledLoop, SimulatedLoop, hollow, hollow_arguments
from benchmarks.virtual_gpus import Machine, Occupied, Rates, together

import loopwright as lw
from benchmarks import many_cases, many_devices, simulated_devices
from loopwright.errors import DeviceMemoryError

CASES = {case.name: case for case in MANY_CASES}
RATES = Rates()


@lw.kernel
def triangle(a, b):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            b[i, j] = 2.0 * a[i, j]


@pytest.fixture(scope="module")
def sums() -> CompiledLoop:
    return CompiledLoop.of(CASES["sums of rows"], RATES)


@pytest.fixture(scope="module")
def jacobi() -> CompiledLoop:
    return CompiledLoop.of(CASES["jacobi-2d"], RATES)


def rows(loop: CompiledLoop, count: int, scale: float, resident: bool = True) -> Calls:
    return Calls(SimulatedLoop(loop, hollow_arguments(CASES["sums of rows"], scale), count, resident))


# ---- against the product on devices that compute -------------------------------------------------------------------


def test_what_moves_is_what_emulated_gpus_move(jacobi: CompiledLoop) -> None:
    case, n = CASES["jacobi-2d"], 50
    given = 2, n, np.ones((n, n)), np.ones((n, n))
    plan = "1:25 on emulated: recipe\n25:49 on emulated1: recipe"
    names = {"emulated": "gpu0", "emulated1": "gpu1", "cpu": "cpu"}
    for resident in (True, False):
        case.kernel._dispatch.learn_anew()
        with lw.options(devices="emulated:0, emulated:1", plan=plan):
            pieces = [lw.distributed_array(one) if isinstance(one, np.ndarray) and resident else one for one in given]
            for _ in range(2):
                case.kernel(*pieces)
        told = many_devices.last(case.kernel)
        found = Calls(SimulatedLoop(jacobi, given, 2, resident)).even
        expected = {(names[m["from"]], names[m["to"]]): (m["bytes"], m["copies"]) for m in told["moved"]}
        assert found.moved == expected and expected
        assert list(found.done) == [one["iterations"] for one in told["devices"]]


@pytest.mark.parametrize("name", ["jacobi-2d", "SpMV", "histograms of rows", "PolyBench gemm"])
def test_hollow_arguments_are_shaped_as_real_ones(name: str) -> None:
    case = CASES[name]
    for mine, real in zip(hollow_arguments(case, 0.005), case.arguments(0.005), strict=True):
        if isinstance(real, np.ndarray):
            assert (mine.shape, mine.dtype) == (real.shape, real.dtype)
        else:
            assert mine == real


def test_axes_that_follow_no_such_law_are_refused() -> None:
    case = ManyCase("squares", None, lambda scale: (np.zeros(many_cases._length(scale, 100) ** 2),))
    with pytest.raises(ValueError, match="squares: its axes"):
        hollow_arguments(case, 1.0)


# ---- conservation and closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 16])
def test_neighbours_exchange_two_rows_in_each_sweep(jacobi: CompiledLoop, count: int) -> None:
    _, n, *arrays = hollow_arguments(CASES["jacobi-2d"], 1.0)
    found = Calls(SimulatedLoop(jacobi, (1, n, *arrays), count, True)).even
    assert sum(size for size, _ in found.moved.values()) == 2 * 2 * (count - 1) * (n - 2) * 8
    assert all(abs(int(a[3:]) - int(b[3:])) == 1 for a, b in found.moved)
    assert sum(found.done) == 2 * (n - 2)


def test_all_that_is_on_the_host_crosses_the_bus_once(sums: CompiledLoop) -> None:
    for count in (1, 3, 8):
        found = rows(sums, count, 1.0, resident=False).even
        there = sum(size for (source, _), (size, _) in found.moved.items() if source == "cpu")
        assert there == 4096 * (1 << 20) * 4
        assert sum(size for (_, target), (size, _) in found.moved.items() if target == "cpu") == 4096 * 8
        assert sum(found.done) == 4096


def test_parts_are_as_much_work_as_the_whole() -> None:
    n = 600
    case = ManyCase("triangle", triangle, lambda scale: (np.zeros((n, n)), np.zeros((n, n))))
    loop = CompiledLoop.of(case, RATES)
    (region,) = loop.work
    given = case.arguments(1.0)
    whole = region.of((*given, 0, n))
    parts = [region.of((*given, first, first + n // 3)) for first in range(0, n, n // 3)]
    assert whole.float64 == n * (n + 1) / 2 == sum(part.float64 for part in parts)
    assert parts[0].float64 < parts[1].float64 < parts[2].float64
    assert whole.bytes >= 2 * 8 * n * (n + 1) / 2 and parts[0].bytes < parts[2].bytes


# ---- times ---------------------------------------------------------------------------------------------------------


def test_a_call_is_as_long_as_what_is_stated(sums: CompiledLoop) -> None:
    """One GPU: the bytes at the memory's rate, or those of the host at that of the bus, and what begins them."""
    size = 4096 * (1 << 20) * 4 + 4096 * 8
    loop = SimulatedLoop(sums, hollow_arguments(CASES["sums of rows"], 1.0), 1, True)
    fixed = RATES.launch_us + RATES.call_us
    assert loop.alone().total_ns == pytest.approx(1e9 * size / RATES.memory + 1e3 * fixed, rel=1e-9)
    from_host = rows(sums, 1, 1.0, resident=False).even.total_ns
    assert 1e9 * size / RATES.from_host < from_host < 1.1e9 * size / RATES.from_host


def test_one_gpu_gets_arrays_of_the_host_before_all_regions(jacobi: CompiledLoop) -> None:
    given = hollow_arguments(CASES["jacobi-2d"], 1.0)
    there, from_host = (SimulatedLoop(jacobi, given, 1, resident).on_one() for resident in (True, False))
    size = 2 * 16384 * 16384 * 8
    assert from_host.moved == {("cpu", "gpu0"): (size, 2), ("gpu0", "cpu"): (size, 2)} and not there.moved
    copies_ns = 1e9 * 2 * size / RATES.from_host
    assert from_host.total_ns == pytest.approx(there.total_ns + copies_ns, rel=0.001)


def test_times_obey_the_rates(jacobi: CompiledLoop) -> None:
    def takes(**more: float) -> float:
        loop = SimulatedLoop(replace(jacobi, rates=replace(RATES, **more)), given, 4, True)
        return Calls(loop).even.total_ns

    given = 3, 256, np.zeros((256, 256)), np.zeros((256, 256))

    as_stated = takes()
    for slower in ({"memory": 1e10}, {"peer": 1e5}, {"copy_us": 400.0}, {"part_us": 700.0}, {"latency_us": 1e3}):
        assert takes(**slower) > as_stated, slower
    assert takes(gpus_per_host=2, between_hosts=1e5) > as_stated, "two of the four are in another host"
    assert takes(memory=2 * RATES.memory) <= as_stated


def test_more_gpus_compute_less_each_and_ask_more_of_the_host(sums: CompiledLoop) -> None:
    found = [rows(sums, count, 1.0).even for count in (2, 4, 8, 16)]
    for few, many in pairwise(found):
        assert many.computes_ns[0] <= few.computes_ns[0] and many.python_ns > few.python_ns
    assert found[2].total_ns < found[1].total_ns < found[0].total_ns
    few, many = (rows(sums, count, 1 / 8).even for count in (4, 16))
    assert few.total_ns < many.total_ns
    assert many.total_ns == pytest.approx(many.python_ns), "the host is the limit in the end"


@lw.kernel
def recurrences(a):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] += 0.5 * a[i, j - 1]


def test_few_threads_are_no_faster_on_many_gpus() -> None:
    """Of 4096 rows each thread has one: half as many threads of a GPU that is not full take as long."""
    case = ManyCase(
        "recurrences", recurrences, lambda scale: (random(length_of(scale, 4096), length_of(scale, 1 << 20)),)
    )
    loop = CompiledLoop.of(case, RATES)
    given = (hollow((4096, 1 << 20), np.float64),)
    (region,) = loop.work
    whole, half = (region.of((*given, 0, rows)) for rows in (4096, 2048))
    assert (whole.threads, half.threads) == (4096, 2048)
    assert half.takes_ns(RATES) == pytest.approx(whole.takes_ns(RATES), rel=0.01)


def test_auto_leaves_a_small_loop_to_one_gpu_and_shares_a_large_one(sums: CompiledLoop) -> None:
    assert rows(sums, 4, 1 / 64).served("auto").devices == 1
    assert rows(sums, 4, 1.0).served("auto").devices == 4
    assert rows(sums, 4, 1 / 64).served("split").devices == 4


# ---- the parts of it -----------------------------------------------------------------------------------------------


def test_what_does_one_thing_at_a_time() -> None:
    one = Occupied()
    assert [one.take(at, 10.0) for at in (0.0, 0.0, 40.0, 5.0, 5.0, 5.0)] == [0.0, 10.0, 40.0, 20.0, 30.0, 50.0]
    assert one.total_ns == 60.0


def test_time_that_two_share_counts_once() -> None:
    assert together([(5.0, 9.0), (0.0, 3.0), (2.0, 6.0), (20.0, 21.0)]) == 10.0
    assert together([]) == 0.0


def test_memory_has_an_end() -> None:
    (gpu,) = Machine(replace(RATES, memory_bytes=1000), 1).gpus
    first = gpu.allocate(600)
    with pytest.raises(DeviceMemoryError, match="no room"):
        gpu.allocate(600)
    gpu.release(first)
    assert gpu.allocate(600)


def test_where_more_are_not_worth_it() -> None:
    told = [(1, 100.0), (2, 55.0), (4, 53.0), (8, 20.0)]
    made = [{"case": "a", "scale": 1.0, "arrays": "host", "gpus": n, "ms": ms, "speed_up": 100 / ms} for n, ms in told]
    (found,) = simulated_devices.worth(made)
    assert (found["worth"], found["speed_up"], found["best"]) == (2, 100 / 55, 5.0)


def test_a_run_leaves_rows_and_pictures(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    found = simulated_devices.run(out, [1, 2], [1.0, 0.01], "sums of", beside=False)
    assert json.loads(out.read_text(encoding="utf-8")) == found
    told: list[dict[str, Any]] = found["rows"]
    assert [(row["scale"], row["arrays"], row["gpus"]) for row in told] == [
        (*case, count) for case in ((1.0, "resident"), (1.0, "host"), (0.01, "resident")) for count in (1, 2)
    ]
    assert all(row["speed_up"] > 0 and 0 <= row["imbalance"] <= 1 for row in told)
    assert found["rates"]["memory"] == RATES.memory
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    assert "sums of rows on 2: computes" in page
    assert simulated_devices.table(told).row_count == len(told)

"""Ranking tables: rows, interpolation, texts, and tables made from synthetic devices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loopwright.profile.line import Line
from loopwright.profile.ranking import (
    CpuRanking,
    CpuRow,
    GpuRanking,
    GpuRow,
    Sequential,
    measure_cpu_ranking,
    measure_gpu_ranking,
)
from loopwright.profile.stride import Failure

GPU = GpuRanking((GpuRow(10, Line(0.0, 4.0)), GpuRow(20, Line(0.001, 2.0)), GpuRow(40, Line(-0.01, 3.0))))
CPU = CpuRanking((CpuRow(1, ((1024, 1.0), (4096, 3.0))), CpuRow(4, ((1024, 0.25), (4096, 1.0)))))


def test_a_gpu_row_is_a_line_and_between_rows_it_is_linear() -> None:
    assert GPU.ns_per_iteration(20, 100) == pytest.approx(2.1)
    assert GPU.ns_per_iteration(15, 100) == pytest.approx(3.05)
    assert GPU.ns_per_iteration(1, 100) == 4.0 and GPU.ns_per_iteration(10**6, 100) == pytest.approx(2.0)
    assert GPU.ns_per_iteration(40, 1000) == 0.0
    assert GPU.covers(10) and GPU.covers(40) and not GPU.covers(9) and not GPU.covers(41)


def test_one_row_is_a_table() -> None:
    assert GpuRanking((GpuRow(7, Line(0.0, 2.0)),)).ns_per_iteration(100, 3) == 2.0


def test_a_cpu_table_is_linear_in_the_logarithm_of_the_working_set() -> None:
    assert CPU.ns_per_iteration(1, 2048) == pytest.approx(2.0)
    assert CPU.ns_per_iteration(1, 0) == 1.0 and CPU.ns_per_iteration(1, 10**9) == 3.0
    assert CPU.ns_per_iteration(2, 1024) == pytest.approx(0.75)
    assert CPU.ns_per_iteration(16, 4096) == 1.0


def test_texts_come_back() -> None:
    assert GpuRanking.parse(str(GPU)) == GPU
    assert CpuRanking.parse(str(CPU)) == CPU


@pytest.mark.parametrize("text", ["", str(CPU), str(GPU).replace("20", "10"), str(GPU).replace("[10", "[0")])
def test_what_is_no_gpu_table(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|ascend"):
        GpuRanking.parse(text)


@pytest.mark.parametrize("text", ["{}", str(GPU), str(CPU).replace("4096", "512"), str(CPU).replace("[1,", "[0,")])
def test_what_is_no_cpu_table(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|ascend"):
        CpuRanking.parse(text)


def test_a_gpu_table_is_measured_with_outliers_in_it() -> None:
    rng = np.random.default_rng(5)

    def truth(blocks: int, depth: float) -> float:
        return math.ceil(blocks / 32) * 32 / blocks * (0.05 + 1e-6 * depth)

    taken = []

    def measure(blocks: int, depth: int) -> float:
        taken.append(blocks)
        bad = 3.0 if rng.random() < 0.1 else 1.0
        return truth(blocks, depth) * bad * float(1 + 0.003 * rng.standard_normal())

    table = measure_gpu_ranking(measure, 4000, Sequential(256, 256, 10000))
    assert isinstance(table, GpuRanking) and len(set(taken)) < 400
    wrong = [abs(table.ns_per_iteration(b, d) / truth(b, d) - 1) for b in range(1, 4000, 7) for d in (512, 2000)]
    assert np.mean(wrong) < 0.03 and np.quantile(wrong, 0.98) < 0.1


def test_a_cpu_table_is_measured_and_failures_are_left_out() -> None:
    def measure(threads: int, size: int) -> float | Failure:
        return Failure("no memory") if size > 5000 else (1.0 if size <= 2048 else 2.0) / threads

    table = measure_cpu_ranking(measure, (2, 1, 2), 1024, 10000)
    assert table == CpuRanking(
        (CpuRow(1, ((1024, 1.0), (2048, 1.0), (4096, 2.0))), CpuRow(2, ((1024, 0.5), (2048, 0.5), (4096, 1.0))))
    )
    assert measure_cpu_ranking(lambda t, s: Failure("lost"), (1,), 1, 8) == Failure("lost")
    assert measure_cpu_ranking(measure, (), 1, 8) == Failure("no number of threads was given")


def test_a_gpu_that_fails_gives_its_first_failure() -> None:
    assert measure_gpu_ranking(lambda b, d: Failure("lost"), 10, Sequential(1, 1, 9)) == Failure("lost")

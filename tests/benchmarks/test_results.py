"""Ratios, means and the file they are kept in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.cases import all_cases
from benchmarks.machine import Machine
from benchmarks.results import OURS, PRANGE, WRONG, C, Cell, Overhead, Row, geometric_mean

from benchmarks import results

MACHINE = Machine("a processor", 2, "a system", False, {"python": "3"}, bandwidth=10e9, peak=100e9)


def row(ours: Cell, prange: Cell, reason: str = "") -> Row:
    return Row("gemm", "polybench", "MINI", 800, {OURS: ours, PRANGE: prange, C: timed(1.0)}, 0.5, reason=reason)


def timed(seconds: float) -> Cell:
    return Cell("", (seconds,), seconds, 0.0)


def test_a_ratio_above_one_means_that_we_are_faster() -> None:
    one = row(timed(2.0), timed(3.0))
    assert (one.ratio(), one.ratio(C), one.roofline, one.below_goal) == (1.5, 0.5, 0.25, False)


def test_a_wrong_result_has_neither_time_nor_ratio() -> None:
    ours_wrong = row(Cell(WRONG), timed(1.0))
    assert (ours_wrong.ratio(), ours_wrong.roofline, ours_wrong.below_goal) == (None, None, True)
    assert row(timed(1.0), Cell(WRONG)).ratio() is None
    assert row(timed(1.0), timed(0.5)).below_goal


def test_the_geometric_mean_leaves_out_what_is_not_there() -> None:
    assert geometric_mean([2.0, None, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([None]) is None


def test_the_roofline_takes_the_tighter_limit() -> None:
    assert MACHINE.bound_s(flops=100e9, bytes_min=1.0) == 1.0
    assert MACHINE.bound_s(flops=1.0, bytes_min=20e9) == 2.0


def test_the_file_holds_every_row(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.json"
    rows = [row(timed(2.0), timed(8.0)), row(Cell(WRONG), timed(1.0))]
    results.write(path, MACHINE, rows, Overhead(3.0, {OURS: 400.0}), {"size": "MINI"})
    kept = json.loads(path.read_text())
    assert kept["geometric_means"][PRANGE] == pytest.approx(4.0)
    assert kept["machine"]["cpu"] == "a processor" and kept["settings"] == {"size": "MINI"}
    assert [one["ratio"] for one in kept["kernels"]] == [4.0, None]
    assert kept["kernels"][1]["cells"][OURS]["fault"] == WRONG
    assert kept["overhead"]["call_ns"] == {OURS: 400.0}


def test_reasons_are_given_for_kernels_that_exist() -> None:
    assert set(results.reasons()) <= {case.name for case in all_cases()}
    assert all(isinstance(text, str) and text for text in results.reasons().values())

"""Whether a goal is met: over LARGE only, over its own suite only, and never by a kernel that failed."""

from __future__ import annotations

from benchmarks.goals import Verdict, verdicts
from benchmarks.results import BLAS, OPENMP, OURS, PLAIN, PLUTO, PRANGE, WRONG, Cell, Row

OTHERS = {"cold_s": 0.5, "cached_s": 0.03}


def timed(seconds: float) -> Cell:
    return Cell("", (seconds,), seconds, 0.0)


def row(name: str, suite: str = "polybench", size: str = "LARGE", **rivals: float) -> Row:
    names = {"prange": PRANGE, "pluto": PLUTO, "plain": PLAIN, "blas": BLAS, "openmp": OPENMP}
    cells = {OURS: timed(1.0)} | {names[key]: timed(seconds) for key, seconds in rivals.items()}
    return Row(name, suite, size, 8, cells, 0.1, **OTHERS)


def verdict(rows: list[Row], word: str) -> Verdict:
    (found,) = (one for one in verdicts(rows) if word in one.goal)
    return found


def test_the_means_are_of_polybench() -> None:
    rows = [row("gemm", prange=4.0), row("lu", prange=1.0), row("spmv", "sparse", prange=100.0)]
    assert verdict(rows, "mean: 2x numba prange") == Verdict(
        "PolyBench, geometric mean: 2x numba prange", "2.00x", True
    )
    assert verdict([row("lu", pluto=1.1)], PLUTO).met is False


def test_the_least_counts_where_each_must() -> None:
    rows = [row("gemm", blas=0.7), row("syrk", blas=0.5), row("trmm", blas=0.1)]
    assert verdict(rows, BLAS).reached == "at least 0.50x (syrk), 1 of 2 below"
    assert verdict(rows[:1], BLAS).met
    assert verdict([row("lu", plain=0.96), row("mvt", plain=0.94)], PLAIN).met is False
    assert verdict([row("heat-3d-beyond", "beyond cache", openmp=1.6)], OPENMP).met
    assert verdict([row("spmv", "sparse", prange=1.2)], "spmv").met is False


def test_a_wrong_result_of_ours_meets_nothing() -> None:
    wrong = row("gemm", prange=1.0, blas=1.0)
    wrong.cells[OURS] = Cell(WRONG)
    assert verdict([wrong], "mean: 2x numba prange").met is False
    assert verdict([wrong], BLAS).met is False


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    assert all(one == Verdict(one.goal, "", None) for one in verdicts([row("gemm", size="MEDIUM", prange=3.0)]))
    assert verdict([row("gemm", prange=3.0)], PLUTO).met is None


def test_the_slowest_first_call_counts() -> None:
    assert verdict([row("gemm")], "nothing cached").met
    assert verdict([row("gemm")], "from the cache").reached == "at most 0.030 s (gemm), 1 of 1 above"

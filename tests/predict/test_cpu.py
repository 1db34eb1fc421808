"""Pradelle's worked example on a CPU (Dollinger 2015, Figure 4.2)."""

from __future__ import annotations

import pytest

from loopwright.predict.cpu import loop_ns, static_shares
from loopwright.profile.ranking import CpuRanking, CpuRow

TIMES = (1.265918, 0.655208, 0.439858, 0.335243, 0.383580, 0.328795, 0.343022, 0.302826)
GEMM = CpuRanking(tuple(CpuRow(threads, ((1, ns),)) for threads, ns in enumerate(TIMES, 1)))


def test_the_worked_example() -> None:
    assert loop_ns([2048000] * 7 + [1664000], GEMM) == pytest.approx(4953262.848, abs=1e-3)


def test_the_order_of_threads_and_idle_threads_do_not_matter() -> None:
    assert loop_ns([0, 1664000, *[2048000] * 7, 0], GEMM) == pytest.approx(4953262.848, abs=1e-3)


def test_the_shares_of_the_worked_example() -> None:
    assert static_shares(125, 128000, 8) == (2048000.0,) * 7 + (1664000.0,)


def test_equal_shares_take_all_iterations_at_one_time_each() -> None:
    assert loop_ns([100.0] * 4, GEMM) == pytest.approx(400 * 0.335243)


def test_nothing_to_do() -> None:
    assert loop_ns([], GEMM) == loop_ns([0.0, 0.0], GEMM) == 0.0
    assert static_shares(0, 5.0, 3) == static_shares(-1, 5.0, 3) == (0.0, 0.0, 0.0)


def test_fewer_units_than_threads() -> None:
    assert static_shares(2, 3.0, 4) == (3.0, 3.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="one thread at least, not 0"):
        static_shares(2, 3.0, 0)

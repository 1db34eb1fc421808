"""Pradelle's worked example on a CPU (Dollinger 2015, Figure 4.2), and numbers of threads that were not measured."""

from __future__ import annotations

import math

import pytest

from loopwright.predict.cpu import Ranking, across_threads, loop_ns, static_shares
from loopwright.predict.prediction import Prediction
from loopwright.profile.measurement import Work

TIMES = (1.265918, 0.655208, 0.439858, 0.335243, 0.383580, 0.328795, 0.343022, 0.302826)
GEMM = Ranking(tuple(range(1, 9)), TIMES).at
UNITS = 125
WORK = Work(UNITS * 128000.0, UNITS)


def test_the_worked_example() -> None:
    assert loop_ns([2048000] * 7 + [1664000], GEMM) == pytest.approx(4953262.848, abs=1e-3)


def test_the_worked_example_by_its_shares() -> None:
    assert static_shares(UNITS, 128000, 8) == (2048000.0,) * 7 + (1664000.0,)
    assert loop_ns(static_shares(UNITS, 128000, 8), GEMM) == pytest.approx(4953262.848, abs=1e-3)


def test_the_order_of_threads_and_idle_threads_do_not_matter() -> None:
    assert loop_ns([0, 1664000, *[2048000] * 7, 0], GEMM) == pytest.approx(4953262.848, abs=1e-3)


def test_equal_shares_take_all_iterations_at_one_time_each() -> None:
    assert loop_ns([100.0] * 4, GEMM) == pytest.approx(400 * 0.335243)


def test_nothing_to_do() -> None:
    assert loop_ns([], GEMM) == loop_ns([0.0, 0.0], GEMM) == 0.0
    assert static_shares(0, 5.0, 3) == static_shares(-1, 5.0, 3) == (0.0, 0.0, 0.0)


def test_fewer_units_than_threads() -> None:
    assert static_shares(2, 3.0, 4) == (3.0, 3.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="one thread at least, not 0"):
        static_shares(2, 3.0, 0)


def shared(threads: int, alone_ns: float = 0.0, units: int = UNITS) -> float:
    """A call of which each unit takes 1000 ns, dealt out statically; alone_ns: what nobody shares."""
    return alone_ns + 1000.0 * math.ceil(units / threads)


def known(*threads: int, alone_ns: float = 0.0, error: float = 0.02) -> list[tuple[int, Prediction]]:
    return [(each, Prediction(shared(each, alone_ns), error, "measured")) for each in threads]


def test_the_table_of_a_loop_without_overhead_tells_any_number_of_threads() -> None:
    """Up to how the largest shares round: 125 units are 42 of 3 threads, 18 of 7, 14 of 9."""
    for threads in (2, 3, 5, 7):
        found = across_threads(known(1, 4, 8), threads, WORK)
        assert found.how == "interpolated" and found.time_ns == pytest.approx(shared(threads), rel=1e-9)
        assert found.error > 0.02


def test_what_is_not_shared_is_told_from_what_is() -> None:
    work = Work(1e6, 840)  # a multiple of 3, 5 and 7: no remainders here
    times = [(n, Prediction(50_000.0 + 840_000.0 / n, 0.01, "interpolated")) for n in (1, 4, 8)]
    for threads in (2, 3, 5, 7):
        assert across_threads(times, threads, work).time_ns == pytest.approx(50_000 + 840_000 / threads, rel=1e-9)


def test_the_bound_holds_between_and_outside() -> None:
    for truth in (lambda n: shared(n, 4000.0), lambda n: shared(n) * n**0.3, lambda n: 90_000.0):
        some = [(n, Prediction(truth(n), 0.02, "measured")) for n in (2, 4, 16)]
        for threads in (1, 3, 6, 12, 20, 32):
            found = across_threads(some, threads, WORK)
            assert abs(truth(threads) / found.time_ns - 1) <= found.error + 1e-9, threads
            assert found.how == ("interpolated" if 2 < threads < 16 else "extrapolated")


def test_a_number_that_was_measured_is_what_was_measured() -> None:
    assert across_threads(known(1, 2, 4), 2, WORK) == Prediction(shared(2), 0.02, "measured")


@pytest.mark.parametrize("work", [Work(), Work(1e6, 1), Work(0.0, 500)])
def test_where_shares_are_not_known_each_thread_has_one(work: Work) -> None:
    some = [(n, Prediction(1200.0 / n, 0.0, "measured")) for n in (1, 2, 4)]
    assert across_threads(some, 3, work).time_ns == pytest.approx(400.0)


def test_fewer_units_than_threads_leave_threads_idle() -> None:
    some = [(n, Prediction(shared(n, units=3), 0.0, "measured")) for n in (1, 2, 8)]
    assert across_threads(some, 6, Work(3000.0, 3)).time_ns == pytest.approx(1000.0)


def test_outside_the_nearest_counts_and_the_bound_is_wide() -> None:
    found = across_threads(known(2), 4, Work())
    assert found.how == "extrapolated" and found.error == 1.0
    assert across_threads(known(2, error=3.0), 4, Work()).error == 3.0


def test_nothing_is_known() -> None:
    with pytest.raises(ValueError, match="nothing is known"):
        across_threads([], 2, WORK)

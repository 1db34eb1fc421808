"""Dollinger's worked example on a GPU (2015, section 4.5, Tables 4.1 and 4.2)."""

from __future__ import annotations

import pytest

from loopwright.predict.gpu import Copy, Launch, call_ns, launch_ns
from loopwright.profile.bandwidth import BandwidthTable, Direction
from loopwright.profile.line import Line
from loopwright.profile.ranking import GpuRanking, GpuRow

N = 1024
ARRAY = 8 * N * N
ITERATIONS = N**2 + N**3
TABLES: dict[Direction, BandwidthTable] = {
    "to device": BandwidthTable("to device", "pageable", ((1, 10000.0), (ARRAY, 3326162.0))),
    "to host": BandwidthTable("to host", "pageable", ((1, 10000.0), (ARRAY, 3324061.0))),
}
COPIES = (Copy("to device", ARRAY, 2), Copy("to host", ARRAY))


def ranking(*rows: tuple[int, float]) -> GpuRanking:
    return GpuRanking(tuple(GpuRow(blocks, Line(0.0, ns)) for blocks, ns in rows))


V1 = ranking((1248, 0.037797), (1681, 0.037609), (2303, 0.037665), (3068, 0.037559))
V2 = ranking((567, 0.038413), (841, 0.038183), (1147, 0.038076), (1681, 0.038060))


@pytest.mark.parametrize(
    ("table", "block", "per_iteration", "total"),
    [(V1, 16 * 32, 0.037642, 50433645), (V2, 32 * 32, 0.038119, 50946320)],
)
def test_the_worked_example(table: GpuRanking, block: int, per_iteration: float, total: int) -> None:
    blocks = N**2 / block
    launch = Launch(table, blocks, ITERATIONS, sequential=N)
    assert round(table.ns_per_iteration(blocks, N), 6) == per_iteration
    # The thesis rounds the time per iteration to six digits before it goes on.
    assert int(per_iteration * ITERATIONS) + int(call_ns(COPIES, TABLES)) == total
    assert call_ns((*COPIES, launch), TABLES) == pytest.approx(total, rel=1e-6)


def test_the_first_version_is_chosen() -> None:
    first, second = (
        call_ns((*COPIES, Launch(table, N**2 / block, ITERATIONS, N)), TABLES)
        for table, block in ((V1, 512), (V2, 1024))
    )
    assert first < second


def test_a_kernel_in_a_loop_on_the_host_counts_as_often_as_it_is_launched() -> None:
    once, often = Launch(V1, 2048, 100.0), Launch(V1, 2048, 100.0, times=7)
    assert launch_ns(often) == 7 * launch_ns(once) > 0
    assert call_ns((), {}) == 0.0


def test_a_direction_without_a_table() -> None:
    with pytest.raises(KeyError, match="to host"):
        call_ns(COPIES, {"to device": TABLES["to device"]})

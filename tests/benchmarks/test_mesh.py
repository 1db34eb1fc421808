from __future__ import annotations

import pytest
from benchmarks.mesh import LOOPS, TABLES, grid, measured


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("table", TABLES)
def test_results_agree_however_nodes_are_numbered(loop: str, table: str) -> None:
    row = measured(loop, table, 12, 40, "cpu")
    assert row.agrees and row.nodes == 144
    assert set(row.seconds) == {"off", "auto", "renumber nb in t"}
    assert row.schedule.startswith("renumber nb in t beyond")


def test_on_a_gpu_too() -> None:
    assert measured("planes", "shuffled", 6, 2, "emulated").agrees


def test_a_shuffled_grid_has_the_same_neighbours() -> None:
    assert sorted(grid(5, shuffled=True).ravel()) == sorted(grid(5, shuffled=False).ravel())

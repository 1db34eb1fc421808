from __future__ import annotations

import pytest

from loopwright.cost.occupancy import Occupancy, occupancy
from loopwright.devices.limits import Limits

H200 = Limits((9, 0), 132, 150_000_000_000)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "wanted"),
    [
        # By the tables of NVIDIA's calculator for compute capability 9.0.
        (256, 32, 0, Occupancy(8, 1.0, "threads")),
        (32, 32, 0, Occupancy(32, 0.5, "blocks")),
        (256, 128, 0, Occupancy(2, 0.25, "registers")),
        (256, 33, 0, Occupancy(6, 0.75, "registers")),
        (128, 32, 48 * 1024, Occupancy(4, 0.25, "shared memory")),
        (1024, 64, 0, Occupancy(1, 0.5, "registers")),
        (33, 16, 0, Occupancy(32, 1.0, "threads")),
    ],
)
def test_what_fits(threads: int, registers: int, shared: int, wanted: Occupancy) -> None:
    assert occupancy(threads, registers, shared, H200) == wanted

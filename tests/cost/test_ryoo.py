"""The two metrics, on the example that the paper works out."""

from __future__ import annotations

import pytest

from loopwright.cost.occupancy import occupancy
from loopwright.cost.ryoo import efficiency, utilisation
from loopwright.devices.limits import Limits

GEFORCE_8800 = Limits(
    capability=(1, 0),
    multiprocessors=16,
    memory_bytes=768 << 20,
    threads_per_block=512,
    threads_per_multiprocessor=768,
    blocks_per_multiprocessor=8,
    shared_per_block=16 << 10,
    shared_per_block_most=16 << 10,
    shared_per_multiprocessor=16 << 10,
    registers=8192,
)


def test_the_worked_example() -> None:
    # Section 4: 4096 x 4096 by tiles of 16 x 16, 256 threads a block, 13 registers, 2088 bytes of shared memory.
    barriers, load_pairs = 512, 256
    blocks = occupancy(256, 13, 2088, GEFORCE_8800).blocks
    assert blocks == 2
    assert efficiency(15150, 2**24) == pytest.approx(3.93e-12, rel=2e-3)
    assert utilisation(15150, barriers + load_pairs + 1, warps=8, blocks=blocks) == pytest.approx(227, abs=0.5)


def test_a_warp_alone_hides_nothing() -> None:
    assert utilisation(1000, 10, warps=1, blocks=1) == 0


def test_nothing_to_do() -> None:
    assert efficiency(0, 0) == float("inf")
    assert utilisation(0, 0, 8, 2) == 0


def test_no_block_fits() -> None:
    assert utilisation(100, 2, warps=8, blocks=0) == 0

"""What a GPU does at most, from what its driver says of it: bytes that its memory moves in a second, and floating-point
operations of all its multiprocessors. Nothing is measured. Reports compare kernels with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.devices.clocks import Clocks
from loopwright.devices.limits import Limits

LANES: Mapping[tuple[int, int], tuple[int, int]] = {
    (7, 5): (2, 64),
    (8, 0): (32, 64),
    (8, 6): (2, 128),
    (8, 7): (2, 128),
    (8, 9): (2, 128),
    (9, 0): (64, 128),
    (10, 0): (64, 128),
    (12, 0): (2, 128),
}
"""By compute capability: how many fused multiply-adds a multiprocessor begins in each cycle, on float64 and on float32
(CUDA C++ Programming Guide, "Arithmetic Instructions"; those of tensor cores, which kernels do not use, left out)."""


def peak_bytes_per_s(clocks: Clocks) -> float:
    """Of the GPU's own memory, reads and writes together; 0 where the driver does not tell. Memory moves data twice in
    each cycle of its clock."""
    return 2.0 * clocks.memory_hz * clocks.bus_bits / 8


def peak_flop_per_s(limits: Limits, clocks: Clocks) -> tuple[float, float]:
    """On float64, and on float32: a fused multiply-add is two operations. 0, 0 where the driver does not tell the
    clock, or for a GPU that LANES does not know."""
    float64, float32 = LANES.get(limits.capability, (0, 0))
    each = 2.0 * limits.multiprocessors * clocks.multiprocessor_hz
    return each * float64, each * float32

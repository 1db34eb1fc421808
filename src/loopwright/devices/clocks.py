"""How fast a GPU is at most: what reports compare kernels with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clocks:
    """How fast a GPU is at most, of which no schedule knows: clocks of its multiprocessors and of its memory, and how
    many bits wide the bus to that is. 0 where nobody tells."""

    multiprocessor_hz: int = 0
    memory_hz: int = 0
    bus_bits: int = 0

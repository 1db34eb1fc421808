"""What the recipe wants to know of a machine: widths and sizes, no speeds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """vector_bytes: of one vector register; registers: how many there are. l1_bytes, l2_bytes: the data caches of one
    core; l3_bytes: the last one, which cores share. cores: how many may run at once."""

    vector_bytes: int = 32
    registers: int = 16
    l1_bytes: int = 32 << 10
    l2_bytes: int = 512 << 10
    l3_bytes: int = 8 << 20
    cores: int = 4

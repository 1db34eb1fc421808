"""How many blocks of a kernel fit into a multiprocessor at once, and what keeps it from being more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.devices.limits import Limits

Limiter = Literal["threads", "blocks", "registers", "shared memory"]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """blocks: at once in one multiprocessor. fraction: its threads then, of all that it can have. limiter: what keeps
    another block out; the first of several."""

    blocks: int
    fraction: float
    limiter: Limiter


def occupancy(threads: int, registers: int, shared_bytes: int, limits: Limits) -> Occupancy:
    """For blocks of so many threads, of so many registers each, and this much shared memory a block. The rules are
    those of NVIDIA's CUDA occupancy calculator."""
    gpu, warps = limits.target, -(-threads // limits.warp)
    of_warp = -(-registers * limits.warp // gpu.register_unit) * gpu.register_unit
    fits: dict[Limiter, int] = {
        "threads": limits.threads_per_multiprocessor // (warps * limits.warp),
        "blocks": limits.blocks_per_multiprocessor,
        "registers": limits.registers // (of_warp * warps) if registers else limits.blocks_per_multiprocessor,
        "shared memory": limits.shared_per_multiprocessor // (shared_bytes + gpu.reserved_bytes),
    }
    limiter = min(fits, key=lambda one: fits[one])
    blocks = fits[limiter]
    return Occupancy(blocks, blocks * warps * limits.warp / limits.threads_per_multiprocessor, limiter)

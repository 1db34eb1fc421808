"""Efficiency and utilisation of a kernel on a GPU, after Ryoo et al., "Program Optimization Space Pruning for a
Multithreaded GPU" (CGO 2008), section 4."""

from __future__ import annotations


def efficiency(instructions: float, threads: float) -> float:
    """Equation 1: the reciprocal of all instructions that a call executes. instructions: of one thread."""
    total = instructions * threads
    return 1.0 / total if total > 0 else float("inf")


def utilisation(instructions: float, regions: float, warps: int, blocks: int) -> float:
    """Equation 2: how much work the other warps of a multiprocessor have while one of them waits.

    instructions, regions: of one thread; a region is a stretch of instructions between two that block (a long-latency
    load, a barrier), or between one of these and the beginning or the end. warps: of a block. blocks: that a
    multiprocessor holds at once. 0 for a single warp: there is no other one."""
    others = (warps - 1) / 2 + (blocks - 1) * warps
    return instructions / max(regions, 1.0) * max(others, 0.0)

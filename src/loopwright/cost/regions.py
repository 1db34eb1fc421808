"""How often a thread has to wait: the stretches of instructions between those that block, after Ryoo et al. 2008,
section 4."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.toolchain.sass import Instruction, bytes_moved

LOADS = ("LDG", "LD", "LDL", "TEX", "TLD", "ATOM", "ATOMG")
"""Loads that take hundreds of cycles; those from shared memory and constants do not."""
WAITS = ("BAR", "DEPBAR", "SYNCS")
"""Where a thread waits for others, or for copies that it has started."""


def regions_of(code: Sequence[Instruction], weights: Sequence[float]) -> float:
    """The number of stretches of one thread, the first one included. weights: how often each instruction is executed.

    Loads that need nothing of one another are one unit: what blocks is the first use of what one of them has loaded.
    Where nothing else blocks, instructions of the unit for special functions do, each at its first use."""
    found = _blocking(code, weights, LOADS, WAITS)
    return 1.0 + (found or _blocking(code, weights, ("MUFU",), ()))


def _blocking(
    code: Sequence[Instruction], weights: Sequence[float], loads: tuple[str, ...], waits: tuple[str, ...]
) -> float:
    total = 0.0
    pending: set[int] = set()
    for one, weight in zip(code, weights, strict=True):
        if not weight:
            continue
        numbers = one.registers
        if one.name in loads:
            # The first operand is what is loaded, `desc[UR4][R2.64]` where from; an atomic that returns nothing is RED.
            if pending.intersection(numbers[1:]):
                total += weight
                pending.clear()
            first = numbers[0] if numbers else 0
            pending.update(range(first, first + max(1, bytes_moved(one.opcode) // 4)))
        elif one.name in waits or pending.intersection(numbers):
            total += weight
            pending.clear()
    return total

"""How fast a call is in units that compare with a machine's: floating-point operations and bytes in a second."""

from __future__ import annotations

from loopwright.profile.measurement import Work


def rate_text(work: Work, time_ns: float, flop_per_iteration: float = 0.0) -> str:
    """`12.3 GFlop/s, 4.5 GB/s`; '' where neither is known. Bytes are those of all elements that a call touches, each
    once: caches may hold them, so that this can be more than the memory's rate."""
    if time_ns <= 0:
        return ""
    told: list[str] = []
    if flop_per_iteration > 0 and work.iterations > 0:
        told.append(f"{flop_per_iteration * work.iterations / time_ns:.3g} GFlop/s")
    if work.footprint_bytes > 0:
        told.append(f"{work.footprint_bytes / time_ns:.3g} GB/s")
    return ", ".join(told)

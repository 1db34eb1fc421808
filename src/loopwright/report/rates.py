"""How fast a call is in units that compare with a machine's: floating-point operations and bytes in a second."""

from __future__ import annotations

from loopwright.profile.measurement import Work
from loopwright.profile.memory_rate import last_cache
from loopwright.report.subjects import Subject
from loopwright.report.words import percent


def rate_text(work: Work, time_ns: float, subject: Subject) -> str:
    """`12.3 GFlop/s (9 % of the peak), 4.5 GB/s (80 % of a copy)`; '' where nothing is known. The peak is that of all
    cores, with fused multiply-adds. Bytes are those of all elements that a call touches, each once. They are compared
    with a copy of a large array where caches cannot hold them."""
    if time_ns <= 0:
        return ""
    told: list[str] = []
    if subject.flop_per_iteration > 0 and work.iterations > 0:
        flop_per_ns = subject.flop_per_iteration * work.iterations / time_ns
        told.append(f"{flop_per_ns:.3g} GFlop/s{_of_peak(flop_per_ns * 1e9, subject)}")
    if work.footprint_bytes > 0:
        told.append(f"{work.footprint_bytes / time_ns:.3g} GB/s{_of_copy(work, time_ns, subject)}")
    return ", ".join(told)


def _of_peak(flop_per_s: float, subject: Subject) -> str:
    if not subject.peak_flop_per_s:
        return ""
    seconds = flop_per_s * (1 - subject.float32_share / 2) / subject.peak_flop_per_s  # float32: two in place of one
    return f" ({percent(seconds)} of the peak)"


def _of_copy(work: Work, time_ns: float, subject: Subject) -> str:
    identity, limit = subject.machine.identity, subject.copy_bytes_per_s
    if not limit or identity is None or work.footprint_bytes <= last_cache(identity.limits):
        return ""
    return f" ({percent(work.footprint_bytes / (time_ns / 1e9) / limit)} of a copy)"

"""How fast a call is in units that compare with a machine's: floating-point operations and bytes in a second."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.profile.measurement import Work
from loopwright.profile.memory_rate import last_cache
from loopwright.report.element import Child, element
from loopwright.report.subjects import Subject
from loopwright.report.words import percent


def rate_text(work: Work, time_ns: float, subject: Subject) -> str:
    """`12.3 GFlop/s (9 % of the peak), 4.5 GB/s (80 % of a copy)`; '' where nothing is known. The peak is that of all
    cores or multiprocessors, with fused multiply-adds. Bytes are those of all elements that a call touches, each once.
    Where caches cannot hold them, they are compared with a copy of a large array, or the peak of a GPU's memory."""
    return ", ".join(text for text, _ in _rates(work, time_ns, subject))


def rate_cell(work: Work, time_ns: float, subject: Subject) -> Child:
    """The same in a table: a line for each rate. The first one sorts it."""
    told = list(_rates(work, time_ns, subject))
    if not told:
        return ""
    lines = [f"{text}," for text, _ in told[:-1]] + [told[-1][0]]
    return element("span", *(element("span", line, class_="rate") for line in lines), data_key=repr(told[0][1]))


def _rates(work: Work, time_ns: float, subject: Subject) -> Iterator[tuple[str, float]]:
    """Each in words, and its number."""
    if time_ns <= 0:
        return
    if subject.flop_per_iteration > 0 and work.iterations > 0:
        flop_per_ns = subject.flop_per_iteration * work.iterations / time_ns
        yield f"{_scaled(flop_per_ns, 'Flop/s')}{_of_peak(flop_per_ns * 1e9, subject)}", flop_per_ns
    if work.footprint_bytes > 0:
        bytes_per_ns = work.footprint_bytes / time_ns
        yield f"{_scaled(bytes_per_ns, 'B/s')}{_of_copy(work, time_ns, subject)}", bytes_per_ns


def _scaled(per_ns: float, unit: str) -> str:
    return f"{per_ns / 1000:.3g} T{unit}" if per_ns >= 1000 else f"{per_ns:.3g} G{unit}"


def _of_peak(flop_per_s: float, subject: Subject) -> str:
    float64, float32 = subject.peak_flop_per_s, subject.peak_float32_per_s
    if not float64 or not float32:
        return ""
    seconds = flop_per_s * ((1 - subject.float32_share) / float64 + subject.float32_share / float32)
    return f" ({percent(seconds)} of the peak)"


def _of_copy(work: Work, time_ns: float, subject: Subject) -> str:
    identity, limit = subject.machine.identity, subject.copy_bytes_per_s
    if not limit or identity is None or work.footprint_bytes <= last_cache(identity.limits):
        return ""
    of_what = "a copy" if identity.kind == "cpu" else "the peak"
    return f" ({percent(work.footprint_bytes / (time_ns / 1e9) / limit)} of {of_what})"

"""What a kernel's measurements on one machine say of each variant: one time for each shape (and, on a device with a
memory of its own, for what had to be copied there and back), and where it must not run. It decides which measurements
count; what lies between them is predict/model.py's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.clock import MEDIAN_ERROR
from loopwright.profile.measurement import CacheState, Measurement, Work

LAST = 5
"""Of one shape so many of the latest measurements count: their median, so that one bad one does not steer."""

SINGLE_NOISE = 0.05
"""The noise that is assumed of a time that was measured once."""

LEAST_NOISE = 0.003

INSIDE = 0.85
"""The part of all calls whose time is to lie within the stated error."""

SWINGS = 1.44
"""Within so many standard deviations that part of a normal distribution lies."""

Copies = tuple[float, float]


class Transfers(Protocol):
    """How long copies to a device and back take, such as by bandwidth tables."""

    def time_ns(self, to_device_bytes: float, to_host_bytes: float) -> float:
        """Of both."""
        ...


@dataclass(frozen=True, slots=True)
class MeasuredShape:
    """One shape that a variant was measured at. noise: standard error of time_ns, as part of it. swing: how far single
    calls lie from it, as part of it, in most cases (two in three)."""

    shape: Shape
    work: Work
    time_ns: float
    noise: float
    swing: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """sites: in the order of their shapes. too_long: from so many iterations on it took too long; too_large: from a
    footprint of so many bytes on it asked for more memory than there was."""

    variant: Variant
    sites: tuple[MeasuredShape, ...]
    too_long: float = math.inf
    too_large: float = math.inf


def evidence(measurements: Iterable[Measurement], cache: CacheState | None = None) -> tuple[Evidence, ...]:
    """Of each variant that has at least one time and may serve calls, ordered by device, threads and schedule. A
    variant that was wrong, crashed or refused anywhere is left out; one that took too long or too much memory is left
    out from that much work on, or altogether where the work is not known. Times that are no positive number do not
    count. cache: only times in that state, where there are any of the variant."""
    by_variant: dict[Variant, list[Measurement]] = {}
    for measurement in measurements:
        by_variant.setdefault(measurement.variant, []).append(measurement)
    found = (_of_variant(variant, by_variant[variant], cache) for variant in sorted(by_variant, key=_order))
    return tuple(each for each in found if each is not None)


def _order(variant: Variant) -> tuple[str, int, str]:
    return variant.device, variant.threads, variant.schedule


def _of_variant(variant: Variant, measurements: Sequence[Measurement], cache: CacheState | None) -> Evidence | None:
    too_long = too_large = math.inf
    good: list[Measurement] = []
    for each in measurements:
        match each.outcome:
            case "ok":
                if math.isfinite(each.time_ns) and each.time_ns > 0:
                    good.append(each)
            case "timeout":
                too_long = min(too_long, each.work.iterations)
            case "memory":
                too_large = min(too_large, each.work.footprint_bytes)
            case _:
                return None
    if cache is not None:
        good = [each for each in good if each.cache == cache] or good
    if not good or too_long <= 0 or too_large <= 0:
        return None
    by_place: dict[tuple[Shape, Copies], list[Measurement]] = {}
    for each in good:
        by_place.setdefault((each.shape, copies_of(variant, each.work)), []).append(each)
    places = sorted(by_place, key=lambda place: (place[0].sizes, place[0].features, place[1]))
    return Evidence(variant, tuple(_site(by_place[place]) for place in places), too_long, too_large)


def copies_of(variant: Variant, work: Work) -> Copies:
    """The bytes that a call copies to the variant's device and back: none on a CPU."""
    return (0.0, 0.0) if variant.threads else (work.inputs_bytes, work.outputs_bytes)


def _site(measurements: list[Measurement]) -> MeasuredShape:
    """Of measurements of the same call."""
    if len(measurements) == 1:  # as most are
        latest = measurements
        time_ns, runs, swing = latest[0].time_ns, max(latest[0].runs, 1), _swing(latest[0])
    else:
        latest = sorted(measurements, key=lambda each: (each.made_at, each.time_ns))[-LAST:]
        time_ns = median(each.time_ns for each in latest)
        runs = sum(max(each.runs, 1) for each in latest)
        swing = median(_swing(each) for each in latest)
    noise = max(swing / 1.483 * MEDIAN_ERROR / math.sqrt(runs), LEAST_NOISE)
    return MeasuredShape(latest[-1].shape, latest[-1].work, time_ns, noise, swing)


def _swing(measurement: Measurement) -> float:
    """The standard deviation of single runs over the median, from the quartiles where there are any."""
    if measurement.runs < 3 or not math.isfinite(measurement.spread):
        return SINGLE_NOISE
    return max(1.483 * measurement.spread, LEAST_NOISE)


def own_time(site: MeasuredShape, transfers: Transfers | None) -> float:
    """Without copies, where it is known how long those take; no less than what can be told from noise."""
    if transfers is None:
        return site.time_ns
    copies = transfers.time_ns(site.work.inputs_bytes, site.work.outputs_bytes)
    return max(site.time_ns - copies, site.noise * site.time_ns)

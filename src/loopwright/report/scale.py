"""Axes: from values to places on paper, and which values are written beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loopwright.report.words import duration

MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class Axis:
    """label: what the values are, with their unit where `text` does not write it. log: equal ratios lie equally far
    apart; only values above 0 are on such an axis. text: of a value."""

    label: str
    log: bool
    text: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class AxisScale:
    """An axis from `low` at place `first` to `high` at place `last`. ticks: values to be written."""

    axis: Axis
    low: float
    high: float
    first: float
    last: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """The place of a value, kept on the paper."""
        low, high, here = (math.log(v) if self.axis.log else v for v in (self.low, self.high, max(value, self.floor)))
        part = (here - low) / (high - low)
        return self.first + min(1.0, max(0.0, part)) * (self.last - self.first)

    @property
    def floor(self) -> float:
        """The least value that has a place."""
        return self.low if self.axis.log else -math.inf


def shown(axis: Axis, value: float) -> bool:
    """Whether a value can be on such an axis."""
    return math.isfinite(value) and (value > 0 or not axis.log)


def scale(axis: Axis, values: Sequence[float], first: float, last: float) -> AxisScale:
    """One that has room for all values, of which there is one at least."""
    low, high = min(values), max(values)
    if axis.log:
        low, high = (low / 1.15, high * 1.15) if low < high else (low / 2, high * 2)
        ticks = _log_ticks(low, high)
    else:
        room = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
        low, high = (0.0 if 0 <= low < 0.5 * high else low - room), high + room
        ticks = _even_ticks(low, high)
    return AxisScale(axis, low, high, first, last, ticks)


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [digit * 10.0**decade for decade in decades for digit in digits]
        inside = [value for value in found if low <= value <= high]
        if len(inside) <= MOST_TICKS:
            return tuple(inside)
    inside = [10.0**decade for decade in decades if low <= 10.0**decade <= high]
    return tuple(inside[:: -(-len(inside) // MOST_TICKS)])


def _even_ticks(low: float, high: float) -> tuple[float, ...]:
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough)
    first = math.ceil(low / step)
    return tuple(number * step for number in range(first, math.floor(high / step) + 1))


# ---- texts ------------------------------------------------------------------------------------------------------


def number_text(value: float) -> str:
    """`830`, `12k`, `3.5M`; tiny ones as powers of ten."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{value:.0f}" if value == round(value) else f"{value:.3g}"


def bytes_text(value: float) -> str:
    """`1.5 MiB`."""
    for size, unit in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


TIME = Axis("time of a call", True, duration)

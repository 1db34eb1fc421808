"""Numbers in words, as all reports write them: times, ages, ratios, sizes; and texts of others, made visible. It knows
nothing of what they are of."""

from __future__ import annotations

import math

_AGES = ((365.25 * 86400, "year"), (30.44 * 86400, "month"), (86400, "day"), (3600, "hour"), (60, "minute"))
_MONTHS_FROM = 60 * 86400.0


def visible(text: str, keep: str = "") -> str:
    """A text that came from elsewhere, as Python's repr would write it inside its quotes: what is no printable
    character is spelt out, so that a name in somebody's file cannot move the cursor, colour, hide or reorder what a
    terminal shows. keep: such characters that stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def duration(time_ns: float) -> str:
    """Nanoseconds in the unit that reads best: `1.25 ms`."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if time_ns >= size:
            return f"{time_ns / size:.3g} {unit}" if time_ns < 1000 * size else f"{time_ns / size:.0f} {unit}"
    return f"{time_ns:.0f} ns"


def age(seconds: float) -> str:
    """How long ago: `3 days ago`. Days up to two months; a time that has not come yet says so."""
    if not math.isfinite(seconds):
        return "at an unknown time"
    if seconds <= -60:
        return "dated in the future"
    for size, unit in _AGES:
        if seconds >= size and not (unit == "month" and seconds < _MONTHS_FROM):
            number = int(seconds // size)
            return f"{number} {unit if number == 1 else unit + 's'} ago"
    return "less than a minute ago"


def percent(part: float) -> str:
    """`3 %`; tenths below 1 %. What is no bound is `?`."""
    if not math.isfinite(part):
        return "?"
    if 0 < abs(part) < 0.0005:
        return "under 0.1 %"
    return f"{100 * part:.1f} %" if 0 < abs(part) < 0.00995 else f"{100 * part:.0f} %"


def compared(time_ns: float, with_ns: float) -> str:
    """How one time compares with another: `25 % slower`, `3.1 times as long`, `2 % faster`, `as fast`."""
    if not (with_ns > 0 and math.isfinite(time_ns) and math.isfinite(with_ns)):
        return "not comparable"
    ratio = time_ns / with_ns
    if ratio >= 2:
        return f"{ratio:.3g} times as long"
    if abs(ratio - 1) < 0.0005:
        return "as fast"
    return f"{percent(abs(ratio - 1))} {'slower' if ratio > 1 else 'faster'}"


def count(number: int, one: str, several: str = "") -> str:
    """`1 run`, `3 runs`."""
    return f"{number} {one}" if number == 1 else f"{number} {several or one + 's'}"

"""Who takes part in a race, and when each device begins: pure, from what each device takes at least and at most.

1. A device that takes longer at least than another one does at most cannot win, and does not take part.
2. The favourite, which is expected to be the fastest, begins at once.
3. Each other device begins once a small part of the time has passed that it takes at least. If the favourite is done by
   then, the race has cost nothing; if the other device wins, it has lost no more than that.
4. A device that is expected to take several times as long begins when the favourite is overdue: until then it would
   only be in the way, as all devices use the same memory of the host.
5. Where the favourite would have to wait, so that others get arrays as they were before the call, that has to take a
   small part of its own time at most, or there is no race. The others wait as long as it takes.
6. A call that is over before threads could start is made by the favourite alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

DELAY = 0.05
"""The part of its least time after which a device that is not the favourite begins."""

HELD = 0.02
"""The part of its expected time that a favourite may wait for copies to others."""

SHORT_NS = 400_000
"""What a race takes of the host's time at least, times four: no call that is expected to be shorter is worth one."""

CLEARLY, OVERDUE = 4.0, 1.5
"""A device that is expected to take so many times as long as the favourite begins when that has taken so many times as
long as expected. Calls of less than CLEARLY times SHORT_NS are too short for that."""

DECIDED = 0.8
"""A device is tried where it takes at least less than this part of the time that is known of the fastest one."""


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """Nanoseconds that a device takes for a call at least and at most; both are the same where it was measured."""

    low_ns: float = 0.0
    high_ns: float = math.inf
    expected_ns: float = math.inf

    @property
    def is_known(self) -> bool:
        """Whether it was measured."""
        return self.low_ns == self.high_ns


@dataclass(frozen=True, slots=True)
class LineUp:
    """starts_ns: when each device begins, after the call; None for those that do not take part. why: in words."""

    starts_ns: tuple[float | None, ...]
    why: str

    @property
    def entrants(self) -> tuple[int, ...]:
        """Who takes part, the favourite first."""
        there = [(start, k) for k, start in enumerate(self.starts_ns) if start is not None]
        return tuple(k for _, k in sorted(there))


def line_up(bounds: Sequence[TimeBounds], held_ns: Sequence[float], names: Sequence[str] = ()) -> LineUp:
    """held_ns: how long others have to wait at the beginning if a device takes part, since they write what it has to
    read. Raises ValueError without devices."""
    if not bounds or len(bounds) != len(held_ns):
        raise ValueError(f"{len(bounds)} devices with {len(held_ns)} times to wait: one each, and one at least")
    named = [*names, *(f"device {k}" for k in range(len(names), len(bounds)))]
    least = min(one.high_ns for one in bounds)
    able = [k for k, one in enumerate(bounds) if one.low_ns <= least]
    favourite = min(able, key=lambda k: (bounds[k].expected_ns, bounds[k].low_ns))
    alone = tuple(0.0 if k == favourite else None for k in range(len(bounds)))
    who = named[favourite]
    if len(able) == 1:
        return LineUp(alone, f"no other device can be as fast as {who}")
    expected = bounds[favourite].expected_ns
    later = [k for k in able if bounds[k].expected_ns > CLEARLY * expected]
    is_clear = len(later) == len(able) - 1 and not any(bounds[k].is_known for k in able)
    if expected < SHORT_NS or (is_clear and expected < CLEARLY * SHORT_NS):
        untried = [k for k in able if not bounds[k].is_known and bounds[k].low_ns < DECIDED * bounds[favourite].low_ns]
        if bounds[favourite].is_known and untried:
            one = min(untried, key=lambda k: bounds[k].expected_ns)
            alone = tuple(0.0 if k == one else None for k in range(len(bounds)))
            return LineUp(alone, f"a call as short as this is not worth a race: {named[one]} makes one by itself")
        return LineUp(alone, f"a call as short as this is not worth a race: {who} is expected to be the fastest")
    starts: list[float | None] = list(alone)
    why = ""
    for k in able:
        if k == favourite or (bounds[k].is_known and bounds[favourite].is_known):
            continue
        if held_ns[k] > (0.0 if k in later else HELD * expected):
            why = f"{named[k]} would have to read first what {who} writes, which takes too long"
            continue
        starts[k] = max(DELAY * bounds[k].low_ns, 1.0, OVERDUE * expected if k in later else 0.0)
    if sum(start is not None for start in starts) == 1:
        return LineUp(tuple(starts), why or f"{who} was the fastest")
    return LineUp(tuple(starts), f"which device is the fastest is not known: {who} begins")

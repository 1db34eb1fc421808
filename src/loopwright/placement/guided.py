"""Chunks of one loop for whichever device is free: for calls of which nothing is predicted, and for uneven iterations.

It owns which iterations are still to be done, and how many a device gets when it asks. It starts nothing: each device's
thread asks for a chunk, runs it, and asks again until there is none.

Device 0, the CPU, takes from the low end and all others take from the high end, so that with two devices what each of
them has done is one box in the end, whatever the speeds: rows that a GPU has already are not copied again, and what it
wrote comes back in one piece. A device begins with a small chunk, because nothing is known of it. After that it gets
half of its share of what is left, in proportion to the rates that all devices have told (guided self-scheduling,
Polychronopoulos and Kuck 1987, with the weights of Hummel and others 1996): chunks are large while much is left and
small at the end, where they decide who waits for whom. A device so slow that it would still be at its last chunk long
after the others could have done it gets none.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left, insort
from collections.abc import Callable
from typing import NamedTuple

PROBE = 1 / 64
"""The part of all iterations that a device without a rate gets."""
TAKEN = 1 / 2
"""The part of its share of what is left that a device gets."""
LATE = 3.0
"""A device gets no chunk for which it would take this many times as long as the fastest for all that is left."""


class _Span(NamedTuple):
    """Positions in the loop, from first to last."""

    first: int
    last: int
    device: int = -1


class Guided:
    """The iterations of one loop, given out to devices chunk by chunk, each exactly once. Safe for threads.

    multiple: chunks end at multiples of it, from the first iteration on, wherever there is one. smallest: a chunk has
    so many iterations at least, where so many are left in one piece. devices: how many will ask; of those that have not
    asked yet the mean rate of the others is expected. count: how many iterations of the innermost loop some iterations
    are, where these differ, as in a triangle; rates are in these then. Raises ValueError for numbers below 1."""

    def __init__(
        self,
        iterations: range,
        multiple: int = 1,
        smallest: int = 1,
        *,
        devices: int = 2,
        count: Callable[[range], float] | None = None,
    ) -> None:
        if min(multiple, smallest, devices) < 1:
            raise ValueError(f"multiple = {multiple}, smallest = {smallest} and devices = {devices} must be above 0")
        self.iterations = iterations
        self._multiple = multiple
        self._smallest = max(smallest, multiple)
        self._devices = devices
        self._count = count
        self._free = [_Span(0, len(iterations))] if iterations else []
        self._taken: list[_Span] = []
        self._chunks: dict[int, int] = {}
        self._rates: dict[int, float] = {}
        self._lost: set[int] = set()
        self._probe = PROBE * self._work(0, len(iterations))
        self._lock = threading.Lock()

    def take(self, device: int, rate: float | None) -> range | None:
        """The next chunk for a device; None where there is none for it: all are given out, or another one does the
        rest sooner without it. rate: iterations per time that it has done lately, in any unit that is the same for all
        devices, None while it has done none.

        What another device gives back later may be had by asking again: when all threads have ended, `left` says
        whether somebody has to. A device that is the only one that is left gets all there is."""
        with self._lock:
            known = rate is not None and 0 < rate < math.inf
            if known:
                self._rates[device] = rate or 0.0
            elif rate is None:
                self._rates.setdefault(device, math.nan)
            self._lost.discard(device)
            size = self._size(device) if self._free else None
            if size is None:
                self._lost.add(device)  # until it asks again: nobody waits for it
                return None
            return self._cut(device, size)

    def give_back(self, part: range, device_lost: bool = True) -> None:
        """Iterations of a chunk that were not done, all of it or one piece: others get them. device_lost: whether the
        device that had it is not expected to ask again, so that others do not count on it.

        Raises ValueError where these are not iterations that somebody has, such as those that were given back once."""
        if not part:
            return
        with self._lock:
            owner = next((one for one in self._taken if self._lies_in(part, one)), None)
            if owner is None:
                raise ValueError(f"{part} was given back, and is not part of a chunk that was taken")
            first = self.iterations.index(part[0])
            back = _Span(first, first + len(part))
            self._taken.remove(owner)
            for one in (owner._replace(last=back.first), owner._replace(first=back.last)):
                if one.first < one.last:
                    self._taken.append(one)
            self._put_back(back)
            if device_lost:
                self._lost.add(owner.device)

    @property
    def left(self) -> int:
        """How many iterations nobody has."""
        with self._lock:
            return sum(one.last - one.first for one in self._free)

    def taken(self, device: int) -> int:
        """How many iterations a device got and did not give back."""
        with self._lock:
            return sum(one.last - one.first for one in self._taken if one.device == device)

    def chunks(self, device: int) -> int:
        """How many chunks a device got: what each costs before it begins, it has paid so many times."""
        with self._lock:
            return self._chunks.get(device, 0)

    def parts(self, device: int) -> tuple[range, ...]:
        """What a device got and did not give back: in order, neighbours as one."""
        with self._lock:
            joined: list[_Span] = []
            for one in sorted(one for one in self._taken if one.device == device):
                if joined and joined[-1].last == one.first:
                    joined[-1] = joined[-1]._replace(last=one.last)
                else:
                    joined.append(one)
            return tuple(self.iterations[one.first : one.last] for one in joined)

    # ---- how many ---------------------------------------------------------------------------------------------

    def _size(self, device: int) -> float | None:
        """How much work a device gets now; None where it had better get none."""
        own = self._rates.get(device, math.nan)
        others = [rate for one, rate in self._rates.items() if one != device and one not in self._lost]
        missing = max(0, self._devices - len(self._lost) - 1 - len(others))
        if not others and not missing:
            return math.inf
        if math.isnan(own):
            return self._probe
        left = sum(self._work(one.first, one.last) for one in self._free)
        known = [rate for rate in others if not math.isnan(rate)]
        mean = (own + sum(known)) / (1 + len(known))
        whole = own + sum(known) + mean * (len(others) - len(known) + missing)
        least = self._least_work(device)
        if known and least / own > LATE * left / max(known):
            return None  # never the fastest of those that may still ask
        return left * own / whole * TAKEN

    def _least_work(self, device: int) -> float:
        span = self._free[0 if device == 0 else -1]
        size = min(self._smallest, span.last - span.first)
        return self._work(span.first, span.first + size) if device == 0 else self._work(span.last - size, span.last)

    def _work(self, first: int, last: int) -> float:
        return float(last - first if self._count is None else self._count(self.iterations[first:last]))

    # ---- which ------------------------------------------------------------------------------------------------

    def _cut(self, device: int, work: float) -> range:
        """Take iterations from a device's end, `smallest` at least, up to the next multiple."""
        low = device == 0
        span = self._free.pop(0 if low else -1)
        size = max(self._smallest, self._iterations_for(span, work, low))
        if low:
            middle = min(span.last, -(-(span.first + size) // self._multiple) * self._multiple)
            mine, rest = span._replace(last=middle), span._replace(first=middle)
        else:
            middle = max(span.first, (span.last - size) // self._multiple * self._multiple)
            mine, rest = span._replace(first=middle), span._replace(last=middle)
        if rest.first < rest.last:
            self._free.insert(0 if low else len(self._free), rest)
        self._taken.append(mine._replace(device=device))
        self._chunks[device] = self._chunks.get(device, 0) + 1
        return self.iterations[mine.first : mine.last]

    def _iterations_for(self, span: _Span, work: float, low: bool) -> int:
        """How many iterations from one end of a span do so much work."""
        length = span.last - span.first
        if work == math.inf:
            return length
        if self._count is None:
            return min(length, math.ceil(work))

        def done(size: int) -> float:
            return self._work(span.first, span.first + size) if low else self._work(span.last - size, span.last)

        return min(length, bisect_left(range(length + 1), work, key=done))

    def _lies_in(self, part: range, span: _Span) -> bool:
        whole = self.iterations[span.first : span.last]
        if part[0] not in whole:
            return False
        first = whole.index(part[0])
        return part == whole[first : first + len(part)]

    def _put_back(self, back: _Span) -> None:
        """Neighbours become one again."""
        for one in [one for one in self._free if one.last == back.first or back.last == one.first]:
            self._free.remove(one)
            back = _Span(min(one.first, back.first), max(one.last, back.last))
        insort(self._free, back)

"""The times of calls that return before a GPU has run them: of some of them, by the GPU's own clock, and read at a
later call without waiting. Calls that follow one another are timed several at once, from the beginning of the first to
the end of the last: the time of one of them contains how long the host takes to start it, while the GPU has nothing to
do, and the time of each of several is what another such call takes.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from loopwright.devices.gpu import Gpu, Timer
from loopwright.errors import DeviceError

APART_NS = 2_000_000
"""From the beginning of a call that is timed to that of the next: to time one takes up to 20 us of the CPU."""

AGAIN_NS = 100_000
"""From asking whether one has ended to asking again."""

GAP_NS = 50_000
"""Calls that are further apart do not follow one another: the GPU may have nothing to do meanwhile."""

WAKE_NS = 200_000
"""So long before a call may be timed, calls are looked at again: whether they follow one another."""

MOST_CALLS = 8
"""So many are timed at once; fewer where calls do not follow one another."""

NOT_TIMED = nullcontext()


class Sampled:
    """Of the calls of one Entry, one stretch of them at a time. now_ns: the CPU's clock. Where the GPU is lost it times
    no more: that is for the calls themselves to say."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._timer: Timer | None = None
        self._stream = 0
        self._runs = self._is_over = False
        self._next_ns = self._ask_ns = 0
        self._made_ns = -GAP_NS  # when the last call had been started
        self._calls = 1  # in a stretch
        self._begun = 0  # so many calls are timed together
        self._left = 0  # so many of them are still to be made
        self._skipped = 0  # so many calls are made before another one is timed
        self.quiet_ns = 0
        """Until then nothing is asked of calls, and nothing has to be said of them."""
        self.closely = False
        """Whether the next stretch is one that is waited for."""

    def time_last(self, calls: int) -> None:
        """Time the last of so many calls from now on, whenever they are made, and wait for them. The first two, or
        one of few, go ways that later ones do not, and are not timed."""
        self._skipped = min(2, calls // 2)
        self._calls = calls - self._skipped
        self._left, self._runs, self.closely, self.quiet_ns = 0, False, calls > 0, 0

    def made(self, now_ns: int) -> None:
        """A call has been started."""
        self._made_ns = now_ns

    def around(self, stream: int, now_ns: int) -> AbstractContextManager[object]:
        """What a call is to be made in, that is started in a stream."""
        if self._runs or self._is_over:
            return NOT_TIMED
        follows = now_ns - self._made_ns < GAP_NS
        if self._left and not (follows and stream == self._stream):
            self._left, self._calls, self._next_ns = 0, max(1, self._calls // 2), now_ns
        elif self._left:
            assert self._timer is not None
            return _Quiet(self, self._timer)
        if self._skipped or (now_ns < self._next_ns and not self.closely):
            self._skipped = max(0, self._skipped - 1)
            return NOT_TIMED
        try:
            if self._timer is None or stream != self._stream:
                self._timer, self._stream = self._gpu.timer(stream), stream
        except DeviceError:
            self._is_over = True
            return NOT_TIMED
        if follows and not self.closely:
            self._calls = min(MOST_CALLS, 2 * self._calls)
        self._begun = self._left = self._calls
        self._next_ns = now_ns + APART_NS
        return _Quiet(self, self._timer)

    def begin(self, timer: Timer) -> None:
        """A call is about to be made that is timed."""
        if self._left == self._begun:
            timer.__enter__()

    def end(self, timer: Timer) -> None:
        """It has been started."""
        self._left = max(0, self._left - 1)
        if not self._left and not self._is_over:
            timer.__exit__(None, None, None)
            self._runs, self._ask_ns = True, self._next_ns - APART_NS + AGAIN_NS

    def ended_ns(self, now_ns: int) -> int | None:
        """The time of each of the calls that were timed last, once: None while they are not over, or none were."""
        if not self._runs or self._timer is None or now_ns < self._ask_ns:
            return None
        self._ask_ns = now_ns + AGAIN_NS
        try:
            found = self._timer.finished_ns()
        except DeviceError:
            self.lost()
            return None
        self._runs = found is None
        if found is None:
            return None
        self.quiet_ns = 0 if self.closely else self._next_ns - WAKE_NS
        return found // self._begun

    def waited_ns(self) -> int | None:
        """The time of each of the calls of which the last has just been made, which is waited for, where they are those
        that are timed closely; else None."""
        if not self._runs or not self.closely:
            return None
        self.closely = False
        try:
            self._gpu.synchronize()
        except DeviceError:
            self.lost()
            return None
        self._ask_ns = 0
        return self.ended_ns(self._next_ns)

    def forget(self) -> None:
        """The call that is timed now, if one is, is like no other. Who waits for the time of one call hears of it."""
        if not (self._runs and self.closely and self._begun == 1):
            self._runs, self._left = False, 0

    def lost(self) -> None:
        """No time is to be had."""
        self._runs, self._is_over, self._left = False, True, 0


class _Quiet:
    """What times one call of a stretch, whose failure is no failure of the call."""

    def __init__(self, sampled: Sampled, timer: Timer) -> None:
        self._sampled, self._timer = sampled, timer

    def __enter__(self) -> None:
        try:
            self._sampled.begin(self._timer)
        except DeviceError:
            self._sampled.lost()

    def __exit__(self, *_: object) -> None:
        try:
            self._sampled.end(self._timer)
        except DeviceError:
            self._sampled.lost()

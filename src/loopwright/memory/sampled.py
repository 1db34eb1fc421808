"""The times of calls that return before a GPU has run them: of some of them, by the GPU's own clock, and read at a
later call without waiting.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from loopwright.devices.gpu import Gpu, Timer
from loopwright.errors import DeviceError

APART_NS = 2_000_000
"""From the beginning of a call that is timed to that of the next: to time one takes up to 20 us of the CPU."""

AGAIN_NS = 100_000
"""From asking whether one has ended to asking again."""

NOT_TIMED = nullcontext()


class Sampled:
    """Of the calls of one Entry, one at a time. now_ns: the CPU's clock. Where the GPU is lost it times no more: that
    is for the calls themselves to say."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._timer: Timer | None = None
        self._stream = 0
        self._runs = self._is_over = False
        self._next_ns = self._ask_ns = 0
        self.closely = 0
        """So many of the next calls are timed, whenever they are made, and waited for."""

    def around(self, stream: int, now_ns: int) -> AbstractContextManager[object]:
        """What a call is to be made in, that is started in a stream."""
        if self._runs or self._is_over or (now_ns < self._next_ns and not self.closely):
            return NOT_TIMED
        try:
            if self._timer is None or stream != self._stream:
                self._timer, self._stream = self._gpu.timer(stream), stream
        except DeviceError:
            self._is_over = True
            return NOT_TIMED
        self._runs, self._next_ns, self._ask_ns = True, now_ns + APART_NS, now_ns + AGAIN_NS
        return _Quiet(self, self._timer)

    def ended_ns(self, now_ns: int) -> int | None:
        """The time of the call that was timed last, once: None while it is not over, or where none was."""
        if not self._runs or self._timer is None or now_ns < self._ask_ns:
            return None
        self._ask_ns = now_ns + AGAIN_NS
        try:
            found = self._timer.finished_ns()
        except DeviceError:
            self.lost()
            return None
        self._runs = found is None
        return found

    def waited_ns(self) -> int | None:
        """The time of the call that has just been made, which is waited for, where it is one of those that are timed
        closely; else None."""
        if not self._runs or not self.closely:
            return None
        self.closely -= 1
        try:
            self._gpu.synchronize()
        except DeviceError:
            self.lost()
            return None
        self._ask_ns = 0
        return self.ended_ns(self._next_ns)

    def forget(self) -> None:
        """The call that is timed now, if one is, is like no other."""
        self._runs = False

    def lost(self) -> None:
        """No time is to be had."""
        self._runs, self._is_over = False, True


class _Quiet:
    """A timer whose failure is no failure of the call."""

    def __init__(self, sampled: Sampled, timer: Timer) -> None:
        self._sampled, self._timer = sampled, timer

    def __enter__(self) -> None:
        try:
            self._timer.__enter__()
        except DeviceError:
            self._sampled.lost()

    def __exit__(self, *_: object) -> None:
        try:
            self._timer.__exit__(None, None, None)
        except DeviceError:
            self._sampled.lost()

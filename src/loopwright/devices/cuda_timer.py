"""Times that a real GPU takes."""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from loopwright.errors import DeviceError

if TYPE_CHECKING:
    from loopwright.devices.cuda import CudaGpu


class CudaTimer:
    """The time that a GPU needs for what a `with` block starts in a stream: measured by the GPU, not by the CPU."""

    def __init__(self, gpu: CudaGpu, stream: int) -> None:
        self._gpu, self._stream = gpu, stream
        # Flags 0: with times. cuEventSynchronize then waits actively.
        self._events = tuple(int(gpu.ask("cuEventCreate", 0)) for _ in range(2))
        weakref.finalize(self, _end_events, gpu, self._events).atexit = False

    def __enter__(self) -> CudaTimer:
        self._gpu.ask("cuEventRecord", self._events[0], self._stream)
        return self

    def __exit__(self, *_: object) -> None:
        self._gpu.ask("cuEventRecord", self._events[1], self._stream)

    @property
    def elapsed_ns(self) -> int:
        """Waits for the end of what was started. The GPU counts in steps of about 500 ns."""
        self._gpu.ask("cuEventSynchronize", self._events[1], doing="waiting for the GPU")
        return round(1e6 * float(self._gpu.ask("cuEventElapsedTime", *self._events)))

    def finished_ns(self) -> int | None:
        """The same where the end has been reached, else None: it waits for nothing."""
        return self.elapsed_ns if self._gpu.reached(self._events[1]) else None


def _end_events(gpu: CudaGpu, events: tuple[int, ...]) -> None:
    with suppress(DeviceError):  # of a lost GPU, and there is nothing to give back
        for event in events:
            gpu.ask("cuEventDestroy", event)

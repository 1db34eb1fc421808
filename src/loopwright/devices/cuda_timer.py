"""Times that a real GPU takes."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopwright.devices.cuda import CudaGpu


class CudaTimer:
    """The time that a GPU needs for what a `with` block starts in a stream: measured by the GPU, not by the CPU.
    events: of the driver, recorded before it and behind it."""

    def __init__(self, gpu: CudaGpu, stream: int) -> None:
        self._gpu, self._stream = gpu, stream
        try:
            self.events = gpu.spare_events.pop()
        except IndexError:
            self.events = _new_events(gpu)
        weakref.finalize(self, gpu.spare_events.append, self.events).atexit = False

    def __enter__(self) -> CudaTimer:
        self._gpu.ask("cuEventRecord", self.events[0], self._stream)
        return self

    def __exit__(self, *_: object) -> None:
        self._gpu.ask("cuEventRecord", self.events[1], self._stream)

    @property
    def elapsed_ns(self) -> int:
        """Waits for the end of what was started. The GPU counts in steps of about 500 ns."""
        self._gpu.ask("cuEventSynchronize", self.events[1], doing="waiting for the GPU")
        return self._between_ns()

    def finished_ns(self) -> int | None:
        """The same where the end has been reached, else None: it waits for nothing."""
        return self._between_ns() if self._gpu.reached(self.events[1]) else None

    def _between_ns(self) -> int:
        return round(1e6 * float(self._gpu.ask("cuEventElapsedTime", *self.events)))


def _new_events(gpu: CudaGpu) -> tuple[int, int]:
    """Flags 0: with times. cuEventSynchronize then waits actively."""
    return int(gpu.ask("cuEventCreate", 0)), int(gpu.ask("cuEventCreate", 0))

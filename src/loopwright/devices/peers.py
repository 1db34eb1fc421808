"""GPUs that work together: what one copies from another, what they start together, and which of them failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from loopwright.errors import DeviceError

if TYPE_CHECKING:
    from loopwright.devices.gpu import Gpu, Timer


class PeerCopy(NamedTuple):
    """Bytes that a GPU copies of another one's memory, from `other` there to `address` here: see Gpu.copy_from.
    is_pooled: that memory was got by Gpu.allocate."""

    target: Gpu
    source: Gpu
    address: int
    other: int
    size_bytes: int
    rows: int = 1
    pitch_bytes: int = 0
    is_pooled: bool = False


class ExchangeFailed(Exception):
    """A GPU could not do its part of an exchange; `error` says why."""

    def __init__(self, gpu: Gpu, error: DeviceError) -> None:
        super().__init__()
        self.gpu, self.error = gpu, error


class GpuPart(NamedTuple):
    """A call of a program's entry. call, site, module, told: addresses of its lw_call, of the site in the lw_failure
    that it records on the host, of its module's table, and of what kernels tell of a failure; 0: nothing."""

    entry: int
    call: int
    site: int
    module: int
    told: int


class PartsTogether(Protocol):
    """Calls of programs on several GPUs, each made again and again."""

    def start(self, timers: Sequence[Timer]) -> Sequence[int]:
        """Start all of them; the places of those that failed. timers: one for each, or none. Waits for nothing."""

    def wait(self) -> Sequence[int]:
        """Wait for all that the GPUs were asked for in `work`; the places of those that may have gone wrong. Raises
        what a handler of a signal has raised meanwhile."""

"""GPUs that work together: what one copies from another, and which of them failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from loopwright.errors import DeviceError

if TYPE_CHECKING:
    from loopwright.devices.gpu import Gpu


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

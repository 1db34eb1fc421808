"""A page of the host's memory that a GPU of CUDA's writes to: what it leaves there needs no copy."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from loopwright.devices.cuda import CudaGpu

PAGE, SLOT = 4096, 64
PORTABLE = 1  # CU_MEMHOSTALLOC_PORTABLE; at the same address for all GPUs


class Slots:
    """Those of one GPU, which has the page until the process ends."""

    def __init__(self, page: int) -> None:
        self._free = [page + offset for offset in range(0, PAGE, SLOT)] if page else []

    def take(self, size_bytes: int) -> Any | None:
        """So many bytes, until nobody has the array any more; None where there is no slot."""
        if size_bytes > SLOT:
            return None
        try:
            place = self._free.pop()
        except IndexError:
            return None
        memory = (ctypes.c_uint8 * size_bytes).from_address(place)
        weakref.finalize(memory, self._free.append, place).atexit = False
        return np.ctypeslib.as_array(memory)


def of(gpu: CudaGpu) -> Slots:
    """Of a GPU. Raises DeviceError where it is lost; where no memory may be pinned, there are none."""
    gpu.open()
    with gpu.current():
        code, page = gpu.api.cuMemHostAlloc(PAGE, PORTABLE)
    return Slots(0 if int(code) else int(page))

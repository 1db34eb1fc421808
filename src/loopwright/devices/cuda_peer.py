"""Rows of memory that are copied from one of CUDA's GPUs to another by one call."""

from __future__ import annotations

from typing import Any

MOST_PITCH = (1 << 31) - 1
"""Bytes from one row to the next, at most."""

Place = tuple[int, Any]
"""An address, and the context of the GPU that it is on."""


def peer_rows(api: Any, target: Place, source: Place, size_bytes: int, rows: int, pitch_bytes: int) -> Any:
    """What cuMemcpy3DPeer is to do. api: cuda.bindings.driver; size_bytes: of each row."""
    box, memory = api.CUDA_MEMCPY3D_PEER(), api.CUmemorytype.CU_MEMORYTYPE_DEVICE
    box.srcMemoryType = box.dstMemoryType = memory
    box.dstDevice, box.dstContext = target
    box.srcDevice, box.srcContext = source
    box.srcPitch = box.dstPitch = pitch_bytes
    box.srcHeight = box.dstHeight = rows
    box.WidthInBytes, box.Height, box.Depth = size_bytes, rows, 1
    return box

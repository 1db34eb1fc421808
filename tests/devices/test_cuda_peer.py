"""What the driver is told of rows that are copied between two GPUs."""

from __future__ import annotations

from types import SimpleNamespace

from loopwright.devices.cuda_peer import peer_rows


def test_rows_of_both_sides_have_one_pitch() -> None:
    kinds = SimpleNamespace(CU_MEMORYTYPE_DEVICE="device")
    api = SimpleNamespace(CUDA_MEMCPY3D_PEER=SimpleNamespace, CUmemorytype=kinds)
    box = peer_rows(api, (100, "here"), (200, "there"), 32, 5, 64)
    assert (box.dstDevice, box.dstContext, box.srcDevice, box.srcContext) == (100, "here", 200, "there")
    assert (box.WidthInBytes, box.Height, box.Depth, box.srcPitch, box.dstPitch) == (32, 5, 1, 64, 64)
    assert box.srcMemoryType == box.dstMemoryType == "device"

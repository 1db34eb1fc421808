"""Memory of the emulated device ends where it ends, and is never the memory of something else."""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from devices.emulation import SAXPY, Session
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.emulated_memory import EmulatedMemory
from loopwright.errors import DeviceError, DeviceMemoryError


def test_out_of_memory() -> None:
    gpu = EmulatedGpu(memory_bytes=1000)
    first = gpu.allocate(600)
    with pytest.raises(DeviceMemoryError, match="no room for 500 bytes: 400 of its 1,000 are free"):
        gpu.allocate(500)
    session = Session(SAXPY, "saxpy", gpu=gpu)
    assert session.table.allocate(session.module.table, 500) is None
    gpu.release(first)
    assert session.table.allocate(session.module.table, 500) is not None
    assert session.fault() == ""


def test_addresses_are_aligned_apart_and_never_given_twice() -> None:
    gpu, seen = EmulatedGpu(), []
    for size in (0, 1, 255, 256, 4096):
        seen.append(gpu.allocate(size))
        assert seen[-1] % 256 == 0
        gpu.release(seen[-1])
    assert all(b - a >= 4096 for a, b in itertools.pairwise(seen))


BEHIND = """
extern "C" __global__ void behind(int64_t first, int64_t n, LW_GLOBAL(const float) x, LW_GLOBAL(float) y) {
  const int64_t i = first + threadIdx.x;
  if (i < first + n) y[i] = 2 * x[i];
}
"""


@pytest.mark.parametrize(("shift", "said"), [(0, ""), (-1, "element 999 of 'x'"), (1, "element 1100 of 'x'")])
def test_pointers_before_the_memory(shift: int, said: str) -> None:
    """They mean it, though other memory lies between, and only what is there can be touched."""
    session = Session(BEHIND, "behind")
    y = session.gpu.allocate(400, 4000)
    session.gpu.allocate(1 << 20)
    x = session.gpu.allocate(400, 4000)
    session.gpu.upload(x, np.ones(100, np.float32))
    given = [ctypes.c_void_p(address - 4000) for address in (x, y)]
    session.launch("behind", 1, 128, 1000 + shift, 100, *given)
    told = session.fault()
    assert said in told and bool(said) == bool(told)
    if not said:
        found = np.zeros(100, np.float32)
        session.gpu.download(found, y)
        assert (found == 2).all()


def test_copies_outside_of_an_allocation_are_faults() -> None:
    session = Session(SAXPY, "saxpy")
    table, me, gpu = session.table, session.module.table, session.gpu
    place, host = gpu.allocate(16), np.zeros(5, np.float32)
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("upload of 20 bytes", lambda: gpu.upload(place, host)),
        ("download of 20 bytes", lambda: gpu.download(host, place)),
        ("download of 20 bytes", lambda: gpu.download(host, place - 8)),
    ]
    for words, call in calls:
        with pytest.raises(DeviceError, match=words):
            call()
    assert table.fetch(me, host.ctypes.data, place + 4, 16) != 0
    assert "fetch of 16 bytes at address" in session.fault()
    assert table.clear(me, place + 1, 16) != 0
    assert "byte 1 of 16 allocated ones" in session.fault()


def test_a_block_may_be_released_while_the_table_is_made() -> None:
    """Found: garbage collection released an array's block between two lines of it."""
    memory = EmulatedMemory(1 << 20)
    addresses = [memory.allocate(100) for _ in range(3)]

    class Releasing(dict[int, Any]):
        def __len__(self):
            if addresses:
                memory.release(addresses.pop())
            return super().__len__()

    memory._blocks = Releasing(memory._blocks)
    assert memory.table()[1] == 0


class Late(Exception):
    pass


@pytest.mark.parametrize("line", range(1, 7))
def test_a_signal_may_come_at_any_line_of_a_release(line: int) -> None:
    """Found: between two lines it left an address without a block, and the next table was never made."""
    memory = EmulatedMemory(1 << 20)
    kept, address = memory.allocate(100), memory.allocate(200)
    lines = 0

    def late(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        if frame.f_code is not EmulatedMemory.release.__code__:
            return late
        lines += event == "line"
        if lines == line:
            raise Late
        return late

    memory.table()
    sys.settrace(late)
    try:
        memory.release(address)
    except Late:
        pass
    finally:
        sys.settrace(None)
    live = memory.table()[1]
    assert live == (1 if memory.release(address) else 2)
    assert memory.used_bytes == 100 and memory.table()[1] == 1
    assert memory.bytes_at(kept, 100) is not None and memory.bytes_at(address, 1) is None
    assert "which was released" in memory.described(address) or "not device memory" in memory.described(address)

"""Memory of the emulated device ends where it ends, and is never the memory of something else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from devices.emulation import SAXPY, Session
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.emulated_memory import Memory
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
    memory = Memory(1 << 20)
    addresses = [memory.allocate(100) for _ in range(3)]

    class Releasing(list[int]):
        def __iter__(self):
            iterator = super().__iter__()
            yield next(iterator)
            if addresses:
                memory.release(addresses.pop())
            yield from iterator

    memory._starts = Releasing(memory._starts)
    assert memory.table()[1] == 2

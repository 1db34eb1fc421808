"""The emulated GPU, which notes what is asked of it."""

from __future__ import annotations

from typing import Any

from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.gpu import Box, Queue


class Watched(EmulatedGpu):
    """Notes what moves and what is still allocated, and the most there ever was; does not do what it is told not to."""

    def __init__(self, memory_bytes: int = 1 << 30) -> None:
        super().__init__(memory_bytes)
        self.moved: list[tuple[str, int]] = []
        self.waits = self.most_bytes = 0
        self.held: set[int] = set()
        self.refuses: dict[int, BaseException] = {}  # by the number of the upload from now on

    def allocate(self, size_bytes: int, before_bytes: int = 0) -> int:
        address = super().allocate(size_bytes, before_bytes)
        self.held.add(address)
        self.most_bytes = max(self.most_bytes, self.memory.used_bytes)
        return address

    def release(self, address: int) -> None:
        super().release(address)
        self.held.remove(address)

    def upload(self, address: int, source: Any, queue: Queue = "work") -> None:
        self.moved.append(("up", source.nbytes))
        error = self.refuses.get(sum(way == "up" for way, _ in self.moved))
        if error is not None:
            raise error
        super().upload(address, source, queue)

    def synchronize(self) -> None:
        self.waits += 1
        super().synchronize()

    def download(self, target: Any, address: int, inside: Box | None = None, queue: Queue = "work") -> None:
        self.moved.append(("down", target.nbytes))
        super().download(target, address, inside, queue)

    def total(self, way: str) -> int:
        """How many bytes went up or down."""
        return sum(size for one, size in self.moved if one == way)

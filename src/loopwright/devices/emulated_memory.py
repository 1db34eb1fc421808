"""Memory of the emulated device: blocks of host memory under addresses that are none of this process.

Host code that uses a device address as its own crashes, as it would with a GPU; an address is never given twice, so
that every use after release is found; between two blocks lie addresses that belong to none."""

from __future__ import annotations

import bisect
import ctypes
import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loopwright.errors import DeviceMemoryError
from loopwright.ir.reserved_arrays import empty_array

FIRST_ADDRESS = 1 << 52  # beyond what a 64-bit CPU maps for a process that does not insist
APART = 1 << 48  # from the first address of one emulated GPU to that of the next
RED_ZONE = 4096  # addresses between two allocations that belong to none
ALIGNMENT = 256
POISON = 0xFF  # every float is NaN, every signed integer -1
POISONED = 1 << 22  # bytes at both ends of a block; what is between is left alone: lists reserve gigabytes


class Allocation(ctypes.Structure):
    """struct allocation of emulated.h."""

    _fields_ = (
        ("first", ctypes.c_int64),
        ("low", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("real", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True)
class _Block:
    address: int
    size_bytes: int
    room: npt.NDArray[np.uint8]  # its bytes, aligned
    first: int  # the lowest address that a pointer to it may have


class EmulatedMemory:
    """Device memory: blocks at addresses that are never given twice. A signal, or garbage collection that releases
    blocks, may come between any two lines: what has to agree changes in one."""

    def __init__(self, limit_bytes: int, first: int = FIRST_ADDRESS) -> None:
        self.limit_bytes = limit_bytes
        self._next = first
        self._blocks: dict[int, _Block] = {}  # live ones, by their addresses, which ascend
        self._released: list[tuple[int, int]] = []  # (start, size), for the words of a fault
        self._table: ctypes.Array[Allocation] | None = None

    @property
    def used_bytes(self) -> int:
        """Of all live blocks."""
        return sum(block.size_bytes for block in tuple(self._blocks.values()))

    def allocate(self, size_bytes: int, before_bytes: int = 0) -> int:
        """Raises DeviceMemoryError. Pointers up to `before_bytes` before it mean this block, and no byte is there."""
        if size_bytes < 0:
            raise DeviceMemoryError(f"{size_bytes} bytes of device memory were asked for")
        free = self.limit_bytes - self.used_bytes
        if size_bytes > free:
            raise DeviceMemoryError(_no_room(size_bytes, self.limit_bytes, free))
        try:
            room = empty_array((size_bytes + ALIGNMENT,), np.uint8, size_bytes + ALIGNMENT)
        except MemoryError as error:
            raise DeviceMemoryError(_no_room(size_bytes, self.limit_bytes, free)) from error
        offset = -room.ctypes.data % ALIGNMENT
        first = self._next
        self._next += -(-before_bytes // ALIGNMENT) * ALIGNMENT
        block = _Block(self._next, size_bytes, room[offset : offset + size_bytes], first)
        block.room[:POISONED] = block.room[-POISONED:] = POISON
        self._next += -(-(size_bytes + RED_ZONE) // ALIGNMENT) * ALIGNMENT
        self._table = None
        self._blocks[block.address] = block
        return block.address

    def release(self, address: int) -> str:
        """'' or what is wrong with releasing this."""
        self._table = None
        block = self._blocks.pop(address, None)
        if block is None:
            return f"release of {self.described(address)}"
        bisect.insort(self._released, (address, block.size_bytes))
        return ""

    def bytes_at(self, address: int, size_bytes: int) -> npt.NDArray[np.uint8] | None:
        """So many bytes of one block, or None where they are not inside of one."""
        block = self._before(address)
        if block is None or size_bytes < 0:
            return None
        offset = address - block.address
        return block.room[offset : offset + size_bytes] if offset + size_bytes <= block.size_bytes else None

    def table(self) -> tuple[int, int]:
        """Address and length of the table of live blocks, for C; valid until the next change."""
        while (made := self._table) is None:
            blocks = tuple(self._blocks.values())
            made = (Allocation * len(blocks))()
            for entry, block in zip(made, blocks, strict=True):
                entry.first, entry.low, entry.high, entry.real = (
                    block.first,
                    block.address,
                    block.address + block.size_bytes,
                    block.room.ctypes.data,
                )
            if len(blocks) == len(self._blocks):  # none was released meanwhile
                self._table = made
        return ctypes.addressof(made), len(made)

    def _before(self, address: int) -> _Block | None:
        """The live block with the last address up to this one."""
        blocks = tuple(self._blocks.values())
        at = bisect.bisect_right(blocks, address, key=lambda block: block.address) - 1
        return blocks[at] if at >= 0 else None

    def described(self, address: int) -> str:
        """What an address is, in words."""
        block = self._before(address)
        if block is not None and address <= block.address + block.size_bytes:
            return f"address {address:#x}, byte {address - block.address} of {block.size_bytes} allocated ones"
        at = bisect.bisect_right(self._released, (address, sys.maxsize)) - 1
        if at >= 0 and address <= sum(self._released[at]):
            return f"address {address:#x}, which was released"
        return f"address {address:#x}, which is not device memory"


def _no_room(wanted: int, limit: int, free: int) -> str:
    return (
        f"the emulated GPU has no room for {wanted:,} bytes: {free:,} of its {limit:,} are free\n"
        "  try: smaller arrays, or release some that are not needed"
    )

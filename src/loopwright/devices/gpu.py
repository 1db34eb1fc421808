"""What a GPU gives to the runtime: memory, copies, and modules that host code can launch kernels of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from loopwright.codegen.program import DeviceText
from loopwright.config import Config


@dataclass(frozen=True, slots=True)
class Limits:
    """What a GPU can do. Bytes, counts; `capability` is CUDA's compute capability, (9, 0) say; `memory_bytes` all of
    its memory, `registers` those of one multiprocessor."""

    capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    threads_per_block: int = 1024
    threads_per_multiprocessor: int = 2048
    blocks_per_multiprocessor: int = 32
    shared_per_block: int = 48 * 1024
    shared_per_block_most: int = 227 * 1024
    shared_per_multiprocessor: int = 228 * 1024
    registers: int = 65536
    warp: int = 32
    l2_bytes: int = 50 << 20


class Module(Protocol):
    """Device text, loaded. `table`: the address of its struct lw_gpu (codegen/loopwright.h), valid while this lives."""

    table: int

    def started(self, stream: int) -> Exception | None:
        """From now on kernels start in this stream of the driver (0: the GPU's own); what is known to be wrong without
        waiting, or None."""

    def fault(self) -> Exception | None:
        """What the device has found wrong since the last time, or None. Waits for all launches."""


class Gpu(Protocol):
    """A GPU. Memory is addressed by numbers. Every copy is in order with the launches of its modules."""

    name: str
    limits: Limits

    def module(self, text: DeviceText, config: Config) -> Module:
        """Compile and load. Raises CompilerError."""

    def allocate(self, size_bytes: int) -> int:
        """The address of so much memory, aligned to 256 bytes. Raises DeviceMemoryError, which names sizes."""

    def release(self, address: int) -> None:
        """Give memory back; launches that still use it end first."""

    def upload(self, address: int, source: Any) -> None:
        """Copy a C-contiguous NumPy array to device memory; when this returns, it may be changed."""

    def download(self, target: Any, address: int) -> None:
        """Copy device memory to a C-contiguous NumPy array, and wait for it."""

    def synchronize(self) -> None:
        """Wait for everything. Raises DeviceError where something went wrong."""

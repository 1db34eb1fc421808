"""What a GPU can do, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.ir.gpu_target import CUDA, GpuTarget


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

    @property
    def target(self) -> GpuTarget:
        """What of it decides about schedules and texts. Copies to shared memory and products of matrices of float64
        need compute capability 8.0."""
        is_new = self.capability >= (8, 0)
        return GpuTarget(self.warp, self.threads_per_block, registers=self.registers,
                         shared_bytes=self.shared_per_block,
                         asked_shared_bytes=self.shared_per_block_most, copies=CUDA.copies if is_new else (),
                         matrix_units=is_new and self.warp == CUDA.warp)  # fmt: skip

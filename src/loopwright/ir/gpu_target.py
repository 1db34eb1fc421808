"""`GpuTarget`: what a GPU allows a grid, in one value. The recipe chooses by it, steps refuse by it, texts are written
for it, and costs are counted with it: it goes with the `Facts` of a kernel, wherever these go."""

from __future__ import annotations

from dataclasses import dataclass

AXES = "xyz"


@dataclass(frozen=True, slots=True)
class GpuTarget:
    """What CUDA allows on every GPU, unless it is said otherwise.

    warp: threads that run in step, a power of two. threads: of a block in all, and threads_along each axis;
    blocks_along: of a grid. registers: of 4 bytes, of a multiprocessor, each of whose partitions has as many; given
    out to warps in units of register_unit. shared_bytes: of a block; asked_shared_bytes: of one whose
    kernel asks for more when it is started, of which fewer run at once; reserved_bytes: what the system takes beside
    either. own_bytes: local arrays of a thread up to this size are its own; more would be slow, and much in all.

    widest: bytes that a thread loads or stores at once; copies: bytes that it may have on their way to shared memory as
    one copy, while it does something else (none: it cannot); matrix_units: a warp can multiply matrices of float64.
    sector: bytes that memory is moved in; banks of shared memory, of bank_bytes each. atomics: operations on one
    element by several threads at once, with its type."""

    warp: int = 32
    threads: int = 1024
    threads_along: tuple[int, int, int] = (1024, 1024, 64)
    blocks_along: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    registers: int = 65536
    register_unit: int = 256
    partitions: int = 4
    shared_bytes: int = 48 * 1024
    asked_shared_bytes: int = 0
    reserved_bytes: int = 1024
    own_bytes: int = 4096
    widest: int = 16
    copies: tuple[int, ...] = (4, 8, 16)
    matrix_units: bool = True
    sector: int = 32
    banks: int = 32
    bank_bytes: int = 4
    atomics: frozenset[tuple[str, str]] = frozenset(
        {
            (op, f"{kind}{bits}")
            for op in ("add", "min", "max", "and", "or", "xor")
            for kind in ("int", "uint")
            for bits in (32, 64)
        }
        | {(op, f"float{bits}") for op in ("add", "min", "max") for bits in (32, 64)}
    )

    @property
    def teams(self) -> tuple[int, ...]:
        """Of how many threads of one warp a team may be."""
        return tuple(1 << power for power in range(1, self.warp.bit_length()))

    @property
    def most_shared_bytes(self) -> int:
        """Of a block, if its kernel asks for them."""
        return max(self.shared_bytes, self.asked_shared_bytes)

    def most_threads(self, run: str) -> int:
        """Of a block along the axis of a loop that runs `thread.x`, say."""
        return min(self.threads, self.threads_along[AXES.index(run[-1])])


CUDA = GpuTarget()
"""Where nothing is known of the GPU."""

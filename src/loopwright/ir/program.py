"""`Program`: generated text and all that is needed to call it. Made by codegen, compiled by toolchain, loaded by
devices. It knows nothing of how either works.

The calling convention (the struct `lw_call` of `codegen/loopwright.h`): for every argument position of the call,
and then for every ResultArray, a data pointer, a shape and byte strides (for arrays) or an 8-byte slot (for
scalars: integers and bools sign- or zero-extended to 64 bits, float64 as a double, float32 as a float in the first
4 bytes). `entry` runs the kernel and returns 0, or 1 with the failure recorded: site number, index, size (of a failed
conversion the number instead, see `failed_number`). `guard`
returns 1 where the condition on the sizes holds that the code relies on.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from loopwright.ir.location import Location

if TYPE_CHECKING:
    from loopwright.ir.code import DeviceFunction
    from loopwright.ir.launch_bound import LaunchBound


@dataclass(frozen=True, slots=True)
class FailureSite:
    """A place in the kernel that may fail: kind 'bounds', or a CheckKind, or 'negative_size' or 'memory'. Of a failed
    conversion, `array` is the integer type. A GPU may fail at any place: 'device', and 'device_memory' where it has no
    room for what a schedule keeps there."""

    kind: str
    array: str
    axis: int
    at: Location | None

    @property
    def is_of_program(self) -> bool:
        """Whether it is the program that says so, as the user wrote it: what was written before counts."""
        return not self.kind.startswith("device")


def failed_number(index: int, size: int) -> int | float | None:
    """The number whose conversion failed: `index` has its bits, and `size` says what they are (0: none is told)."""
    match size:
        case 1 | 5:
            return index
        case 2:
            return index % 2**64
        case 3 | 4:
            return float(struct.unpack("d", struct.pack("q", index))[0])
        case _:
            return None


@dataclass(frozen=True, slots=True)
class DeviceText:
    """CUDA text for a GPU, without the header that it needs (codegen/loopwright.cuh). kernels: the names of its
    `__global__` functions, in the order of their numbers in the host text. functions: what stands in it. strict: no
    fused multiply-add. checks: some kernel may find an index outside of its array. waits: a call that has gone well has
    waited for all its kernels. fetches: the host may wait for a scalar in the middle. kept: for each order of
    iterations that outlasts a call, the positions of the arguments that decide about it."""

    text: str
    kernels: tuple[str, ...]
    strict: bool = False
    checks: bool = False
    waits: bool = False
    fetches: bool = False
    functions: tuple[DeviceFunction, ...] = field(default=(), compare=False, repr=False)
    kept: tuple[tuple[int, ...], ...] = ()


Way = Literal["threads", "collapsed", "inside", "lanes"]
"""How iterations of a loop run on a CPU: on several threads; on those of the loop around it, together with its
iterations; in one of the threads that share a loop around it; several at once in the lanes of vector registers."""


@dataclass(frozen=True, slots=True)
class Program:
    """text: a complete C file. entry, guard: names of its functions (guard is '' where always true). sites: what
    the site numbers mean. parallel: names of the loops that run on several threads. flags: compiler flags that
    the text's meaning needs. notes: of loops by name,
    for people: how work is shared out among threads, and what is tested once at the entry. ways: of all loops of a
    program for a CPU, by name, how their iterations run; () for in order, in one thread. device: the other text of a
    program for a GPU, whose arrays are in device memory. on_data: see SizeGuard. launch_bounds: calls that the guard
    turns away, as the CPU is done with them sooner."""

    text: str
    entry: str
    guard: str
    sites: tuple[FailureSite, ...]
    parallel: tuple[str, ...]
    flags: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    device: DeviceText | None = None
    ways: tuple[tuple[str, tuple[Way, ...]], ...] = ()
    on_data: bool = False
    launch_bounds: tuple[LaunchBound, ...] = ()

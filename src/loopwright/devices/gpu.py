"""What a GPU gives to the runtime: memory, copies, and modules that host code can launch kernels of."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from loopwright.config import Tools
from loopwright.devices.clocks import Clocks
from loopwright.devices.limits import Limits
from loopwright.devices.peers import GpuPart, PartsTogether, PeerCopy
from loopwright.ir.program import DeviceText

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
"""A program's entry, called with an lw_call; it releases the GIL."""

Queue = Literal["work", "up", "down"]
"""What is asked of a GPU in one queue is done in that order. Kernels run in `work`, and copies there are in order with
them. Copies in `up` and in `down` are in order with nothing else but where `wait` says so."""

Box = Sequence[range]
"""Indices along each axis, without gaps."""


class Module(Protocol):
    """Device text, loaded. `table`: the address of its struct lw_gpu (codegen/loopwright.h), valid while this lives."""

    table: int
    late_ns: int
    """How long compilers have taken so far for kernels that a call needed when it started them."""

    def started(self, stream: int) -> Exception | None:
        """From now on kernels start in this stream of the driver (0: the GPU's own); what is known to be wrong without
        waiting, or None."""

    def told(self, failures: int) -> int:
        """Where the host finds what kernels tell of the failure that they record at an address of the device, which is
        the host's memory: the address of an lw_failure; 0: nowhere but there."""

    def fault(self) -> Exception | None:
        """What the device has found wrong since the last time, or None. Waits for all launches. Raises what a
        handler of a signal has raised while the main thread waited."""


class Timer(Protocol):
    """`with timer: ...` takes the time that the GPU needs for what the block starts in a stream."""

    def __enter__(self) -> object: ...
    def __exit__(self, *_: object) -> None: ...

    def finished_ns(self) -> int | None:
        """Nanoseconds; None while the GPU has not come to the end of it. Waits for nothing. Raises DeviceError where
        the GPU is lost."""


class Gpu(Protocol):
    """A GPU. Memory is addressed by numbers; in it elements of an array follow one another, the last axis fastest."""

    name: str
    limits: Limits
    late_ns: int
    """The same of all its modules."""

    @property
    def clocks(self) -> Clocks:
        """How fast it is at most; zeros for one that is not real."""

    def module(self, text: DeviceText, config: Tools) -> Module:
        """Compile and load. Raises CompilerError."""

    def allocate(self, size_bytes: int, before_bytes: int = 0, stream: int = 0) -> int:
        """The address of so much memory, aligned to 256 bytes. before_bytes: kernels may be given pointers to so much
        before it, and then touch nothing there. stream: of the driver, for what is asked for there from now on; 0:
        `work`. Raises DeviceMemoryError, which names sizes."""

    def release(self, address: int, stream: int = 0) -> None:
        """Give memory back; what was asked for in `work`, or in this stream of the driver, ends first."""

    def visible(self, size_bytes: int) -> Any | None:
        """Bytes of the host, as a NumPy array, that kernels of this GPU write to themselves, few of them, and that the
        host reads once these are done; theirs as long as the array lives. None where there are none."""

    def upload(self, address: int, source: Any, queue: Queue = "work", inside: Box | None = None) -> None:
        """Copy a NumPy array to device memory, or only a box of it where all of it has its place there: what lies
        outside stays as it is. When this returns, the array may be changed."""

    def download(self, target: Any, address: int, inside: Box | None = None, queue: Queue = "work") -> None:
        """Copy device memory, where all of an array is, to that NumPy array, or only to a box inside of it, and wait
        for it."""

    def copy_from(
        self, source: Gpu, address: int, other: int, size_bytes: int, rows: int = 1, pitch_bytes: int = 0
    ) -> bool:
        """Copy bytes of another GPU's memory, from `other` there, in the order of `work`, and after what that GPU was
        asked for in its own. Of several rows each has so many bytes, and begins `pitch_bytes` behind the one before,
        here and there; what lies between them stays as it is. False, and nothing done, where the two cannot reach each
        other."""

    def meet(self, others: Sequence[Gpu]) -> None:
        """This GPU and others will copy from one another: what that takes is done now, before they are at work. Raises
        DeviceError."""

    def exchange(self, order: Sequence[tuple[Gpu, Gpu]], copies: Sequence[PeerCopy]) -> Callable[[], None] | None:
        """What GPUs of this kind are asked for each time that this is called: the first of each pair does what follows
        in its `work` after what the second one was asked for in its own before; then come the copies. It returns at
        once, and raises ExchangeFailed. One at a time in a process. None where two GPUs cannot reach each other."""

    def together(self, parts: Sequence[tuple[Gpu, GpuPart]]) -> PartsTogether | None:
        """Calls of programs on GPUs of this kind, which start in their own `work`, in as little of the host's time as
        possible. None where that takes one after the other."""

    def mark(self, queue: Queue) -> int:
        """A mark behind everything that was asked for in a queue; to be given to `wait` once."""

    def wait(self, queue: Queue, mark: int) -> None:
        """What is asked for in a queue from now on is done after what is before the mark. Returns at once."""

    def settle(self, queue: Queue) -> None:
        """Wait until all that was asked for in a queue is done. Raises DeviceError where something went wrong."""

    def timer(self, stream: int = 0) -> Timer:
        """Of what starts in a stream of the driver; 0: the GPU's own."""

    def synchronize(self) -> None:
        """Wait for everything. Raises DeviceError where something went wrong."""

    def stop(self) -> None:
        """Kernels of calls that the main thread has made end early, where they run still."""

    def one_call(self) -> AbstractContextManager[int]:
        """What this thread asks of GPUs in the block is one call, which another thread can end by the ticket that this
        gives; not for the main thread. It begins when what was asked for before is done."""

    def end_call(self, ticket: int) -> None:
        """The kernels of such a call end early, and its program starts no others. Returns at once."""

    def function(self, entry: int) -> Callable[[Any], int]:
        """What calls the entry of a program at this address, given a reference to its lw_call. Where a handler of a
        signal raises meanwhile, in the main thread, the call ends early and is a failed one, and `Module.fault`
        raises."""

    @property
    def watch(self) -> int:
        """The address of an lw_watch for its calls."""

    def free_bytes(self) -> int:
        """How much memory is free. It may take a while."""

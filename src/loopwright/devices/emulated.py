"""The emulated device: a GPU that is not there. It executes unmodified device text on the CPU, for tests and for
machines without a GPU, and finds what a real one would not say: accesses outside of an array or after its release,
misaligned vectors, races on shared memory, barriers that not all threads reach.

A C++ compiler compiles the text behind emulated.h, and what not every call needs when the first call needs it, as for
a real GPU; this module keeps memory, and puts faults into words.
Addresses are numbers that no memory of this process has, so that host code that uses one as its own crashes here as
it would with a GPU. A launch is done when it returns, one at a time in a process. It refuses what CUDA refuses."""

from __future__ import annotations

import ctypes
import functools
import mmap
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from loopwright.config import Tools, current
from loopwright.devices.clocks import Clocks
from loopwright.devices.cuda_launcher import address_in, is_of_compiler, one_call, raiser, waiting_launcher
from loopwright.devices.emulated_build import ENTRY, build_emulated, find_cxx
from loopwright.devices.emulated_memory import APART, FIRST_ADDRESS, EmulatedMemory
from loopwright.devices.gpu import Box, Gpu, Queue
from loopwright.devices.limits import Limits
from loopwright.devices.peers import ExchangeFailed, GpuPart, PeerCopy
from loopwright.errors import CompilerError, DeviceError, DeviceMemoryError
from loopwright.forks import free_in_child
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.program import DeviceText
from loopwright.toolchain import device_text
from loopwright.toolchain.library import load_library, made_and_loaded

MOST_THREADS = 1024
STACK_BYTES = 256 * 1024
MOST_BLOCK = (1024, 1024, 64)
MOST_GRID = (2**31 - 1, 65535, 65535)

STOPPED = -1
MOST_UNITS = 1 << 10  # of a thread of a launch that does not ask (codegen/most_work.py): it takes a tenth of a second
INVALID, OUT_OF_RESOURCES, ILLEGAL_ADDRESS, LAUNCH_FAILED = 1, 701, 700, 719  # as CUDA numbers them


# ---- what C gives and takes -------------------------------------------------------------------------------------


class _Fault(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int32),
        ("how", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("other_line", ctypes.c_int32),
        ("block", ctypes.c_int64 * 3),
        ("thread", ctypes.c_int64 * 3),
        ("other", ctypes.c_int64 * 3),
        ("array", ctypes.c_char_p),
        ("index", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        ("kernel", ctypes.c_int64),
        ("grid", ctypes.c_int64 * 3),
        ("block", ctypes.c_int64 * 3),
        ("arguments", ctypes.c_void_p),
        ("allocations", ctypes.c_void_p),
        ("allocation_count", ctypes.c_int64),
        ("stacks", ctypes.c_void_p),
        ("stack_bytes", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
        ("asked_shared_bytes", ctypes.c_int64),
        ("found", _Fault),
    )


_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64),
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64,
)  # fmt: skip
_FETCH = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_CLEAR = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


_TICKET = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class GpuFunctions(ctypes.Structure):
    """struct lw_gpu of codegen/loopwright.h."""

    _fields_ = (
        ("launch", _LAUNCH),
        ("fetch", _FETCH),
        ("allocate", _ALLOCATE),
        ("release", _RELEASE),
        ("clear", _CLEAR),
        ("visible", _ALLOCATE),
        ("ticket", _TICKET),
        ("stopped", ctypes.c_void_p),
        ("patience", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """What the device has found wrong. kind: a word for programs; text: all of it, for people; kernel: its name, ''
    where none ran."""

    kind: str
    kernel: str
    text: str
    code: int


# ---- faults in words --------------------------------------------------------------------------------------------

_KINDS = (
    "", "out_of_bounds", "out_of_bounds", "not_memory", "misaligned", "race", "divergent", "returned", "stuck",
    "too_much_shared", "not_memory", "partial_mask", "race",
)  # fmt: skip
_DID = {1: "reads", 2: "writes", 3: "updates atomically"}


def _words(found: _Fault, memory: EmulatedMemory) -> str:
    """What a thread of a kernel did."""
    array = (found.array or b"?").decode()
    line, other_line = f"line {found.line} of the device text", f"line {found.other_line}"
    other = f"thread {_triple(found.other)}"
    match found.kind:
        case 1:
            last = found.first + found.count - 1
            there = f"elements {found.first} to {last}" if found.count else "no element"
            return f"element {found.index} of '{array}' ({found.bytes} bytes) is touched, whose memory has {there}"
        case 2:
            return f"element {found.index} of shared '{array}' is touched, which has {found.count}"
        case 3:
            return f"element {found.index} of '{array}' is touched: {memory.described(found.first)}"
        case 4:
            return f"element {found.index} of '{array}' is not aligned for an access of {found.bytes} bytes at once"
        case 5:
            mine, its = _DID[found.how // 4], _DID[found.how % 4]
            return f"race on shared '{array}'[{found.index}]: this thread {mine} it, {other} {its} it, nothing between"
        case 6:
            return f"this thread waits at {line}, {other} at {other_line}: they never meet"
        case 7:
            return f"this thread returned from the kernel, {other} waits for it at {line}"
        case 8:
            return f"this thread waits for others at {line}, {other} at {other_line}: none can go on"
        case 9:
            return f"the kernel has {found.count} bytes of shared arrays, and {found.bytes} are allowed"
        case 10:
            return f"the plain pointer '{array}' is {memory.described(found.first)}"
        case 12:
            mine = _DID[found.how]
            return (
                f"race on shared '{array}'[{found.index}]: this thread {mine} it, a copy of {other} is on its way there"
            )
    return "the mask of a shuffle or __syncwarp must name 1, 2, 4, 8 or more neighbouring lanes, this one among them"


def _triple(values: Sequence[int]) -> str:
    return f"({values[0]}, {values[1]}, {values[2]})"


def _fault_of(found: _Fault, kernel: str, memory: EmulatedMemory) -> Fault:
    where = f"block {_triple(found.block)}, thread {_triple(found.thread)}: " if found.kind != 10 else ""
    text = f"kernel '{kernel}', {where}{_words(found, memory)}"
    return Fault(_KINDS[found.kind], kernel, text, ILLEGAL_ADDRESS if found.kind in (1, 3, 10) else LAUNCH_FAILED)


def _error_of(faults: Sequence[Fault]) -> DeviceError | None:
    if not faults:
        return None
    more = len(faults) - 1
    return DeviceError(f"{faults[0].text}" + (f"\n  and {more} more fault{'s' * (more > 1)} after it" if more else ""))


# ---- the device -------------------------------------------------------------------------------------------------

_one_launch = free_in_child(threading.RLock())  # the stacks, and the state in a library, are for one launch at a time


@dataclass(frozen=True, slots=True)
class _Waiting:
    """emulated_wait.c. call: an entry and an lw_call; ends: whether the call that this thread makes has to end.
    one_call, end_call: see Gpu."""

    call: Callable[[int, Any], int]
    ends: Callable[[], int]
    raise_held: Callable[[], None]
    one_call: Callable[[], AbstractContextManager[int]]
    end_call: Callable[[int], None]
    ticket: Any
    watch: int
    stopped: int


@functools.cache
def _waiting() -> _Waiting:
    """Raises CompilerError."""
    code = waiting_launcher(("emulated_wait.c",), current())
    code.lw_emulated_call.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    watch, stopped = (address_in(code, f"lw_emulated_{name}") for name in ("watch", "stopped"))
    ticket = ctypes.cast(code.lw_emulated_ticket, _TICKET)
    code.lw_emulated_end_call.argtypes = (ctypes.c_int64,)
    asked = raiser(code), partial(one_call, code), code.lw_emulated_end_call
    return _Waiting(code.lw_emulated_call, code.lw_emulated_ends, *asked, ticket, watch, stopped)


@functools.cache
def _stacks() -> tuple[mmap.mmap, int]:
    """Stacks for the threads of a block, for all of this process, and their address. Only what is used takes memory."""
    private = getattr(mmap, "MAP_PRIVATE", 2) | getattr(mmap, "MAP_ANONYMOUS", 0x20) | getattr(mmap, "MAP_NORESERVE", 0)
    area = mmap.mmap(-1, MOST_THREADS * STACK_BYTES, flags=private)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for number in range(MOST_THREADS):  # the last page of each: to overflow is to crash, not to spoil the next one
        protect(address + number * STACK_BYTES, mmap.PAGESIZE, 0)
    return area, address


class EmulatedTimer:
    """See devices.gpu.Timer. A launch is done when it returns: the CPU's clock says how long it took."""

    def __enter__(self) -> EmulatedTimer:
        self._begun_ns, self._ended_ns = time.perf_counter_ns(), 0
        return self

    def __exit__(self, *_: object) -> None:
        self._ended_ns = time.perf_counter_ns()

    def finished_ns(self) -> int | None:
        """What the block took."""
        return self._ended_ns - self._begun_ns if self._ended_ns else None


class EmulatedGpu:
    """A GPU of `devices.gpu`'s protocol on the CPU. memory_bytes: how much it has. seed: 0 runs blocks and threads in
    order, every other number in another order. warp: how many threads one has. number: which of several it is;
    no address of one is an address of another."""

    def __init__(
        self,
        memory_bytes: int = 64 << 30,
        seed: int = 0,
        multiprocessors: int = 132,
        warp: int = CUDA.warp,
        number: int = 0,
    ) -> None:
        self.name = f"emulated {number}" if number else "emulated"
        self.late_ns = 0
        self.limits = Limits((9, 0), multiprocessors, memory_bytes, warp=warp)
        self.seed = seed
        self.memory = EmulatedMemory(memory_bytes, FIRST_ADDRESS + number * APART)
        self._reports: list[list[Fault]] = []
        self._late: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []  # of the queue `up`, not made yet
        self._promised = self._allocated = self._known = 0

    @property
    def clocks(self) -> Clocks:
        """None: it is as fast as the CPU lets it be."""
        return Clocks()

    def module(self, text: DeviceText, config: Tools) -> EmulatedModule:
        """Compile and load. Raises CompilerError."""
        module = EmulatedModule(self, text, config)
        self._reports.append(module.report)
        return module

    def allocate(self, size_bytes: int, before_bytes: int = 0, stream: int = 0) -> int:
        """The address of so much memory, every byte of it POISON. Raises DeviceMemoryError."""
        with _one_launch:
            self._allocated += 1
            return self.memory.allocate(size_bytes, before_bytes)

    def release(self, address: int, stream: int = 0) -> None:
        """Give memory back. Raises DeviceError for what was not allocated."""
        with _one_launch:
            wrong = self.memory.release(address)
        if wrong:
            raise DeviceError(wrong)

    def upload(self, address: int, source: Any, queue: Queue = "work", inside: Box | None = None) -> None:
        """Copy an array to device memory, or a box of it. Raises DeviceError outside of an allocation."""
        values = np.array(source, order="C")
        with _one_launch:
            there = self._at(address, values.nbytes, "upload").view(values.dtype).reshape(values.shape)
            if inside is not None:
                box = tuple(slice(one.start, one.stop) for one in inside)
                there, values = there[box], values[box]
            if queue == "work":
                there[...] = values
            elif self._known < self._allocated:
                raise DeviceError("a copy in the queue 'up' does not wait for its memory, allocated in 'work'")
            else:
                self._late.append((there, values))
                self._promised += 1

    def download(self, target: Any, address: int, inside: Box | None = None, queue: Queue = "work") -> None:
        """Copy device memory to an array. Raises DeviceError outside of an allocation."""
        with _one_launch:
            there = self._at(address, target.nbytes, "download").view(target.dtype).reshape(target.shape)
            box = tuple(slice(one.start, one.stop) for one in inside) if inside is not None else ...
            target[box] = there[box]

    def copy_from(
        self, source: Gpu, address: int, other: int, size_bytes: int, rows: int = 1, pitch_bytes: int = 0
    ) -> bool:
        """See devices.gpu.Gpu. Raises DeviceError outside of an allocation."""
        if not isinstance(source, EmulatedGpu):
            return False
        with _one_launch:
            for row in range(rows):
                there = source._at(other + row * pitch_bytes, size_bytes, "copy")
                self._at(address + row * pitch_bytes, size_bytes, "copy")[:] = there
        return True

    def meet(self, others: Sequence[Gpu]) -> None:
        """See devices.gpu.Gpu. They share the host's memory."""

    def exchange(self, order: Sequence[tuple[Gpu, Gpu]], copies: Sequence[PeerCopy]) -> Callable[[], None] | None:
        """See devices.gpu.Gpu. All that was asked for before is done."""
        if not all(isinstance(one.source, EmulatedGpu) and isinstance(one.target, EmulatedGpu) for one in copies):
            return None

        def made() -> None:
            for one in copies:
                try:
                    one.target.copy_from(*one[1:7])
                except DeviceError as error:
                    raise ExchangeFailed(one.target, error) from None

        return made

    def visible(self, size_bytes: int) -> None:
        """See devices.gpu.Gpu: its kernels find nothing of the host's."""

    def together(self, parts: Sequence[tuple[Gpu, GpuPart]]) -> None:
        """See devices.gpu.Gpu."""

    def mark(self, queue: Queue) -> int:
        """How many copies were asked for in the queue `up`, or how often memory was in `work`."""
        return self._promised if queue == "up" else self._allocated

    def wait(self, queue: Queue, mark: int) -> None:
        """Copies of the queue `up` are made when `work` waits for them, and not before, and they wait for memory: who
        forgets to, finds out."""
        with _one_launch:
            if queue == "up":
                self._known = mark
            if queue != "work":
                return
            while self._late and self._promised - len(self._late) < mark:
                there, values = self._late.pop(0)
                there[...] = values

    def settle(self, queue: Queue) -> None:
        """Kernels and copies to the host are done when they are asked for."""

    def timer(self, stream: int = 0) -> EmulatedTimer:
        """See devices.gpu.Gpu."""
        return EmulatedTimer()

    def stop(self) -> None:
        """Nothing runs when a call is over."""

    def one_call(self) -> AbstractContextManager[int]:
        """See devices.gpu.Gpu."""
        return _waiting().one_call()

    def end_call(self, ticket: int) -> None:
        """See devices.gpu.Gpu."""
        _waiting().end_call(ticket)

    def function(self, entry: int) -> Callable[[Any], int]:
        """See devices.gpu.Gpu."""
        return functools.partial(_waiting().call, entry)

    @property
    def watch(self) -> int:
        """See devices.gpu.Gpu."""
        return _waiting().watch

    def synchronize(self) -> None:
        """Raises DeviceError where a launch of any module went wrong and nobody has asked yet."""
        self.wait("work", self._promised)
        faults = [fault for report in self._reports for fault in report]
        for report in self._reports:
            report.clear()
        error = _error_of(faults)
        if error is not None:
            raise error

    def free_bytes(self) -> int:
        """How much memory is free."""
        return self.memory.limit_bytes - self.memory.used_bytes

    def _at(self, address: int, size_bytes: int, what: str) -> npt.NDArray[np.uint8]:
        found = self.memory.bytes_at(address, size_bytes)
        if found is None:
            raise DeviceError(f"{what} of {size_bytes} bytes at {self.memory.described(address)}")
        return found


class EmulatedModule:
    """Device text that was compiled for an EmulatedGpu. report: its faults since somebody asked for them."""

    def __init__(self, gpu: EmulatedGpu, text: DeviceText, config: Tools) -> None:
        self.report: list[Fault] = []
        self.late_ns = 0
        self._gpu, self._memory, self._kernels = gpu, gpu.memory, text.kernels
        self._text, self._config = text, config
        self._trouble: BaseException | None = None
        self._code: dict[str, tuple[Callable[..., None], int]] = {}  # of a kernel: its library, and its number there
        most_threads = {entry.name: one.threads for one in text.functions for entry in one.entries}
        self._most_threads = [most_threads.get(kernel) for kernel in text.kernels]
        find_cxx(config)
        if first := device_text.compiled_first(text):
            self._load(first)
        self._table = GpuFunctions(
            _LAUNCH(self._launch),
            _FETCH(self._fetch),
            _ALLOCATE(self._allocate),
            _RELEASE(self._release),
            _CLEAR(self._clear),
            _ALLOCATE(self._allocate),
            _waiting().ticket,
            _waiting().stopped,
            MOST_UNITS,
        )
        self.table = ctypes.addressof(self._table)

    def _load(self, kernels: Sequence[str]) -> None:
        """Compile these kernels. Raises CompilerError."""
        chosen = device_text.only(self._text, kernels)
        build = partial(build_emulated, chosen, self._config, self._gpu.limits.warp)
        try:
            _, library = made_and_loaded(build, load_library)
        except TimeoutError:
            raise  # by the handler of a signal
        except OSError as error:
            raise CompilerError(f"the compiled device text cannot be loaded: {error}") from error
        run: Callable[..., None] = getattr(library, ENTRY)
        self._code |= {kernel: (run, number) for number, kernel in enumerate(chosen.kernels)}

    def _loaded_late(self, kernel: str) -> bool:
        """Whether a kernel is there, now if not before; else `fault` tells why not."""
        if kernel in self._code:
            return True
        begun = time.perf_counter_ns()
        try:
            self._load(device_text.compiled_with(self._text, kernel))
        except BaseException as error:  # ctrl-C too: nobody catches it where this is called from
            self._trouble = error
            return False
        finally:
            spent_ns = time.perf_counter_ns() - begun
            self.late_ns += spent_ns
            self._gpu.late_ns += spent_ns
        return True

    def faults(self) -> tuple[Fault, ...]:
        """What the device has found wrong since the last time, one by one."""
        found = tuple(self.report)
        self.report.clear()
        return found

    def started(self, stream: int) -> Exception | None:
        """There is one stream only, and it has done what it was asked."""
        return self.fault()

    def told(self, failures: int) -> int:
        """Nowhere: a copy costs nothing here."""
        return 0

    def fault(self) -> Exception | None:
        """The same as one DeviceError, or None. Raises what a handler of a signal has raised during the call."""
        _waiting().raise_held()
        trouble, self._trouble = self._trouble, None
        if trouble is not None and is_of_compiler(trouble):
            return DeviceError(f"a kernel of the emulated GPU is not there: {trouble}")
        if trouble is not None:
            raise trouble
        return _error_of(self.faults())

    def _launch(self, _: int, kernel: int, grid: Any, block: Any, shared_bytes: int, arguments: int, work: int) -> int:
        try:
            return self._launched(kernel, grid, block, shared_bytes, arguments)
        except Exception as error:  # C cannot see it; a report can tell it
            return self._found(Fault("internal", "", f"the emulated GPU itself failed: {error!r}", LAUNCH_FAILED))

    def _launched(self, kernel: int, grid: Any, block: Any, shared_bytes: int, arguments: int) -> int:
        with _one_launch:
            if _waiting().ends():
                return STOPPED
            refused = self._refused(kernel, grid[:3], block[:3], shared_bytes)
            if refused:
                name = self._kernels[kernel] if 0 <= kernel < len(self._kernels) else ""
                return self._found(Fault("refused", name, refused, INVALID))
            if not self._loaded_late(self._kernels[kernel]):
                return INVALID
            run, number = self._code[self._kernels[kernel]]
            launch = _Launch(number, tuple(grid[:3]), tuple(block[:3]), arguments, seed=self._gpu.seed)
            launch.asked_shared_bytes = shared_bytes
            launch.allocations, launch.allocation_count = self._memory.table()
            launch.stacks, launch.stack_bytes = _stacks()[1], STACK_BYTES
            run(ctypes.byref(launch))
            if launch.found.kind:  # a real one would tell when it is waited for, not here
                self._found(_fault_of(launch.found, self._kernels[kernel], self._memory))
        return 0

    def _refused(self, kernel: int, grid: Sequence[int], block: Sequence[int], shared_bytes: int) -> str:
        if not 0 <= kernel < len(self._kernels):
            return f"launch of kernel number {kernel} of {len(self._kernels)}"
        head = f"launch of '{self._kernels[kernel]}' with grid {_triple(grid)} and block {_triple(block)}: "
        bounds = min(MOST_THREADS, self._most_threads[kernel] or MOST_THREADS)
        threads = block[0] * block[1] * block[2]
        for what, sizes, most in (("grid", grid, MOST_GRID), ("block", block, MOST_BLOCK)):
            for axis, size, limit in zip("xyz", sizes, most, strict=True):
                if not 1 <= size <= limit:
                    return f"{head}{what} {axis} is {size}, allowed are 1 to {limit}"
        if threads > bounds:
            return f"{head}a block has {threads} threads, allowed are {bounds}"
        allowed = self._gpu.limits.shared_per_block_most
        if not 0 <= shared_bytes <= allowed:
            return f"{head}{shared_bytes} bytes of shared memory, allowed are {allowed}"
        return ""

    def _found(self, fault: Fault) -> int:
        self.report.append(fault)
        return fault.code

    def _fetch(self, _: int, to: int, source: int, size_bytes: int) -> int:
        with _one_launch:
            if self.report:
                return self.report[0].code
            found = self._memory.bytes_at(source or 0, size_bytes)
            if found is None:
                where = self._memory.described(source or 0)
                return self._found(Fault("fetch", "", f"fetch of {size_bytes} bytes at {where}", INVALID))
            ctypes.memmove(to, found.ctypes.data, size_bytes)
        return 0

    def _allocate(self, _: int, size_bytes: int) -> int | None:
        try:
            with _one_launch:
                return self._memory.allocate(size_bytes)
        except DeviceMemoryError:
            return None

    def _release(self, _: int, address: int | None) -> None:
        if address is not None:
            with _one_launch:
                wrong = self._memory.release(address)
            if wrong:
                self._found(Fault("release", "", wrong, INVALID))

    def _clear(self, _: int, address: int | None, size_bytes: int) -> int:
        with _one_launch:
            found = self._memory.bytes_at(address or 0, size_bytes)
            if found is None:
                where = self._memory.described(address or 0)
                return self._found(Fault("clear", "", f"clear of {size_bytes} bytes at {where}", INVALID))
            found.fill(0)
        return 0

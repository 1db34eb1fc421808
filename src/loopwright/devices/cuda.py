"""Real GPUs, through CUDA's driver: finding them, their memory, copies, times, and modules whose kernels host code
starts (cuda_launch.c). A machine without one is an answer (`find_gpus()` is empty, and `why_none` says why), not an
error.

All GPU work of this package is in order in one stream per GPU; only a call in parts copies in two more, and says what
waits for what (`mark`, `wait`). The context is the primary one, which CuPy, PyTorch and
CUDA's runtime use too, so pointers of theirs are good here; on the calling thread it is current during a call only.

How arrays are copied: in pieces through pinned memory of ours. The GPU's copy engines read only pinned memory; of
other memory the driver makes such a copy too, but more slowly than the bus could move it. With pinned memory of our own
several threads fill it while the engine empties it, an upload returns before the GPU has everything, and it makes no
difference how the user's memory was allocated. Small arrays take the same way: what the driver promises for them
depends on whether they happen to be pinned, and to copy them first costs less than to ask.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from loopwright.config import Tools, available_cores, current
from loopwright.deferred import deferred
from loopwright.devices import cuda_peer, cuda_slots
from loopwright.devices.clocks import Clocks
from loopwright.devices.copy_layout import CopyBox, copy_box, copy_layout, offset_in, stretches
from loopwright.devices.cuda_launcher import FUNCTIONS, address_in, cuda_launcher, one_call, raiser
from loopwright.devices.cuda_module import ALLOCATE, DOING, FETCH, STICKY, CudaModule, size_text
from loopwright.devices.cuda_parts import CudaParts
from loopwright.devices.cuda_timer import CudaTimer
from loopwright.devices.gpu import ENTRY, Box, Gpu, Queue
from loopwright.devices.limits import Limits
from loopwright.devices.peers import ExchangeFailed, GpuPart, PeerCopy
from loopwright.errors import CompilerError, DeviceError, DeviceMemoryError
from loopwright.ir.program import DeviceText
from loopwright.toolchain import nvrtc

if TYPE_CHECKING:
    from loopwright.toolchain import device_text
else:
    device_text = deferred("loopwright.toolchain.device_text")

LIBRARY = "libcuda.so.1"
OLDEST_DRIVER = 13000  # what cuDriverGetVersion says for CUDA 13.0; older drivers refuse the cubins that we make
OLDEST_CAPABILITY = (7, 5)  # of those that CUDA 13 makes code for
LANES = 8  # threads of a large copy: one way 12 are a little faster, but with copies both ways at once 8 are
HALF_BYTES = 2 << 20  # of pinned memory; each lane has two halves
EVENT_WITHOUT_TIME = 2
KEEP_ALL = 2**64 - 1  # released memory stays in the pool: to give it back to the system takes longer than a kernel
IN_THIS_PROCESS = (
    "this process cannot use the GPU any more: kernels run on the CPU; to use it again, start a new process"
)
FORKED = (
    "this process was forked from one that had already looked for GPUs, and CUDA does not work across a fork\n"
    "  try: start processes with multiprocessing's 'spawn' or 'forkserver'; until then kernels run on the CPU"
)

OUT_OF_MEMORY, NO_DEVICE, NOT_READY = 2, 100, 600


@dataclass(frozen=True, slots=True)
class Driver:
    """CUDA's driver: api, cuda.bindings.driver; library, the same driver for C."""

    api: Any
    library: ctypes.CDLL


@dataclass(frozen=True, slots=True)
class _DriverSearch:
    gpus: tuple[CudaGpu, ...]
    failure: str


def find_gpus() -> tuple[CudaGpu, ...]:
    """The GPUs that this process can use, in the driver's order; looked for once."""
    return _searched().gpus


def why_none() -> str:
    """Why there is no GPU, and what to do, for people, where `find_gpus` finds none."""
    return _searched().failure


@functools.cache
def _searched() -> _DriverSearch:
    try:
        driver = _driver()
        found = tuple(CudaGpu(driver, number) for number in range(_count(driver)))
    except RuntimeError as error:  # DeviceError is one, and what the package raises of itself is another
        return _DriverSearch((), str(error))
    usable = tuple(gpu for gpu in found if not gpu.missing)
    return _DriverSearch(usable, "" if usable else "; ".join(f"{gpu.name}: {gpu.missing}" for gpu in found))


def _driver() -> Driver:
    """The driver of this machine. Raises DeviceError where there is none. The library comes first: nothing of CUDA's
    Python packages is touched where there is no driver."""
    if _forked:
        raise DeviceError(FORKED)
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise DeviceError(
            f"no NVIDIA driver was found ({error}): kernels run on the CPU. Where there is an NVIDIA GPU, install its "
            "driver, of CUDA 13.0 or newer"
        ) from error
    try:
        api = importlib.import_module("cuda.bindings.driver")
    except ImportError as error:
        raise DeviceError(
            f"there is an NVIDIA driver, but not the package to reach it ({error}): kernels run on the CPU. To install "
            f"it: {nvrtc.INSTALL}"
        ) from error
    return Driver(api, library)


def _count(driver: Driver) -> int:
    """How many devices there are, after the driver has started. Raises DeviceError where there is none."""
    api = driver.api
    code, version = api.cuDriverGetVersion()
    if int(code):
        raise DeviceError(f"the NVIDIA driver does not tell its version: {_named(api, int(code))}")
    if version < OLDEST_DRIVER:
        raise DeviceError(
            f"the NVIDIA driver is one of CUDA {version // 1000}.{version % 1000 // 10}, and 13.0 or newer is needed: "
            "kernels run on the CPU. To use the GPU, install driver 580 or newer"
        )
    code = int(api.cuInit(0)[0])
    count = 0
    if not code:
        code, count = api.cuDeviceGetCount()
    if int(code) not in (0, NO_DEVICE):
        raise DeviceError(
            f"the NVIDIA driver does not start: {_named(api, int(code))}\n  try: nvidia-smi, which should list the "
            "GPUs; until then kernels run on the CPU"
        )
    if not count:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        why = "" if hidden is None else f" (CUDA_VISIBLE_DEVICES is {hidden!r}: unset it to see all)"
        raise DeviceError(f"the NVIDIA driver finds no GPU{why}: kernels run on the CPU")
    _watch_forks()
    return int(count)


def _named(api: Any, code: int) -> str:
    """An error code in words: "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"."""
    try:
        result = api.CUresult(code)
        _, name = api.cuGetErrorName(result)
        _, text = api.cuGetErrorString(result)
        return f"{name.decode()} ({text.decode()})"
    except (ValueError, AttributeError):  # newer than the package
        return f"CUDA error {code}"


# ---- a GPU ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenedGpu:
    """What a GPU has once it is used: context, streams and pool of the driver, the code of cuda_launch.c, and its
    lw_cuda. raise_held: raises what a handler of a signal has raised while a call waited."""

    context: int
    streams: Mapping[Queue, int]
    pool: int
    code: ctypes.CDLL
    handle: int
    raise_held: Callable[[], None]

    @property
    def stream(self) -> int:
        """Where kernels start, and copies that are in order with them."""
        return self.streams["work"]


class CudaGpu:
    """See devices.gpu.Gpu. The driver makes a context (some 0.3 s, some 0.5 GiB of GPU memory) when the first thing is
    asked for that needs one. `missing`: why it cannot be used, '' where it can. May be called by several threads."""

    def __init__(self, driver: Driver, number: int, lanes: int = 0, half_bytes: int = HALF_BYTES) -> None:
        self._driver, self.api, self.number = driver, driver.api, number
        self._lanes, self._half_bytes = lanes or min(LANES, available_cores()), half_bytes
        self._opening = threading.Lock()
        self._opened: OpenedGpu | None = None
        self._lost = ""
        self._slots: cuda_slots.Slots | None = None
        self.late_ns = 0
        self.spare_events: list[tuple[int, int]] = []  # of timers that are no more: to make them takes a while
        self.reads: set[CudaGpu] = set()  # others whose memory it reads itself, where it can
        self.readers: set[CudaGpu] = set()  # others that read its memory
        self.sees: set[CudaGpu] = set()  # others whose memory is mapped for its kernels
        self.device = self._ask("cuDeviceGet", number)
        name: bytes = self._ask("cuDeviceGetName", 256, self.device)
        self.name = name.split(b"\0")[0].decode(errors="replace").strip()
        self.limits = self._limits()
        self.missing = self._missing()
        _made.add(self)

    def _limits(self) -> Limits:
        ask = self._attribute
        return Limits(
            capability=(ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR")),
            multiprocessors=ask("MULTIPROCESSOR_COUNT"),
            memory_bytes=int(self._ask("cuDeviceTotalMem", self.device)),
            threads_per_block=ask("MAX_THREADS_PER_BLOCK"),
            threads_per_multiprocessor=ask("MAX_THREADS_PER_MULTIPROCESSOR"),
            blocks_per_multiprocessor=ask("MAX_BLOCKS_PER_MULTIPROCESSOR"),
            shared_per_block=ask("MAX_SHARED_MEMORY_PER_BLOCK"),
            shared_per_block_most=ask("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            shared_per_multiprocessor=ask("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
            registers=ask("MAX_REGISTERS_PER_MULTIPROCESSOR"),
            warp=ask("WARP_SIZE"),
            l2_bytes=ask("L2_CACHE_SIZE"),
        )

    def _missing(self) -> str:
        major, minor = self.limits.capability
        if (major, minor) < OLDEST_CAPABILITY:
            return f"it has compute capability {major}.{minor}, and CUDA 13 makes code for 7.5 and newer"
        if not self._attribute("MEMORY_POOLS_SUPPORTED"):
            return "its driver has no memory pools, as in some virtual machines"
        return ""

    @property
    def clocks(self) -> Clocks:
        """At their highest, as the driver says; zeros for what it does not say."""
        khz = 1000

        def told(name: str) -> int:
            with suppress(DeviceError, AttributeError):
                return max(0, self._attribute(name))
            return 0

        return Clocks(told("CLOCK_RATE") * khz, told("MEMORY_CLOCK_RATE") * khz, told("GLOBAL_MEMORY_BUS_WIDTH"))

    def _attribute(self, name: str) -> int:
        kind = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._ask("cuDeviceGetAttribute", kind, self.device))

    # ---- memory and copies --------------------------------------------------------------------------------------

    def allocate(self, size_bytes: int, before_bytes: int = 0, stream: int = 0) -> int:
        """The address of so much memory, aligned to 256 bytes. Raises DeviceMemoryError, which names sizes."""
        del before_bytes  # addresses are numbers here, whatever they point to
        opened = self.open()
        memory = ctypes.c_uint64()
        code = opened.code.lw_cuda_allocate(opened.handle, stream or opened.stream, size_bytes, ctypes.byref(memory))
        if code:
            raise self.failed(code, DOING[ALLOCATE], size_bytes)
        return memory.value

    def release(self, address: int, stream: int = 0) -> None:
        """Give memory back; launches that still use it end first. On a lost GPU nothing happens: the next call
        that uses it raises."""
        opened = self._opened
        if not address or opened is None or self._lost:
            return
        code = opened.code.lw_cuda_release(opened.handle, stream or opened.stream, address)
        error = self.failed(code, "releasing memory") if code else None
        if error is not None and not self._lost:
            raise error

    def visible(self, size_bytes: int) -> Any | None:
        """See devices.gpu.Gpu."""
        if self._slots is None:
            self._slots = cuda_slots.of(self)
        return self._slots.take(size_bytes)

    def upload(self, address: int, source: Any, queue: Queue = "work", inside: Box | None = None) -> None:
        """Copy an array of the host, or a box of its elements, to device memory; when this returns, it may be
        changed."""
        doing = "copying to the GPU"
        if inside is None:
            self._copy(source, None, None, address, queue, True, doing)
        elif source.size and all(inside):
            box = copy_box(source.shape, source.itemsize, inside)
            if box.axes and box.wide <= self._half_bytes:
                self._copy(source, inside, box, address, queue, True, doing)
                return
            for part in stretches(inside, source.shape):
                there = address + offset_in(source.shape, part) * source.itemsize
                self._copy(source[tuple(slice(e.start, e.stop) for e in part)], None, None, there, queue, True, doing)

    def download(self, target: Any, address: int, inside: Box | None = None, queue: Queue = "work") -> None:
        """Copy device memory to an array of the host, or to a box inside of it, and wait for it."""
        if not target.flags.writeable:
            raise ValueError("an array that is to be filled from the GPU is read-only")
        box = None if inside is None or not all(inside) else copy_box(target.shape, target.itemsize, inside)
        if box is not None and (not box.axes or box.wide > self._half_bytes or 2 * box.size_bytes > target.nbytes):
            box = None  # to copy what lies between, too, is one copy of memory, and takes hardly longer
        self._copy(target, inside, box, address, queue, False, DOING[FETCH])

    def _copy(
        self, array: Any, inside: Box | None, box: CopyBox | None, address: int, queue: Queue, up: bool, doing: str
    ) -> None:
        layout, opened = copy_layout(array, inside), self.open()
        only = None if box is None else ctypes.byref(box)
        code = opened.code.lw_cuda_copy(
            opened.handle, opened.streams[queue], ctypes.byref(layout), only, address, 1 if up else 0
        )
        opened.raise_held()
        if code:
            raise self.failed(code, doing, array.nbytes if box is None else box.size_bytes)

    def copy_from(
        self, source: Gpu, address: int, other: int, size_bytes: int, rows: int = 1, pitch_bytes: int = 0
    ) -> bool:
        """See devices.gpu.Gpu."""
        copy = PeerCopy(self, source, address, other, size_bytes, rows, pitch_bytes)
        made = self.exchange([(self, source)], [copy])
        if made is None:
            return False
        try:
            made()
        except ExchangeFailed as failed:
            raise failed.error from None
        return True

    def meet(self, others: Sequence[Gpu]) -> None:
        """See devices.gpu.Gpu."""
        cuda_peer.meet([self, *(other for other in others if isinstance(other, CudaGpu) and other is not self)])

    def exchange(self, order: Sequence[tuple[Gpu, Gpu]], copies: Sequence[PeerCopy]) -> Callable[[], None] | None:
        """See devices.gpu.Gpu."""
        pairs = [(one, other) for one, other in order if isinstance(one, CudaGpu) and isinstance(other, CudaGpu)]
        is_cuda = all(isinstance(one.source, CudaGpu) and isinstance(one.target, CudaGpu) for one in copies)
        return cuda_peer.exchange(pairs, copies) if is_cuda and len(pairs) == len(order) else None

    def together(self, parts: Sequence[tuple[Gpu, GpuPart]]) -> CudaParts | None:
        """See devices.gpu.Gpu."""
        gpus = [gpu for gpu, _ in parts if isinstance(gpu, CudaGpu)]
        return CudaParts([part for _, part in parts], gpus) if len(gpus) == len(parts) else None

    @functools.cached_property
    def event(self) -> int:
        """What other GPUs wait for, recorded anew for each exchange."""
        return int(self.ask("cuEventCreate", EVENT_WITHOUT_TIME))

    @functools.cached_property
    def pull(self) -> int:
        """The kernel that copies from other GPUs; 0: none."""
        return cuda_peer.pull_of(self)

    def mark(self, queue: Queue) -> int:
        """A mark behind everything that was asked for in a queue."""
        opened = self.open()
        with self.current():
            event = int(self._ask("cuEventCreate", EVENT_WITHOUT_TIME))
            self._ask("cuEventRecord", event, opened.streams[queue])
        return event

    def wait(self, queue: Queue, mark: int) -> None:
        """What is asked for in a queue from now on comes after a mark, which is used up."""
        opened = self.open()
        with self.current():
            try:
                self._ask("cuStreamWaitEvent", opened.streams[queue], mark, 0)
            finally:
                self.api.cuEventDestroy(mark)  # the driver keeps it until nobody waits for it

    def settle(self, queue: Queue) -> None:
        """Wait until all that was asked for in a queue is done. Raises DeviceError where something went wrong."""
        self.wait_for(self.open().streams[queue], "waiting for the GPU")

    def synchronize(self) -> None:
        """Wait for everything, in the streams of other libraries too. Raises DeviceError where something went wrong."""
        self.wait_for(self.open().stream, "waiting for the GPU")
        self.ask("cuCtxSynchronize", doing="waiting for the GPU")

    def wait_for(self, stream: int, doing: str) -> None:
        """Wait for a stream. What a handler of a signal raises meanwhile ends the kernels of the main thread, and is
        raised. Raises DeviceError where something went wrong."""
        opened = self.open()
        code = opened.code.lw_cuda_wait(opened.handle, stream)
        opened.raise_held()
        if code:
            raise self.failed(code, doing)

    def raise_held(self) -> None:
        """Raise what a handler of a signal has raised while the main thread waited for this GPU."""
        if self._opened is not None:
            self._opened.raise_held()

    def stop(self) -> None:
        """Kernels of calls that the main thread has made end early."""
        if (opened := self._opened) is not None and not self._lost:
            opened.code.lw_cuda_stop(opened.handle)

    def one_call(self) -> AbstractContextManager[int]:
        """See devices.gpu.Gpu."""
        return one_call(self.open().code)

    def end_call(self, ticket: int) -> None:
        """See devices.gpu.Gpu."""
        if (opened := self._opened) is not None and not self._lost:
            opened.code.lw_cuda_end_call(opened.handle, ticket)

    def function(self, entry: int) -> Callable[[Any], int]:
        """See devices.gpu.Gpu."""
        return ENTRY(entry)

    @property
    def watch(self) -> int:
        """See devices.gpu.Gpu."""
        return address_in(self.open().code, "lw_cuda_watch")

    def free_bytes(self) -> int:
        """How much memory is free, for all programs that use the GPU. What our pool holds and nobody uses is given back
        to the system first: it takes a while."""
        opened = self.open()
        self.wait_for(opened.stream, "waiting for the GPU")  # until then released memory may be in use
        self.ask("cuMemPoolTrimTo", opened.pool, 0)
        free, _ = self.ask("cuMemGetInfo")
        return int(free)

    # ---- streams, times, modules --------------------------------------------------------------------------------

    @property
    def stream(self) -> int:
        """The driver's handle of our stream: other libraries can wait for it, and order their work with ours."""
        return self.open().stream

    @contextmanager
    def current(self) -> Iterator[None]:
        """The GPU's context is current on this thread for a `with` block."""
        opened = self.open()
        self._ask("cuCtxPushCurrent", opened.context)
        try:
            yield
        finally:
            self.api.cuCtxPopCurrent()

    def timer(self, stream: int = 0) -> CudaTimer:
        """`with gpu.timer() as timer: ...` takes the time that the GPU needs for what the block starts."""
        return CudaTimer(self, stream or self.stream)

    def reached(self, event: int) -> bool:
        """Whether the GPU has come to an event. Waits for nothing."""
        with self.current():
            (code,) = self.api.cuEventQuery(event)
        if int(code) not in (0, NOT_READY):
            raise self.failed(int(code), "waiting for the GPU")
        return int(code) == 0

    @property
    def launcher(self) -> ctypes.CDLL:
        """cuda_launch.c. Raises DeviceError where the GPU is lost."""
        return self.open().code

    def module(self, text: DeviceText, config: Tools) -> CudaModule:
        """Compile and load. What not every call needs is compiled when the first call needs it: kernels for distances
        of 64 bits, and one of the two for any tiles and for whole ones. Raises CompilerError."""
        count, opened = len(text.kernels), self.open(config)
        made = CudaModule(self, text, config)
        handle = opened.code.lw_cuda_module_new(
            opened.handle,
            opened.stream,
            (ctypes.c_void_p * count)(),
            (ctypes.c_int32 * count)(),
            count,
            made.wanted,
        )
        if not handle:
            raise MemoryError("no memory for a module")
        made.begin(handle)
        if first := device_text.compiled_first(text):
            made.add(first)
        elif nvrtc.find_nvrtc() is None:
            raise CompilerError(nvrtc.why_none())
        return made

    def load(self, text: DeviceText, config: Tools) -> tuple[int, dict[str, tuple[int, int]]]:
        """Compile and load a text: the CUmodule, and by name each CUfunction and the bytes of dynamic shared memory
        that it may have. Raises CompilerError."""
        artifact = nvrtc.build(device_text.complete(text), self.limits.capability, config)
        self.open(config)
        most = self.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        found: dict[str, tuple[int, int]] = {}
        with self.current():
            loaded = int(self._ask("cuModuleLoadData", artifact.cubin, doing="loading compiled code"))
            for name in text.kernels:
                one = self._ask("cuModuleGetFunction", loaded, name.encode(), doing=f"looking for kernel {name!r}")
                found[name] = int(one), int(self._ask("cuFuncGetAttribute", most, int(one)))
        return loaded, found

    def unload(self, loaded: int) -> None:
        """Forget a CUmodule, after everything that runs has ended."""
        opened = self._opened
        if opened is None or self._lost:
            return
        with self.current():
            if not int(self.api.cuStreamSynchronize(opened.stream)[0]):
                self.api.cuModuleUnload(loaded)

    # ---- the driver ---------------------------------------------------------------------------------------------

    def lose(self, why: str) -> None:
        """From now on every call raises DeviceError, which says why."""
        self._lost = self._lost or why

    def ask(self, function: str, *arguments: object, doing: str = "") -> Any:
        """What a function of the driver returns, with our context current. Raises DeviceError where it fails."""
        with self.current():
            return self._ask(function, *arguments, doing=doing)

    def failed(self, code: int, doing: str, size_bytes: int = 0) -> DeviceError:
        """The exception for an error of the driver; from a sticky one on, the GPU is lost. size_bytes: of what was
        asked for."""
        what = f"{self.name}: {doing} failed: {_named(self.api, code)}"
        if code in STICKY:
            self.lose(f"{what}\n  {IN_THIS_PROCESS}")
            return DeviceError(self._lost)
        if code != OUT_OF_MEMORY:
            return DeviceError(f"{what}\n  try: run it on the CPU: LOOPWRIGHT_DEVICE=cpu")
        needs = f"needs {size_text(size_bytes)}, " if size_bytes else ""
        return DeviceMemoryError(
            f"{self.name}: {doing} failed: {needs}{self._free_text()}\n  try: smaller arrays, or fewer of them at "
            "once, or run it on the CPU: LOOPWRIGHT_DEVICE=cpu"
        )

    def _free_text(self) -> str:
        """How much memory is free, in words. It raises nothing: it is asked when something has failed already."""
        total, opened = size_text(self.limits.memory_bytes), self._opened
        if opened is None or int(self.api.cuCtxPushCurrent(opened.context)[0]):
            return f"it has {total}"
        code, free, _ = self.api.cuMemGetInfo()
        self.api.cuCtxPopCurrent()
        return f"it has {total}" if int(code) else f"{size_text(int(free))} of {total} are free"

    def _ask(self, function: str, *arguments: object, doing: str = "") -> Any:
        code, *results = getattr(self.api, function)(*arguments)
        if int(code):
            raise self.failed(int(code), doing or function)
        return results[0] if len(results) == 1 else tuple(results)

    def open(self, config: Tools | None = None) -> OpenedGpu:
        """What it has, made when it is first asked for. Raises DeviceError where it is lost."""
        if self._lost:
            raise DeviceError(self._lost)
        if self._opened is None:
            with self._opening:
                self._opened = self._opened or self._made_ready(config or current())
        return self._opened

    def _made_ready(self, config: Tools) -> OpenedGpu:
        code = cuda_launcher(config)
        context = int(self._ask("cuDevicePrimaryCtxRetain", self.device, doing="starting the GPU"))
        self._ask("cuCtxPushCurrent", context)
        try:
            # Not ordered with the default stream, in which other libraries may run something long.
            flag = self.api.CUstream_flags.CU_STREAM_NON_BLOCKING
            queues: tuple[Queue, ...] = ("work", "up", "down")
            streams = {queue: int(self._ask("cuStreamCreate", int(flag))) for queue in queues}
            stop_stream = int(self._ask("cuStreamCreate", int(flag)))
            pool = int(self._ask("cuDeviceGetDefaultMemPool", self.device))
            threshold = self.api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
            self._ask("cuMemPoolSetAttribute", pool, threshold, self._counted(KEEP_ALL))
        finally:
            self.api.cuCtxPopCurrent()
        addresses = [ctypes.cast(getattr(self._driver.library, name), ctypes.c_void_p).value for name in FUNCTIONS]
        table = (ctypes.c_void_p * len(FUNCTIONS))(*addresses)
        handle = code.lw_cuda_new(table, context, pool, stop_stream, self._lanes, self._half_bytes)
        if not handle:
            raise MemoryError("no memory for the state of a GPU")
        return OpenedGpu(context, MappingProxyType(streams), pool, code, handle, raiser(code))

    def _counted(self, number: int) -> Any:
        return self.api.cuuint64_t(number)


# ---- forks ------------------------------------------------------------------------------------------------------

_made: weakref.WeakSet[CudaGpu] = weakref.WeakSet()


@functools.cache
def _watch_forks() -> None:
    """CUDA does not work in a process that was forked after it started: there is no GPU in the child."""

    def in_child() -> None:
        for gpu in tuple(_made):
            gpu.lose(FORKED)
        _searched.cache_clear()
        _forked.append(True)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)


_forked: list[bool] = []

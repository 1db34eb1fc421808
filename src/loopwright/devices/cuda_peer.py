"""What CUDA's GPUs do together: they wait for one another, and copy from each other's memory (cuda_peer.c)."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import resources
from itertools import permutations
from typing import TYPE_CHECKING

from loopwright.config import current
from loopwright.devices.peers import ExchangeFailed, PeerCopy
from loopwright.errors import CompilerError, DeviceError
from loopwright.ir.program import DeviceText

if TYPE_CHECKING:
    from loopwright.devices.cuda import CudaGpu


class _Point(ctypes.Structure):
    _fields_ = (
        ("gpu", ctypes.c_void_p), ("stream", ctypes.c_void_p), ("event", ctypes.c_void_p), ("pull", ctypes.c_void_p)
    )  # fmt: skip


class _Copy(ctypes.Structure):
    _fields_ = (
        ("at", ctypes.c_int64),
        ("to", ctypes.c_uint64),
        ("source", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
        ("rows", ctypes.c_int64),
        ("pitch", ctypes.c_int64),
    )


class Exchange(ctypes.Structure):
    """struct lw_exchange of cuda_peer.c."""

    _fields_ = (
        ("points", ctypes.POINTER(_Point)),
        ("point_count", ctypes.c_int64),
        ("recorded", ctypes.c_int64),
        ("waits", ctypes.POINTER(ctypes.c_int64)),
        ("wait_count", ctypes.c_int64),
        ("copies", ctypes.POINTER(_Copy)),
        ("copy_count", ctypes.c_int64),
    )


def exchange(order: Sequence[tuple[CudaGpu, CudaGpu]], copies: Sequence[PeerCopy]) -> Callable[[], None]:
    """See devices.gpu.Gpu. The sources and targets of the copies are of CUDA's too."""
    asked: list[tuple[CudaGpu, CudaGpu, PeerCopy]] = [(one.target, one.source, one) for one in copies]  # type: ignore[misc]
    for target, source, _ in asked:
        reach(target, source)
    awaited = list(dict.fromkeys(other for _, other in order))
    others = [gpu for pair in order for gpu in pair] + [gpu for one in asked for gpu in one[:2]]
    gpus = list(dict.fromkeys((*awaited, *others)))
    at = {gpu: place for place, gpu in enumerate(gpus)}
    points = (_Point * max(1, len(gpus)))(
        *(_Point(gpu.open().handle, gpu.stream, gpu.event, _pull_of(gpu, asked)) for gpu in gpus)
    )
    pairs = sorted((at[gpu], at[other]) for gpu, other in order)
    waits = (ctypes.c_int64 * max(1, 2 * len(pairs)))(*(place for pair in pairs for place in pair))
    asked.sort(key=lambda one: (at[one[0]], turn(at[one[0]], at[one[1]], len(gpus))))
    pulls = (_Copy * max(1, len(asked)))(
        *(
            _Copy(at[target], one.address, one.other, source.open().context, one.size_bytes, one.rows, one.pitch_bytes)
            for target, source, one in asked
        )
    )
    made = Exchange(points, len(gpus), len(awaited), waits, len(pairs), pulls, len(asked))
    failed, given = ctypes.c_int64(), ctypes.byref(made)
    call, told = (gpus[0].launcher.lw_cuda_exchange if gpus else None), ctypes.byref(failed)

    def run() -> None:
        if call is not None and (code := call(given, told)):
            gpu = gpus[failed.value]
            raise ExchangeFailed(gpu, gpu.failed(code, "copying from another GPU")) from None

    return run


def turn(target: int, source: int, count: int) -> int:
    """When one of so many GPUs copies from another one: where each copies from all others, no two of them read the same
    one at once, whose links all of them would share."""
    return (source - target) % count


def _pull_of(gpu: CudaGpu, asked: Sequence[tuple[CudaGpu, CudaGpu, PeerCopy]]) -> int | None:
    """The kernel by which a GPU copies, if all that it copies is memory that its kernels see."""
    mine = [(source, one) for target, source, one in asked if target is gpu]
    return gpu.pull or None if mine and all(one.is_pooled and source in gpu.sees for source, one in mine) else None


def pull_of(gpu: CudaGpu) -> int:
    """The kernel, compiled and loaded; 0 where that cannot be, and copy engines do it."""
    text = resources.files(__package__).joinpath("cuda_pull.cuh").read_text(encoding="utf-8")
    with suppress(DeviceError, CompilerError):
        _, found = gpu.load(DeviceText(text, ("lw_pull",)), current())
        return found["lw_pull"][0]
    return 0


_reaching = threading.RLock()  # a handler of a signal may make a call meanwhile


def reach(gpu: CudaGpu, source: CudaGpu) -> None:
    """From now on this GPU reads the memory of another one itself, where it can. Who asks for a pair while another
    thread is at it waits: the driver must not be asked for a copy while the memory is being mapped. Raises DeviceError,
    and the next one who asks tries again."""
    with _reaching:
        if source not in gpu.reads:
            for one in {gpu, source, *source.readers}:
                one.synchronize()  # their copies and kernels may use the memory whose mapping changes
            _allow(gpu, source)
            gpu.reads.add(source)
            source.readers.add(gpu)


def meet(gpus: Sequence[CudaGpu]) -> None:
    """Each of them reads the memory of all others itself from now on, where it can."""
    for gpu, source in permutations(gpus, 2):
        if source not in gpu.reads:
            reach(gpu, source)


def _allow(gpu: CudaGpu, source: CudaGpu) -> None:
    if not gpu.ask("cuDeviceCanAccessPeer", gpu.device, source.device):
        return
    api = gpu.api
    allowed = api.CUmemAccessDesc()
    allowed.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    allowed.location.id = gpu.number
    allowed.flags = api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    source.ask("cuMemPoolSetAccess", source.open().pool, [allowed], 1)
    gpu.sees.add(source)
    with suppress(DeviceError):  # for memory that is not of the pool
        gpu.ask("cuCtxEnablePeerAccess", source.open().context, 0)

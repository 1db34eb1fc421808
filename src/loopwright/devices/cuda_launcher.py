"""cuda_launch.c, compiled and loaded behind gpu_wait.c; and what of gpu_wait.c the emulated device uses, too."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

from loopwright.config import Tools
from loopwright.errors import CompilerError, LoopwrightError
from loopwright.toolchain import cc
from loopwright.toolchain.library import load_library, made_and_loaded

WANTED = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
"""Asked by a launch for a kernel that is not compiled yet."""

# The driver's functions that cuda_memory.c and cuda_launch.c call, in the order of lw_driver, by their names there.
FUNCTIONS = (
    "cuLaunchKernel", "cuFuncSetAttribute", "cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",
    "cuMemAllocAsync", "cuMemFreeAsync", "cuMemPoolTrimTo", "cuMemsetD8Async", "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "cuMemHostAlloc", "cuEventCreate", "cuEventRecord",
    "cuEventSynchronize", "cuMemFreeHost", "cuStreamQuery", "cuEventQuery", "cuStreamWaitEvent", "cuMemcpyPeerAsync",
    "cuMemcpy3DPeerAsync", "cuMemcpy3DAsync_v2",
)  # fmt: skip

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "lw_cuda_new": (
        ctypes.c_void_p,
        (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64),
    ),
    "lw_cuda_stop": (None, (ctypes.c_void_p,)),
    "lw_cuda_end_call": (None, (ctypes.c_void_p, ctypes.c_int64)),
    "lw_cuda_wait": (ctypes.c_int32, (ctypes.c_void_p, ctypes.c_void_p)),
    "lw_cuda_copy": (
        ctypes.c_int32,
        (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32),
    ),
    "lw_cuda_allocate": (ctypes.c_int32, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)),
    "lw_cuda_release": (ctypes.c_int32, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)),
    "lw_cuda_exchange": (ctypes.c_int32, (ctypes.c_void_p, ctypes.c_void_p)),
    "lw_cuda_start_parts": (ctypes.c_int64, (ctypes.c_void_p, ctypes.c_int64)),
    "lw_cuda_wait_parts": (ctypes.c_int64, (ctypes.c_void_p, ctypes.c_int64)),
    "lw_cuda_module_new": (
        ctypes.c_void_p,
        (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, WANTED),
    ),
    "lw_cuda_module_set": (None, (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)),
    "lw_cuda_module_told": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_void_p)),
    "lw_cuda_module_stream": (None, (ctypes.c_void_p, ctypes.c_void_p)),
    "lw_cuda_module_fault": (None, (ctypes.c_void_p, ctypes.c_void_p)),
    "lw_cuda_module_end": (None, (ctypes.c_void_p,)),
}


@functools.cache
def cuda_launcher(config: Tools) -> ctypes.CDLL:
    """cuda_launch.c, compiled and loaded. Raises CompilerError. Calls of it release the GIL."""
    code = waiting_launcher(("cuda_memory.c", "cuda_peer.c", "cuda_launch.c", "cuda_parts.c"), config)
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(code, name)
        function.restype, function.argtypes = result, arguments
    return code


def waiting_launcher(last: tuple[str, ...], config: Tools) -> ctypes.CDLL:
    """Files of this folder behind gpu_wait.c, compiled and loaded. Raises CompilerError."""
    folder = resources.files(__package__)
    parts = ("launcher_interrupt.c", "gpu_wait.c", *last)
    text = "\n".join(folder.joinpath(part).read_text(encoding="utf-8") for part in parts)
    try:
        _, code = made_and_loaded(lambda: cc.build(text, ("-pthread",), config), lambda made: load_library(made.path))
    except OSError as error:
        raise CompilerError(f"the launcher for GPUs cannot be loaded: {error}") from error
    return code


@contextmanager
def one_call(code: ctypes.CDLL) -> Iterator[int]:
    """See devices.gpu.Gpu."""
    code.lw_gpu_begin.restype = ctypes.c_int64
    try:
        yield int(code.lw_gpu_begin())
    finally:
        code.lw_gpu_end()


def raiser(code: ctypes.CDLL) -> Callable[[], None]:
    """What raises, in the main thread, what a handler of a signal has raised while it waited."""
    return ctypes.PYFUNCTYPE(None)(("lw_gpu_raise", code))


def is_of_compiler(error: BaseException) -> bool:
    """Whether a kernel could not be compiled; anything else comes from the handler of a signal, which may raise what it
    likes: often a TimeoutError."""
    return isinstance(error, LoopwrightError | OSError) and not isinstance(error, TimeoutError)


def address_in(code: ctypes.CDLL, name: str) -> int:
    """Where a variable or a function of a library is."""
    return ctypes.addressof(ctypes.c_char.in_dll(code, name))

"""A stand-in for CUDA's driver, which fails on command: fake_cuda.c, and cuda.bindings.driver over it."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from loopwright.config import Config
from loopwright.devices.cuda import Driver
from loopwright.toolchain.cc import build

SOURCE = Path(__file__).parent / "fake_cuda.c"
FILL = "fill"  # an output that is a buffer of the size given first

# The outputs of each function that cuda.py asks for; its other arguments are numbers or bytes.
POINTER, NUMBER, SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuDriverGetVersion": (NUMBER,),
    "cuInit": (),
    "cuDeviceGetCount": (NUMBER,),
    "cuDeviceGet": (NUMBER,),
    "cuDeviceGetName": (FILL,),
    "cuDeviceTotalMem_v2": (SIZE,),
    "cuDeviceGetAttribute": (NUMBER,),
    "cuDevicePrimaryCtxRetain": (POINTER,),
    "cuCtxPushCurrent_v2": (),
    "cuCtxPopCurrent_v2": (POINTER,),
    "cuStreamCreate": (POINTER,),
    "cuStreamSynchronize": (),
    "cuCtxSynchronize": (),
    "cuDeviceGetDefaultMemPool": (POINTER,),
    "cuMemPoolSetAttribute": (),
    "cuMemGetInfo_v2": (SIZE, SIZE),
    "cuMemPoolTrimTo": (),
    "cuMemHostAlloc": (POINTER,),
    "cuModuleLoadData": (POINTER,),
    "cuModuleUnload": (),
    "cuModuleGetFunction": (POINTER,),
    "cuFuncGetAttribute": (NUMBER,),
    "cuEventCreate": (POINTER,),
    "cuEventRecord": (),
    "cuEventSynchronize": (),
    "cuEventQuery": (),
    "cuEventElapsedTime_v2": (ctypes.c_float,),
    "cuEventDestroy_v2": (),
    "cuStreamWaitEvent": (),
    "cuDeviceCanAccessPeer": (NUMBER,),
    "cuGetErrorName": (ctypes.c_char_p,),
    "cuGetErrorString": (ctypes.c_char_p,),
}


class _Numbers:
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115
    CU_STREAM_NON_BLOCKING = 1
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


class Api:
    """cuda.bindings.driver over a library: results as (code, output, ...)."""

    CUdevice_attribute = CUstream_flags = CUmemPool_attribute = CUfunction_attribute = _Numbers
    CUresult = int

    def __init__(self, library: ctypes.CDLL) -> None:
        for symbol, outputs in FUNCTIONS.items():
            setattr(self, symbol.removesuffix("_v2"), _function(getattr(library, symbol), outputs))

    @staticmethod
    def cuuint64_t(number: int) -> Any:
        return ctypes.byref(ctypes.c_uint64(number))


def _function(function: Any, outputs: tuple[Any, ...]) -> Any:
    def call(*arguments: Any) -> tuple[Any, ...]:
        if outputs == (FILL,):
            buffer = ctypes.create_string_buffer(arguments[0])
            return function(buffer, *arguments), buffer.raw
        made = [kind() for kind in outputs]
        passed = [ctypes.c_void_p(each) if isinstance(each, int) else each for each in arguments]
        if outputs == (ctypes.c_char_p,):
            passed = [ctypes.c_void_p(arguments[0]), ctypes.byref(made[0])]
            return function(*passed), made[0].value
        return function(*(ctypes.byref(each) for each in made), *passed), *(each.value for each in made)

    return call


class FakeDriver(Driver):
    """`library.fake_fail(name, code, after)` makes a later call fail; `count("fake_launches")` reads a counter."""

    def count(self, name: str) -> int:
        return ctypes.c_int64.in_dll(self.library, name).value

    def set(self, name: str, value: int) -> None:
        kind = ctypes.c_int64 if name == "fake_total" else ctypes.c_int
        kind.in_dll(self.library, name).value = value

    def fail(self, name: str, code: int, after: int = 0) -> None:
        self.library.fake_fail(name.encode(), code, after)


def library_path(config: Config, soname: str = "libfake_cuda.so") -> Path:
    """fake_cuda.c, compiled. A process that has loaded it as libcuda.so.1 has no other driver."""
    return build(SOURCE.read_text(), ("-pthread", f"-Wl,-soname,{soname}"), config).path


def fake_driver(config: Config) -> FakeDriver:
    """The stand-in, as new: one GPU with 1 GiB."""
    library = ctypes.CDLL(str(library_path(config)))
    library.fake_reset()
    return FakeDriver(Api(library), library)

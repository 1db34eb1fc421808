"""Compiled code of a real GPU, and what went wrong when it ran (cuda_launch.c starts it)."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from loopwright.config import Tools
from loopwright.deferred import deferred
from loopwright.devices.cuda_launcher import WANTED, is_of_compiler
from loopwright.errors import DeviceError
from loopwright.ir.program import DeviceText

if TYPE_CHECKING:
    from loopwright.devices.cuda import CudaGpu
    from loopwright.toolchain import device_text
else:
    device_text = deferred("loopwright.toolchain.device_text")

DOING = ("starting kernel", "copying from the GPU", "clearing memory", "allocating memory")  # of cuda_launch.c
LAUNCH, FETCH, CLEAR, ALLOCATE = range(len(DOING))
NOT_FOUND = 500
# After one of these every later call fails, until the process ends (CUresult in the driver API's reference): 4 shut
# down, 46 unavailable, 201 and 709 no context, 214 and 220 faulty memory or link, 226 contained error, 700 illegal
# address, 702 too long, 710 assertion, 714 stack, 715 instruction, 716 alignment, 717 address space, 718 program
# counter, 719 launch failed, 721 tensor memory, 999 unknown.
STICKY = frozenset((4, 46, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999))


class CudaModule:
    """See devices.gpu.Module. It keeps its GPU, and unloads the code when it is no longer used."""

    def __init__(self, gpu: CudaGpu, text: DeviceText, config: Tools) -> None:
        self._gpu, self._text, self._config = gpu, text, config
        self._kernels, self._stream = text.kernels, gpu.stream
        self._loaded: list[int] = []
        self._there: set[str] = set()
        self._loading = threading.RLock()  # a signal's handler may make a call meanwhile
        self.late_ns = 0
        self._trouble: BaseException | None = None
        here = weakref.ref(self)

        def wanted(kernel: int) -> int:
            module = here()
            return 1 if module is None else module.load(module._kernels[kernel])

        self.wanted = WANTED(wanted)

    def begin(self, handle: int) -> None:
        """With its `lw_cuda_module`."""
        self._handle = handle
        self.table = handle  # struct lw_gpu is the first part of lw_cuda_module
        weakref.finalize(self, _end_module, self._gpu, self._code(), self._loaded, handle).atexit = False

    def load(self, kernel: str) -> int:
        """Compile a kernel and those that go with it, and load them. 0 where it is there now; else `fault` tells why
        not."""
        begun = time.perf_counter_ns()
        try:
            with self._loading:
                if kernel not in self._there:
                    self.add(device_text.compiled_with(self._text, kernel))
        except BaseException as error:  # ctrl-C too: nobody catches it where this is called from
            self._trouble = error.with_traceback(None)  # which would keep this module
            return 1
        finally:
            spent_ns = time.perf_counter_ns() - begun
            self.late_ns += spent_ns
            self._gpu.late_ns += spent_ns
        return 0

    def add(self, kernels: Sequence[str]) -> None:
        """Compile these kernels, and load them. Raises CompilerError."""
        loaded, found = self._gpu.load(device_text.only(self._text, kernels), self._config)
        self._loaded.append(loaded)
        for name, (function, allowed) in found.items():
            self._code().lw_cuda_module_set(self._handle, self._kernels.index(name), function, allowed)
        self._there |= set(kernels)

    @property
    def stream(self) -> int:
        """Where kernels start: the driver's handle of a stream. At first the GPU's own."""
        return self._stream

    @stream.setter
    def stream(self, stream: int) -> None:
        self._code().lw_cuda_module_stream(self._handle, stream)
        self._stream = stream

    def started(self, stream: int) -> DeviceError | None:
        """From now on kernels start in this stream (0: the GPU's own); what is known to be wrong without waiting."""
        wanted = stream or self._gpu.stream
        if wanted != self._stream:
            self.stream = wanted
        return None

    def told(self, failures: int) -> int:
        """See devices.gpu.Module."""
        return int(self._code().lw_cuda_module_told(self._handle, failures) or 0)

    def fault(self) -> DeviceError | None:
        """What the device has found wrong since the last time, or None. Waits for all launches. Raises what interrupted
        the compiler."""
        try:
            self._gpu.raise_held()
            found = (ctypes.c_int64 * 5)()
            self._code().lw_cuda_module_fault(self._handle, found)
            error, doing, kernel, size_bytes, last = found
            trouble, self._trouble = self._trouble, None
            if error == NOT_FOUND and trouble is not None:
                if not is_of_compiler(trouble):
                    raise trouble
                return DeviceError(f"{self._gpu.name}: kernel {self._name(kernel)} is not there: {trouble}")
            if error:
                return self._gpu.failed(error, self._told(error, doing, kernel, size_bytes), size_bytes)
            self._gpu.wait_for(self._stream, f"running {self._before(last)}")
        except DeviceError as lost:
            return lost
        return None

    def _code(self) -> ctypes.CDLL:
        return self._gpu.launcher

    def _told(self, error: int, doing: int, kernel: int, size_bytes: int) -> str:
        """What failed. Sticky errors come from a kernel, and are seen at the next thing that anyone asks for."""
        if error in STICKY:
            return f"running {self._before(kernel)}"
        shared = f" with {size_text(size_bytes)} of dynamic shared memory" if size_bytes else ""
        return f"{DOING[doing]} {self._name(kernel)}{shared}" if doing == LAUNCH else DOING[doing]

    def _before(self, kernel: int) -> str:
        return f"kernel {self._name(kernel)}, or one started before it," if kernel >= 0 else "what was started before"

    def _name(self, kernel: int) -> str:
        return repr(self._kernels[kernel]) if 0 <= kernel < len(self._kernels) else f"number {kernel}"


def _end_module(gpu: CudaGpu, code: ctypes.CDLL, loaded: list[int], handle: int) -> None:
    with suppress(DeviceError):  # of a lost GPU, and there is nothing to give back
        for one in loaded:
            gpu.unload(one)
    code.lw_cuda_module_end(handle)


def size_text(size_bytes: int) -> str:
    """'12.0 GiB'."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size_bytes >= 1 << power:
            return f"{size_bytes / (1 << power):.1f} {unit}"
    return f"{size_bytes} bytes"

"""Launch hand-written CUDA text on the emulated device, as generated host code would: through struct lw_gpu."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from loopwright.codegen.openmp import HEADER
from loopwright.config import current
from loopwright.devices.emulated import EmulatedGpu, EmulatedModule, GpuFunctions
from loopwright.ir.code import CodeRegion, DeviceFunction, KernelEntry
from loopwright.ir.program import DeviceText

Size = int | tuple[int, ...]

SAXPY = """
extern "C" __global__ void __launch_bounds__(256) saxpy(int64_t n, float a, LW_GLOBAL(const float) x,
                                                        LW_GLOBAL(float) y) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""

# Host text that launches the first kernel of a program, on (n, x, result), three times.
HOST = (
    HEADER
    + """
double host(lw_gpu *gpu, void *x, int64_t n) {
  double total = -1;
  void *result = gpu->allocate(gpu, 8);
  if (!result || gpu->clear(gpu, result, 8)) return -2;
  const int64_t grid[3] = {2, 1, 1}, block[3] = {64, 1, 1};
  void *arguments[3] = {&n, &x, &result};
  for (int k = 0; k < 3; k++)
    if (gpu->launch(gpu, 0, grid, block, 0, arguments, 0)) return -3;
  if (gpu->fetch(gpu, &total, result, 8)) return -4;
  gpu->release(gpu, result);
  return total;
}
"""
)

SCAFFOLD = """
extern "C" __global__ void body(LW_GLOBAL(float) y) {
  LW_SHARED(float, s, 128);
  LW_SHARED(int, n, 4);
  const int t = threadIdx.x;
  %s
}
"""


class Session:
    """A text on a device of its own. Arguments of a launch: arrays are copied there and back, Python's ints are
    int64_t, NumPy's scalars what they are, ctypes values as they are."""

    def __init__(self, text: str, *kernels: str, gpu: EmulatedGpu | None = None, strict: bool = False) -> None:
        self._begin(written(text, kernels, strict), gpu or EmulatedGpu())

    @classmethod
    def of(cls, text: DeviceText) -> Session:
        """One for a text that says more of its kernels."""
        session = cls.__new__(cls)
        session._begin(text, EmulatedGpu())
        return session

    def _begin(self, text: DeviceText, gpu: EmulatedGpu) -> None:
        self.gpu, self.kernels = gpu, text.kernels
        self.module: EmulatedModule = gpu.module(text, current())
        self.table = GpuFunctions.from_address(self.module.table)

    def launch(self, kernel: str, grid: Size, block: Size, *arguments: Any, shared_bytes: int = 0) -> int:
        """The code that a launch gives; what is wrong stays in the report."""
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        places = [self.put(array) for array in arrays]
        addresses = iter(places)
        values = [_value(next(addresses) if isinstance(a, np.ndarray) else a, a) for a in arguments]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        number = self.kernels.index(kernel) if kernel in self.kernels else len(self.kernels)
        code: int = self.table.launch(
            self.module.table, number, _three(grid), _three(block), shared_bytes, ctypes.addressof(pointers), 0
        )
        for array, place in zip(arrays, places, strict=True):
            if array.flags.writeable:
                self.gpu.download(array, place)
            self.gpu.release(place)
        return code

    def run(self, kernel: str, grid: Size, block: Size, *arguments: Any) -> None:
        """A launch in which nothing may be wrong."""
        code = self.launch(kernel, grid, block, *arguments)
        error = self.module.fault()
        if error is not None:
            raise error
        assert code == 0

    def put(self, array: npt.NDArray[Any]) -> int:
        """The address of a copy."""
        address = self.gpu.allocate(array.nbytes)
        self.gpu.upload(address, array)
        return address

    def fault(self) -> str:
        """The text of what is wrong; '' where nothing is."""
        return str(self.module.fault() or "")


def written(text: str, kernels: Sequence[str], strict: bool = False) -> DeviceText:
    """A text by hand, with what its writer would tell of its kernels."""
    return DeviceText(text, tuple(kernels), strict, functions=tuple(_told(text, name) for name in kernels))


def _told(text: str, name: str) -> DeviceFunction:
    head = re.search(rf"__global__ void(?: __launch_bounds__\((\d+)[^)]*\))? {name}\(((?:[^()]|\([^()]*\))*)\)", text)
    assert head is not None, f"the text has no kernel {name!r}"
    given = [parameter.rpartition(" ") for parameter in re.split(r",\s*", head[2]) if parameter]
    parameters = tuple((one.lstrip("*"), ctype) for ctype, _, one in given)
    return DeviceFunction(
        name, "", int(head[1] or 1024), parameters, (), CodeRegion("kernel", 1), (KernelEntry(name, 1),)
    )


def _three(size: Size) -> ctypes.Array[ctypes.c_int64]:
    sizes: Sequence[int] = (size,) if isinstance(size, int) else size
    return (ctypes.c_int64 * 3)(*sizes, *(1,) * (3 - len(sizes)))


def _value(given: Any, argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(given)
    if isinstance(given, np.generic):
        return np.ctypeslib.as_ctypes_type(given.dtype)(given.item())
    return ctypes.c_int64(given) if isinstance(given, int) else given


def run_body(body: str, threads: Size = 64, seed: int = 0) -> str:
    """The fault of a kernel with this body."""
    session = Session(SCAFFOLD % body, "body", gpu=EmulatedGpu(seed=seed))
    session.launch("body", 2, threads, np.zeros(2048, np.float32))
    return session.fault()

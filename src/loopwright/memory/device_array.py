"""`lw.device_array`: an array that stays in a GPU's memory between calls."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.config import current
from loopwright.deferred import deferred
from loopwright.errors import DeviceError
from loopwright.ir.types import from_dtype
from loopwright.memory.arrays import Array, as_numpy, refusal
from loopwright.memory.on_device import OnDevice, Where, on_device

if TYPE_CHECKING:
    from loopwright.devices import gpus
    from loopwright.devices.gpu import Gpu
else:
    gpus = deferred("loopwright.devices.gpus")


def device_array(source: Any) -> DeviceArray:
    """Copy an array to the GPU and keep it there: kernels called with it use it in place, and run on that GPU.

    source: anything with elements that kernels know (shape and dtype stay; the layout is C). The GPU is the first one,
    or the emulated one under `lw.options(device="emulated")`. Raises DeviceError where there is no GPU,
    DeviceMemoryError where it has no room, ArgumentTypeError for another kind of array."""
    where: Where = "emulated" if current().device == "emulated" else "cuda"
    gpu = gpus.gpu_of(where)
    if gpu is None:
        raise DeviceError(gpus.why_no_gpu())
    array = as_numpy(np.asarray(source), "source")
    if array.dtype.names is None and from_dtype(array.dtype) is None:
        raise refusal("source", f"dtype {array.dtype} is not supported", "")
    return DeviceArray(array, gpu, where)


class DeviceArray:
    """An array in a GPU's memory. Kernels use it in place; `numpy()` copies it to the host, `copy_from` the other way.

    shape, dtype: as of a NumPy array; its layout is C. token: what tells it from others. Made by `lw.device_array`."""

    def __init__(self, source: Array, gpu: Gpu, where: Where) -> None:
        self.shape, self.dtype, self.where = source.shape, source.dtype, where
        self.nbytes = source.nbytes
        self._gpu = gpu
        self._address = gpu.allocate(max(source.nbytes, 1))
        self.token = ("device_array", self._address, self.shape, self.dtype)
        self._finalizer = weakref.finalize(self, gpu.release, self._address)
        self.copy_from(source)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __repr__(self) -> str:
        return f"<lw.device_array {self.shape} of {self.dtype} on {self._gpu.name}>"

    def copy_from(self, source: Any) -> None:
        """Copy the elements of a NumPy array of this shape and dtype to the GPU. Raises ValueError for another one."""
        array = np.asarray(source)
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ValueError(f"{array.shape} of {array.dtype} does not fit {self.shape} of {self.dtype}")
        if array.nbytes:
            self._gpu.upload(self._address, np.ascontiguousarray(array).reshape(-1))

    def numpy(self) -> Array:
        """A copy of the elements in a new NumPy array. It waits for kernels that were called before."""
        array = np.empty(self.shape, self.dtype)
        if array.nbytes:
            self._gpu.synchronize()
            self._gpu.download(array.reshape(-1), self._address)
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array in a GPU's memory cannot be seen by NumPy without a copy")
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def argument(self) -> OnDevice:
        """What kernels are given."""
        return on_device(self._address, self.shape, self.dtype, None, self.where, self)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        if self.where != "cuda":
            raise AttributeError("the emulated GPU's memory cannot be reached by other libraries")
        return {"version": 3, "data": (self._address, False), "shape": self.shape, "typestr": self.dtype.str,
                "strides": None, "stream": None}  # fmt: skip

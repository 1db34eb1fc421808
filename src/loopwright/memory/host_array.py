"""Arrays that calls return under `results="device"`: `HostArray`, what a call on the CPU returns where one on a GPU
returns a `DeviceArray`, so that programs need not know where it ran. What is made on a GPU: device_results.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.deferred import deferred
from loopwright.devices import base
from loopwright.ir.types import from_dtype
from loopwright.ir.variant import is_gpu
from loopwright.memory.arrays import Array
from loopwright.memory.device_array import DeviceArray, Version
from loopwright.memory.on_device import OnDevice, Where

if TYPE_CHECKING:
    from loopwright.devices import gpus
    from loopwright.devices.gpu import Gpu
else:
    gpus = deferred("loopwright.devices.gpus")


class HostArray(DeviceArray):
    """What a call on the CPU returns where one on a GPU returns a DeviceArray: the same, over the host's memory."""

    def __init__(self, array: Array) -> None:
        self.shape, self.dtype, self.nbytes, self.where = array.shape, array.dtype, array.nbytes, "cpu"
        self._array = array

    @property
    def gpu(self) -> Gpu:
        raise AttributeError("this array is in the host's memory")

    @property
    def version(self) -> Version:
        """Nobody says when kernels on the CPU write."""
        return "unknown"

    @property
    def is_seen(self) -> bool:
        return True

    def used(self) -> None:
        pass

    def copy_from(self, source: Any) -> None:
        self._array[...] = self._fitting(source)

    def numpy(self) -> Array:
        """A copy of the elements in a new NumPy array, as of one on a GPU."""
        return self._array.copy()

    def argument(self) -> Array:
        return self._array

    def part(self, numbers: Sequence[Any]) -> DeviceArray:
        raise AssertionError("calls on the CPU return parts of NumPy arrays")

    def __repr__(self) -> str:
        return f"<lw.device_array {self.shape} of {self.dtype} on the host>"


def as_resident(result: object, arguments: Sequence[object], given: Sequence[object], where: Where | None) -> object:
    """What a call returned that has run on the host, with arrays of its own as the option asks for. arguments: as NumPy
    arrays; given: as the caller wrote them; where: the device that holds such arrays, None where they stay NumPy's."""
    if isinstance(result, np.ndarray):
        return _resident_array(result, arguments, given, where)

    def again(one: object) -> object:
        return as_resident(one, arguments, given, where)

    if isinstance(result, tuple):
        items = tuple(map(again, result))
        return type(result)(*items) if hasattr(result, "_fields") else items  # type: ignore[arg-type]
    if isinstance(result, list):
        return list(map(again, result))
    if isinstance(result, dict):
        return {key: again(value) for key, value in result.items()}
    if (kind := type(result)) in base.CLASSES and dataclasses.is_dataclass(result):
        return kind(*(again(getattr(result, one.name)) for one in dataclasses.fields(result)))
    return result


def _resident_array(array: Array, arguments: Sequence[object], given: Sequence[object], where: Where | None) -> object:
    for argument, original in zip(arguments, given, strict=True):
        if isinstance(argument, np.ndarray) and not isinstance(argument, OnDevice):
            if array is argument:
                return original
            if np.may_share_memory(array, argument):
                return HostArray(array) if isinstance(original, HostArray) else array
    if where is None or isinstance(array, OnDevice) or (array.dtype.names is None and from_dtype(array.dtype) is None):
        return array
    gpu = gpus.gpu_of(where) if is_gpu(where) else None
    return HostArray(array) if gpu is None else DeviceArray(array, gpu, where)

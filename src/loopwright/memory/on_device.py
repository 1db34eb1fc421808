"""Arrays in a GPU's memory as arguments: `OnDevice`, an array whose elements only kernels can reach."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from loopwright.memory.arrays import Array

Where = str
"""A GPU by its name as a device: `cuda`, `cuda1` for the second one, `emulated`."""

LEGACY_STREAM = 1
"""CUDA's handle of the default stream, which other streams wait for unless they were made not to."""


class OnDevice(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array in name: shape, strides, dtype and an address, which is one of a GPU. Its elements must never be
    touched by the CPU. where: which GPU; stream: whose work comes before that of a kernel, 0 where there is none;
    owner: keeps the memory. is_lent: only for the length of a call. stated: the address, for whoever made it."""

    where: Where
    stream: int
    owner: object
    is_lent: bool
    stated: int

    def __repr__(self) -> str:
        return f"<array {self.shape} of {self.dtype} in a GPU's memory>"

    __str__ = __repr__


def on_device(
    address: int, shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int] | None, where: Where, owner: object
) -> OnDevice:
    """The argument for an array of this kind at an address of a GPU. strides: in bytes, None for C layout."""
    told = {
        "version": 3, "data": (address, False), "shape": tuple(shape), "typestr": dtype.str,
        "strides": None if strides is None else tuple(strides),
    }  # fmt: skip
    raw = np.asarray(_Described(told))
    array = (raw if dtype.names is None else raw.view(dtype)).view(OnDevice)  # records are told of as bytes
    array.where, array.stream, array.owner, array.is_lent = where, 0, owner, False
    return array


def of_cuda_array(value: Any) -> OnDevice:
    """The argument for an object with `__cuda_array_interface__`: used in place, in the order of its producer, on the
    GPU where it is."""
    told = value.__cuda_array_interface__
    address, read_only = told["data"]
    array = on_device(
        int(address or 0), told["shape"], np.dtype(told["typestr"]), told.get("strides"), cuda(_number_of(value)), value
    )
    array.stream = _stream_of(value, told)
    if read_only:
        array.flags.writeable = False
    return array


def cuda(number: int) -> Where:
    """The name of a GPU of CUDA's by its number."""
    return f"cuda{number}" if number else "cuda"


def _number_of(value: object) -> int:
    """On which GPU an array of CuPy or PyTorch is; 0 where nothing says so."""
    device = getattr(value, "device", None)
    number = getattr(device, "id", getattr(device, "index", None))
    return number if isinstance(number, int) else 0


def _stream_of(value: object, told: dict[str, Any]) -> int:
    """The stream in which the producer works: as it says, or PyTorch's current one, or the default one."""
    if told.get("stream"):
        return int(told["stream"])
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return int(torch.cuda.current_stream(value.device).cuda_stream) or LEGACY_STREAM
    return LEGACY_STREAM


def is_on_device(value: object) -> bool:
    """Whether only a GPU can reach the elements of an argument."""
    return isinstance(value, OnDevice)


def is_lent(value: object) -> bool:
    """Whether an argument's memory is its owner's again when the call ends, so that the call waits for its kernels."""
    return isinstance(value, OnDevice) and value.is_lent


class _Described:
    """What NumPy makes an array of without looking at its memory."""

    def __init__(self, told: dict[str, object]) -> None:
        self.__array_interface__ = told


def dense(array: Array) -> bool:
    """Whether the elements of an array fill one stretch of memory without gaps."""
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)

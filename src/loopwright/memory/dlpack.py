"""Arrays in a GPU's memory whose library speaks DLPack only: used in place, without a copy.

Source: the DLPack specification 1.0 (dlpack.h: DLManagedTensor, DLManagedTensorVersioned) and the Python array API's
`__dlpack__`. The capsule is kept as long as the argument: when it goes, it tells the library that the memory is free.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from loopwright.ir.variant import kind_of
from loopwright.memory.arrays import refusal
from loopwright.memory.on_device import LEGACY_STREAM, OnDevice, Where, cuda, on_device

CUDA = 2  # kDLCUDA
READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
NEWEST = (1, 0)
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}  # DLDataTypeCode


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def is_on_gpu(value: object) -> bool:
    """Whether an object says, by DLPack, that it is an array in the memory of one of CUDA's devices."""
    if not (hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")):
        return False
    return int(value.__dlpack_device__()[0]) == CUDA


def of_dlpack(value: Any, name: str = "", where: Where = "") -> OnDevice:
    """The argument for such an object: after what its library has started, and the call waits for its own end. Where
    the library does not say that the memory may be written, it may not. Raises ArgumentTypeError for
    elements that kernels do not know; `name`: of the parameter; where: in tests, the GPU that it is in truth."""
    where = where or cuda(int(value.__dlpack_device__()[1]))
    try:
        capsule = _capsule(value)
    except (BufferError, RuntimeError) as error:
        remedy = f"pass {name or 'x'}.detach()" if "grad" in str(error) else ""
        raise refusal(name, f"the array cannot be shared: {error}", remedy) from error
    tensor, writeable = _read(capsule, name)
    dtype = _dtype(tensor, name)
    shape = tensor.shape[: tensor.ndim]
    strides = [step * dtype.itemsize for step in tensor.strides[: tensor.ndim]] if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    array = on_device(address, shape, dtype, strides, where, (capsule, value))
    # The library may use the memory for something else as soon as the capsule is gone: the call ends after its kernels.
    array.stream, array.is_lent = LEGACY_STREAM if kind_of(where) == "cuda" else 0, True
    array.flags.writeable = writeable
    return array


def _capsule(value: Any) -> object:
    try:
        return value.__dlpack__(stream=LEGACY_STREAM, max_version=NEWEST)
    except TypeError:  # older than version 1
        return value.__dlpack__(stream=LEGACY_STREAM)


def _read(capsule: object, name: str) -> tuple[Any, bool]:
    """The tensor in a capsule, and whether it may be written."""
    kind = _name(capsule)
    if kind == b"dltensor":
        return _Tensor.from_address(_pointer(capsule, kind)), False
    if kind != b"dltensor_versioned":
        raise refusal(name, f"its __dlpack__ gives a capsule named {kind!r}", "")
    whole = _Versioned.from_address(_pointer(capsule, kind))
    if whole.major > NEWEST[0]:
        raise refusal(name, f"its __dlpack__ gives version {whole.major}, and {NEWEST[0]} was asked for", "")
    return whole.tensor, not whole.flags & READ_ONLY


def _dtype(tensor: Any, name: str) -> np.dtype[Any]:
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1 or tensor.bits % 8 or (kind == "b" and tensor.bits != 8):
        what = f"DLPack's code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes"
        raise refusal(name, f"elements of this type ({what}) are not supported", "")
    try:
        return np.dtype(f"{kind}{tensor.bits // 8}")
    except TypeError as error:
        raise refusal(name, f"elements of {tensor.bits} bits are not supported", "") from error

"""Arrays of other libraries as NumPy arrays over the same memory, never a copy; or a clear refusal."""

from __future__ import annotations

import sys
from typing import Any, Protocol, TypeGuard

import numpy as np

from loopwright.errors import ArgumentTypeError

Array = np.ndarray[Any, np.dtype[Any]]
_CPU_DEVICES = (1, 3, 11, 13)  # DLPack: plain host memory, or host memory that a GPU (CUDA, ROCm, SYCL) can reach


class _Dlpack(Protocol):
    def __dlpack__(self) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


def refuses(kind: type) -> bool:
    """Whether arrays of this type mean something else by their elements or operators than an array does."""
    return kind is not np.ndarray and (issubclass(kind, np.matrix) or _is_masked(kind))


def _is_masked(kind: type) -> bool:
    """Without loading numpy.ma: where nobody has, there is no such array."""
    masked = getattr(sys.modules.get("numpy.ma.core"), "MaskedArray", None)
    return masked is not None and issubclass(kind, masked)


def as_numpy(value: object, name: str = "") -> Array:
    """`value` as an array that shares its memory: a NumPy array, or anything on the CPU with __array_interface__,
    the buffer protocol, DLPack or a copy-free __array__. Raises ArgumentTypeError for anything else; `name` is
    the parameter's, for its text."""
    if isinstance(value, np.ndarray) and not refuses(type(value)):
        return value
    if isinstance(value, np.ndarray):
        kind = "a masked array" if _is_masked(type(value)) else "a matrix"
        plain = f"{name or 'x'}.filled()" if _is_masked(type(value)) else f"np.asarray({name or 'x'})"
        raise refusal(name, f"{kind} is not supported", f"pass {plain}")
    if isinstance(value, list) and not value:
        raise refusal(name, "an empty list does not tell what its elements are", "pass np.empty(0)")
    if isinstance(value, (list, tuple, range)):
        raise refusal(name, f"a {type(value).__name__} is not an array", f"pass np.asarray({name or 'x'})")
    array = _shared(value, name)
    if array is None:
        raise refusal(name, f"an object of type {type(value).__name__} is neither an array nor a number", "")
    return array


def refusal(name: str, what: str, remedy: str) -> ArgumentTypeError:
    """The error for an argument of a wrong kind, in one form for all."""
    where = f"argument '{name}': " if name else ""
    return ArgumentTypeError(f"{where}{what}" + (f"\n  try: {remedy}" if remedy else ""))


def _shared(value: object, name: str) -> Array | None:
    if _speaks_dlpack(value):
        _refuse_device(value, name)
    elif hasattr(value, "__cuda_array_interface__"):
        raise refusal(name, "the array is in a GPU's memory", f"copy it to the CPU first: {name or 'x'}.get()")
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if _has_buffer(value):
        _refuse_narrow(value, name)
        return np.asarray(memoryview(value))  # type: ignore[arg-type]
    if _speaks_dlpack(value):
        return _from_dlpack(value, name)
    return _copy_free(value) if hasattr(value, "__array__") else None


def _speaks_dlpack(value: object) -> TypeGuard[_Dlpack]:
    return hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")


def _refuse_device(value: _Dlpack, name: str) -> None:
    device = int(value.__dlpack_device__()[0])
    if device not in _CPU_DEVICES:
        library = type(value).__module__.split(".")[0]
        how = {"cupy": ".get()", "torch": ".cpu()"}.get(library, "")
        remedy = f"copy it to the CPU first: {name or 'x'}{how}" if how else "copy it to the CPU first"
        raise refusal(name, "the array is in a GPU's memory", remedy)


def _has_buffer(value: object) -> bool:
    try:
        memoryview(value)  # type: ignore[arg-type]
    except (TypeError, BufferError, ValueError):
        return False
    return True


def _refuse_narrow(value: object, name: str) -> None:
    """Raise ArgumentTypeError for a buffer of narrow integers: in Python its elements are ints, which never wrap."""
    array = np.asarray(memoryview(value))  # type: ignore[arg-type]
    dtype = array.dtype
    del array  # a buffer is not closed while one is there
    if dtype.kind in "iu" and dtype.itemsize < 8:
        kind = "an array.array" if type(value).__module__ == "array" else f"a {type(value).__name__}"
        raise refusal(name, f"the elements of {kind} are Python's ints, and those of an array {dtype}",
                      f"pass np.asarray({name or 'x'}), where numbers wrap, or list({name or 'x'})")  # fmt: skip


def _from_dlpack(value: _Dlpack, name: str) -> Array:
    """Older producers cannot say that they may be written to; their own __array__ over the same memory can."""
    try:
        array: Array = np.from_dlpack(value)  # type: ignore[arg-type]
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        remedy = f"pass {name or 'x'}.detach()" if "grad" in str(error) else ""
        raise refusal(name, f"the array cannot be shared with NumPy: {error}", remedy) from error
    if not array.flags.writeable and hasattr(value, "__array__"):
        other = _copy_free(value)
        same = other is not None and (other.ctypes.data, other.shape, other.strides, other.dtype) == (
            array.ctypes.data, array.shape, array.strides, array.dtype,
        )  # fmt: skip
        if other is not None and same:
            return other
    return array


def _copy_free(value: object) -> Array | None:
    try:
        return np.asarray(value, copy=False)
    except (ValueError, TypeError, RuntimeError):
        return None

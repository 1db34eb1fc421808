"""From the arguments of a call to its Signature, or a clear refusal. Nothing here reads an array's elements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from loopwright.errors import ArgumentValueError
from loopwright.ir.signature import Argument, ArrayArgument, ConstantArgument, ScalarArgument, Signature
from loopwright.ir.types import BOOL, FLOAT64, INT64, Scalar, from_dtype
from loopwright.memory.arrays import Array, as_numpy, refusal, refuses
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.dlpack import is_on_gpu, of_dlpack
from loopwright.memory.in_pieces import KeptInPieces
from loopwright.memory.on_device import of_cuda_array
from loopwright.memory.overlap import disjoint, layout_of, overlaps_itself, same_array
from loopwright.memory.records import alignment_of, fields_of, fields_overlap, is_complete

_PLAIN = (bool, int, float)


def as_arguments(given: Sequence[object], names: Sequence[str] = ()) -> tuple[object, ...]:
    """The arguments with every array of another library as a NumPy array over the same memory. Numbers, None,
    strings and tuples of numbers stay as they are. Raises ArgumentTypeError for anything else."""
    return tuple(_as_argument(value, _name(names, position)) for position, value in enumerate(given))


def _name(names: Sequence[str], position: int) -> str:
    return names[position] if position < len(names) else str(position)


def _as_argument(value: object, name: str) -> object:
    if isinstance(value, np.ndarray) and not refuses(type(value)):
        return value
    if isinstance(value, np.void):  # a record: what is read of it is read of an array without axes
        record = np.array(value)
        record.flags.writeable = False
        return record
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
        return value
    if isinstance(value, tuple) and all(type(one) in _PLAIN for one in value):
        return value
    if isinstance(value, DeviceArray | KeptInPieces):
        return value.argument()
    if _is_cuda_array(value):
        return of_cuda_array(value)
    if is_on_gpu(value):
        return of_dlpack(value, name)
    return as_numpy(value, name)


def _is_cuda_array(value: object) -> bool:
    try:
        return hasattr(value, "__cuda_array_interface__")
    except RuntimeError:  # PyTorch's, of a tensor that needs its gradient: what to do about it is told elsewhere
        return False


def signature_of(
    arguments: Sequence[object], written: Collection[int], names: Sequence[str] = (), indices: Sequence[int] = ()
) -> Signature:
    """The Signature of these arguments (see `as_arguments`). written: positions that the function may write. indices:
    the fewest with which it uses each array (frontend/whole.py); without them it stretches no axis of one element.

    `same_as` and `overlap` are told only of arrays that a written argument takes part in. Raises
    ArgumentTypeError, ArgumentValueError for a read-only array that is written, OverflowError for a Python int
    outside int64."""
    found: list[Argument] = []
    arrays: dict[int, Array] = {}
    for position, value in enumerate(arguments):
        name = _name(names, position)
        if isinstance(value, np.ndarray):
            arrays[position] = value
            stretched = position < len(indices) and value.ndim > indices[position]
            found.append(_array(value, position in written, name, ones_of(value) if stretched else ()))
        else:
            found.append(_scalar(value, name))
    same = _same(arrays, written)
    for position, earlier in same.items():
        one = found[position]
        assert isinstance(one, ArrayArgument)
        found[position] = replace(one, same_as=earlier)
    return Signature(tuple(found), _overlap(arrays, same, written))


def _scalar(value: object, name: str) -> ScalarArgument | ConstantArgument:
    if isinstance(value, complex | np.complexfloating):  # elsewhere they are two arguments: frontend/structured.py
        raise refusal(name, "a complex number is no single argument", "pass the real and the imaginary part")
    if isinstance(value, np.generic):
        return ScalarArgument(_element(value.dtype, name, "float(x)"), weak=False)
    if isinstance(value, bool):
        return ScalarArgument(BOOL, weak=True)
    if isinstance(value, int):
        _fits(value, name)
        return ScalarArgument(INT64, weak=True)
    if isinstance(value, float):
        return ScalarArgument(FLOAT64, weak=True)
    if value is None or isinstance(value, str):
        return ConstantArgument(value)
    if isinstance(value, tuple):
        for one in value:
            _fits(one, name)
        return ConstantArgument(value)
    raise refusal(name, f"an object of type {type(value).__name__} is neither an array nor a number", "")


def _fits(value: object, name: str) -> None:
    if isinstance(value, int) and not INT64.minimum <= value <= INT64.maximum:
        raise OverflowError(f"argument '{name}': the Python int {value} does not fit int64")


def _array(array: Array, written: bool, name: str, ones: tuple[int, ...]) -> ArrayArgument:
    if written and not array.flags.writeable:
        raise ArgumentValueError(
            f"argument '{name}': the array is read-only, and the function writes to it\n  try: pass {name}.copy()"
        )
    if array.dtype.names is None:
        element = _element(array.dtype, name, f"{name}.astype(np.float64)")
        return ArrayArgument(element, array.ndim, layout_of(array), bool(array.flags.aligned), ones=ones)
    fields = fields_of(array.dtype)
    if not fields:
        raise refusal(name, f"no field of {array.dtype} has a type that kernels know", "")
    # A promise about layout would be one about each field, and the elements of a field never lie side by side.
    partial = not is_complete(array.dtype)
    return ArrayArgument(
        None, array.ndim, "strided", _records_aligned(array), fields, ones=ones, partial=partial,
        record_size=array.dtype.itemsize,
    )  # fmt: skip


def ones_of(array: Array) -> tuple[int, ...]:
    """The axes of an array that have one element, of the first 8."""
    return tuple(axis for axis, size in enumerate(array.shape[:8]) if size == 1)


def _records_aligned(array: Array) -> bool:
    alignment = alignment_of(array.dtype)
    steps = [stride for size, stride in zip(array.shape, array.strides, strict=True) if size > 1]
    return alignment > 0 and all(number % alignment == 0 for number in (array.ctypes.data, *steps))


def _element(dtype: np.dtype[np.generic], name: str, remedy: str) -> Scalar:
    element = from_dtype(dtype)
    if element is not None:
        return element
    if not dtype.isnative:
        fix = f"pass {name}.astype({name}.dtype.newbyteorder('='))"
        raise refusal(name, f"the byte order of dtype {dtype.str!r} is not this machine's", fix)
    instead = {
        "U": f"numbers that stand for the texts: np.unique({name}, return_inverse=True)[1]",
        "S": f"numbers that stand for the texts: np.unique({name}, return_inverse=True)[1]",
        "M": f"{name}.view(np.int64)",
        "m": f"{name}.view(np.int64)",
    }
    remedy = remedy if dtype.kind in "fiu" else instead.get(dtype.kind, "")
    raise refusal(name, f"dtype {dtype} is not supported", remedy and "pass " + remedy)


# ---- arguments that share memory --------------------------------------------------------------------------------


def _same(arrays: dict[int, Array], written: Collection[int]) -> dict[int, int]:
    """For each array that is the very same as an earlier one, and one of them is written: the first of these."""
    first: dict[int, int] = {}
    for position, array in arrays.items():
        first[position] = next((one for one in arrays if one < position and same_array(arrays[one], array)), position)
    touched = {first[position] for position in arrays if position in written}
    return {position: one for position, one in first.items() if one != position and one in touched}


def _overlap(arrays: dict[int, Array], same: dict[int, int], written: Collection[int]) -> bool:
    for position in (one for one in arrays if one in written):
        array = arrays[position]
        if overlaps_itself(array) or (array.dtype.names is not None and fields_overlap(array.dtype)):
            return True
        mine = same.get(position, position)
        others = (other for other in arrays if same.get(other, other) != mine)
        if not all(disjoint(array, arrays[other]) for other in others):
            return True
    return False

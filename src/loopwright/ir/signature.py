"""What a call looks like from outside: its `Signature`, the types and layouts of its arguments, which code is for; and
its `Shape`, which times are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.ir.types import Scalar

if TYPE_CHECKING:
    from loopwright.ir.nodes import Layout


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """`weak`: a Python bool, int or float, which in NumPy 2's promotion takes on the other operand's type."""

    type: Scalar
    weak: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record: element type, byte offset, (size, stride in bytes) of the axes of a sub-array."""

    name: str
    element: Scalar
    offset: int
    tail: tuple[tuple[int, int], ...] = ()

    @property
    def end(self) -> int:
        """The first byte of a record behind the field."""
        return self.offset + self.element.size_bytes + sum((size - 1) * stride for size, stride in self.tail if size)


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """`element` for plain arrays, else None and `fields` for arrays of records. `same_as` is the position of an
    earlier argument that is the very same array (data, shape, strides, dtype), else None. `ones`: the axes that have
    one element, where the function may stretch these (frontend/whole.py). `partial`: records have other fields too,
    which cannot be used. `record_size`: of a record, with what lies between its fields, in bytes."""

    element: Scalar | None
    rank: int
    layout: Layout
    aligned: bool
    fields: tuple[Field, ...] = ()
    same_as: int | None = None
    ones: tuple[int, ...] = ()
    partial: bool = False
    record_size: int = 0

    @property
    def dtype(self) -> np.dtype[np.void] | None:
        """That of an array of records; None where these have fields that cannot be used, or records in them."""
        if self.element is not None or self.partial or any("." in field.name for field in self.fields):
            return None
        names = [field.name for field in self.fields]
        formats = [(field.element.dtype, tuple(size for size, _ in field.tail)) for field in self.fields]
        offsets = [field.offset for field in self.fields]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.record_size})


BY_ELEMENT = 127
"""More indices than an array has axes: how many a function uses whose arrays are never taken as a whole."""


@dataclass(frozen=True, slots=True)
class ConstantArgument:
    """An argument that is fixed into the code: None, a str, or a tuple of Python scalars (by value)."""

    value: str | tuple[bool | int | float, ...] | None

    def __eq__(self, other: object) -> bool:  # tells (1,) from (True,) and (1.0,), and -0.0 from 0.0
        return isinstance(other, ConstantArgument) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


Argument = ScalarArgument | ArrayArgument | ConstantArgument


@dataclass(frozen=True, slots=True)
class Signature:
    """One Argument for each parameter in order. `overlap`: some argument that the function writes shares memory
    with another in a way that `same_as` does not tell, or with itself (a zero stride)."""

    arguments: tuple[Argument, ...]
    overlap: bool = False

    @property
    def record_bytes(self) -> dict[int, int]:
        """How many bytes the records of each array of records have at least, by the position of the argument."""
        fields = {at: one.fields for at, one in enumerate(self.arguments) if isinstance(one, ArrayArgument)}
        return {at: max(one.end for one in found) for at, found in fields.items() if found}


@dataclass(frozen=True, slots=True)
class Shape:
    """What tells one call of a kernel from another, for its time. sizes: the lengths of all axes of the arrays, and the
    values of integer arguments, in the order of the arguments. features: numbers about the data itself, such as the
    mean and the spread of the lengths of rows; the same ones for every call of a kernel."""

    sizes: tuple[int, ...]
    features: tuple[float, ...] = ()


def as_complex(real: Any, imag: Any = None) -> Any:
    """Two floats, Python's or NumPy's, as a complex number of the same kind; or a fresh array of floats, whose last
    axis has two elements, as one of complex numbers."""
    if imag is None:
        return real.view(np.result_type(real.dtype, np.complex64)).reshape(real.shape[:-1])
    return complex(real, imag) if type(real) is float else np.result_type(real, np.complex64).type(complex(real, imag))


def shape_of(arguments: Sequence[object]) -> Shape:
    """The Shape of a call without features: its sizes as devices/launcher_key.c counts them."""
    sizes: list[int] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            sizes += value.shape
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            sizes.append(int(value))
    return Shape(tuple(sizes))


def as_pairs(array: Any) -> Any:
    """An array of complex numbers as one of floats over the same memory, two along a last axis."""
    part = array.real.dtype
    return np.lib.stride_tricks.as_strided(array.real, (*array.shape, 2), (*array.strides, part.itemsize))


def part_of(array: object, numbers: Sequence[Any]) -> object:
    """A part of an argument: where it begins along each axis, and for each axis of the part its size and how far it
    steps along each axis of the array."""
    if not isinstance(array, np.ndarray):
        raise TypeError("a part of what is no NumPy array cannot be returned")
    rank = array.ndim
    axes = [numbers[place : place + rank + 1] for place in range(rank, len(numbers), rank + 1)]
    strides = [sum(step * stride for step, stride in zip(steps, array.strides, strict=True)) for _, *steps in axes]
    sizes = [size for size, *_ in axes]
    start = tuple(slice(first if all(sizes) else 0, None) for first in numbers[:rank])
    return np.lib.stride_tricks.as_strided(array[start], sizes, strides)

"""Numba's names of types. Here they are values: a signature in a decorator is read, and a type converts a number.

`float64(x)` is NumPy's float64 of a number, in a kernel too; of types it is a signature, as `float64[:]` is the type of
an array. A signature can be a text: it is read, and never run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class CallSignature:
    """Types of a call: `returns` is None where only the arguments are named."""

    arguments: tuple[NumbaType, ...]
    returns: NumbaType | None = None


class NumbaType:
    """A type by its name, which means nothing but itself."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *arguments: Any) -> Any:
        """The signature of a function that returns this type."""
        return CallSignature(arguments, self)

    def __getitem__(self, axes: Any) -> NumbaArray:
        """`float64[:, ::1]`: the type of an array of these."""
        each = axes if isinstance(axes, tuple) else (axes,)
        if not all(isinstance(one, slice) for one in each):
            raise TypeError(f"{self}[{axes}]: one ':' for each axis is wanted, such as {self}[:, :]")
        return NumbaArray(self, len(each))

    def __repr__(self) -> str:
        return self.__name__


class ScalarType(NumbaType):
    """The type of a number. `dtype`: NumPy's."""

    def __init__(self, name: str, kind: type[np.generic]) -> None:
        super().__init__(name)
        self.dtype = np.dtype(kind)

    def __call__(self, *arguments: Any) -> Any:
        """NumPy's number of this type; of types, the signature of a function that returns it."""
        if len(arguments) == 1 and not isinstance(arguments[0], NumbaType):
            return self.dtype.type(arguments[0])
        return CallSignature(arguments, self)


class NumbaArray(NumbaType):
    """The type of an array: what its elements are, and how many axes it has."""

    def __init__(self, element: NumbaType, rank: int) -> None:
        super().__init__(f"{element}[{', '.join([':'] * rank)}]")
        self.element, self.rank = element, rank


def Array(dtype: NumbaType, ndim: int, layout: str, **_others: object) -> NumbaArray:
    """`types.Array(types.float64, 2, "C")`."""
    del layout
    return NumbaArray(dtype, ndim)


def Tuple(items: Iterable[NumbaType]) -> NumbaType:
    """`types.Tuple((types.int64, types.float64))`."""
    return NumbaType(f"Tuple({', '.join(map(repr, items))})")


def UniTuple(item: NumbaType, count: int) -> NumbaType:
    """`types.UniTuple(types.int64, 2)`."""
    return NumbaType(f"UniTuple({item}, {count})")


def _container(kind: str) -> Callable[..., NumbaType]:
    """`types.ListType(types.int64)`, `types.DictType(types.int64, types.float64)`, by what is in them."""
    return lambda *items, **_others: NumbaType(f"{kind}({', '.join(map(repr, items))})")


ListType, List, Set, DictType = map(_container, ("ListType", "List", "Set", "DictType"))


def optional(item: NumbaType) -> NumbaType:
    """A number or None."""
    return NumbaType(f"optional({item})")


void, none, unicode_type, string, pyobject = map(NumbaType, ("void", "none", "unicode_type", "string", "pyobject"))
boolean = bool_ = b1 = ScalarType("boolean", np.bool_)
int8 = i1 = char = ScalarType("int8", np.int8)
int16 = i2 = short = ScalarType("int16", np.int16)
int32 = i4 = intc = int_c = ScalarType("int32", np.int32)
int64 = i8 = intp = int_ = long_ = longlong = ssize_t = ScalarType("int64", np.int64)
uint8 = u1 = uchar = byte = ScalarType("uint8", np.uint8)
uint16 = u2 = ushort = ScalarType("uint16", np.uint16)
uint32 = u4 = uintc = ScalarType("uint32", np.uint32)
uint64 = u8 = uintp = uint = ulong = ulonglong = size_t = ScalarType("uint64", np.uint64)
float32 = f4 = float_c = ScalarType("float32", np.float32)
float64 = f8 = double = float_ = ScalarType("float64", np.float64)
complex64 = c8 = ScalarType("complex64", np.complex64)
complex128 = c16 = ScalarType("complex128", np.complex128)

_NAMED = {name: value for name, value in globals().items() if isinstance(value, NumbaType)}
_MADE: dict[str, Callable[..., Any]] = {"Array": Array, "Tuple": Tuple, "UniTuple": UniTuple,
                                          "ListType": ListType, "List": List, "Set": Set, "DictType": DictType,
                                          "optional": optional}  # fmt: skip


def signatures_of(given: object) -> list[CallSignature]:
    """What a decorator is given: a signature, or a list of them; each one as a text, as `int64(float64[:])`, or as a
    tuple of the arguments' types. Raises TypeError for anything else."""
    if isinstance(given, list):
        return [one for item in given for one in signatures_of(item)]
    read = _read(ast.parse(given.strip(), mode="eval").body) if isinstance(given, str) else given
    if isinstance(read, CallSignature):
        return [read]
    items = read if isinstance(read, tuple) else (read,)
    if not all(isinstance(one, NumbaType) for one in items):
        raise TypeError(f"{given!r} is no signature, such as 'float64(float64[:], int64)'")
    return [CallSignature(items)]


def _read(node: ast.expr) -> Any:
    """What a part of a signature means."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _NAMED:
            return _NAMED[name]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=items) if name in _MADE:
            return _MADE[name](*map(_read, items))
        case ast.Call(func=function, args=items):
            return CallSignature(tuple(map(_read, items)), _read(function))
        case ast.Subscript(value=element, slice=axes):
            return _read(element)[_read(axes)]
        case ast.Slice():
            return slice(None)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(map(_read, items))
        case ast.Constant(value=value):
            return NumbaType("none") if value is None else value
    raise TypeError(f"a signature says {ast.unparse(node)!r}, which is no type")

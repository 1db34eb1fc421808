"""The element and scalar types of the IR: bool, eight integers, two floats. Complex numbers are types of the front end
only, which makes pairs of floats of them. Every other NumPy dtype is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["bool", "int", "uint", "float", "complex"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A machine type. `name` is NumPy's name for it; `size_bytes` its width in memory."""

    name: str
    kind: Kind
    size_bytes: int

    @property
    def bits(self) -> int:
        return 8 * self.size_bytes

    @property
    def is_integer(self) -> bool:
        """Signed or unsigned; bool is not an integer."""
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        return self.kind == "complex"

    @property
    def part(self) -> Scalar:
        """The type of the real and of the imaginary part."""
        return FLOAT32 if self.size_bytes == 8 else FLOAT64

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return np.dtype(self.name)

    @property
    def minimum(self) -> int:
        """The least value of an integer type (bool counts as 0..1)."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def maximum(self) -> int:
        """The greatest value of an integer type (bool counts as 0..1)."""
        match self.kind:
            case "bool":
                return 1
            case "int":
                return (1 << (self.bits - 1)) - 1
            case _:
                return (1 << self.bits) - 1

    def __str__(self) -> str:
        return self.name


BOOL = Scalar("bool", "bool", 1)
INT8 = Scalar("int8", "int", 1)
INT16 = Scalar("int16", "int", 2)
INT32 = Scalar("int32", "int", 4)
INT64 = Scalar("int64", "int", 8)
UINT8 = Scalar("uint8", "uint", 1)
UINT16 = Scalar("uint16", "uint", 2)
UINT32 = Scalar("uint32", "uint", 4)
UINT64 = Scalar("uint64", "uint", 8)
FLOAT32 = Scalar("float32", "float", 4)
FLOAT64 = Scalar("float64", "float", 8)
COMPLEX64 = Scalar("complex64", "complex", 8)
COMPLEX128 = Scalar("complex128", "complex", 16)

ALL: tuple[Scalar, ...] = (
    BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32, FLOAT64,
)  # fmt: skip
BITS = {"float32": INT32, "float64": INT64, "int32": FLOAT32, "int64": FLOAT64}
"""By the name of a type of floats, the integers that are kept in as many bytes, and the other way round."""
BY_NAME: dict[str, Scalar] = {scalar.name: scalar for scalar in ALL}
_OF_DTYPES = {**BY_NAME, COMPLEX64.name: COMPLEX64, COMPLEX128.name: COMPLEX128}


def from_dtype(dtype: np.dtype[np.generic]) -> Scalar | None:
    """The Scalar of a NumPy dtype in native byte order, or None where the language has no such type."""
    if not dtype.isnative:
        return None
    return _OF_DTYPES.get(dtype.name)

"""Arrays of records, made of what a call returns: one array for each field.

The classes are named in `Kernel.packing`, each by the fields of its records; what is called gives an array.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

_RECORDS = "Records_"


def name_of_records(dtype: np.dtype[Any]) -> str:
    """The name of the class that makes arrays of these records of one array for each field."""
    return f"{__name__}:{_RECORDS}{repr(np.lib.format.dtype_to_descr(dtype)).encode().hex()}"


def __getattr__(name: str) -> type:
    if not name.startswith(_RECORDS):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    descr = ast.literal_eval(bytes.fromhex(name.removeprefix(_RECORDS)).decode())
    globals()[name] = made = type(name, (_Records,), {"dtype": np.lib.format.descr_to_dtype(descr)})
    return made


class _Records:
    """An array of records, from an array for each field."""

    dtype: np.dtype[Any]

    def __new__(cls, *planes: Any) -> Any:
        names = cls.dtype.names or ()
        tail = len(cls.dtype[names[0]].shape)
        records = np.empty(planes[0].shape[: planes[0].ndim - tail], cls.dtype)
        for name, plane in zip(names, planes, strict=True):
            records[name] = plane
        return records

"""Structured dtypes as the flat list of fields that a kernel can use."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from loopwright.ir.signature import Field
from loopwright.ir.types import from_dtype


def fields_of(dtype: np.dtype[Any], prefix: str = "", offset: int = 0) -> tuple[Field, ...]:
    """The usable fields of a structured dtype, in order. Fields of nested records are named `outer.inner`; fields
    of types outside the language are left out. Offsets in bytes."""
    found: list[Field] = []
    for name in dtype.names or ():
        assert dtype.fields is not None
        field, start = dtype.fields[name][:2]
        base, shape = field.base, field.shape
        if base.names is not None and not shape:
            found += fields_of(base, f"{prefix}{name}.", offset + start)
            continue
        element = from_dtype(base)
        if element is not None:
            strides = [base.itemsize * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
            found.append(Field(prefix + name, element, offset + start, tuple(zip(shape, strides, strict=True))))
    return tuple(found)


def is_complete(dtype: np.dtype[Any]) -> bool:
    """Whether all fields of a structured dtype can be used, so that together they are all of a record."""
    for name in dtype.names or ():
        assert dtype.fields is not None
        field = dtype.fields[name][0]
        nested = field.base.names is not None and not field.shape
        if not (is_complete(field) if nested else from_dtype(field.base) is not None):
            return False
    return True


def alignment_of(dtype: np.dtype[Any]) -> int:
    """At which multiples, in bytes, records must start for all usable fields to be aligned; 0 where none do."""
    fields = fields_of(dtype)
    sizes = [field.element.dtype.alignment for field in fields]
    if any(field.offset % size for field, size in zip(fields, sizes, strict=True)):
        return 0
    return max(sizes, default=1)


def fields_overlap(dtype: np.dtype[Any]) -> bool:
    """Whether two usable fields share bytes, as in a union."""
    spans = sorted((field.offset, field.offset + _size(field)) for field in fields_of(dtype))
    return any(second[0] < first[1] for first, second in pairwise(spans))


def _size(field: Field) -> int:
    count = 1
    for size, _ in field.tail:
        count *= size
    return count * field.element.size_bytes
